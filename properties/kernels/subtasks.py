"""Kernels of subtasks: event time and barriers, in the step order of each subtask."""

from collections.abc import Iterator
from heapq import heappop, heappush

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, RECEIVED, Chunk
from tidegate.properties.kernels.findings import Tally, find
from tidegate.properties.kernels.layout import (
    BARRIER,
    BUFFER,
    CLOCK,
    END_OF_PARTITION,
    KINDS,
    NONE,
    RECORD,
    STATUS,
    WATERMARK,
    Array,
)
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.segments import find_runs, grown, measure, sort_stably
from tidegate.properties.kernels.sides import show
from tidegate.reference.elements import MIN


class Steps:
    """The rows of a chunk sorted by subtask and step. Places count in this order.

    `order` has the place of each row in the chunk. `subtasks` are those of the runs that begin at `starts`.
    """

    def __init__(self, chunk: Chunk, numbering: Numbering) -> None:
        self.chunk = chunk
        self.order = sort_stably(chunk.subtask)
        self.subtasks, self.starts, self.lengths = find_runs(chunk.subtask, self.order, len(numbering.subtasks))
        self.channel = chunk.channel.take(self.order)
        self.what = chunk.what.take(self.order)
        self.step = chunk.step.take(self.order)
        self.rare = np.flatnonzero(self.what & KIND)

    def by_subtask(self, places: Array) -> Iterator[tuple[int, int, int, Array]]:
        """Each subtask with the range of its places, and the given places within that range."""
        behind = self.starts + self.lengths
        bounds = np.searchsorted(places, np.append(self.starts, behind[-1:])).tolist()
        runs = zip(self.subtasks.tolist(), self.starts.tolist(), behind.tolist(), strict=True)
        for turn, (subtask, start, stop) in enumerate(runs):
            yield subtask, start, stop, places[bounds[turn] : bounds[turn + 1]]


# --- event time -----------------------------------------------------------------------------------------------


@attrs.define
class Clock:
    """Event time at a subtask and at each of its channels, as the clock of the fold.

    `unheard`: number of channels of the wiring without a watermark yet. `lowest`: a heap of the channels' event times;
    it also has outdated ones.
    """

    unheard: int
    reached: dict[int, int] = attrs.Factory(dict)
    lowest: list[tuple[int, int]] = attrs.Factory(list)
    time: int = int(MIN)
    never_idle: bool = True

    def reach(self, channel: int, stamp: int) -> None:
        if stamp > self.reached.get(channel, stamp - 1):
            self.reached[channel] = stamp
            heappush(self.lowest, (stamp, channel))
        while self.reached[self.lowest[0][1]] > self.lowest[0][0]:
            heappop(self.lowest)
        if not self.unheard:
            self.time = max(self.time, self.lowest[0][0])


