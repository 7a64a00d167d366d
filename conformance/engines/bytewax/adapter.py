"""Bytewax as an engine of whole jobs: keyed state in processes that are killed, and restored from their snapshots.

It keeps the order of the records of a key, and no other. All records of a key meet in one worker, by a hash that it
does not reveal. After a kill it may emit records twice, but it counts each record once.
"""

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flows import KILL, RESCALE, Program, run_flow
from tidegate.conformance.engines.forked import Forked

Json = dict[str, Any]

FLOW = "tidegate.conformance.engines.bytewax.flow"
JOBS = {
    "operators": ["source", "map", "flat_map", "filter", "sum", "union", "sink"],
    "partitioners": ["hash"],
    "parallelism": 3,
    "uniform": True,
    "faults": [KILL, RESCALE],
    "shows": ["record", "result"],
    "settings": {"batch": [4, 1, 16], "pause_millis": [1, 5], "recovery_partitions": [1, 2, 3]},
    "order_scope": "key",
    "delivery": "at_least_once",
    "known_routing": False,
    "keys_meet": True,
}


class Bytewax:
    def describe(self) -> Json:
        names = {"name": "Bytewax", "version": version("bytewax"), "language": "python"}
        return {"implementation": names, "components": {}, "jobs": JOBS}

    def run_job(self, job: Json) -> Json:
        program = Program(job)
        saved = program.log.parent / "saved"
        saved.mkdir()
        import_module("bytewax.recovery").init_db_dir(saved, job["settings"]["recovery_partitions"])
        path = program.write()

        def launch(journals: Path, workers: int, errors: Path) -> Forked:
            return Forked(FLOW, (str(path), str(journals), str(saved), str(workers)), errors)

        return run_flow(program, launch, lambda who, people: people.index(who))
