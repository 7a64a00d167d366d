"""The jobs that run on Spark: random ones, the corners of idleness and lateness, and some with mistakes in them."""

from collections.abc import Mapping
from random import Random
from typing import Any

import attrs

from tidegate.conformance.engines.spark.streaming.logs import Outcome
from tidegate.conformance.judging.jobs.explanation import find_wrongs
from tidegate.properties.cases import job as strategy
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.job.programs import Barrier, Config, Edge, Function, Operator, Record, ScriptItem
from tidegate.traces.codec import encode

SEED = 7
#: How many random jobs one query runs.
COUNT = 200
#: Mistakes that a subtask can make on request.
BUGS = {
    "reads-again": "elements that are delivered twice are read twice",
    "ignores-positions": "rows are read in Spark's order",
    "forgets-held": "early elements are not kept for the next micro-batch",
    "passes-barriers": "a channel is read past a barrier before the other channels have it",
    "valve-forgets-on-restart": "the valve is reset when the query restarts",
}
#: How many jobs are run with each mistake.
WRONG_COUNT = 10

IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)


def draw_jobs(count: int, seed: int) -> list[Config]:
    """Without a wire: Spark has no buffers to show."""
    random = Random(seed)
    return [attrs.evolve(strategy.draw_program(random), wire=None) for _ in range(count)]


def make_right_jobs(count: int = COUNT) -> dict[str, Config]:
    """By run: random jobs, and the corners."""
    drawn = {f"job-{number}": config for number, config in enumerate(draw_jobs(count, SEED))}
    return drawn | {f"corner-{number}": config for number, config in enumerate(CORNERS.values())}


def make_wrong_jobs() -> dict[str, Config]:
    """By run; the name of the run begins with the mistake."""
    drawn = draw_jobs(WRONG_COUNT, SEED + 1)
    return {f"{bug}-{number}": config for bug in BUGS for number, config in enumerate(drawn)}


def bug_of(run: str) -> str:
    return run.rpartition("-")[0]


def encode_jobs(configs: Mapping[str, Config]) -> dict[str, dict[str, Any]]:
    return {run: encode(config) for run, config in configs.items()}


def find_wrongs_of(config: Config, outcome: Outcome) -> list[str]:
    return [*map(str, find_wrongs(config, outcome.log, outcome.results.collected, outcome.results.totals))]


# --- corners --------------------------------------------------------------------------------------------------


def rec(key: str, timestamp: int) -> Record:
    return Record(key, Long(1), Long(timestamp))


def mark(timestamp: int) -> Watermark:
    return Watermark(Long(timestamp))


def count(*scripts: tuple[ScriptItem, ...]) -> Config:
    """Sources with a map and a filter chained to them, a sum behind a valve, a sink chained to the sum."""
    operators = (
        Operator(1, "in", Function.SOURCE, len(scripts), scripts),
        Operator(2, "double", Function.MAP, len(scripts)),
        Operator(3, "keep", Function.FILTER, len(scripts)),
        Operator(4, "sum", Function.SUM, 2),
        Operator(5, "out", Function.SINK, 2),
    )
    edges = (Edge(1, 2), Edge(2, 3), Edge(3, 4, Partitioner.HASH), Edge(4, 5))
    return Config(operators, edges, semantics="flink-40475")


CORNERS = {
    "an idle source": count((mark(1), IDLE), (rec("a", 3), mark(5), rec("b", 6))),
    "all idle": count((rec("a", 1), mark(3), IDLE), (mark(5), IDLE)),
    "reactivation": count((mark(1), IDLE, ACTIVE, mark(7)), (mark(5), rec("a", 6), mark(6), rec("a", 9))),
    "reactivation behind": count((mark(1), IDLE, ACTIVE, rec("a", 2), mark(2), mark(8)), (mark(5), mark(9))),
    "end while idle": count((rec("a", 1), IDLE), (rec("a", 2), mark(2), IDLE)),
    "end while one is idle": count((IDLE,), (rec("b", 2), mark(2), rec("b", 3))),
    "late": count((mark(5), rec("a", 1), rec("a", 5), rec("a", 6)), (mark(9), rec("a", 2))),
    "barriers": count(
        (rec("a", 1), Barrier(1), rec("a", 2), mark(3)), (mark(1), IDLE, ACTIVE, Barrier(1), rec("a", 4))
    ),
    "nothing": count((), ()),
}
CORNERS |= {f"{name}, flink-7728": attrs.evolve(one, semantics="flink-7728") for name, one in CORNERS.items()}
