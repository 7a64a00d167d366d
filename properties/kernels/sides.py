"""Kernels of the sides of channels: watermarks, statuses and endings. Each takes the rows of a side piece by piece."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import attrs
import numpy as np

from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.kernels.layout import (
    BARRIER,
    DIRECTIONS,
    END_OF_DATA,
    END_OF_PARTITION,
    KINDS,
    NONE,
    OUT,
    STATUS,
    WATERMARK,
    Array,
    Layout,
)
from tidegate.reference.elements import MAX


@attrs.frozen(eq=False)
class Rows:
    """Consecutive elements of one side of a channel. `rare` says where those are that are no records."""

    layout: Layout
    channel: int
    direction: int
    kind: Array
    timestamp: Array
    value: Array
    position: Array
    step: Array
    rare: Array

    @property
    def side(self) -> tuple[int, int]:
        return self.channel, self.direction

    def pick(self, *kinds: int) -> Array:
        """The rows of these kinds, none of which is that of records."""
        among = self.kind[self.rare]
        chosen = among == kinds[0]
        for kind in kinds[1:]:
            chosen |= among == kind
        return np.asarray(self.rare[chosen])

    def find(self, invariant: str, places: Iterable[int], message: Callable[[int], str]) -> Iterator[Finding]:
        for place in places:
            yield Finding(
                invariant,
                self.layout.channel_at(self.channel),
                DIRECTIONS[self.direction],
                KINDS[self.kind[place]],
                int(self.position[place]),
                int(self.step[place]),
                message(int(place)),
            )


@attrs.define
class Watermarks:
    """The last watermark of each side."""

    tally: Tally
    equal_is_right: bool
    last: dict[tuple[int, int], int] = attrs.Factory(dict)

    def feed(self, rows: Rows) -> None:
        places = rows.pick(WATERMARK)
        places = places[rows.timestamp[places] != NONE]
        if not len(places):
            return
        self.tally.checked += len(places)
        values = rows.timestamp[places]
        before = np.empty_like(values)
        before[1:] = values[:-1]
        before[0] = self.last.get(rows.side, values[0])
        wrong = values < before if self.equal_is_right else values <= before
        wrong[0] &= rows.side in self.last
        self.last[rows.side] = int(values[-1])
        if wrong.any():
            texts = dict(zip(places[wrong].tolist(), zip(values[wrong], before[wrong], strict=True), strict=True))
            found = rows.find(
                "LOG-WATERMARK", texts, lambda place: f"watermark {texts[place][0]} after {texts[place][1]}"
            )
            self.tally.add(len(texts), found)


def fill_forward(marked: Array) -> Array:
    """For each place the last marked one up to and with it, or -1."""
    return np.maximum.accumulate(np.where(marked, np.arange(len(marked)), -1))


@attrs.define
class Statuses:
    """Whether each side was active last."""

    tally: Tally
    active: dict[tuple[int, int], bool] = attrs.Factory(dict)

    def feed(self, rows: Rows) -> None:
        places = rows.pick(STATUS, WATERMARK)
        if not len(places):
            return
        self.tally.checked += len(places)
        is_status = rows.kind[places] == STATUS
        was_active = self.active.get(rows.side, True)
        if was_active and not is_status.any():
            return
        active = (rows.value[places] != 0) & (rows.value[places] != NONE)
        last = np.concatenate([[-1], fill_forward(is_status)])
        before = np.where(last[:-1] < 0, was_active, active[last[:-1]])
        wrong = np.where(is_status, active == before, ~before)
        self.active[rows.side] = bool(active[last[-1]]) if last[-1] >= 0 else was_active
        if wrong.any():
            states = dict(zip(places[wrong].tolist(), before[wrong].tolist(), strict=True))
            found = rows.find("LOG-STATUS", states, lambda place: describe_status(rows, place, active=states[place]))
            self.tally.add(len(states), found)


def describe_status(rows: Rows, place: int, *, active: bool) -> str:
    if rows.kind[place] == STATUS:
        return f"{'active' if active else 'idle'} is announced again"
    return f"watermark {show(rows.timestamp[place])} while the channel is idle"


def show(number: int | None) -> str:
    return str(None if number in (None, NONE) else int(number or 0))


@attrs.define
class Ending:
    """How far a side has come, and its last row."""

    data_ended: bool = False
    ended: bool = False
    watermark: int | None = None
    active: bool = True
    last: tuple[int, int, int] = (0, 0, 0)


def first_behind(ends: Array, count: int) -> int:
    """The place behind the first of the ends; beyond all places if there is none."""
    return int(ends[0]) + 1 if len(ends) else count + 1


@attrs.define
class Endings:
    tally: Tally
    explicit_watermarks: bool
    sides: dict[tuple[int, int], Ending] = attrs.Factory(lambda: defaultdict(Ending))

    def feed(self, rows: Rows) -> None:
        self.tally.checked += len(rows.kind)
        side = self.sides[rows.side]
        ends = rows.pick(END_OF_DATA, END_OF_PARTITION)
        if len(ends) or side.data_ended or side.ended:
            self.find_rows_behind_an_end(rows, side, ends)
        if rows.direction == OUT and self.explicit_watermarks and rows.layout.is_source(rows.channel):
            self.find_early_end(rows, side)
        side.last = int(rows.kind[-1]), int(rows.position[-1]), int(rows.step[-1])

    def find_rows_behind_an_end(self, rows: Rows, side: Ending, ends: Array) -> None:
        kinds = rows.kind
        place = np.arange(len(kinds))
        first_data = 0 if side.data_ended else first_behind(ends[kinds[ends] == END_OF_DATA], len(kinds))
        first_end = 0 if side.ended else first_behind(ends[kinds[ends] == END_OF_PARTITION], len(kinds))
        behind_end = place >= first_end
        behind_data = (place >= first_data) & ~behind_end & (kinds != BARRIER) & (kinds != END_OF_PARTITION)
        too_early = (kinds == END_OF_PARTITION) & (place < first_data) & ~behind_end
        side.data_ended, side.ended = first_data <= len(kinds), first_end <= len(kinds)
        wrong = np.flatnonzero(behind_end | behind_data | too_early)

        def message(at: int) -> str:
            if behind_end[at]:
                return f"{KINDS[kinds[at]]} behind the end of the partition"
            return (
                f"{KINDS[kinds[at]]} behind the end of data"
                if behind_data[at]
                else "the partition ends before its data"
            )

        self.tally.add(len(wrong), rows.find("LOG-END", wrong, message))

    def find_early_end(self, rows: Rows, side: Ending) -> None:
        for place in rows.pick(WATERMARK, STATUS, END_OF_DATA) if len(rows.pick(END_OF_DATA)) else ():
            self.watch_source(rows, side, int(place))
        if not len(rows.pick(END_OF_DATA)):
            for place in rows.pick(WATERMARK)[-1:]:
                side.watermark = int(rows.timestamp[place])
            for place in rows.pick(STATUS)[-1:]:
                side.active = rows.value[place] not in (0, NONE)

    def watch_source(self, rows: Rows, side: Ending, place: int) -> None:
        if rows.kind[place] == WATERMARK:
            side.watermark = int(rows.timestamp[place])
        elif rows.kind[place] == STATUS:
            side.active = rows.value[place] not in (0, NONE)
        elif side.active and side.watermark != MAX:
            text = f"the source ends at watermark {show(side.watermark)}, not at the maximum"
            self.tally.add(1, rows.find("LOG-END", [place], lambda _place: text))

    def finish(self, layout: Layout, *, complete: bool) -> None:
        for (channel, direction), side in self.sides.items():
            kind, position, step = side.last
            if complete and direction == OUT and kind != END_OF_PARTITION:
                message = "the run is over, but the channel was not ended"
                place = layout.channel_at(channel), DIRECTIONS[direction], KINDS[kind]
                self.tally.add(1, [Finding("LOG-END", *place, position, step, message)])