@attrs.define
class Clocks:
    """Finds records that are late at their receiver; only the channel knows which were in time when sent."""

    numbering: Numbering
    tally: Tally
    clocks: dict[int, Clock] = attrs.Factory(dict)
    #: Received records per subtask, and the subtasks with event time.
    received: dict[int, int] = attrs.Factory(dict)
    told: set[int] = attrs.Factory(set)

    def finish(self) -> None:
        """Without any event time nothing can be late, and nothing was checked."""
        self.tally.checked += sum(count for subtask, count in self.received.items() if subtask in self.told)

    def count(self, steps: Steps, times: Array) -> None:
        is_record = steps.what == RECORD + RECEIVED
        for subtask, start, stop, mine in steps.by_subtask(times):
            if subtask not in self.told and len(mine):
                self.told.add(subtask)
            self.received[subtask] = self.received.get(subtask, 0) + int(np.count_nonzero(is_record[start:stop]))

    def find_late(self, steps: Steps) -> Array:
        """The rows of the chunk that are late records."""
        kinds, received = steps.what[steps.rare] & KIND, steps.what[steps.rare] >= RECEIVED
        tells = (kinds == WATERMARK) | (kinds == CLOCK)
        self.count(steps, steps.rare[tells])
        ticks = steps.rare[tells | ((kinds == STATUS) & received)]
        bounds, times = [], []
        for subtask, start, _stop, mine in steps.by_subtask(ticks):
            clock = self.clocks.get(subtask) or self.start(subtask)
            bounds.append(start)
            times.append(clock.time)
            if len(mine):
                bounds += mine.tolist()
                times += self.advance(clock, steps, mine)
        in_force = np.repeat(np.array(times, dtype=np.int64), measure(np.array(bounds), len(steps.what)))
        stamps = steps.chunk.timestamp.take(steps.order)
        late = np.flatnonzero((stamps <= in_force) & (steps.what == RECORD + RECEIVED))
        return np.asarray(steps.order[late[stamps[late] != NONE]])

    def start(self, subtask: int) -> Clock:
        clock = Clock(self.numbering.layout.count_inputs(int(self.numbering.subtasks.codes[subtask])))
        self.clocks[subtask] = clock
        return clock

    def advance(self, clock: Clock, steps: Steps, ticks: Array) -> list[int]:
        """Event time after each tick."""
        rows, what = steps.order[ticks], steps.what[ticks]
        columns = what.tolist(), steps.chunk.timestamp[rows].tolist(), steps.channel[ticks].tolist()
        times = []
        for one, stamp, channel in zip(*columns, strict=True):
            if one == STATUS + RECEIVED:
                clock.never_idle = False
            elif stamp == NONE:
                pass
            elif one in (WATERMARK, CLOCK):
                clock.time = max(clock.time, stamp)
            elif clock.never_idle:
                if channel not in clock.reached:
                    clock.unheard -= int(self.numbering.place[channel] >= 0)
                clock.reach(channel, stamp)
            times.append(clock.time)
        return times


# --- barriers -------------------------------------------------------------------------------------------------


@attrs.define
class Alignment:
    """As in the fold, except that every output without the barrier is owed it.

    `inputs` and `outputs`: number of channels in the wiring. `strangers`: channels that are read but not in the wiring.
    `unpaid`: number of outputs in the wiring without the barrier yet.
    """

    inputs: int
    outputs: int
    checkpoint: int = NONE
    met: set[int] = attrs.Factory(set)
    over: set[int] = attrs.Factory(set)
    strangers: set[int] = attrs.Factory(set)
    owes: bool = False
    paid: set[int] = attrs.Factory(set)
    unpaid: int = 0

    def are_all(self, channels: set[int]) -> bool:
        return len(channels) == self.inputs and self.strangers.isdisjoint(channels)

    def is_owed(self, channel: int) -> bool:
        return self.owes and channel not in self.paid


#: A barrier or an end: its place, its kind, its channel and the number of its checkpoint.
Mark = tuple[int, int, int, int]


