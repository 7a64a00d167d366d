"""The pipelined subpartition, SUBP-1 … SUBP-18.

The queue holds mutable entries, and what the producer writes goes straight into them. What the queue believes of an
entry is kept apart from what is so (`believed`).
"""

from collections import deque
from itertools import takewhile

import attrs

from tidegate.conformance.engines import wire

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
        self.bug = host.bug
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
        bug, urgent = self.bug, entry.kind == "priority"
        if self.released and bug != "subpartition-released-takes-more":
            return wire.rejected()
        if self.finished and not (urgent and bug == "subpartition-finished-takes-priority"):
            return wire.rejected()
        if self.has_open() and not urgent:
            return wire.rejected()
        ahead = len(list(takewhile(lambda one: one.kind == "priority", self.queue)))
        if not urgent or bug == "subpartition-priority-waits-its-turn":
            self.queue.append(entry)
        else:
            self.queue.insert(ahead, entry)
        out: wire.Observations = [{"type": "added", "size_hint": self.hint}]
        if urgent and self.viewed and (ahead == 0 or bug == "subpartition-every-priority-announced"):
            number = self.number + len(self.queue) - 1 if bug == "subpartition-priority-numbered-last" else self.number
            out.append({"type": "priority_available", "sequence": number})
            if bug == "subpartition-priority-notice-wakes":
                return out
        return out + (self.wake() if self.is_woken() else [])

    def is_woken(self) -> bool:
        bug, count = self.bug, self.count_finished()
        if bug == "subpartition-wakes-while-blocked":
            return not self.flush_requested and count == 1
        if self.blocked or (self.flush_requested and bug != "subpartition-wakes-while-flushing"):
            return False
        return count >= 1 if bug == "subpartition-every-buffer-wakes" else count == 1

    def count_finished(self) -> int:
        if len(self.queue) == 1:
            entry = self.queue[0]
            return int(entry.finished if self.bug == "subpartition-finished-seen-at-once" else entry.believed)
        return max(0, len(self.queue) - 1)

    def on_append(self, data: str) -> wire.Observations:
        if not self.has_open():
            return wire.rejected()
        self.queue[-1].data += data
        return []

    def on_finish_buffer(self) -> wire.Observations:
        if not self.has_open():
            return [] if self.queue and self.bug == "subpartition-finishes-a-buffer-twice" else wire.rejected()
        self.queue[-1].finished = True
        return self.wake() if self.bug == "subpartition-finished-buffer-wakes" else []

    def on_flush(self) -> wire.Observations:
        bug = self.bug
        if not self.queue or (self.flush_requested and bug != "subpartition-flush-wakes-always"):
            return []
        lone = len(self.queue) == 1 and (bool(self.queue[0].unread) or not self.queue[0].is_data)
        if bug == "subpartition-empty-buffer-flushed":
            lone = len(self.queue) == 1
        wakes = lone and not self.blocked
        self.flush_requested = len(self.queue) > 1 or lone
        if bug == "subpartition-flush-forgotten-while-blocked":
            self.flush_requested = len(self.queue) > 1 or wakes
        elif bug == "subpartition-flush-wakes-always":
            wakes = not self.blocked
        return self.wake() if wakes else []

    def on_finish(self) -> wire.Observations:
        bug = self.bug
        if self.released or (self.finished and bug != "subpartition-finishes-twice") or self.has_open():
            return wire.rejected()
        self.queue.append(Entry("end_of_partition"))
        self.finished = True
        return self.wake() if bug != "subpartition-finish-wakes-like-an-add" or self.is_woken() else []

    def on_release(self) -> wire.Observations:
        bug = self.bug
        if bug != "subpartition-release-keeps-the-queue":
            self.queue.clear()
        if bug == "subpartition-release-forgets-requests":
            self.flush_requested = self.blocked = False
        if self.released and bug == "subpartition-second-release-refused":
            return wire.rejected()
        self.released = True
        return []

    def on_view(self) -> wire.Observations:
        bug = self.bug
        if self.released and bug != "subpartition-released-gets-a-view":
            return wire.rejected()
        if self.viewed and bug != "subpartition-second-view":
            return wire.rejected()
        self.viewed = True
        return self.wake() if self.queue and bug == "subpartition-view-wakes" else []

    # --- the reader

    def on_reader(self, event: wire.Json) -> wire.Observations:
        bug = self.bug
        match event.get("type"):
            case "poll":
                return self.on_poll() if self.viewed else wire.rejected()
            case "query":
                return self.on_query(credit=wire.get_boolean(event, "credit")) if self.viewed else wire.rejected()
            case "resume":
                if not self.viewed or (not self.blocked and bug != "subpartition-resumes-the-unblocked"):
                    return wire.rejected()
                self.blocked = False
                return self.wake() if bug == "subpartition-resume-wakes" and self.is_readable() else []
            case "size":
                size = wire.get_integer(event, "size")
                if not self.viewed or size < (1 if bug == "subpartition-size-zero-refused" else 0):
                    return wire.rejected()
                self.hint = min(self.hint, size) if bug == "subpartition-size-only-shrinks" else size
                return []
        raise wire.unknown_type(event)

    def is_readable(self) -> bool:
        return not self.blocked and (self.flush_requested or self.count_finished() > 0)

    def count_backlog(self) -> int:
        bug = self.bug
        if not self.queue or (self.blocked and bug != "subpartition-backlog-while-blocked"):
            return 0
        buffers = sum(entry.is_data for entry in self.queue)
        if bug == "subpartition-backlog-counts-events":
            buffers = len(self.queue)
        whole = self.flush_requested or self.finished or not self.queue[-1].is_data
        if bug == "subpartition-backlog-counts-the-open":
            whole = True
        elif bug == "subpartition-backlog-less-one-behind-events":
            whole = self.flush_requested or self.finished
        elif bug == "subpartition-backlog-ignores-flush":
            whole = self.finished or not self.queue[-1].is_data
        return buffers if whole else max(0, buffers - 1)

    def on_query(self, *, credit: bool) -> wire.Observations:
        bug = self.bug
        if credit:
            available = self.is_readable() or (bug == "subpartition-says-yes-while-blocked" and bool(self.queue))
        else:
            available = bool(self.queue) and not self.queue[0].is_data
            if bug == "subpartition-blocked-events-denied":
                available = available and not self.blocked
            elif bug == "subpartition-any-event-without-credit":
                available = any(not entry.is_data for entry in self.queue)
            elif bug == "subpartition-events-need-credit":
                available = False
        return [{"type": "availability", "available": available, "backlog": self.count_backlog()}]

    def on_poll(self) -> wire.Observations:
        bug = self.bug
        passes = bool(self.queue) and self.queue[0].kind == "priority" and bug != "subpartition-priority-held-back"
        if self.blocked and not passes:
            return [{"type": "none"}]
        entry = self.take()
        if entry is None:
            return [{"type": "none"}]
        data = entry.data if bug == "subpartition-slice-from-the-start" else entry.unread
        entry.read = len(entry.data)
        if bug == "subpartition-offset-in-two-bytes":
            entry.read %= 2 * 2**16
        if entry.kind in _BLOCKING and (entry.kind == "barrier" or bug != "subpartition-only-barriers-block"):
            self.blocked = True
        number = self.number
        if bug == "subpartition-numbers-in-two-bytes":
            number = (number + 2**15) % 2**16 - 2**15
        counts = entry.is_data or bug != "subpartition-events-not-numbered"
        self.number += counts
        following = self.queue[0].kind if self.queue and self.is_readable() else "none"
        if bug == "subpartition-next-is-whatever-follows":
            following = self.queue[0].kind if self.queue and not self.blocked else "none"
        elif bug == "subpartition-next-promised-behind-barrier" and self.queue and self.count_finished():
            following = self.queue[0].kind
        item = {"kind": entry.kind, "data": data, "backlog": self.count_backlog(), "next": following}
        return [{"type": "item", **item, "sequence": number}]

    def take(self) -> Entry | None:
        """The next entry that has something to say; an open buffer stays in the queue."""
        bug = self.bug
        while self.queue:
            entry = self.queue[0]
            if entry.finished:
                self.queue.popleft()
            elif bug == "subpartition-open-buffer-waits-for-flush" and not self.flush_requested:
                return None
            keeps_request = bug == "subpartition-flush-request-stays"
            self.flush_requested = self.flush_requested and (len(self.queue) > int(not entry.finished) or keeps_request)
            if not entry.is_data or entry.unread or self.hands_out_empty(entry):
                return entry
            if not entry.finished or bug == "subpartition-empty-buffer-ends-poll":
                return None
        self.flush_requested = self.flush_requested and bug == "subpartition-flush-request-stays"
        return None

    def hands_out_empty(self, entry: Entry) -> bool:
        bug = self.bug
        if not entry.finished:
            return False
        if bug == "subpartition-empty-buffers-handed-out":
            return True
        return self.exclusive == 0 and bug != "subpartition-empty-buffers-never-handed-out"


make = Subpartition
