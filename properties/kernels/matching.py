"""The kernel of both ends of a channel: sent elements are received once, in order, and not late.

The pairs of all channels of a chunk are compared at once. A channel whose ends disagree, or with many waiting rows, is
checked on its own from then on: see disagreement.
"""

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, compute_sorts
from tidegate.properties.kernels.disagreement import NOTHING, Disagreements, Identity, Queue, check_pending
from tidegate.properties.kernels.findings import Tally
from tidegate.properties.kernels.layout import DIRECTIONS, IN, NONE, OUT, RECORD, STATUS, WATERMARK, Array
from tidegate.properties.kernels.meeting import ROW, Meeting, Waiting
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.ordered import LATE, Marks, Ordered
from tidegate.properties.kernels.segments import EMPTY, accumulate_maximum, grown
from tidegate.reference.elements import MIN
from tidegate.traces.runlog import Delivery, Direction

#: A channel with more waiting elements is checked on its own, so that they are not sorted again and again.
LONG = 2**14


@attrs.define
class InTime:
    """The records that are in time when sent, on a channel that had never been idle."""

    numbering: Numbering
    highest: Array = EMPTY
    has_idled: Array = attrs.Factory(lambda: np.empty(0, dtype=bool))
    marks: "tuple[Array, Array, Array] | None" = None
    statuses: "tuple[Array, Array] | None" = None

    def begin(self, marks: Marks) -> None:
        """A chunk with these marks."""
        size = len(self.numbering.channels)
        self.highest, self.has_idled = grown(self.highest, size, MIN), grown(self.has_idled, size, fill=False)
        is_sent = marks.end % 2 == OUT
        which, starts = marks.pick(is_sent & (marks.kind == WATERMARK) & (marks.timestamp != NONE))
        channels = marks.end[which] // 2
        times = np.maximum(accumulate_maximum(marks.timestamp[which], starts), self.highest[channels])
        self.marks = marks.places[which], channels, times
        which = np.flatnonzero(is_sent & (marks.kind == STATUS))
        self.statuses = marks.places[which], marks.end[which] // 2

    def tell(self, rows: Ordered, places: Array) -> Array:
        """Whether the sent rows at these places are in time."""
        at = rows.order.take(places)
        channels = rows.chunk.channel.take(at)
        assert self.marks is not None
        assert self.statuses is not None
        mark = find_mark(*self.marks[:2], places, channels)
        time = self.highest[channels]
        time[mark >= 0] = self.marks[2][mark[mark >= 0]]
        has_idled = self.has_idled[channels] | (find_mark(*self.statuses, places, channels) >= 0)
        is_record = (rows.what.take(places) & KIND) == RECORD
        return np.asarray((rows.chunk.timestamp.take(at) > time) & is_record & ~has_idled)

    def finish(self) -> None:
        """The chunk is over."""
        assert self.marks is not None
        assert self.statuses is not None
        # Of a channel the last comes last.
        self.highest[self.marks[1]] = self.marks[2]
        self.has_idled[self.statuses[1]] = True


def find_mark(marks: Array, of: Array, places: Array, channels: Array) -> Array:
    """The last mark of its channel before each place, or -1."""
    if not len(marks):
        return np.full(len(places), -1)
    mark = np.searchsorted(marks, places) - 1
    return np.where((mark >= 0) & (of[mark] == channels), mark, -1)


