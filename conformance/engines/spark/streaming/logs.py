"""The output of a query: the run log and the results of each job, from the folders of its micro-batches."""

from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.engines.spark.streaming.elements import Line
from tidegate.conformance.engines.spark.streaming.layout import Layout, make_layout
from tidegate.conformance.engines.spark.streaming.query import Folder
from tidegate.traces.runlog import Capabilities, Direction, Edge, Job, Kind, Row, RunLog, write_runlog

ENGINE = "spark"


@attrs.frozen
class Results:
    """What the sinks collected, with the operator, and the last total of each key of each sum."""

    collected: tuple[tuple[int, str, int], ...]
    totals: tuple[tuple[int, str, int], ...]


@attrs.frozen
class Outcome:
    log: RunLog
    results: Results


def read_outcomes(folder: Folder, places: Path | None = None) -> dict[str, Outcome]:
    """By run. `places` is the folder of the sink's micro-batches, if it is not the usual one."""
    by_run: dict[str, list[Line]] = defaultdict(list)
    for line in read_lines(places or folder.batches):
        by_run[line.run].append(line)
    return {run: make_outcome(run, make_layout(job), by_run[run]) for run, job in folder.read_jobs().items()}


def read_lines(places: Path) -> Iterator[Line]:
    parquet: Any = import_module("pyarrow.parquet")
    # Spark marks complete folders; one without a mark is written again.
    for place in sorted(mark.parent for mark in places.glob("*/_SUCCESS")):
        for path in sorted(place.glob("*.parquet")):
            yield from (Line(*row.values()) for row in parquet.read_table(path).select(Line._fields).to_pylist())


def make_outcome(run: str, layout: Layout, lines: list[Line]) -> Outcome:
    # The numbers that subtasks gave their rows put them in order; files have none.
    ordered = sorted(lines, key=lambda line: (line.task, line.subtask, line.step, line.position))
    rows = tuple(make_row(layout, line) for line in ordered if line.dir != "result")
    return Outcome(RunLog(run, make_job(layout), rows), make_results(ordered))


def make_row(layout: Layout, line: Line) -> Row:
    fields: dict[str, Any] = line._asdict()
    del fields["level"]
    fields |= {"task": layout.tasks[line.task].name, "dir": Direction(line.dir), "kind": Kind(line.kind)}
    return Row(**fields)


def make_results(ordered: list[Line]) -> Results:
    found = [(line.kind, (line.edge, line.key or "", line.value or 0)) for line in ordered if line.dir == "result"]
    totals = {(operator, key): total for kind, (operator, key, total) in found if kind == "total"}
    return Results(
        tuple(sorted(result for kind, result in found if kind == "collected")),
        tuple(sorted((operator, key, total) for (operator, key), total in totals.items())),
    )


def make_job(layout: Layout) -> Job:
    """Spark has no credit: a micro-batch has no limit."""
    edges = tuple(
        Edge(
            edge.number,
            layout.tasks[edge.source].name,
            layout.tasks[edge.target].name,
            edge.partitioner,
            edge.pattern,
            edge.producers,
            edge.consumers,
            edge.key_groups,
        )
        for edge in layout.edges
    )
    return Job(ENGINE, layout.semantics, edges, Capabilities(credit=False))


def write_logs(outcomes: dict[str, Outcome], folder: Path) -> list[Path]:
    """One Parquet file per run."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for run, outcome in sorted(outcomes.items()):
        paths.append(folder / f"{run}.parquet")
        write_runlog(paths[-1], outcome.log)
    return paths
