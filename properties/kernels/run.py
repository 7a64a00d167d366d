"""All kernels over one run, chunk by chunk: the rows are sorted once by side and once by subtask, and dealt out.

What needs both ends of a channel and what needs the steps of a subtask are two halves, so that rows which do not fit
one worker can go to different ones. Only lateness needs both: the subtask says which records came late.
"""

from collections.abc import Iterator

import attrs
import numpy as np

from tidegate.properties.kernels.columns import Chunk, sort_stably
from tidegate.properties.kernels.credit import Credits, Grants
from tidegate.properties.kernels.findings import MOST, Tally
from tidegate.properties.kernels.layout import IN, NONE, OUT, RECORD, SIDES, STATUS, WATERMARK, Array, Layout
from tidegate.properties.kernels.matching import Identity, Matching, Queue
from tidegate.properties.kernels.routes import Routes
from tidegate.properties.kernels.sides import Endings, Rows, Statuses, Watermarks
from tidegate.properties.kernels.subtasks import Barriers, Clocks, Steps
from tidegate.properties.runlog import INVARIANTS
from tidegate.reference.elements import MIN
from tidegate.traces.runlog import MalformedLogError

#: Late records by channel: the positions as the receiver counts them.
Late = dict[int, set[int]]


def make_tallies(layout: Layout, most: int = MOST) -> dict[str, Tally]:
    """One for each invariant that the engine can show."""
    able = layout.job.capabilities
    return {one.id: Tally(most=most) for one in INVARIANTS if not one.lacks(able)}


def skipped(layout: Layout) -> dict[str, str]:
    """The other invariants, and why they are skipped."""
    able = layout.job.capabilities
    lacking = {one.id: one.lacks(able) for one in INVARIANTS}
    return {invariant: f"the engine shows no {lack}" for invariant, lack in lacking.items() if lack}


def find_groups(codes: Array) -> Iterator[tuple[int, int, int]]:
    """Of sorted codes: each code with its first place and the one behind its last."""
    if not len(codes):
        return
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    yield from zip(codes[starts].tolist(), starts.tolist(), [*starts[1:].tolist(), len(codes)], strict=True)


@attrs.define
class SubtaskHalf:
    layout: Layout
    tallies: dict[str, Tally]
    steps: dict[int, int] = attrs.Factory(dict)
    routes: Routes = attrs.field(init=False)
    clocks: Clocks = attrs.field(init=False)
    barriers: Barriers = attrs.field(init=False)
    credits: Credits = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        unused = Tally()
        self.routes = Routes(self.layout, self.tallies.get("LOG-ROUTE", unused))
        self.clocks = Clocks(self.layout)
        self.barriers = Barriers(self.layout, self.tallies.get("LOG-BARRIER", unused))
        self.credits = Credits(self.layout, self.tallies.get("LOG-CREDIT", unused))

    def feed(self, chunk: Chunk) -> Array:
        """The places of the records that came late."""
        if "LOG-ROUTE" in self.tallies:
            self.routes.feed(chunk)
            self.routes.feed_keys(chunk)
        if "LOG-CREDIT" in self.tallies:
            self.credits.feed(chunk, chunk.rare)
        order = sort_stably(chunk.subtask)
        rare = chunk.rare[sort_stably(chunk.subtask[chunk.rare])]
        rare_subtasks = chunk.subtask[rare]
        late = []
        for subtask, start, stop in find_groups(chunk.subtask[order]):
            places = order[start:stop]
            self.check_steps(chunk, subtask, places)
            first, behind = np.searchsorted(rare_subtasks, [subtask, subtask + 1])
            steps = Steps(chunk, self.layout, subtask, places, rare[first:behind])
            if "LOG-BARRIER" in self.tallies:
                self.barriers.feed(steps)
            if "LOG-LATE" in self.tallies:
                late.append(self.clocks.find_late(steps))
        return np.concatenate(late) if late else np.empty(0, dtype=np.int64)

    def check_steps(self, chunk: Chunk, subtask: int, places: Array) -> None:
        first = self.steps.get(subtask, 0)
        self.steps[subtask] = first + len(places)
        check_count(chunk.step[places], first, "step", "{}/{}".format(*self.layout.subtask_at(subtask)))

    def finish(self) -> None:
        self.routes.finish()


