"""Kernels of subtasks: event time, barriers and credit, in each subtask's own order of steps."""

from collections.abc import Iterable, Iterator

import attrs
import numpy as np

from tidegate.properties.kernels.columns import Chunk
from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.kernels.layout import (
    BARRIER,
    BUFFER,
    DIRECTIONS,
    END_OF_PARTITION,
    IN,
    KINDS,
    NONE,
    OUT,
    RECORD,
    STATUS,
    WATERMARK,
    Array,
    Layout,
)
from tidegate.reference.elements import MIN


@attrs.frozen(eq=False)
class Steps:
    """Consecutive rows of a subtask, as places in a chunk. `rare` are those that are no records."""

    chunk: Chunk
    layout: Layout
    subtask: int
    places: Array
    rare: Array

    def pick(self, kind: int, direction: int | None = None) -> Array:
        chosen = self.chunk.kind[self.rare] == kind
        if direction is not None:
            chosen &= self.chunk.direction[self.rare] == direction
        return np.asarray(self.rare[chosen])


def find(chunk: Chunk, layout: Layout, invariant: str, found: Iterable[tuple[int, str]]) -> Iterator[Finding]:
    """Findings from places in a chunk."""
    for place, message in found:
        yield Finding(
            invariant,
            layout.channel_at(int(chunk.channel[place])),
            DIRECTIONS[chunk.direction[place]],
            KINDS[chunk.kind[place]],
            int(chunk.position[place]),
            int(chunk.step[place]),
            message,
        )


# --- event time -----------------------------------------------------------------------------------------------


@attrs.define
class Clock:
    """Event time at a subtask, and what each of its channels has reached; as the fold's clock."""

    columns: dict[int, int]
    reached: Array
    time: int = int(MIN)
    never_idle: bool = True


@attrs.define
class Clocks:
    """Finds the received records that are late at their receiver; who was in time when sent, only the channel knows."""

    layout: Layout
    clocks: dict[int, Clock] = attrs.Factory(dict)

    def find_late(self, steps: Steps) -> Array:
        """The places of the records that come at or after their time."""
        clock = self.clocks.get(steps.subtask) or self.start(steps.subtask)
        chunk = steps.chunk
        ticks = np.sort(np.concatenate([steps.pick(WATERMARK), steps.pick(STATUS, IN)]))
        first = clock.time
        times = self.advance(clock, chunk, ticks)
        in_force = np.concatenate([[first], times])
        bounds = np.searchsorted(steps.places, ticks)
        time_at = np.repeat(in_force, np.diff(np.concatenate([[0], bounds, [len(steps.places)]])))
        times_of_rows = chunk.timestamp[steps.places]
        late = times_of_rows <= time_at
        late &= (chunk.kind[steps.places] == RECORD) & (chunk.direction[steps.places] == IN)
        if late.any():
            late &= times_of_rows != NONE
        return steps.places[late]

    def start(self, subtask: int) -> Clock:
        columns = {channel: column for column, channel in enumerate(self.layout.inputs.get(subtask, ()))}
        clock = Clock(columns, np.full(len(columns), MIN, dtype=np.int64))
        self.clocks[subtask] = clock
        return clock

    def advance(self, clock: Clock, chunk: Chunk, ticks: Array) -> Array:
        """Event time after each tick."""
        if not len(ticks):
            return np.empty(0, dtype=np.int64)
        kinds, stamps = chunk.kind[ticks], chunk.timestamp[ticks]
        is_out = chunk.direction[ticks] == OUT
        usable = (kinds == WATERMARK) & (stamps != NONE)
        idle = np.logical_or.accumulate(kinds == STATUS) | (not clock.never_idle)
        times = np.where(usable & is_out, stamps, MIN)
        counted = np.flatnonzero(usable & ~is_out & ~idle)
        if len(counted):
            times[counted] = self.reach(clock, chunk.channel[ticks[counted]], stamps[counted])
        times = np.maximum(np.maximum.accumulate(times), clock.time)
        clock.time, clock.never_idle = int(times[-1]), not bool(idle[-1])
        return times

    def reach(self, clock: Clock, channels: Array, stamps: Array) -> Array:
        """The least of what all channels have reached, after each watermark."""
        if not all(channel in clock.columns for channel in np.unique(channels).tolist()):
            return self.reach_one_by_one(clock, channels, stamps)
        columns = np.array([clock.columns[channel] for channel in channels.tolist()])
        table = np.full((len(stamps) + 1, len(clock.reached)), MIN, dtype=np.int64)
        table[0] = clock.reached
        table[np.arange(1, len(stamps) + 1), columns] = stamps
        table = np.maximum.accumulate(table, axis=0)
        clock.reached = table[-1].copy()
        return np.asarray(table[1:].min(axis=1))

    def reach_one_by_one(self, clock: Clock, channels: Array, stamps: Array) -> Array:
        """A channel that the wiring does not have counts from its first watermark on."""
        times = []
        for channel, stamp in zip(channels.tolist(), stamps.tolist(), strict=True):
            if channel not in clock.columns:
                clock.columns[channel] = len(clock.columns)
                clock.reached = np.append(clock.reached, MIN)
            column = clock.columns[channel]
            clock.reached[column] = max(clock.reached[column], stamp)
            times.append(int(clock.reached.min()))
        return np.array(times, dtype=np.int64)


