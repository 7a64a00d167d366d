"""Several readers on one connection: turns, cancellation and failures. CREDIT-19 … CREDIT-22, CREDIT-24, -26 … -29.

What happens inside a reader is what `CreditSender` does; here it learns of empty buffers, and leaves sending to the
connection.
"""

from collections import deque

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.credit_sender.machine import CreditSender

_ITEMS = ("data", "empty", "event", "barrier", "end_of_partition")
_KINDS = ("add", "flush", "credit", "resume", "cancel", "fail")


class Reader(CreditSender):
    """Empty buffers are queued as data, and `hollow` tells them apart."""

    def __init__(self, connection: "CreditConnection", index: int, initial: int) -> None:
        super().__init__({"initial_credit": initial}, wire.Host())
        self.connection = connection
        self.index = index
        self.hollow: deque[bool] = deque()
        self.life = "served"

    def add(self, item: str) -> wire.Observations:
        if self.finished and self.connection.bug != "added-behind-the-end":
            return wire.rejected()
        self.hollow.append(item == "empty")
        if item == "end_of_partition":
            return self.on_finish()
        return self.on_add("data" if item == "empty" else item)

    def on_flush(self) -> wire.Observations:
        if list(self.hollow) == [True] and self.connection.bug != "empty-buffer-flushed":
            return []
        return super().on_flush()

    def clear(self) -> None:
        self.queue.clear()
        self.hollow.clear()
        self.data = 0

    def is_available(self) -> bool:
        """Without credit an event at the head is enough, even behind a barrier."""
        has_event = bool(self.queue) and self.queue[0] != "data"
        if self.credit <= 0 and self.connection.bug != "data-needs-no-credit":
            return has_event and self.connection.bug != "events-wait-for-credit"
        return not self.blocked and (self.flush_requested or bool(self.queue))

    def is_sendable(self) -> bool:
        return not self.blocked and self.is_available()

    def wake(self) -> wire.Observations:
        return self.connection.wake(self)

    def announce(self) -> wire.Observations:
        if self.connection.bug == "announces-with-initial-credit" and self.credit == 0 and self.count_backlog():
            return [{"type": "backlog", "reader": self.index, "backlog": self.count_backlog()}]
        return [{**announced, "reader": self.index} for announced in super().announce()]

    def take_next(self) -> wire.Json | None:
        """One item; a reader that began with credit does not send empty buffers."""
        bug = self.connection.bug
        keeps_empty = (self.initial == 0 and bug != "empty-never-sent") or bug == "empty-always-sent"
        while self.queue and not self.blocked:
            is_empty = self.hollow.popleft()
            if is_empty and not keeps_empty:
                self.queue.popleft()
                self.data -= 1
                self.flush_requested = self.flush_requested and bool(self.queue)
                continue
            if is_empty and bug == "empty-costs-nothing":
                self.credit += 1
            return {"reader": self.index, **self.take()}
        self.flush_requested = self.flush_requested and self.blocked
        return None


