"""Quix Streams as an engine of whole jobs, on a mock broker: each edge is a topic."""

from importlib.metadata import version
from typing import Any

from tidegate.conformance.engines.kafka.mock_broker import JOBS, name_edge, run_on_broker

Json = dict[str, Any]

FLOW = "tidegate.conformance.engines.quix.flow"


class Quix:
    def describe(self) -> Json:
        names = {"name": "Quix Streams", "version": version("quixstreams"), "language": "python"}
        return {"implementation": names, "components": {}, "jobs": JOBS}

    def run_job(self, job: Json) -> Json:
        return run_on_broker(job, FLOW, lambda edge: f"changelog__tidegate--{name_edge(edge)}--default")