# --- barriers -------------------------------------------------------------------------------------------------


@attrs.define
class Alignment:
    """As the fold's, but that a barrier is owed to every output that has not got it."""

    channels: set[int]
    checkpoint: int = NONE
    met: set[int] = attrs.Factory(set)
    over: set[int] = attrs.Factory(set)
    owes: bool = False
    paid: set[int] = attrs.Factory(set)

    def is_owed(self, channel: int) -> bool:
        return self.owes and channel not in self.paid


@attrs.define
class Barriers:
    """Only barriers and ends change anything: what lies between them is looked at all at once."""

    layout: Layout
    tally: Tally
    subtasks: dict[int, Alignment] = attrs.Factory(dict)

    def feed(self, steps: Steps) -> None:
        if self.layout.subtask_at(steps.subtask)[0] not in self.layout.readers:
            return
        self.tally.checked += len(steps.places)
        state = self.subtasks.setdefault(steps.subtask, Alignment(set(self.layout.inputs.get(steps.subtask, ()))))
        marks = np.sort(np.concatenate([steps.pick(BARRIER), steps.pick(END_OF_PARTITION)]))
        bounds = np.searchsorted(steps.places, marks)
        at = 0
        for mark, bound in zip(marks.tolist(), bounds.tolist(), strict=True):
            self.look_between(steps, state, steps.places[at:bound])
            wrong = self.step(steps.chunk, state, mark)
            if wrong:
                self.tally.add(1, find(steps.chunk, self.layout, "LOG-BARRIER", [(mark, wrong)]))
            at = bound + 1
        self.look_between(steps, state, steps.places[at:])

    def look_between(self, steps: Steps, state: Alignment, places: Array) -> None:
        if not len(places) or not (state.met or state.owes):
            return
        chunk = steps.chunk
        if not state.met and state.paid >= self.layout.outputs.get(steps.subtask, set()):
            # All that the wiring has is paid: a barrier is owed only to channels that it does not have.
            places = places[self.layout.place_of_channel[chunk.channel[places]] < 0]
            if not len(places):
                return
        places = places[chunk.kind[places] < BUFFER]
        channels, received = chunk.channel[places], chunk.direction[places] == IN
        wrong = received & np.isin(channels, list(state.met))
        if state.owes:
            wrong |= ~received & ~np.isin(channels, list(state.paid))
        found = [(place, describe(KINDS[chunk.kind[place]], chunk, place, state)) for place in places[wrong].tolist()]
        self.tally.add(len(found), find(chunk, self.layout, "LOG-BARRIER", found))

    def step(self, chunk: Chunk, state: Alignment, place: int) -> str:
        """What is wrong with a barrier or an end."""
        kind, channel, number = int(chunk.kind[place]), int(chunk.channel[place]), int(chunk.value[place])
        if chunk.direction[place] == OUT:
            if kind != BARRIER:
                return describe(KINDS[kind], chunk, place, state) if state.is_owed(channel) else ""
            is_owed = state.is_owed(channel)
            if is_owed and number == state.checkpoint:
                state.paid.add(channel)
                return ""
            begins = not is_owed and state.over == state.channels
            return "" if begins else f"barrier {show(number)} is sent before it was met on all channels"
        if channel in state.met:
            return describe(KINDS[kind], chunk, place, state)
        if kind == BARRIER and state.met and number != state.checkpoint:
            return f"barrier {show(number)} is met while others wait for barrier {show(state.checkpoint)}"
        if kind == BARRIER:
            state.met.add(channel)
            state.checkpoint = number
        else:
            state.over.add(channel)
        if state.met and state.met | state.over == state.channels:
            state.met, state.owes, state.paid = set(), True, set()
        return ""


def describe(kind: str, chunk: Chunk, place: int, state: Alignment) -> str:
    if chunk.direction[place] == IN:
        return f"{kind} is read behind a barrier that other channels have not brought"
    return f"{kind} is sent before barrier {show(state.checkpoint)}, which was met on all channels"


def show(number: int) -> str:
    return str(None if number == NONE else number)
