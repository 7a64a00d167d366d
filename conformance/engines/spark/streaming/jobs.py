"""Spark as an engine of whole jobs: the semantics in its own terms, each job a streaming query that may go down.

A micro-batch shows its rows when it is committed, and once: the log does not show that a query continued from its
checkpoint, except by missing or duplicate rows.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import attrs

from tidegate.conformance.engines.spark.session import LOCAL, SHORT_LIVED, make_session
from tidegate.conformance.engines.spark.streaming.campaign import Campaign, shuffled
from tidegate.conformance.engines.spark.streaming.elements import Line
from tidegate.conformance.engines.spark.streaming.layout import make_layout
from tidegate.conformance.engines.spark.streaming.logs import Outcome, read_outcomes
from tidegate.conformance.engines.spark.streaming.query import Folder
from tidegate.conformance.engines.spark.streaming.scripts import cut, make_lines, write_scripts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Json = dict[str, Any]

JOBS = {
    "operators": ["source", "map", "flat_map", "filter", "sum", "union", "join", "sink"],
    "partitioners": ["forward", "rebalance", "rescale", "global", "broadcast", "hash"],
    "parallelism": 3,
    "watermarks": True,
    "idleness": True,
    "chaining": True,
    "faults": ["stop", "replay", "kill_worker"],
    "shows": ["record", "watermark", "status", "end_of_data", "end_of_partition", "result"],
    # Scripts are read from this many files, one per micro-batch; jumbled, lines also come early, late or twice.
    "settings": {"files": [2, 1, 4], "jumbled": [False, True]},
}
#: The step of a row after all others of its subtask.
LAST = 2**62


class SparkJobs:
    """Its session is made, unless one is given."""

    def __init__(self, master: str = LOCAL, session: "SparkSession | None" = None) -> None:
        self._session = session or make_session(master, "tidegate spark jobs", SHORT_LIVED)

    def describe(self) -> Json:
        names = {"name": "spark", "version": self._session.version, "language": "Structured Streaming"}
        return {"implementation": names, "components": {}, "jobs": JOBS}

    def run_job(self, job: Json) -> Json:
        with TemporaryDirectory(prefix="tidegate-spark-") as place:
            query = Query(Campaign(self._session, Folder(Path(place) / "query")), job)
            hit = [query.strike(fault) for fault in job["faults"]]
            query.campaign.go_on("ended with the last script")
            outcome = read_outcomes(query.campaign.folder)[query.run]
            return {"rows": list(make_rows(outcome, job["graph"]["tasks"])), "hit": hit}


class Query:
    """The query of one job."""

    def __init__(self, campaign: Campaign, job: Json) -> None:
        self.campaign, self.run, self.files = campaign, job["case"], int(job["settings"]["files"])
        campaign.folder.create({self.run: job["program"]})
        write_scripts(campaign.folder.scripts, self.slice(job["program"], jumbled=job["settings"]["jumbled"]))
        self.level = make_layout(job["program"]).levels - 1

    def slice(self, program: Json, *, jumbled: bool) -> list[list[Line]]:
        random = Random(self.run)
        slices: list[list[Line]] = [[] for _ in range(self.files)]
        for script in make_lines(self.run, program):
            for number, line in cut(random, script, self.files, jumbled=jumbled):
                slices[number].append(line)
        return [shuffled(random, lines) for lines in slices]

    def strike(self, fault: Json) -> bool:
        """Whether it hit a micro-batch: there may be none left."""
        which = min(self.files - 1, self.files * int(fault["after"]) // 100)
        match fault["fault"]:
            case "stop":
                return self.campaign.stop_in_a_batch(frozenset({self.run}), self.level)
            case "kill_worker":
                return self.campaign.kill_a_worker(frozenset({self.run}), self.level)
            case _:
                return self.campaign.replay_a_batch(which)


def make_rows(outcome: Outcome, tasks: list[Json]) -> Iterator[Json]:
    """The log of the query, followed by the results of sinks."""
    for row in outcome.log.rows:
        told = attrs.asdict(row, filter=lambda _field, value: value is not None)
        yield {name: value for name, value in told.items() if name != "run"}
    homes = {operator: task["name"] for task in tasks for operator in task["operators"]}
    for operator, key, value in outcome.results.collected:
        yield {"task": homes[operator], "subtask": 0, "step": LAST, "kind": "result", "key": key, "value": value}