def check_count(numbers: Array, first: int, what: str, where: str) -> None:
    right = numbers[0] == first and (np.diff(numbers) == 1).all()
    if not right:
        wrong = int(numbers[np.argmax(numbers != np.arange(first, first + len(numbers)))])
        raise MalformedLogError(f"{where}: {what} {wrong} is missing, comes twice or is out of order")


@attrs.define
class ChannelHalf:
    """`excluded`: see Matching; then nothing else is looked at."""

    layout: Layout
    tallies: dict[str, Tally]
    excluded: dict[int, set[Identity]] | None = None
    positions: dict[int, int] = attrs.Factory(dict)
    in_time: dict[int, tuple[int, bool]] = attrs.Factory(dict)
    matching: Matching = attrs.field(init=False)
    watermarks: Watermarks = attrs.field(init=False)
    statuses: Statuses = attrs.field(init=False)
    endings: Endings = attrs.field(init=False)
    grants: Grants = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        able = self.layout.job.capabilities
        tally = {invariant: self.tallies.get(f"LOG-{invariant}", Tally()) for invariant in ("ORDER", "LOSS", "LATE")}
        self.matching = Matching(self.layout, tally["ORDER"], tally["LOSS"], tally["LATE"], self.excluded)
        self.watermarks = Watermarks(self.tallies.get("LOG-WATERMARK", Tally()), able.equal_watermarks)
        self.statuses = Statuses(self.tallies.get("LOG-STATUS", Tally()))
        self.endings = Endings(self.tallies.get("LOG-END", Tally()), able.explicit_watermarks)
        self.grants = Grants(self.layout, self.tallies.get("LOG-CREDIT", Tally()))

    def feed(self, chunk: Chunk, late: Array) -> None:
        side = chunk.side
        order = sort_stably(side)
        sorted_chunk = Sorted(chunk, order, late)
        channels: dict[int, dict[int, tuple[int, int]]] = {}
        for code, start, stop in find_groups(side[order]):
            self.check_positions(sorted_chunk, code, start, stop)
            channels.setdefault(code // SIDES, {})[code % SIDES] = start, stop
        for channel, sides in channels.items():
            self.feed_channel(channel, sides, sorted_chunk)

    def check_positions(self, rows: "Sorted", code: int, start: int, stop: int) -> None:
        first = self.positions.get(code, 0)
        self.positions[code] = first + stop - start
        edge, producer, consumer = self.layout.channel_at(code // SIDES)
        check_count(rows.position[start:stop], first, "position", f"channel {edge}/{producer}/{consumer}")

    def feed_channel(self, channel: int, sides: dict[int, tuple[int, int]], rows: "Sorted") -> None:
        queues = []
        for direction in (OUT, IN):
            start, stop = sides.get(direction, (0, 0))
            if stop > start and self.excluded is None:
                self.look_at_side(rows.side(self.layout, channel, direction, start, stop))
            flag = self.find_in_time(channel, rows, start, stop) if direction == OUT else rows.late[start:stop]
            part = slice(start, stop)
            queues.append(Queue(rows.name[part], rows.sort[part], rows.position[part], rows.step[part], flag))
        if len(queues[OUT]) or len(queues[IN]):
            self.matching.feed(channel, queues[OUT], queues[IN])
        granted, received = (slice(*sides.get(4 + direction, (0, 0))) for direction in (OUT, IN))
        if "LOG-CREDIT" in self.tallies and (granted.stop or received.stop) and self.excluded is None:
            columns = rows.value[received], rows.position[received], rows.step[received]
            self.grants.feed(channel, rows.value[granted], np.stack(columns, axis=1))

    def look_at_side(self, rows: Rows) -> None:
        if "LOG-WATERMARK" in self.tallies:
            self.watermarks.feed(rows)
        if "LOG-STATUS" in self.tallies:
            self.statuses.feed(rows)
        if "LOG-END" in self.tallies:
            self.endings.feed(rows)

    def find_in_time(self, channel: int, rows: "Sorted", start: int, stop: int) -> Array:
        """The records that are not late where they are sent, on a channel that was never idle until then."""
        last, never_idle = self.in_time.get(channel, (int(MIN), True))
        if not never_idle or "LOG-LATE" not in self.tallies:
            return np.zeros(stop - start, dtype=bool)
        marks = rows.marks(start, stop)
        idle = marks[rows.kind[marks] == STATUS][:1]
        marks = marks[(rows.kind[marks] == WATERMARK) & (rows.timestamp[marks] != NONE)]
        highest = np.maximum.accumulate(np.concatenate([[last], rows.timestamp[marks]]))
        time = np.repeat(highest, np.diff(np.concatenate([[start], marks, [stop]])))
        flags = (rows.timestamp[start:stop] > time) & (rows.kind[start:stop] == RECORD)
        if len(idle):
            flags[int(idle[0]) - start :] = False
        self.in_time[channel] = int(highest[-1]), not len(idle)
        return np.asarray(flags)

    def finish(self, *, complete: bool) -> dict[int, set[Identity]]:
        """The channels whose order needs a second look, and what to leave out of it."""
        unclear = self.matching.finish(complete=complete)
        if self.excluded is None:
            self.endings.finish(self.layout, complete=complete)
            self.grants.finish()
        return unclear


class Sorted:
    """The columns of a chunk in the order of its sides."""

    def __init__(self, chunk: Chunk, order: Array, late: Array) -> None:
        self.kind, self.timestamp, self.value = chunk.kind[order], chunk.timestamp[order], chunk.value[order]
        self.position, self.step = chunk.position[order], chunk.step[order]
        self.name, self.sort = chunk.name[order], chunk.sort[order]
        self.rare = np.flatnonzero(self.kind != RECORD)
        flags = np.zeros(len(chunk), dtype=bool)
        flags[late] = True
        self.late = flags[order]

    def marks(self, start: int, stop: int) -> Array:
        first, behind = np.searchsorted(self.rare, [start, stop])
        return self.rare[first:behind]

    def side(self, layout: Layout, channel: int, direction: int, start: int, stop: int) -> Rows:
        part = slice(start, stop)
        columns = self.kind[part], self.timestamp[part], self.value[part], self.position[part], self.step[part]
        return Rows(layout, channel, direction, *columns, self.marks(start, stop) - start)


@attrs.define
class RunKernels:
    """Both halves over the rows of a run in the order of its log."""

    layout: Layout
    complete: bool
    tallies: dict[str, Tally]
    subtasks: SubtaskHalf = attrs.field(init=False)
    channels: ChannelHalf = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.subtasks = SubtaskHalf(self.layout, self.tallies)
        self.channels = ChannelHalf(self.layout, self.tallies)

    def feed(self, chunk: Chunk) -> None:
        if len(chunk):
            self.channels.feed(chunk, self.subtasks.feed(chunk))

    def finish(self) -> dict[int, set[Identity]]:
        self.subtasks.finish()
        return self.channels.finish(complete=self.complete)


@attrs.define
class SecondLook:
    """At the order of channels that have lost, invented or doubled elements, without these."""

    layout: Layout
    tallies: dict[str, Tally]
    unclear: dict[int, set[Identity]]
    channels: ChannelHalf = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        order = {"LOG-ORDER": Tally(most=self.tallies["LOG-ORDER"].most)}
        self.channels = ChannelHalf(self.layout, order, self.unclear)

    def feed(self, chunk: Chunk) -> None:
        if len(chunk):
            self.channels.feed(chunk, np.empty(0, dtype=np.int64))

    def finish(self) -> None:
        self.channels.finish(complete=True)
        found = self.channels.tallies["LOG-ORDER"]
        self.tallies["LOG-ORDER"].add(found.violated, found.findings)
