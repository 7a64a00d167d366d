"""Apache Beam as an engine of whole jobs: its direct runner, whose sources are scripted by a TestStream.

It runs in the process of the adapter, with one subtask per operator. Beam promises no order. Watermarks must rise,
and there is no idleness; only windows show the effect of watermarks, and these are Beam's own.
"""

import logging
from importlib.metadata import version
from typing import Any

from tidegate.conformance.engines.beam import pipeline
from tidegate.conformance.engines.flows import Attempt, Journal, Program, Steps, make_rows, place_all

Json = dict[str, Any]

JOBS = {
    "operators": ["source", "map", "flat_map", "filter", "sum", "union", "window", "sink"],
    "partitioners": ["hash"],
    "parallelism": 1,
    "uniform": True,
    "watermarks": True,
    "shows": ["record", "result"],
    "settings": {"interleave": ["turns", "one_by_one"]},
    "order_scope": "none",
    "known_routing": False,
    "keys_meet": True,
}


class Beam:
    def describe(self) -> Json:
        names = {"name": "Apache Beam", "version": version("apache-beam"), "language": "python"}
        return {"implementation": names, "components": {}, "jobs": JOBS}

    def run_job(self, job: Json) -> Json:
        logging.disable(logging.WARNING)
        program = Program(job)
        attempt = Attempt(program.log.parent / "attempt")
        attempt.folder.mkdir()
        pipeline.HERE[pipeline.STEPS] = Steps(program, Journal(attempt.folder))
        pipeline.run(program)
        attempt.look()
        return {"rows": list(make_rows(program, [list(place_all(attempt, lambda _who, _people: 0))]))}
