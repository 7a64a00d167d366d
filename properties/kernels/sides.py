"""Kernels of channel ends: watermarks, statuses and ends of all channels of a chunk at once."""

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND
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
)
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.ordered import Marks, Ordered
from tidegate.properties.kernels.segments import count_up, find_last_before, find_lasts, find_starts, grown
from tidegate.reference.elements import MAX

NOTHING = np.empty(0, dtype=np.int64)
FALSE = np.empty(0, dtype=bool)


def show(number: int) -> str:
    return str(None if number == NONE else int(number))


@attrs.define
class Watermarks:
    """The last watermark per end; NONE before the first."""

    tally: Tally
    equal_is_right: bool
    last: Array = NOTHING

    def feed(self, rows: Ordered, marks: Marks) -> None:
        which, starts = marks.pick((marks.kind == WATERMARK) & (marks.timestamp != NONE))
        if not len(which):
            return
        self.tally.checked += len(which)
        ends, values = marks.end[which], marks.timestamp[which]
        self.last = grown(self.last, int(ends[-1]) + 1, NONE)
        before = np.empty_like(values)
        before[1:] = values[:-1]
        before[starts] = self.last[ends[starts]]
        wrong = values < before if self.equal_is_right else values <= before
        wrong &= before != NONE
        lasts = find_lasts(starts, len(which))
        self.last[ends[lasts]] = values[lasts]
        found = np.flatnonzero(wrong)
        if len(found):
            self.tally.add(
                len(found),
                rows.find(
                    "LOG-WATERMARK",
                    marks.places[which[found]].tolist(),
                    lambda turn: f"watermark {values[found[turn]]} after {before[found[turn]]}",
                ),
            )


@attrs.define
class Statuses:
    """The last status per end."""

    tally: Tally
    idle: Array = FALSE

    def feed(self, rows: Ordered, marks: Marks) -> None:
        which, starts = marks.pick((marks.kind == STATUS) | (marks.kind == WATERMARK))
        if not len(which):
            return
        self.tally.checked += len(which)
        ends, is_status = marks.end[which], marks.kind[which] == STATUS
        self.idle = grown(self.idle, int(ends[-1]) + 1, fill=False)
        if not is_status.any() and not self.idle[ends[starts]].any():
            return
        idle = is_idle(marks.value[which])
        before = find_last_before(is_status, starts)
        was_idle = np.where(before < 0, self.idle[ends], idle[before])
        wrong = np.where(is_status, idle == was_idle, was_idle)
        lasts = find_lasts(starts, len(which))
        is_idle_now = np.where(is_status, idle, was_idle)
        self.idle[ends[lasts]] = is_idle_now[lasts]
        found = np.flatnonzero(wrong)
        if len(found):
            times = marks.timestamp[which]

            def message(turn: int) -> str:
                at = found[turn]
                if is_status[at]:
                    return f"{'idle' if was_idle[at] else 'active'} is announced again"
                return f"watermark {show(times[at])} while the channel is idle"

            self.tally.add(len(found), rows.find("LOG-STATUS", marks.places[which[found]].tolist(), message))


def is_idle(values: Array) -> Array:
    return np.asarray((values == 0) | (values == NONE))


