"""The kernels in two halves: those that need both ends of a channel, and those that need the steps of a subtask.

So rows that do not fit one worker can go to several. Only lateness needs both: the subtask says which records were
late. Rows are sorted once by subtask and once by side.
"""

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, Chunk, compute_sorts
from tidegate.properties.kernels.credit import Credits, Grants
from tidegate.properties.kernels.disagreement import Disagreements, Identity, Queue
from tidegate.properties.kernels.findings import Tally
from tidegate.properties.kernels.held_order import HeldOrder, holds_order
from tidegate.properties.kernels.layout import BUFFER, SIDES, Array
from tidegate.properties.kernels.made_late import MadeLate
from tidegate.properties.kernels.matching import Matching
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.ordered import Ordered
from tidegate.properties.kernels.routes import Routes
from tidegate.properties.kernels.segments import EMPTY, find_starts, grown, is_counted_on, measure, sort_stably
from tidegate.properties.kernels.sides import Endings, Statuses, Watermarks
from tidegate.properties.kernels.subtasks import Barriers, Clocks, Steps
from tidegate.traces.runlog import MalformedLogError


@attrs.define
class Counter:
    """Steps, or positions: each run of rows continues where the previous one of its code ended."""

    following: Array = EMPTY

    def count(self, codes: Array, starts: Array, lengths: Array, numbers: Array, size: int) -> int | None:
        """The place of the first wrong number; `size`: number of codes."""
        self.following = grown(self.following, size, 0)
        firsts = self.following[codes]
        self.following[codes] += lengths
        if is_counted_on(numbers, starts) and np.array_equal(numbers[starts], firsts):
            return None
        due = np.arange(len(numbers)) + np.repeat(firsts - starts, lengths)
        return int(np.argmax(numbers != due))


@attrs.define
class SubtaskHalf:
    numbering: Numbering
    tallies: dict[str, Tally]
    steps: Counter = attrs.Factory(Counter)
    routes: Routes = attrs.field(init=False)
    clocks: Clocks = attrs.field(init=False)
    made_late: MadeLate = attrs.field(init=False)
    barriers: Barriers = attrs.field(init=False)
    credits: Credits = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        unused = Tally()
        self.routes = Routes(self.numbering, self.tallies.get("LOG-ROUTE", unused))
        self.clocks = Clocks(self.numbering, self.tallies.get("LOG-LATE", unused))
        self.made_late = MadeLate(self.numbering, self.tallies.get("LOG-MADE-LATE", unused))
        self.barriers = Barriers(self.numbering, self.tallies.get("LOG-BARRIER", unused))
        self.credits = Credits(self.numbering, self.tallies.get("LOG-CREDIT", unused))

    def feed(self, chunk: Chunk) -> tuple[Steps, Array]:
        """The rows in step order, and the late records of the chunk."""
        steps = Steps(chunk, self.numbering)
        self.check_steps(steps)
        if "LOG-ROUTE" in self.tallies:
            self.routes.feed(steps)
            self.routes.feed_keys(chunk)
        if "LOG-CREDIT" in self.tallies:
            self.credits.feed(chunk)
        if "LOG-BARRIER" in self.tallies:
            self.barriers.feed(steps)
        if "LOG-MADE-LATE" in self.tallies:
            self.made_late.feed(steps)
        return steps, self.clocks.find_late(steps) if "LOG-LATE" in self.tallies else EMPTY

    def check_steps(self, steps: Steps) -> None:
        size = len(self.numbering.subtasks)
        wrong = self.steps.count(steps.subtasks, steps.starts, steps.lengths, steps.step, size)
        if wrong is not None:
            task, number = self.numbering.subtask_at(int(steps.chunk.subtask[steps.order[wrong]]))
            raise MalformedLogError(describe_count(f"{task}/{number}", "step", int(steps.step[wrong])))

    def finish(self) -> None:
        self.routes.finish()
        self.clocks.finish()
        self.made_late.finish()


def describe_count(where: str, what: str, number: int) -> str:
    return f"{where}: {what} {number} is missing, comes twice or is out of order"