@attrs.define
class Matching:
    numbering: Numbering
    order: Tally
    loss: Tally
    late: Tally
    looks_for_late: bool
    waiting: Waiting = attrs.field(init=False, factory=Waiting)
    in_time: InTime = attrs.field(init=False)
    others: Disagreements = attrs.field(init=False)
    is_apart: Array = attrs.field(init=False, factory=lambda: np.empty(0, dtype=bool))
    matched: Array = attrs.field(init=False, default=EMPTY)

    def __attrs_post_init__(self) -> None:
        self.in_time = InTime(self.numbering)
        self.others = Disagreements(self.numbering, self.order, self.loss, self.late)
        if self.numbering.layout.job.capabilities.delivery is Delivery.AT_LEAST_ONCE:
            self.others.seen = {}

    def feed(self, rows: Ordered, marks: Marks, channels: Array, starts: Array, counts: Array) -> None:
        """`channels`, `starts` and `counts` are the runs of elements."""
        size = len(self.numbering.channels)
        self.is_apart, self.matched = grown(self.is_apart, size, fill=False), grown(self.matched, size, 0)
        count = int(counts.sum())
        self.order.checked += count
        self.loss.checked += count
        if self.looks_for_late:
            self.in_time.begin(marks)
        if self.others.seen is not None:
            self.note_seen(rows, channels, starts, counts)
        meeting = self.waiting.meet(channels, starts, counts)
        agree = self.compare(rows, meeting)
        self.keep(rows, meeting, agree)
        if self.looks_for_late:
            self.in_time.finish()
        check_pending(len(self.waiting) + self.others.pending)

    def note_seen(self, rows: Ordered, channels: Array, starts: Array, counts: Array) -> None:
        assert self.others.seen is not None
        for side, direction in enumerate(DIRECTIONS):
            runs = channels.tolist(), starts[side].tolist(), counts[side].tolist()
            for channel, start, count in zip(*runs, strict=True):
                at = rows.order[start : start + count]
                sorts = compute_sorts(rows.chunk.what[at], rows.chunk.value[at])
                seen = self.others.seen.setdefault((channel, direction), set())
                seen.update(zip(rows.chunk.name[at].tolist(), sorts.tolist(), strict=True))

    def compare(self, rows: Ordered, meeting: Meeting) -> Array:
        """The channels with equal ends."""
        together = ~self.is_apart[meeting.channels]
        sent, received = meeting.pair(together)
        names = self.waiting.join("name", rows.chunk.name.take(rows.order))
        what = self.join_what(rows)
        equal = names.take(sent) == names.take(received)
        one, other = what.take(sent) & KIND, what.take(received)
        equal &= one == other & KIND
        rare = np.flatnonzero(one)
        if len(rare):
            # Equal names and kinds may still differ in the value.
            equal[rare] &= self.sorts_at(rows, sent[rare]) == self.sorts_at(rows, received[rare])
        late = np.flatnonzero(other & LATE)
        if not equal.all():
            of = np.repeat(np.arange(len(meeting.channels)), np.where(together, meeting.common, 0))
            together[of[~equal]] = False
            late = late[together[of[late]]]
        self.find_late(rows, sent[late], received[late])
        return together

    def join_what(self, rows: Ordered) -> Array:
        """As a column over all places of a meeting."""
        if not len(self.waiting):
            return rows.what
        held = np.concatenate(self.waiting.rows)
        return np.concatenate([(held["sort"] & KIND | np.where(held["flag"], LATE, 0)).astype(np.uint8), rows.what])

    def sorts_at(self, rows: Ordered, places: Array) -> Array:
        return self.rows_at(rows, places, is_sent=None)["sort"]

    def rows_at(self, rows: Ordered, places: Array, *, is_sent: bool | None) -> Array:
        """The rows at places of a meeting; those of the chunk need their flags computed."""
        offset = len(self.waiting)
        found = np.empty(len(places), dtype=ROW)
        is_old = places < offset
        if is_old.any():
            found[is_old] = np.concatenate(self.waiting.rows).take(places[is_old])
        new = places[~is_old] - offset
        at = rows.order.take(new)
        chunk, made = rows.chunk, np.empty(len(new), dtype=ROW)
        made["channel"], made["name"] = chunk.channel.take(at), chunk.name.take(at)
        made["sort"] = compute_sorts(chunk.what.take(at), chunk.value.take(at))
        made["position"], made["step"] = chunk.position.take(at), chunk.step.take(at)
        made["flag"] = False
        if is_sent and self.looks_for_late:
            made["flag"] = self.in_time.tell(rows, new)
        elif is_sent is False:
            made["flag"] = rows.what.take(new) & LATE != 0
        found[~is_old] = made
        return found

    def find_late(self, rows: Ordered, sent: Array, received: Array) -> None:
        if not len(sent):
            return
        late = received[self.rows_at(rows, sent, is_sent=True)["flag"]]
        found = self.rows_at(rows, late[: self.late.most], is_sent=False)
        findings = (self.others.describe_late(channel, row) for channel, row in tell_rows(found))
        self.late.add(len(late), findings)

    def keep(self, rows: Ordered, meeting: Meeting, agree: Array) -> None:
        """Rows without a partner wait; rows of separate channels go to their own check."""
        channels = meeting.channels
        done = np.where(agree, meeting.common, 0)
        self.matched[channels[agree]] += done[agree]
        rest = tuple(
            self.rows_at(rows, meeting.take_rest(direction, done), is_sent=direction == OUT) for direction in (OUT, IN)
        )
        waiting = sum(counts.sum(axis=1) for counts in meeting.counts) - 2 * done
        goes_apart = ~agree | (waiting > LONG)
        for channel in channels[goes_apart].tolist():
            self.feed_apart(channel, rest[OUT], rest[IN])
        self.is_apart[channels[goes_apart]] = True
        if goes_apart.any():
            rest = tuple(one[~self.is_apart[one["channel"]]] for one in rest)
        self.waiting.keep((rest[OUT], rest[IN]), channels)

    def feed_apart(self, channel: int, sent: Array, received: Array) -> None:
        if not self.is_apart[channel]:
            self.others.begin(channel, int(self.matched[channel]))
        self.others.feed(channel, *(pick_queue(channel, rows) for rows in (sent, received)))

    def finish(self, *, complete: bool) -> dict[int, set[Identity]]:
        """Lost, duplicated, invented or disordered elements, and the channels with a second pass for their order."""
        # In an incomplete run, elements sent after the last received one may still be in flight.
        lost, surplus = self.waiting.rows[OUT] if complete else self.waiting.rows[OUT][:0], self.waiting.rows[IN]
        for channel in np.union1d(lost["channel"], surplus["channel"]).tolist():
            self.others.find_unmatched(channel, Direction.OUT, pick_queue(channel, lost))
            self.others.find_unmatched(channel, Direction.IN, pick_queue(channel, surplus))
        return self.others.finish(complete=complete)


def pick_queue(channel: int, rows: Array) -> Queue:
    """Those of a channel, of rows sorted by channel."""
    first, behind = np.searchsorted(rows["channel"], [channel, channel + 1])
    if first == behind:
        return NOTHING
    mine = rows[first:behind]
    return Queue(*(np.ascontiguousarray(mine[name]) for name in ("name", "sort", "position", "step", "flag")))


def tell_rows(rows: Array) -> "list[tuple[int, tuple[int, int, int, int]]]":
    """The channel of each row, and the row in the form of a received one."""
    columns = (rows[name].tolist() for name in ("channel", "position", "step", "name", "sort"))
    return [
        (channel, (position, step, name, sort)) for channel, position, step, name, sort in zip(*columns, strict=True)
    ]
