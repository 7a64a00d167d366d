"""Faust as an engine of whole jobs, on a mock broker: each edge is a topic."""

from importlib.metadata import version
from typing import Any

from tidegate.conformance.engines.kafka.mock_broker import JOBS, run_on_broker

Json = dict[str, Any]

FLOW = "tidegate.conformance.engines.faust.flow"


class Faust:
    def describe(self) -> Json:
        names = {"name": "Faust", "version": version("faust-streaming"), "language": "python"}
        return {"implementation": names, "components": {}, "jobs": JOBS}

    def run_job(self, job: Json) -> Json:
        return run_on_broker(job, FLOW, lambda edge: f"tidegate-totals{edge}-changelog")
