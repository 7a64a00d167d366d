"""The pipelined subpartition, SUBP-1 … SUBP-18.

The queue holds mutable entries, and what the producer writes goes straight into them. What the queue believes of an
entry is kept apart from what is so (`believed`).
"""

from collections import deque
from itertools import takewhile

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_UNLIMITED = 2**31 - 1
_EVENTS = ("event", "end_of_data", "barrier", "recovery_completion", "aligned_watermark", "priority")
_BLOCKING = ("barrier", "recovery_completion", "aligned_watermark")
_WAKE: wire.Json = {"type": "data_available"}


@attrs.define(eq=False)
class Entry:
    """An event, or a buffer with its bytes in hex and how many digits of them were handed out."""

    kind: str
    data: str = ""
    read: int = 0
    finished: bool = True
    believed: bool = True

    @property
    def unread(self) -> str:
        return self.data[self.read :]

    @property
    def is_data(self) -> bool:
        return self.kind == "data"


class Subpartition:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.exclusive = wire.get_at_least(config, "exclusive", 0) if "exclusive" in config else 2
        self.hint = wire.get_at_least(config, "size_hint", 0) if "size_hint" in config else _UNLIMITED
        self.queue: deque[Entry] = deque()
        self.flush_requested = False
        self.blocked = False
        self.finished = False
        self.released = False
        self.viewed = False
        self.number = 0

    def step(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "buffer":
                finished = wire.get_boolean(event, "finished")
                return self.on_add(Entry("data", wire.get_hex(event, "data"), 0, finished, finished))
            case "event":
                return self.on_add(Entry(wire.get_choice(event, "kind", _EVENTS)))
            case "append":
                return self.on_append(wire.get_hex(event, "data"))
            case ("finish_buffer" | "flush" | "finish" | "release" | "view") as plain:
                observations: wire.Observations = getattr(self, f"on_{plain}")()
                return observations
        return self.on_reader(event)

    # --- the producer

    def has_open(self) -> bool:
        return bool(self.queue) and not self.queue[-1].finished

    def wake(self) -> wire.Observations:
        return [dict(_WAKE)] if self.viewed else []

    def on_add(self, entry: Entry) -> wire.Observations:
        urgent = entry.kind == "priority"
        if self.released or self.finished or (self.has_open() and not urgent):
            return wire.rejected()
        ahead = len(list(takewhile(lambda one: one.kind == "priority", self.queue)))
        if urgent:
            self.queue.insert(ahead, entry)
        else:
            self.queue.append(entry)
        out: wire.Observations = [{"type": "added", "size_hint": self.hint}]
        if urgent and self.viewed and ahead == 0:
            out.append({"type": "priority_available", "sequence": self.number})
        return out + (self.wake() if self.is_woken() else [])

    def is_woken(self) -> bool:
        return not self.blocked and not self.flush_requested and self.count_finished() == 1

    def count_finished(self) -> int:
        if len(self.queue) == 1:
            return int(self.queue[0].believed)
        return max(0, len(self.queue) - 1)

    def on_append(self, data: str) -> wire.Observations:
        if not self.has_open():
            return wire.rejected()
        self.queue[-1].data += data
        return []

    def on_finish_buffer(self) -> wire.Observations:
        if not self.has_open():
            return wire.rejected()
        self.queue[-1].finished = True
        return []

    def on_flush(self) -> wire.Observations:
        if not self.queue or self.flush_requested:
            return []
        lone = len(self.queue) == 1 and (bool(self.queue[0].unread) or not self.queue[0].is_data)
        self.flush_requested = len(self.queue) > 1 or lone
        return self.wake() if lone and not self.blocked else []

    def on_finish(self) -> wire.Observations:
        if self.released or self.finished or self.has_open():
            return wire.rejected()
        self.queue.append(Entry("end_of_partition"))
        self.finished = True
        return self.wake()

    def on_release(self) -> wire.Observations:
        self.queue.clear()
        self.released = True
        return []

    def on_view(self) -> wire.Observations:
        if self.released or self.viewed:
            return wire.rejected()
        self.viewed = True
        return []

    # --- the reader

    def on_reader(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "poll":
                return self.on_poll() if self.viewed else wire.rejected()
            case "query":
                return self.on_query(credit=wire.get_boolean(event, "credit")) if self.viewed else wire.rejected()
            case "resume":
                if not self.viewed or not self.blocked:
                    return wire.rejected()
                self.blocked = False
                return []
            case "size":
                size = wire.get_integer(event, "size")
                if not self.viewed or size < 0:
                    return wire.rejected()
                self.hint = size
                return []
        raise wire.unknown_type(event)

    def is_readable(self) -> bool:
        return not self.blocked and (self.flush_requested or self.count_finished() > 0)

    def count_backlog(self) -> int:
        if not self.queue or self.blocked:
            return 0
        buffers = sum(entry.is_data for entry in self.queue)
        whole = self.flush_requested or self.finished or not self.queue[-1].is_data
        return buffers if whole else max(0, buffers - 1)

    def on_query(self, *, credit: bool) -> wire.Observations:
        available = self.is_readable() if credit else bool(self.queue) and not self.queue[0].is_data
        return [{"type": "availability", "available": available, "backlog": self.count_backlog()}]

    def on_poll(self) -> wire.Observations:
        if self.blocked and not (self.queue and self.queue[0].kind == "priority"):
            return [{"type": "none"}]
        entry = self.take()
        if entry is None:
            return [{"type": "none"}]
        data = entry.unread
        entry.read = len(entry.data)
        if entry.kind in _BLOCKING:
            self.blocked = True
        number = self.number
        self.number += 1
        following = self.queue[0].kind if self.queue and self.is_readable() else "none"
        item = {"kind": entry.kind, "data": data, "backlog": self.count_backlog(), "next": following}
        return [{"type": "item", **item, "sequence": number}]

    def take(self) -> Entry | None:
        """The next entry that has something to say; an open buffer stays in the queue."""
        while self.queue:
            entry = self.queue[0]
            if entry.finished:
                self.queue.popleft()
            self.flush_requested = self.flush_requested and len(self.queue) > int(not entry.finished)
            if not entry.is_data or entry.unread or self.hands_out_empty(entry):
                return entry
            if not entry.finished:
                return None
        self.flush_requested = False
        return None

    def hands_out_empty(self, entry: Entry) -> bool:
        return entry.finished and self.exclusive == 0


make = Subpartition

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SUBP-1")
class SubpartitionFinishesABufferTwice(Subpartition):
    """There need be no open buffer to be finished."""

    on_finish_buffer = changed(
        Subpartition.on_finish_buffer, "wire.rejected()", "[] if self.queue else wire.rejected()"
    )


@wrong("SUBP-2", "SUBP-5", "SUBP-6", "SUBP-7", "SUBP-10", "SUBP-12", "SUBP-14")
class SubpartitionFinishedSeenAtOnce(Subpartition):
    """The queue knows at once that a lone buffer was finished, without having read it."""

    count_finished = changed(Subpartition.count_finished, "self.queue[0].believed", "self.queue[0].finished")


@wrong("SUBP-2", "SUBP-6", "SUBP-1")
class SubpartitionFinishedBufferWakes(Subpartition):
    """The reader is woken when the producer finishes the open buffer."""

    on_finish_buffer = changed(Subpartition.on_finish_buffer, "return []", "return self.wake()")


@wrong("SUBP-3", "SUBP-9", "SUBP-8", origin="FLINK-8588")
class SubpartitionSliceFromTheStart(Subpartition):
    """A second slice of an open buffer begins at its start again: bytes are handed out twice."""

    on_poll = changed(Subpartition.on_poll, "entry.unread", "entry.data")


@wrong("SUBP-4", "SUBP-18")
class SubpartitionReleasedTakesMore(Subpartition):
    """A released subpartition takes in what nobody will read."""

    on_add = changed(Subpartition.on_add, "self.released or ", "")


@wrong("SUBP-4", "SUBP-6")
class SubpartitionSizeOnlyShrinks(Subpartition):
    """The reader can ask for smaller buffers, and never for larger ones again."""

    on_reader = changed(Subpartition.on_reader, "self.hint = size", "self.hint = min(self.hint, size)")


@wrong("SUBP-4")
class SubpartitionSizeZeroRefused(Subpartition):
    """A reader that asks for buffers of size 0 is refused."""

    on_reader = changed(Subpartition.on_reader, "size < 0", "size < 1")


@wrong("SUBP-6", "SUBP-5", "SUBP-14")
class SubpartitionEveryBufferWakes(Subpartition):
    """Every added buffer wakes the reader as soon as something is finished."""

    is_woken = changed(Subpartition.is_woken, "== 1", ">= 1")


@wrong("SUBP-6", "SUBP-13", "SUBP-14")
class SubpartitionWakesWhileBlocked(Subpartition):
    """A reader that is blocked by a barrier is woken."""

    is_woken = changed(Subpartition.is_woken, "not self.blocked and ", "")


@wrong("SUBP-6", "SUBP-7", "SUBP-14")
class SubpartitionWakesWhileFlushing(Subpartition):
    """An added item wakes the reader that a flush has woken already."""

    is_woken = changed(Subpartition.is_woken, " and not self.flush_requested", "")


@wrong("SUBP-7", origin="FLINK-14118")
class SubpartitionFlushWakesAlways(Subpartition):
    """Each flush of a queue that is not empty wakes the reader, also where it was woken before: busy wake-ups."""

    on_flush = changed(
        Subpartition.on_flush, " or self.flush_requested", "", "lone and not self.blocked", "not self.blocked"
    )


@wrong("SUBP-7", "SUBP-11", "SUBP-12", "SUBP-6", "SUBP-10")
class SubpartitionEmptyBufferFlushed(Subpartition):
    """A flush of a lone buffer in which nothing is to be read wakes the reader."""

    on_flush = changed(Subpartition.on_flush, " and (bool(self.queue[0].unread) or not self.queue[0].is_data)", "")


@wrong("SUBP-7", "SUBP-13", "SUBP-12", "SUBP-11", "SUBP-6", "SUBP-10", origin="FLINK-23223")
class SubpartitionFlushForgottenWhileBlocked(Subpartition):
    """A flush while a barrier blocks is forgotten: after the resume nothing says that there is data."""

    on_flush = changed(Subpartition.on_flush, "> 1 or lone", "> 1 or (lone and not self.blocked)")


@wrong("SUBP-7", "SUBP-6", "SUBP-10", "SUBP-11", "SUBP-12", "SUBP-8", "SUBP-14")
class SubpartitionFlushRequestStays(Subpartition):
    """A flush request outlives the last queued item."""

    def take(self) -> Entry | None:
        requested = self.flush_requested
        entry = super().take()
        self.flush_requested = requested
        return entry


@wrong("SUBP-8", "SUBP-2", "SUBP-3")
class SubpartitionEmptyBuffersHandedOut(Subpartition):
    """Finished buffers in which there is nothing are handed out also where the receiver has exclusive buffers."""

    hands_out_empty = changed(Subpartition.hands_out_empty, " and self.exclusive == 0", "")


@wrong("SUBP-8", "SUBP-2", "SUBP-3")
class SubpartitionEmptyBuffersNeverHandedOut(Subpartition):
    """Empty buffers are skipped also where each was announced one by one, and their credit hangs."""

    def hands_out_empty(self, entry: Entry) -> bool:
        return False


@wrong("SUBP-8", "SUBP-9", "SUBP-3", "SUBP-13", "SUBP-17", "SUBP-2")
class SubpartitionEmptyBufferEndsPoll(Subpartition):
    """A poll that meets an empty buffer gives nothing, instead of what lies behind it."""

    take = changed(Subpartition.take, "if not entry.finished:", "if True:")


@wrong("SUBP-9", "SUBP-8", "SUBP-3")
class SubpartitionOpenBufferWaitsForFlush(Subpartition):
    """What is in an open buffer is handed out only after a flush."""

    take = changed(
        Subpartition.take,
        "if entry.finished:",
        "if not entry.finished and not self.flush_requested:\n    return None\nif entry.finished:",
    )


@wrong("SUBP-10", "SUBP-8", "SUBP-14")
class SubpartitionEventsNotNumbered(Subpartition):
    """Only data takes a number."""

    on_poll = changed(Subpartition.on_poll, "self.number += 1", "self.number += entry.is_data")


@wrong("SUBP-10")
class SubpartitionNextIsWhateverFollows(Subpartition):
    """With a taken item comes the kind of the following one even if that is an open buffer that cannot be taken
    yet.
    """

    on_poll = changed(Subpartition.on_poll, "self.is_readable()", "not self.blocked")


@wrong("SUBP-10", "SUBP-13")
class SubpartitionNextPromisedBehindBarrier(Subpartition):
    """The barrier that blocks promises the item behind it."""

    on_poll = changed(Subpartition.on_poll, "self.is_readable()", "(self.is_readable() or self.count_finished())")


@wrong("SUBP-11")
class SubpartitionBacklogCountsEvents(Subpartition):
    """Events count in the backlog."""

    count_backlog = changed(Subpartition.count_backlog, "sum(entry.is_data for entry in self.queue)", "len(self.queue)")


@wrong("SUBP-11", origin="FLINK-11082")
class SubpartitionBacklogCountsTheOpen(Subpartition):
    """The backlog counts the last buffer, which is presumed open: receivers reserve buffers for what cannot be
    sent.
    """

    count_backlog = changed(Subpartition.count_backlog, "buffers if whole else max(0, buffers - 1)", "buffers")


@wrong("SUBP-11", origin="Flink 1.9 to 1.13")
class SubpartitionBacklogLessOneBehindEvents(Subpartition):
    """The backlog is one less also where the last item is an event, and so the last buffer finished."""

    count_backlog = changed(Subpartition.count_backlog, " or not self.queue[-1].is_data", "")


@wrong("SUBP-11")
class SubpartitionBacklogIgnoresFlush(Subpartition):
    """The backlog leaves out the open buffer also when it was flushed."""

    count_backlog = changed(Subpartition.count_backlog, "self.flush_requested or ", "")


@wrong("SUBP-11", "SUBP-13")
class SubpartitionBacklogWhileBlocked(Subpartition):
    """A blocked subpartition reports its backlog."""

    count_backlog = changed(Subpartition.count_backlog, " or self.blocked", "")


@wrong("SUBP-12", "SUBP-13")
class SubpartitionSaysYesWhileBlocked(Subpartition):
    """Asked with credit, a subpartition says that something is available whenever something is queued."""

    on_query = changed(Subpartition.on_query, "self.is_readable()", "self.is_readable() or bool(self.queue)")


@wrong("SUBP-12")
class SubpartitionBlockedEventsDenied(Subpartition):
    """Asked without credit, a blocked subpartition denies that the next item is an event."""

    on_query = changed(Subpartition.on_query, "bool(self.queue)", "bool(self.queue) and not self.blocked")


@wrong("SUBP-12")
class SubpartitionAnyEventWithoutCredit(Subpartition):
    """Asked without credit, a subpartition says yes if an event is queued anywhere."""

    on_query = changed(
        Subpartition.on_query,
        "bool(self.queue) and not self.queue[0].is_data",
        "any(not entry.is_data for entry in self.queue)",
    )


@wrong("SUBP-12")
class SubpartitionEventsNeedCredit(Subpartition):
    """Nothing is available without credit, not even an event."""

    on_query = changed(Subpartition.on_query, "bool(self.queue) and not self.queue[0].is_data", "False")


@wrong("SUBP-13", "SUBP-8", "SUBP-10", "SUBP-11", "SUBP-12")
class SubpartitionOnlyBarriersBlock(Subpartition):
    """The end of recovery and the aligned watermark event do not block."""

    on_poll = changed(Subpartition.on_poll, "entry.kind in _BLOCKING", 'entry.kind == "barrier"')


@wrong("SUBP-13")
class SubpartitionResumesTheUnblocked(Subpartition):
    """A resume is accepted where nothing is blocked, also while the barrier is still queued."""

    on_reader = changed(Subpartition.on_reader, " or not self.blocked", "")


@wrong("SUBP-13")
class SubpartitionResumeWakes(Subpartition):
    """A resume wakes the reader that asked for it."""

    on_reader = changed(
        Subpartition.on_reader,
        "self.blocked = False",
        "self.blocked = False\nif self.is_readable():\n    return self.wake()",
    )


@wrong("SUBP-14", "SUBP-8", "SUBP-6", "SUBP-11", "SUBP-10")
class SubpartitionPriorityWaitsItsTurn(Subpartition):
    """A priority event is queued at the end like any other."""

    on_add = changed(Subpartition.on_add, "self.queue.insert(ahead, entry)", "self.queue.append(entry)")


@wrong("SUBP-14", "SUBP-6")
class SubpartitionEveryPriorityAnnounced(Subpartition):
    """The reader is told of each priority event, not only of the first that waits."""

    on_add = changed(Subpartition.on_add, " and ahead == 0", "")


@wrong("SUBP-14")
class SubpartitionPriorityNumberedLast(Subpartition):
    """The notice of a priority event gives the number that it would have behind everything queued."""

    on_add = changed(Subpartition.on_add, "self.number", "self.number + len(self.queue) - 1")


@wrong("SUBP-14", "SUBP-6")
class SubpartitionPriorityNoticeWakes(Subpartition):
    """The notice of a priority event stands for the wake-up, which is left out."""

    on_add = changed(Subpartition.on_add, '"sequence": self.number})', '"sequence": self.number})\nreturn out')


@wrong("SUBP-14", "SUBP-13", origin="FLINK-39018")
class SubpartitionPriorityHeldBack(Subpartition):
    """While a subpartition is blocked it does not even give priority events: an unaligned barrier waits for
    recovery.
    """

    on_poll = changed(Subpartition.on_poll, ' and not (self.queue and self.queue[0].kind == "priority")', "")


@wrong("SUBP-15")
class SubpartitionSecondView(Subpartition):
    """A second view is made, and would find half of the items."""

    on_view = changed(Subpartition.on_view, " or self.viewed", "")


@wrong("SUBP-15", "SUBP-18")
class SubpartitionReleasedGetsAView(Subpartition):
    """A released subpartition makes a view."""

    on_view = changed(Subpartition.on_view, "self.released or ", "")


@wrong("SUBP-16", "SUBP-15", origin="Flink 1.5 to 1.11")
class SubpartitionViewWakes(Subpartition):
    """Making the view wakes the reader if something is queued."""

    on_view = changed(Subpartition.on_view, "return []", "return self.wake() if self.queue else []")


@wrong("SUBP-17", "SUBP-6")
class SubpartitionFinishWakesLikeAnAdd(Subpartition):
    """The end of the partition wakes the reader only where any other item would."""

    on_finish = changed(Subpartition.on_finish, "self.wake()", "self.wake() if self.is_woken() else []")


@wrong("SUBP-17", "SUBP-4")
class SubpartitionFinishesTwice(Subpartition):
    """A second finish adds a second end of the partition."""

    on_finish = changed(Subpartition.on_finish, "self.finished or ", "")


@wrong("SUBP-17", "SUBP-4")
class SubpartitionFinishedTakesPriority(Subpartition):
    """A finished subpartition still takes priority events."""

    on_add = changed(Subpartition.on_add, "self.finished", "(self.finished and not urgent)")


@wrong("SUBP-18", "SUBP-8", "SUBP-12", "SUBP-11", "SUBP-1")
class SubpartitionReleaseKeepsTheQueue(Subpartition):
    """What is queued stays readable after a release."""

    on_release = changed(Subpartition.on_release, "self.queue.clear()", "")


@wrong("SUBP-18", "SUBP-7", "SUBP-13", "SUBP-12")
class SubpartitionReleaseForgetsRequests(Subpartition):
    """A release ends flush requests and holds."""

    def on_release(self) -> wire.Observations:
        self.flush_requested = self.blocked = False
        return super().on_release()


@wrong("SUBP-18")
class SubpartitionSecondReleaseRefused(Subpartition):
    """A second release is refused."""

    def on_release(self) -> wire.Observations:
        return wire.rejected() if self.released else super().on_release()


@wrong("SUBP-10", "SUBP-14", "SUBP-8", "SUBP-11")
class SubpartitionNumbersInTwoBytes(Subpartition):
    """Sequence numbers have two bytes with a sign: the one behind 32,767 is negative."""

    on_poll = changed(Subpartition.on_poll, "number = self.number", "number = (self.number + 2**15) % 2**16 - 2**15")


@wrong("SUBP-9", "SUBP-3", "SUBP-8")
class SubpartitionOffsetInTwoBytes(Subpartition):
    """How far a buffer was read is kept in two bytes: behind that it is read from its start again."""

    on_poll = changed(Subpartition.on_poll, "len(entry.data)", "len(entry.data) % 2**17")
