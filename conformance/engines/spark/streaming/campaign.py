"""Many jobs in one query that goes down again and again: the plan of its faults, and their results.

The query is stopped in the middle of a micro-batch, fails after the sink's write so that a micro-batch is repeated,
loses a Python worker, ends between two micro-batches, and goes on with files that arrive later.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import attrs

from tidegate.conformance.engines.spark.streaming.elements import Line
from tidegate.conformance.engines.spark.streaming.faults import PATIENCE, Fault
from tidegate.conformance.engines.spark.streaming.layout import make_layout
from tidegate.conformance.engines.spark.streaming.query import Folder, Options, run_query, start_query
from tidegate.conformance.engines.spark.streaming.scripts import cut, make_lines, write_scripts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

FILES = 6
#: The files that exist from the beginning; the others arrive when those are read.
FIRST_FILES = 4


class SinkFailedError(Exception):
    """Raised after the write of a micro-batch, which is therefore repeated."""


@attrs.define
class Campaign:
    """`happened` is what ended the query, start by start."""

    spark: "SparkSession"
    folder: Folder
    bugs: dict[str, str] = attrs.Factory(dict)
    happened: list[str] = attrs.Factory(list)

    def prepare(self, jobs: dict[str, dict[str, Any]], seed: int) -> None:
        """Jobs by run, whose scripts are cut into files at random."""
        self.folder.create(jobs)
        write_scripts(self.folder.scripts, slice_scripts(jobs, seed)[:FIRST_FILES])

    def run(self, jobs: dict[str, dict[str, Any]], seed: int) -> None:
        """All of it, to the end of all scripts."""
        self.prepare(jobs, seed)
        deep = [run for run, job in jobs.items() if make_layout(job).levels > 1]
        faults = self.stop_in_a_batch(frozenset(deep[::2])), self.replay_a_batch(1)
        assert all((*faults, self.kill_a_worker(frozenset(deep[1::2]))))
        self.go_on("ended between two micro-batches")
        write_scripts(self.folder.scripts, slice_scripts(jobs, seed)[FIRST_FILES:], FIRST_FILES)
        self.go_on("ended with the last script")

    def options(self, **more: Any) -> Options:
        return Options(self.bugs, len(self.happened), **more)

    def stop_in_a_batch(self, runs: frozenset[str], level: int = 1) -> bool:
        """A worker stops in the middle of a micro-batch, then the query is stopped. False: that was never reached."""
        fault = self.fault("wait", runs, level)
        query = start_query(self.spark, self.folder, self.options(fault=fault))
        is_struck = wait_for(Path(fault.mark), query)
        query.stop()
        self.happened.append("stopped in a micro-batch")
        return is_struck

    def kill_a_worker(self, runs: frozenset[str], level: int = 1) -> bool:
        fault = self.fault("kill", runs, level)
        self.fail(self.options(fault=fault))
        self.happened.append("lost a Python worker")
        return Path(fault.mark).exists()

    def replay_a_batch(self, which: int) -> bool:
        """That one, or the next that exists."""

        def raise_behind_the_write(number: int) -> None:
            if number >= which:
                raise SinkFailedError(f"after micro-batch {number}")

        has_failed = self.fail(self.options(hook=raise_behind_the_write))
        self.happened.append("failed after the write of a micro-batch")
        return has_failed

    def fault(self, kind: str, runs: frozenset[str], level: int) -> Fault:
        return Fault(kind, runs, level, str(self.folder.path / f"{kind}-{len(self.happened)}"))

    def fail(self, options: Options) -> bool:
        """Whether the query went down."""
        from pyspark.errors import StreamingQueryException  # noqa: PLC0415 - only where there is Spark

        try:
            run_query(self.spark, self.folder, options)
        except StreamingQueryException:
            return True
        return False

    def go_on(self, what: str) -> None:
        run_query(self.spark, self.folder, self.options())
        self.happened.append(what)


def slice_scripts(jobs: dict[str, dict[str, Any]], seed: int) -> list[list[Line]]:
    random = Random(seed)
    slices: list[list[Line]] = [[] for _ in range(FILES)]
    for run, job in jobs.items():
        for script in make_lines(run, job):
            for number, line in cut(random, script, FILES, jumbled=True):
                slices[number].append(line)
    return [shuffled(random, lines) for lines in slices]


def shuffled(random: Random, lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda _line: random.random())


def wait_for(path: Path, query: "StreamingQuery") -> bool:
    """Wait until the worker reports that it has stopped; false if the query ends without that."""
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if not query.isActive:
            return path.exists()
        if time.monotonic() > end:
            raise TimeoutError(f"the query never came to {path.name}")
        time.sleep(0.05)
    return True