@attrs.define
class ChannelHalf:
    numbering: Numbering
    tallies: dict[str, Tally]
    positions: Counter = attrs.Factory(Counter)
    held: HeldOrder | None = attrs.field(init=False)
    matching: Matching = attrs.field(init=False)
    watermarks: Watermarks = attrs.field(init=False)
    statuses: Statuses = attrs.field(init=False)
    endings: Endings = attrs.field(init=False)
    grants: Grants = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        able, unused = self.numbering.layout.job.capabilities, Tally()
        order, loss, late = (self.tallies.get(f"LOG-{name}", unused) for name in ("ORDER", "LOSS", "LATE"))
        self.held = HeldOrder(self.numbering, order) if holds_order(able) else None
        if self.held is not None:
            order = unused
        self.matching = Matching(self.numbering, order, loss, late, looks_for_late="LOG-LATE" in self.tallies)
        self.watermarks = Watermarks(self.tallies.get("LOG-WATERMARK", unused), able.equal_watermarks)
        self.statuses = Statuses(self.tallies.get("LOG-STATUS", unused))
        self.endings = Endings(self.numbering, self.tallies.get("LOG-END", unused), able.explicit_watermarks)
        self.grants = Grants(self.numbering, self.tallies.get("LOG-CREDIT", unused))

    def feed(self, chunk: Chunk, late: Array) -> Ordered:
        rows = Ordered(chunk, self.numbering, late)
        self.check_positions(rows)
        marks, runs = rows.marks, rows.runs_of(0)
        if "LOG-WATERMARK" in self.tallies:
            self.watermarks.feed(rows, marks)
        if "LOG-STATUS" in self.tallies:
            self.statuses.feed(rows, marks)
        if "LOG-END" in self.tallies:
            self.endings.feed(rows, marks, *runs)
        if not self.tallies.keys().isdisjoint({"LOG-ORDER", "LOG-LOSS", "LOG-LATE"}):
            self.matching.feed(rows, marks, *runs)
        if "LOG-CREDIT" in self.tallies:
            self.grants.feed(rows)
        if self.held is not None and "LOG-ORDER" in self.tallies:
            self.held.feed(chunk)
        return rows

    def check_positions(self, rows: Ordered) -> None:
        size = self.numbering.sides
        wrong = self.positions.count(rows.codes, rows.starts, rows.lengths, rows.position, size)
        if wrong is not None:
            edge, producer, consumer = self.numbering.channel_at(int(rows.chunk.channel[rows.order[wrong]]))
            where = f"channel {edge}/{producer}/{consumer}"
            raise MalformedLogError(describe_count(where, "position", int(rows.position[wrong])))

    def finish(self, *, complete: bool) -> dict[int, set[Identity]]:
        """The channels whose order needs a second pass, with the elements to exclude."""
        if "LOG-END" in self.tallies:
            self.endings.finish(complete=complete)
        self.grants.finish()
        unclear = self.matching.finish(complete=complete)
        if self.held is None:
            return unclear
        if "LOG-ORDER" in self.tallies:
            self.held.finish()
        return {}


@attrs.define
class SecondLook:
    """The second pass: the order of channels with lost, invented or duplicated elements, without these."""

    numbering: Numbering
    tally: Tally
    unclear: dict[int, set[Identity]]
    matching: Disagreements = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        order = Tally(most=self.tally.most)
        self.matching = Disagreements(self.numbering, order, Tally(most=0), Tally(most=0), self.unclear)

    def feed(self, chunk: Chunk) -> None:
        chosen = np.flatnonzero(np.isin(chunk.channel, list(self.unclear)))
        chosen = chosen[chunk.what[chosen] & KIND < BUFFER]
        side = chunk.side[chosen]
        order = sort_stably(side)
        chosen, side = chosen[order], side[order]
        starts = find_starts(side)
        queues: dict[int, dict[int, Queue]] = {}
        for start, length in zip(starts.tolist(), measure(starts, len(side)).tolist(), strict=True):
            part, code = chosen[start : start + length], int(side[start])
            queues.setdefault(code // SIDES, {})[code % SIDES] = make_queue(chunk, part)
        nothing = make_queue(chunk, EMPTY)
        for channel, ends in queues.items():
            self.matching.feed(channel, ends.get(0, nothing), ends.get(1, nothing))

    def finish(self) -> None:
        self.matching.finish(complete=True)
        self.tally.add(self.matching.order.violated, self.matching.order.findings)


def make_queue(chunk: Chunk, rows: Array) -> Queue:
    sorts = compute_sorts(chunk.what[rows], chunk.value[rows])
    columns = chunk.name[rows], sorts, chunk.position[rows], chunk.step[rows]
    return Queue(*columns, np.zeros(len(rows), dtype=bool))
