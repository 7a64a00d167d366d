"""Quix Streams as an engine of whole jobs, on a broker that is made up: each edge is a topic, a subtask has partitions.

All records of a key meet in one partition and keep their order. It is run at least once: after a kill it reads again
what it had not committed, and may count it again.
"""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tidegate.conformance.engines.flows import KILL, Program, run_flow
from tidegate.conformance.engines.mock_broker import PARTITIONS, MockBroker, name_edge

Json = dict[str, Any]

FLOW = "tidegate.conformance.engines.quix.flow"
JOBS = {
    "operators": ["source", "map", "flat_map", "filter", "sum", "sink"],
    "partitioners": ["hash"],
    "parallelism": PARTITIONS,
    "uniform": True,
    "faults": [KILL],
    "shows": ["record", "result"],
    "settings": {"pause_millis": [2, 10], "commit_millis": [200, 20, 1000]},
    "order_scope": "key",
    "delivery": "at_least_once",
    "known_routing": False,
    "keys_meet": True,
    "counts_once": False,
}


class Quix:
    def describe(self) -> Json:
        names = {"name": "Quix Streams", "version": version("quixstreams"), "language": "python"}
        return {"implementation": names, "components": {}, "jobs": JOBS}

    def run_job(self, job: Json) -> Json:
        program = Program(job)
        broker = MockBroker()
        edges = [name_edge(number) for number, _source, _target in program.edges]
        broker.make_topics(*edges, *(f"changelog__tidegate--{name}--default" for name in edges))
        broker.feed(program)
        path, state = program.write(), program.log.parent / "state"

        def launch(_number: int, journals: Path, _width: int) -> list[str]:
            return [sys.executable, "-m", FLOW, str(path), str(journals), broker.address, str(state)]

        return run_flow(program, launch, lambda who, _people: int(who) % program.width, ends=False)