@attrs.define
class Endings:
    """Per end: whether its data and itself have ended, its last watermark and status, and its last row."""

    numbering: Numbering
    tally: Tally
    explicit_watermarks: bool
    data_ended: Array = FALSE
    ended: Array = FALSE
    watermark: Array = NOTHING
    idle: Array = FALSE
    last_kind: Array = attrs.Factory(lambda: np.empty(0, dtype=np.int8))
    last_position: Array = NOTHING
    last_step: Array = NOTHING

    def feed(self, rows: Ordered, marks: Marks, channels: Array, starts: Array, counts: Array) -> None:
        self.tally.checked += int(counts.sum())
        self.make_room()
        # The ends with rows, with the first place and the number of their rows.
        here = counts.T.reshape(-1) > 0
        ends = (channels[:, np.newaxis] * 2 + np.arange(2)).reshape(-1)[here]
        firsts, lengths = starts.T.reshape(-1)[here], counts.T.reshape(-1)[here]
        self.find_rows_behind_an_end(rows, marks, ends, firsts, lengths)
        if self.explicit_watermarks:
            self.find_early_ends(rows, marks)
        lasts = firsts + lengths - 1
        self.last_kind[ends] = rows.what[lasts] & KIND
        self.last_position[ends] = rows.position[lasts]
        self.last_step[ends] = rows.chunk.step[rows.order[lasts]]

    def make_room(self) -> None:
        size = len(self.numbering.channels) * 2
        self.data_ended, self.ended, self.idle = (
            grown(one, size, fill=False) for one in (self.data_ended, self.ended, self.idle)
        )
        self.watermark, self.last_position = grown(self.watermark, size, NONE), grown(self.last_position, size, 0)
        self.last_kind, self.last_step = grown(self.last_kind, size, -1), grown(self.last_step, size, 0)

    def find_rows_behind_an_end(self, rows: Ordered, marks: Marks, ends: Array, firsts: Array, lengths: Array) -> None:
        """Only for ends that end now, or have ended before."""
        is_end = (marks.kind == END_OF_DATA) | (marks.kind == END_OF_PARTITION)
        touched = self.data_ended[ends] | self.ended[ends]
        if is_end.any():
            touched |= np.isin(ends, marks.end[is_end])
        hot = np.flatnonzero(touched)
        if not len(hot):
            return
        ends, lengths = ends[hot], lengths[hot]
        places = count_up(firsts[hot], lengths)
        run = np.repeat(np.arange(len(hot)), lengths)
        turn = places - firsts[hot][run]
        kinds = rows.what[places] & KIND
        data_ended = first_behind(kinds == END_OF_DATA, turn, run, self.data_ended[ends], lengths)
        ended = first_behind(kinds == END_OF_PARTITION, turn, run, self.ended[ends], lengths)
        self.data_ended[ends], self.ended[ends] = data_ended <= lengths, ended <= lengths
        behind_end = turn >= ended[run]
        behind_data = (turn >= data_ended[run]) & ~behind_end & (kinds != BARRIER) & (kinds != END_OF_PARTITION)
        too_early = (kinds == END_OF_PARTITION) & (turn < data_ended[run]) & ~behind_end
        wrong = np.flatnonzero(behind_end | behind_data | too_early)

        def message(turn: int) -> str:
            at = wrong[turn]
            if behind_end[at]:
                return f"{KINDS[kinds[at]]} behind the end of the partition"
            if behind_data[at]:
                return f"{KINDS[kinds[at]]} behind the end of data"
            return "the partition ends before its data"

        self.tally.add(len(wrong), rows.find("LOG-END", places[wrong].tolist(), message))

    def find_early_ends(self, rows: Ordered, marks: Marks) -> None:
        """Sources that end their data while active, without the maximum watermark."""
        starts = find_starts(marks.end)
        lasts = find_lasts(starts, len(marks.end))
        ends = np.flatnonzero(marks.kind == END_OF_DATA)
        watermark = latest(marks, starts, marks.kind == WATERMARK, marks.timestamp, self.watermark)
        idle = latest(marks, starts, marks.kind == STATUS, is_idle(marks.value), self.idle)
        numbers = marks.end[ends] // 2
        of_source = self.numbering.layout.of_sources[self.numbering.edge[numbers]] if len(ends) else FALSE
        is_out = marks.end[ends] % 2 == OUT
        found = ends[of_source & is_out & ~idle[ends] & (watermark[ends] != MAX)]
        times = watermark[found].tolist()

        def message(turn: int) -> str:
            return f"the source ends at watermark {show(times[turn])}, not at the maximum"

        self.tally.add(len(found), rows.find("LOG-END", marks.places[found].tolist(), message))
        self.watermark[marks.end[lasts]], self.idle[marks.end[lasts]] = watermark[lasts], idle[lasts]

    def finish(self, *, complete: bool) -> None:
        if not complete:
            return
        kinds = self.last_kind[OUT::2]
        for channel in np.flatnonzero((kinds >= 0) & (kinds != END_OF_PARTITION)).tolist():
            end = channel * 2 + OUT
            place = self.numbering.channel_at(channel), DIRECTIONS[OUT], KINDS[self.last_kind[end]]
            row = int(self.last_position[end]), int(self.last_step[end])
            self.tally.add(1, [Finding("LOG-END", *place, *row, "the run is over, but the channel was not ended")])


def first_behind(is_end: Array, turn: Array, run: Array, ended_before: Array, lengths: Array) -> Array:
    """Per run: the turn after its first end, 0 if it has ended before, beyond all turns if it does not end."""
    found = lengths + 1
    places = np.flatnonzero(is_end)
    ended, firsts = np.unique(run[places], return_index=True)
    found[ended] = turn[places[firsts]] + 1
    found[ended_before] = 0
    return found


def latest(marks: Marks, starts: Array, chosen: Array, values: Array, state: Array) -> Array:
    """For each mark, the value of the last selected mark of its end, including itself."""
    if not len(marks.end):
        return values
    before = find_last_before(chosen, starts)
    places = np.where(chosen, np.arange(len(chosen)), before)
    return np.where(places < 0, state[marks.end], values[places])