class CreditConnection:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("connection-")
        granted = config.get("initial_credits")
        if not isinstance(granted, list) or not all(type(credit) is int and credit >= 0 for credit in granted):
            raise wire.BadRequestError("initial_credits must be a list of integers of at least 0")
        self.readers = [Reader(self, index, credit) for index, credit in enumerate(granted)]
        self.queue: deque[Reader] = deque()
        self.writable = True
        self.closed = False
        self.messages = 0

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "writable":
            value = wire.get_boolean(event, "value")
            return [] if self.closed else self.on_writable(value=value)
        if kind == "break":
            return self.on_break()
        if kind not in _KINDS:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "reader")
        amount = wire.get_at_least(event, "amount", 1) if kind == "credit" else 0
        if self.bug == "credit-in-a-byte":
            amount &= 0xFF
        item = wire.get_choice(event, "item", _ITEMS) if kind == "add" else ""
        if self.closed:
            return wire.rejected() if self.bug == "refuses-once-closed" else []
        return self.on_reader(kind, index, amount, item)

    def on_reader(self, kind: str, index: int, amount: int, item: str) -> wire.Observations:
        bug = self.bug
        known = 0 <= index < len(self.readers) and self.readers[index].life != "cancelled"
        if not known:
            silent = kind == "cancel" and bug != "cancel-twice-refused"
            return (
                [] if silent or (bug == "unknown-readers-ignored" and kind in {"credit", "resume"}) else wire.rejected()
            )
        reader = self.readers[index]
        if kind == "cancel":
            return self.on_cancel(reader)
        if kind == "fail":
            return self.on_fail(reader)
        if kind == "add":
            if reader.life == "failed":
                return wire.rejected() if bug == "failed-reader-refuses" else []
            return reader.add(item)
        if kind == "flush":
            return reader.on_flush()
        if kind == "resume":
            return self.on_resume(reader)
        return self.on_credit(self.readers[0] if bug == "credit-for-the-first" else reader, amount)

    def on_credit(self, reader: Reader, amount: int) -> wire.Observations:
        if self.bug == "credit-lost-while-unwritable" and not self.writable:
            return []
        out = reader.on_credit(amount)
        if self.bug == "credit-for-everybody":
            for other in self.readers:
                if other is not reader and other.life == "served":
                    out += other.on_credit(amount)
        return out

    def on_resume(self, reader: Reader) -> wire.Observations:
        bug = self.bug
        if bug == "resume-keeps-credit" and reader.blocked and reader.initial == 0:
            reader.blocked = False
            return reader.wake()
        out = reader.on_resume()
        if bug == "resumes-everybody":
            for other in self.readers:
                if other.blocked:
                    out += other.on_resume()
        return out

    def wake(self, reader: Reader) -> wire.Observations:
        bug = self.bug
        if reader in self.queue and bug != "queued-twice":
            return []
        if reader.is_available():
            if bug == "queued-in-front":
                self.queue.appendleft(reader)
            else:
                self.queue.append(reader)
            return self.write()
        if bug == "announcement-waits-for-writable" and not self.writable:
            return []
        return [] if bug == "never-announces" else reader.announce()

    def write(self) -> wire.Observations:
        bug = self.bug
        out: wire.Observations = []
        while self.queue and (self.writable or bug == "writes-while-not-writable"):
            reader = self.queue.pop() if bug == "last-comes-first" else self.queue.popleft()
            message = reader.take_next()
            if message is not None:
                if bug == "numbers-shared":
                    message["sequence"] = self.messages
                self.messages += 1
                out.append(message)
                self.requeue(reader)
                if bug == "announces-while-writing" and reader not in self.queue:
                    out += reader.announce()
                if bug == "barrier-blocks-the-connection" and reader.blocked:
                    self.queue.clear()
            elif reader.life == "failed" and bug != "failure-not-told":
                out += [{"type": "closed"}] if bug == "failure-told-to-all" else self.tell(reader)
        return out

    def requeue(self, reader: Reader) -> None:
        bug = self.bug
        if reader.is_sendable() and bug != "one-item-and-out":
            if bug == "one-reader-until-it-is-done":
                self.queue.appendleft(reader)
            else:
                self.queue.append(reader)

    def tell(self, reader: Reader) -> wire.Observations:
        return [{"type": "reader_error", "reader": reader.index}]

    def on_writable(self, *, value: bool) -> wire.Observations:
        bug = self.bug
        self.writable = value
        if bug == "queue-dropped-while-unwritable" and not value:
            self.queue.clear()
        return [] if bug == "writing-not-taken-up" else self.write()

    def on_cancel(self, reader: Reader) -> wire.Observations:
        bug = self.bug
        if bug == "cancel-looks-in-the-queue" and reader not in self.queue:
            return []
        if bug != "cancelled-keeps-its-turn":
            if reader in self.queue:
                self.queue.remove(reader)
            reader.clear()
        if bug == "cancel-drops-the-queue":
            self.queue.clear()
        reader.life = "cancelled"
        return []

    def on_fail(self, reader: Reader) -> wire.Observations:
        bug = self.bug
        reader.life = "failed"
        if bug == "failure-breaks-the-connection":
            return self.on_break()
        if bug != "failed-reader-sends-on":
            reader.clear()
        if bug == "failed-reader-leaves-the-queue" and reader in self.queue:
            self.queue.remove(reader)
        return self.tell(reader) if bug == "failure-told-at-once" else []

    def on_break(self) -> wire.Observations:
        bug = self.bug
        if self.closed and bug != "told-again-of-the-end":
            return []
        self.closed = bug != "goes-on-after-a-break"
        self.queue.clear()
        if bug == "told-to-each-reader":
            return [{"type": "closed"} for _ in self.readers]
        return [{"type": "closed"}]


make = CreditConnection
