"""An audit on Spark where a run spans files, or outgrows a worker: rows go to the worker of their subtask or channel.

Two passes with the same kernels. By file: is it a log at all, are keys where they belong, and what did the subtasks do
in the order of their steps: turns, credit, barriers, and which records came late. Then rows are dealt out by channel,
in the order of positions: all that needs both ends, and which late records were sent in time. Only where a subtask goes
on in another file are rows dealt out by subtask, too; and where a channel has lost elements and others seem to be out
of order, such channels are looked at once more. Rows travel in blocks: see tidegate.conformance.audit.blocks.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tidegate.conformance.audit.blocks import DEALT, DESTINATION, ORDER
from tidegate.conformance.audit.dealing import Runs, Seen, make_parts, make_runs, merge_seen
from tidegate.conformance.audit.looking import PASSES
from tidegate.conformance.audit.outcomes import Outcome
from tidegate.conformance.audit.planning import Work
from tidegate.conformance.audit.sources import Footer
from tidegate.properties.kernels import Layout, skipped
from tidegate.properties.kernels.routes import Firsts, find_scattered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidegate.properties.kernels.matching import Identity

#: Blocks that Spark hands to Python at a time: at most 25 MB.
SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64"}
#: A partition has at most about so many rows, if there are channels enough.
ROWS_OF_PARTITION = 2_000_000

#: Row groups that a worker reads at a time.
GROUPS_OF_PART = 4

SEEN = "seen binary"


def audit_by_channel(session: "SparkSession", work: Work, most: int) -> Iterator[Outcome]:
    """All runs together; each has its outcome at the end."""
    runs = make_runs(work.runs, most)
    shuffle = Shuffle(session, work, runs)
    outcomes = [start_outcome(run, runs.layout(number)) for number, run in enumerate(work.runs)]
    shuffle.collect(outcomes)
    yield from outcomes


def start_outcome(run: list[Footer], layout: Layout) -> Outcome:
    rows = sum(footer.rows for footer in run)
    return Outcome(run[0].run, tuple(footer.path for footer in run), rows, skipped=skipped(layout))


class Shuffle:
    def __init__(self, session: "SparkSession", work: Work, runs: Runs) -> None:
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        self.session = session
        self.runs = runs
        self.work = work
        self.partitions = max(session.sparkContext.defaultParallelism, -(-work.rows // ROWS_OF_PARTITION))

    def collect(self, outcomes: list[Outcome]) -> None:
        late: dict[int, list[tuple[int, bytes]]] = {}
        for seen in self.look_at_subtasks(outcomes):
            merge_seen(outcomes[seen.run], seen)
            late.setdefault(seen.run, []).extend(seen.late)
        unclear: dict[int, dict[int, set[Identity]]] = {}
        for seen in self.run_pass("channels", {"late": late}, self.sound(outcomes)):
            merge_seen(outcomes[seen.run], seen)
            if seen.unclear:
                unclear.setdefault(seen.run, {}).update(seen.unclear)
        if unclear:
            for seen in self.run_pass("order", {"unclear": unclear}, self.sound(outcomes) & set(unclear)):
                merge_seen(outcomes[seen.run], seen)
        for outcome in outcomes:
            if outcome.problem:
                outcome.tallies, outcome.rows = {}, 0

    def look_at_subtasks(self, outcomes: list[Outcome]) -> Iterator[Seen]:
        """File by file; only where a subtask goes on in another file are its steps brought together first."""
        files: dict[int, list[Seen]] = {}
        for seen in self.run_pass("files", {}, set(range(len(outcomes)))):
            files.setdefault(seen.run, []).append(seen)
            yield Seen(seen.run, seen.tallies, seen.problem)
        self.add_scattered(outcomes, files)
        apart = set()
        for run, parts in files.items():
            met = [subtask for part in parts for subtask in part.subtasks]
            if len(met) > len(set(met)) or any(part.steps is None for part in parts):
                apart.add(run)
            else:
                yield from (Seen(run, part.steps or {}, late=part.late) for part in parts)
        yield from self.run_pass("subtasks", {}, apart & self.sound(outcomes))

    def sound(self, outcomes: list[Outcome]) -> set[int]:
        return {number for number, outcome in enumerate(outcomes) if not outcome.problem}

    def add_scattered(self, outcomes: list[Outcome], files: dict[int, list[Seen]]) -> None:
        """Keys that several consumers have met, each of which may have its file."""
        for run, parts in files.items():
            firsts: Firsts = {}
            for key, rows in (one for part in parts for one in part.firsts.items()):
                known = firsts.setdefault(key, {})
                for consumer, row in rows.items():
                    known[consumer] = min(known.get(consumer, row), row, key=lambda place: place[3])
            found = list(find_scattered(self.runs.layout(run), firsts))
            if found:
                outcomes[run].tallies["LOG-ROUTE"].add(len(found), found)

    def run_pass(self, name: str, hints: dict[str, Any], only: set[int]) -> Iterator[Seen]:
        """Read the parts of the runs, deal the rows out and sort them, and look at them; `files` deals nothing out."""
        every = make_parts(self.work.runs, None if name == "files" else GROUPS_OF_PART)
        parts = [part for part in every if part.run in only]
        if not parts:
            return
        read, look = PASSES[name]
        known = self.session.sparkContext.broadcast((self.runs, hints))
        frame = self.session.createDataFrame([(part.as_text(),) for part in parts], "part string")
        frame = frame.repartition(min(len(parts), 4 * self.partitions))
        frame = frame.mapInArrow(bind(read, known), DEALT if look else SEEN)
        if look:
            frame = frame.repartition(self.partitions, *DESTINATION).sortWithinPartitions(*ORDER)
            frame = frame.mapInArrow(bind(look, known), SEEN)
        for row in frame.toLocalIterator(prefetchPartitions=True):
            yield Seen.from_bytes(bytes(row.seen))
        known.unpersist()


def bind(function: Callable[..., Iterator[Any]], known: Any) -> Callable[[Any], Iterator[Any]]:
    """What a worker does with its batches, given what the driver knows."""
    return lambda batches: function(*known.value, batches)