@attrs.define
class Barriers:
    """Only barriers and ends change the state: all rows between them are checked at once.

    `is_met` and `is_paid`: per channel, its state in the alignments of the subtasks at its ends.
    """

    numbering: Numbering
    tally: Tally
    subtasks: dict[int, Alignment | None] = attrs.Factory(dict)
    is_met: Array = attrs.Factory(lambda: np.empty(0, dtype=bool))
    is_paid: Array = attrs.Factory(lambda: np.empty(0, dtype=bool))

    def feed(self, steps: Steps) -> None:
        size = len(self.numbering.channels)
        self.is_met, self.is_paid = grown(self.is_met, size, fill=False), grown(self.is_paid, size, fill=False)
        kinds = steps.what[steps.rare] & KIND
        places = steps.rare[(kinds == BARRIER) | (kinds == END_OF_PARTITION)]
        columns = steps.what[places], steps.channel[places], steps.chunk.value[steps.order[places]]
        marks = list(zip(places.tolist(), *(column.tolist() for column in columns), strict=True))
        first = 0
        for subtask, start, stop, mine in steps.by_subtask(places):
            self.look_at(steps, subtask, start, stop, marks[first : first + len(mine)])
            first += len(mine)

    def look_at(self, steps: Steps, subtask: int, start: int, stop: int, marks: list[Mark]) -> None:
        state = self.subtasks[subtask] if subtask in self.subtasks else self.start(subtask)
        if state is None:
            return
        self.tally.checked += stop - start
        for mark in marks:
            self.look_between(steps, state, start, mark[0])
            wrong = self.step(state, *mark[1:])
            if wrong:
                place = int(steps.order[mark[0]])
                self.tally.add(1, find(steps.chunk, self.numbering, "LOG-BARRIER", [(place, wrong)]))
            start = mark[0] + 1
        self.look_between(steps, state, start, stop)

    def start(self, subtask: int) -> Alignment | None:
        """None for a task that reads nothing."""
        layout, code = self.numbering.layout, int(self.numbering.subtasks.codes[subtask])
        state = None
        if layout.subtask_at(code)[0] in layout.readers:
            state = Alignment(layout.count_inputs(code), layout.count_outputs(code))
        self.subtasks[subtask] = state
        return state

    def look_between(self, steps: Steps, state: Alignment, start: int, stop: int) -> None:
        """If all outputs of the wiring have the barrier, only channels outside the wiring are owed it."""
        may_owe = state.owes and (state.unpaid > 0 or self.numbering.layout.strays)
        if start == stop or not (state.met or may_owe):
            return
        what, channels = steps.what[start:stop], steps.channel[start:stop]
        wrong = self.is_met[channels] & (what >= RECEIVED)
        if may_owe:
            wrong |= (what < RECEIVED) & ~self.is_paid[channels]
        if not wrong.any():
            return
        found = steps.order[start + np.flatnonzero(wrong & (what & KIND < BUFFER))]
        # The state changes before the findings are formatted, so format this part now.
        chunk, texts = steps.chunk, [describe(state, received=received) for received in (False, True)]
        told = ((at, f"{KINDS[chunk.kind_at(at)]} {texts[chunk.direction_at(at)]}") for at in found.tolist())
        self.tally.add(len(found), find(chunk, self.numbering, "LOG-BARRIER", told))

    def step(self, state: Alignment, what: int, channel: int, number: int) -> str:
        """The error of a barrier or an end, if any."""
        kind = what & KIND
        if what < RECEIVED:
            return self.send(state, kind, channel, number)
        if channel in state.met:
            return f"{KINDS[kind]} {describe(state, received=True)}"
        if kind == BARRIER and state.met and number != state.checkpoint:
            return f"barrier {show(number)} is met while others wait for barrier {show(state.checkpoint)}"
        if self.numbering.place[channel] < 0:
            state.strangers.add(channel)
        if kind == BARRIER:
            state.met.add(channel)
            self.is_met[channel] = True
            state.checkpoint = number
        else:
            state.over.add(channel)
        if state.met and state.are_all(state.met | state.over):
            self.is_met[list(state.met)] = False
            self.is_paid[list(state.paid)] = False
            state.met, state.owes, state.paid, state.unpaid = set(), True, set(), state.outputs
        return ""

    def send(self, state: Alignment, kind: int, channel: int, number: int) -> str:
        is_owed = state.is_owed(channel)
        if kind != BARRIER:
            return f"{KINDS[kind]} {describe(state, received=False)}" if is_owed else ""
        if is_owed and number == state.checkpoint:
            state.paid.add(channel)
            self.is_paid[channel] = True
            state.unpaid -= int(self.numbering.place[channel] >= 0)
            return ""
        begins = not is_owed and state.are_all(state.over)
        return "" if begins else f"barrier {show(number)} is sent before it was met on all channels"


def describe(state: Alignment, *, received: bool) -> str:
    if received:
        return "is read behind a barrier that other channels have not brought"
    return f"is sent before barrier {show(state.checkpoint)}, which was met on all channels"
