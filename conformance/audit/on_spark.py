"""An audit on Spark if every run is one file: Spark distributes the list of files, and workers read them."""

import json
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tidegate.conformance.audit.files import audit_files
from tidegate.conformance.audit.outcomes import Outcome, from_json, to_json
from tidegate.conformance.audit.planning import Work
from tidegate.conformance.audit.sources import Footer, LogFileError, read_footer
from tidegate.properties.kernels.run import Wanted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "outcome string"


def audit_by_files(session: "SparkSession", work: Work, wanted: Wanted, show: int = 0) -> Iterator[Outcome]:
    """Each run is a task; the largest go first, so that no worker waits long for the last."""
    runs = sorted(work.runs, key=lambda run: -sum(footer.rows for footer in run))
    lines = [(number, json.dumps([footer.path for footer in run])) for number, run in enumerate(runs)]
    if not lines:
        return
    frame = session.createDataFrame(lines, "number int, paths string")
    # Ranges of one number each: a hash would put several runs into one task and none into others.
    frame = frame.repartitionByRange(len(lines), "number")

    def audit(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for paths in batch.column("paths").to_pylist():
                yield make_batch(to_json(audit_paths(json.loads(paths), wanted, show)))

    for row in frame.mapInArrow(audit, SCHEMA).toLocalIterator(prefetchPartitions=True):
        yield from_json(row.outcome)


def audit_paths(paths: list[str], wanted: Wanted, show: int) -> Outcome:
    """Runs on a worker. If a worker cannot open a file that the driver could, the path is not shared."""
    footers: list[Footer] = []
    for path in paths:
        try:
            footers.append(read_footer(path))
        except LogFileError as error:
            return Outcome("", tuple(paths), problem=f"{error} (on a worker: is it on storage that all workers share?)")
    return audit_files(footers, wanted, show)


def make_batch(text: str) -> Any:
    arrow: Any = import_module("pyarrow")
    return arrow.RecordBatch.from_pydict({"outcome": [text]})
