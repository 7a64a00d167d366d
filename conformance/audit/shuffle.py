"""An audit on Spark for runs that span files, or exceed a worker: rows go to the worker of their subtask or channel.

Two passes with the same kernels. The first pass, by file, checks that it is a log, that keys are at the right subtask,
and the subtasks in step order: turns, credit, barriers, and late records. Then rows are distributed by channel, in the
order of positions, for everything that needs both ends, and to find late records that were sent in time. If a subtask
continues in another file, rows are distributed by subtask as well. If a channel has lost elements and others seem to
be out of order, it is checked again. Rows travel in blocks: see tidegate.conformance.audit.blocks.
"""

import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import attrs

from tidegate.conformance.audit.blocks import DEALT, DESTINATION, ORDER
from tidegate.conformance.audit.dealing import MOST_LATE, ROWS_OF_PART, Met, Runs, Seen, make_parts, merge_seen
from tidegate.conformance.audit.files import audit_files
from tidegate.conformance.audit.looking import PASSES
from tidegate.conformance.audit.outcomes import Outcome
from tidegate.conformance.audit.planning import Work
from tidegate.conformance.audit.sources import LogFileError
from tidegate.properties.kernels.routes import Firsts, find_scattered
from tidegate.properties.kernels.run import Wanted, find_skipped
from tidegate.traces.runlog import Job, OrderScope

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidegate.properties.kernels.disagreement import Identity

#: Blocks per Arrow batch: at most 25 MB.
SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64"}
#: Rows per partition, roughly, if there are enough channels.
ROWS_OF_PARTITION = 2_000_000

SEEN = "seen binary"


def audit_by_channel(session: "SparkSession", work: Work, wanted: Wanted, show: int = 0) -> Iterator[Outcome]:
    """All runs; each has its outcome at the end. Runs that must be checked as a whole are checked here."""
    whole = [run for run in work.runs if is_whole(run[0].job)]
    for run in whole:
        yield audit_files(run, wanted, show)
    others = [run for run in work.runs if run not in whole]
    if others:
        yield from Shuffle(session, attrs.evolve(work, runs=others), wanted).collect()


def is_whole(job: Job) -> bool:
    """Some checks need all subtasks: splicing attempts, counting results, comparing the order within keys."""
    return bool(job.restored) or job.expected is not None or job.capabilities.order_scope is OrderScope.KEY


class Shuffle:
    def __init__(self, session: "SparkSession", work: Work, wanted: Wanted) -> None:
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        self.session = session
        self.runs = Runs(tuple(map(tuple, work.runs)), wanted)
        self.outcomes = [self.start_outcome(run) for run in range(len(work.runs))]
        self.partitions = max(session.sparkContext.defaultParallelism, -(-work.rows // ROWS_OF_PARTITION))

    def start_outcome(self, run: int) -> Outcome:
        footers, job = self.runs.footers[run], self.runs.job(run)
        return Outcome(
            run=footers[0].run,
            paths=tuple(footer.path for footer in footers),
            rows=sum(footer.rows for footer in footers),
            tallies=self.runs.tally(run),
            skipped=find_skipped(job, self.runs.wanted),
        )

    def collect(self) -> list[Outcome]:
        late: dict[int, list[tuple[int, bytes]]] = {}
        for seen in self.look_at_subtasks():
            merge_seen(self.outcomes[seen.run], seen)
            self.note_late(late, seen)
        unclear: dict[int, dict[int, set[Identity]]] = {}
        for seen in self.run_pass("channels", {"late": late}, self.sound()):
            merge_seen(self.outcomes[seen.run], seen)
            if seen.unclear:
                unclear.setdefault(seen.run, {}).update(seen.unclear)
        if unclear and "LOG-ORDER" in self.runs.wanted.invariants:
            for seen in self.run_pass("order", {"unclear": unclear}, self.sound() & set(unclear)):
                merge_seen(self.outcomes[seen.run], seen)
        for outcome in self.outcomes:
            if outcome.problem:
                outcome.tallies, outcome.rows = {}, 0
        return self.outcomes

    def note_late(self, late: dict[int, list[tuple[int, bytes]]], seen: Seen) -> None:
        held = late.setdefault(seen.run, [])
        held += seen.late
        if sum(len(positions) for _channel, positions in held) > MOST_LATE * 8:
            held.clear()
            outcome = self.outcomes[seen.run]
            text = f"more than {MOST_LATE:,} records came late: audit it with --path files"
            outcome.problem = str(LogFileError(outcome.paths[0], text))

    def look_at_subtasks(self) -> Iterator[Seen]:
        """File by file; if a subtask continues in another file, its steps are collected first."""
        files: dict[int, list[Seen]] = {run: [] for run in range(len(self.outcomes))}
        for seen in self.run_pass("files", {}, set(files)):
            files[seen.run].append(seen)
            yield Seen(seen.run, seen.tallies, seen.problem)
        self.add_scattered(files)
        self.runs = self.runs.with_met([join_met(parts) for parts in files.values()])
        apart = set()
        for run, parts in files.items():
            subtasks = sum(len(part.met.subtasks) for part in parts)
            if subtasks > len(self.runs.met[run].subtasks) or any(part.steps is None for part in parts):
                apart.add(run)
            else:
                yield from (Seen(run, part.steps or {}, late=part.late) for part in parts)
        yield from self.run_pass("subtasks", {}, apart & self.sound())

    def sound(self) -> set[int]:
        return {number for number, outcome in enumerate(self.outcomes) if not outcome.problem}

    def add_scattered(self, files: dict[int, list[Seen]]) -> None:
        """Keys that several consumers have received, possibly in several files."""
        for run, parts in files.items():
            firsts: Firsts = {}
            for key, rows in (one for part in parts for one in part.firsts.items()):
                known = firsts.setdefault(key, {})
                for consumer, row in rows.items():
                    known[consumer] = min(known.get(consumer, row), row, key=lambda place: place[2])
            found = list(find_scattered(firsts))
            if found:
                self.outcomes[run].tallies["LOG-ROUTE"].add(len(found), found)

    def run_pass(self, name: str, hints: dict[str, Any], only: set[int]) -> Iterator[Seen]:
        """Read the parts of the runs, distribute and sort the rows, and check them; `files` distributes nothing."""
        every = make_parts(self.runs, None if name == "files" else ROWS_OF_PART)
        parts = [part for part in every if part.run in only]
        if not parts:
            return
        read, look = PASSES[name]
        known = self.session.sparkContext.broadcast((self.runs, hints))
        frame = self.session.createDataFrame([(pickle.dumps(part),) for part in parts], "part binary")
        frame = frame.repartition(min(len(parts), 4 * self.partitions))
        frame = frame.mapInArrow(bind(read, known), DEALT if look else SEEN)
        if look:
            frame = frame.repartition(self.partitions, *DESTINATION).sortWithinPartitions(*ORDER)
            frame = frame.mapInArrow(bind(look, known), SEEN)
        for row in frame.toLocalIterator(prefetchPartitions=True):
            yield Seen.from_bytes(bytes(row.seen))
        known.unpersist()


def join_met(parts: list[Seen]) -> Met:
    met = Met()
    for part in parts:
        met = met.join(part.met)
    return met


def bind(function: Callable[..., Iterator[Any]], known: Any) -> Callable[[Any], Iterator[Any]]:
    """The function of a worker for its batches, with the driver's data."""
    return lambda batches: function(*known.value, batches)
