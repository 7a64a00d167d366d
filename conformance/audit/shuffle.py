"""An audit on Spark where a run spans files, or outgrows a worker: rows go to the worker of their subtask or channel.

Three passes with the same kernels. By file: is it a log at all, and are keys where they belong? By subtask, in the
order of steps: turns, credit, barriers, and which records came late. By channel, in the order of positions: all that
needs both ends, and which late records were sent in time. Where a channel has lost elements and others seem to be out
of order, a fourth pass looks at such channels alone.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from conformance.audit.dealing import PASSES, Part, Runs, Seen, make_parts, make_runs, merge_seen
from conformance.audit.outcomes import Outcome
from conformance.audit.planning import Work
from conformance.audit.sources import Footer
from properties.kernels import Layout, skipped
from properties.kernels.findings import Tally
from properties.kernels.routes import Firsts, find_scattered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from properties.kernels.matching import Identity

#: Rows that Spark hands to Python at a time.
SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "200000"}
#: A partition has at most about so many rows, if there are channels enough.
ROWS_OF_PARTITION = 2_000_000

DEALT = "part int, key long, side int, kind tinyint, other long, timestamp long, id long, value long"
SEEN = "seen binary"


def audit_by_channel(session: "SparkSession", work: Work, most: int) -> Iterator[Outcome]:
    """All runs together; each has its outcome at the end."""
    runs = make_runs(work.runs, most)
    shuffle = Shuffle(session, runs, make_parts(work.runs), work.rows)
    outcomes = [start_outcome(run, runs.layout(number)) for number, run in enumerate(work.runs)]
    shuffle.collect(outcomes)
    yield from outcomes


def start_outcome(run: list[Footer], layout: Layout) -> Outcome:
    rows = sum(footer.rows for footer in run)
    return Outcome(run[0].run, tuple(footer.path for footer in run), rows, skipped=skipped(layout))


class Shuffle:
    def __init__(self, session: "SparkSession", runs: Runs, parts: list[Part], rows: int) -> None:
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        self.session = session
        self.runs = runs
        self.parts = parts
        self.partitions = max(session.sparkContext.defaultParallelism, -(-rows // ROWS_OF_PARTITION))

    def collect(self, outcomes: list[Outcome]) -> None:
        firsts: dict[int, Firsts] = {}
        by_file = self.run_pass("files", {})
        for seen in by_file:
            merge_seen(outcomes[seen.run], seen)
            for key, rows in seen.firsts.items():
                known = firsts.setdefault(seen.run, {}).setdefault(key, {})
                for consumer, row in rows.items():
                    known[consumer] = min(known.get(consumer, row), row, key=lambda one: one[3])
        self.add_scattered(outcomes, firsts)
        late: dict[int, list[tuple[int, bytes]]] = {}
        for seen in self.run_pass("subtasks", {}, self.sound(outcomes)):
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

    def sound(self, outcomes: list[Outcome]) -> set[int]:
        return {number for number, outcome in enumerate(outcomes) if not outcome.problem}

    def add_scattered(self, outcomes: list[Outcome], firsts: dict[int, Firsts]) -> None:
        for run, keys in firsts.items():
            found = list(find_scattered(self.runs.layout(run), keys))
            outcomes[run].tallies.setdefault("LOG-ROUTE", Tally(most=self.runs.most)).add(len(found), found)

    def run_pass(self, name: str, hints: dict[str, Any], only: set[int] | None = None) -> Iterator[Seen]:
        """Read the parts of the runs, deal the rows out and sort them, and look at them; `files` deals nothing out."""
        parts = [part for part in self.parts if only is None or part.run in only]
        if not parts:
            return
        read, look = PASSES[name]
        known = self.session.sparkContext.broadcast((self.runs, hints))
        frame = self.session.createDataFrame([(part.as_text(),) for part in parts], "part string")
        frame = frame.repartition(min(len(parts), 4 * self.partitions))
        frame = frame.mapInArrow(bind(read, known), DEALT if look else SEEN)
        if look:
            frame = frame.repartition(self.partitions, "part").sortWithinPartitions("key")
            frame = frame.mapInArrow(bind(look, known), SEEN)
        for row in frame.toLocalIterator(prefetchPartitions=True):
            yield Seen.from_bytes(bytes(row.seen))
        known.unpersist()


def bind(function: Callable[..., Iterator[Any]], known: Any) -> Callable[[Any], Iterator[Any]]:
    """What a worker does with its batches, given what the driver knows."""
    return lambda batches: function(*known.value, batches)
