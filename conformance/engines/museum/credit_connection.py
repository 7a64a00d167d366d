"""Several readers on one connection: turns, cancellation and failures. CREDIT-19 … CREDIT-22, CREDIT-24, -26 … -29.

What happens inside a reader is what `CreditSender` does; here it learns of empty buffers, and leaves sending to the
connection.
"""

from collections import deque

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.credit_sender import CreditSender
from tidegate.conformance.engines.museum.wrong import changed, wrong

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
        if self.finished:
            return wire.rejected()
        self.hollow.append(item == "empty")
        if item == "end_of_partition":
            return self.on_finish()
        return self.on_add("data" if item == "empty" else item)

    def on_flush(self) -> wire.Observations:
        if list(self.hollow) == [True]:
            return []
        return super().on_flush()

    def clear(self) -> None:
        self.queue.clear()
        self.hollow.clear()
        self.data = 0

    def is_available(self) -> bool:
        """Without credit an event at the head is enough, even behind a barrier."""
        has_event = bool(self.queue) and self.queue[0] != "data"
        if self.credit <= 0:
            return has_event
        return not self.blocked and (self.flush_requested or bool(self.queue))

    def is_sendable(self) -> bool:
        return not self.blocked and self.is_available()

    def wake(self) -> wire.Observations:
        return self.connection.wake(self)

    def announce(self) -> wire.Observations:
        return [{**announced, "reader": self.index} for announced in super().announce()]

    def take_next(self) -> wire.Json | None:
        """One item; a reader that began with credit does not send empty buffers."""
        while self.queue and not self.blocked:
            is_empty = self.hollow.popleft()
            if is_empty and self.initial > 0:
                self.queue.popleft()
                self.data -= 1
                self.flush_requested = self.flush_requested and bool(self.queue)
                continue
            return {"reader": self.index, **self.take()}
        self.flush_requested = self.flush_requested and self.blocked
        return None


class CreditConnection:
    reader = Reader

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        granted = config.get("initial_credits")
        if not isinstance(granted, list) or not all(type(credit) is int and credit >= 0 for credit in granted):
            raise wire.BadRequestError("initial_credits must be a list of integers of at least 0")
        self.readers = [self.reader(self, index, credit) for index, credit in enumerate(granted)]
        self.queue: deque[Reader] = deque()
        self.writable = True
        self.closed = False

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
        item = wire.get_choice(event, "item", _ITEMS) if kind == "add" else ""
        if self.closed:
            return []
        return self.on_reader(kind, index, amount, item)

    def on_reader(self, kind: str, index: int, amount: int, item: str) -> wire.Observations:
        if not 0 <= index < len(self.readers) or self.readers[index].life == "cancelled":
            return self.on_stranger(kind)
        reader = self.readers[index]
        if kind == "cancel":
            return self.on_cancel(reader)
        if kind == "fail":
            return self.on_fail(reader)
        if kind == "add":
            return [] if reader.life == "failed" else reader.add(item)
        if kind == "flush":
            return reader.on_flush()
        if kind == "resume":
            return self.on_resume(reader)
        return self.on_credit(reader, amount)

    def on_stranger(self, kind: str) -> wire.Observations:
        return [] if kind == "cancel" else wire.rejected()

    def on_credit(self, reader: Reader, amount: int) -> wire.Observations:
        return reader.on_credit(amount)

    def on_resume(self, reader: Reader) -> wire.Observations:
        return reader.on_resume()

    def wake(self, reader: Reader) -> wire.Observations:
        if reader in self.queue:
            return []
        if reader.is_available():
            self.queue.append(reader)
            return self.write()
        return reader.announce()

    def write(self) -> wire.Observations:
        out: wire.Observations = []
        while self.queue and self.writable:
            reader = self.queue.popleft()
            message = reader.take_next()
            if message is not None:
                out.append(message)
                self.requeue(reader)
            elif reader.life == "failed":
                out += self.tell(reader)
        return out

    def requeue(self, reader: Reader) -> None:
        if reader.is_sendable():
            self.queue.append(reader)

    def tell(self, reader: Reader) -> wire.Observations:
        return [{"type": "reader_error", "reader": reader.index}]

    def on_writable(self, *, value: bool) -> wire.Observations:
        self.writable = value
        return self.write()

    def on_cancel(self, reader: Reader) -> wire.Observations:
        if reader in self.queue:
            self.queue.remove(reader)
        reader.clear()
        reader.life = "cancelled"
        return []

    def on_fail(self, reader: Reader) -> wire.Observations:
        reader.life = "failed"
        reader.clear()
        return []

    def on_break(self) -> wire.Observations:
        if self.closed:
            return []
        self.closed = True
        self.queue.clear()
        return [{"type": "closed"}]


make = CreditConnection

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CREDIT-19", "CREDIT-20", "CREDIT-21", "CREDIT-24", "SUBP-6")
class ConnectionDataNeedsNoCredit(CreditConnection):
    """Data is sent without credit."""

    class Part(Reader):
        is_available = changed(Reader.is_available, "self.credit <= 0", "False")

    reader = Part


@wrong("CREDIT-19", "CREDIT-20", "CREDIT-21", "SUBP-6", "SUBP-17")
class ConnectionEventsWaitForCredit(CreditConnection):
    """An event waits until its reader has credit."""

    class Part(Reader):
        is_available = changed(Reader.is_available, "return has_event", "return False")

    reader = Part


@wrong("CREDIT-20", "CREDIT-21", "CREDIT-22")
class ConnectionQueuedTwice(CreditConnection):
    """A reader that is woken while it stands in the queue stands there twice, and has two turns."""

    wake = changed(CreditConnection.wake, "reader in self.queue", "False")


@wrong("CREDIT-20", "CREDIT-21", "CREDIT-22")
class ConnectionQueuedInFront(CreditConnection):
    """A reader that is woken goes to the front of the queue."""

    wake = changed(CreditConnection.wake, "self.queue.append", "self.queue.appendleft")


@wrong("CREDIT-20", "CREDIT-21", "CREDIT-24", "CREDIT-19")
class ConnectionCreditForTheFirst(CreditConnection):
    """Credit is given to the first reader, whoever it was for."""

    on_reader = changed(
        CreditConnection.on_reader, "self.on_credit(reader, amount)", "self.on_credit(self.readers[0], amount)"
    )


@wrong("CREDIT-20", "CREDIT-21", "CREDIT-24", "CREDIT-19", "CREDIT-22")
class ConnectionCreditForEverybody(CreditConnection):
    """Credit for one reader is given to all of them: data meets receivers without a buffer."""

    def on_credit(self, reader: Reader, amount: int) -> wire.Observations:
        out = super().on_credit(reader, amount)
        for other in self.readers:
            if other is not reader and other.life == "served":
                out += other.on_credit(amount)
        return out


@wrong("CREDIT-21", "CREDIT-22")
class ConnectionOneReaderUntilItIsDone(CreditConnection):
    """A reader sends all it has before the next one gets its turn."""

    requeue = changed(CreditConnection.requeue, "append", "appendleft")


@wrong("CREDIT-21", "CREDIT-20", "CREDIT-22")
class ConnectionOneItemAndOut(CreditConnection):
    """A reader that has sent an item leaves the queue, though it has more to send."""

    def requeue(self, reader: Reader) -> None:
        pass


@wrong("CREDIT-21", "CREDIT-22")
class ConnectionLastComesFirst(CreditConnection):
    """The reader that came last is served first."""

    write = changed(CreditConnection.write, "self.queue.popleft", "self.queue.pop")


@wrong("CREDIT-21", "CREDIT-22", "CREDIT-20")
class ConnectionNumbersShared(CreditConnection):
    """Messages are numbered by the connection, not by the reader: every receiver misses some."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.messages = 0

    write = changed(
        CreditConnection.write,
        "out.append(message)",
        'message["sequence"] = self.messages\nself.messages += 1\nout.append(message)',
    )


@wrong("CREDIT-22", "CREDIT-20", "CREDIT-21")
class ConnectionWritesWhileNotWritable(CreditConnection):
    """Messages are written although the connection takes none."""

    write = changed(CreditConnection.write, "self.queue and self.writable", "self.queue")


@wrong("CREDIT-22", "CREDIT-21")
class ConnectionQueueDroppedWhileUnwritable(CreditConnection):
    """When the connection is no longer writable the queue is dropped, and nobody wakes its readers again."""

    def on_writable(self, *, value: bool) -> wire.Observations:
        if not value:
            self.queue.clear()
        return super().on_writable(value=value)


@wrong("CREDIT-22", "CREDIT-21")
class ConnectionWritingNotTakenUp(CreditConnection):
    """When the connection is writable again nobody begins to write."""

    on_writable = changed(CreditConnection.on_writable, "self.write()", "[]")


@wrong("CREDIT-22", "CREDIT-20", "CREDIT-21", "CREDIT-24")
class ConnectionCreditLostWhileUnwritable(CreditConnection):
    """Credit that comes while the connection is not writable is lost."""

    def on_credit(self, reader: Reader, amount: int) -> wire.Observations:
        if not self.writable:
            return []
        return super().on_credit(reader, amount)


@wrong("CREDIT-24", "CREDIT-22")
class ConnectionAnnouncementWaitsForWritable(CreditConnection):
    """Nothing is announced while the connection is not writable, nor afterwards."""

    wake = changed(
        CreditConnection.wake, "return reader.announce()", "return reader.announce() if self.writable else []"
    )


@wrong("CREDIT-24", origin="Flink before 1.14")
class ConnectionNeverAnnounces(CreditConnection):
    """A reader that started without credit does not announce its backlog: it waits for credit, and its receiver
    for news.
    """

    wake = changed(CreditConnection.wake, "reader.announce()", "[]")


@wrong("CREDIT-24", "CREDIT-19", "CREDIT-20")
class ConnectionAnnouncesWithInitialCredit(CreditConnection):
    """A reader that started with credit announces its backlog when it has used it up."""

    class Part(Reader):
        def announce(self) -> wire.Observations:
            if self.credit == 0 and self.count_backlog():
                return [{"type": "backlog", "reader": self.index, "backlog": self.count_backlog()}]
            return super().announce()

    reader = Part


@wrong("CREDIT-24", "CREDIT-21")
class ConnectionAnnouncesWhileWriting(CreditConnection):
    """The backlog is announced behind a message that has told it."""

    write = changed(
        CreditConnection.write,
        "self.requeue(reader)",
        "self.requeue(reader)\nif reader not in self.queue:\n    out += reader.announce()",
    )


@wrong("CREDIT-26", "CREDIT-20", "CREDIT-21", "SUBP-13", "CREDIT-22")
class ConnectionResumesEverybody(CreditConnection):
    """Resume for one reader resumes all: some send what belongs behind a barrier that their receivers have not
    aligned.
    """

    def on_resume(self, reader: Reader) -> wire.Observations:
        out = super().on_resume(reader)
        for other in self.readers:
            if other.blocked:
                out += other.on_resume()
        return out


@wrong("CREDIT-26", "CREDIT-20", "CREDIT-21", "CREDIT-24", "SUBP-13", origin="FLINK-16404")
class ConnectionResumeKeepsCredit(CreditConnection):
    """Resume keeps the credit of a reader that started without: its receiver gave these buffers back at the
    barrier.
    """

    def on_resume(self, reader: Reader) -> wire.Observations:
        if reader.blocked and reader.initial == 0:
            reader.blocked = False
            return reader.wake()
        return super().on_resume(reader)


@wrong("CREDIT-26", "CREDIT-21", "CREDIT-22")
class ConnectionBarrierBlocksTheConnection(CreditConnection):
    """A barrier of one reader empties the queue of all."""

    write = changed(
        CreditConnection.write,
        "self.requeue(reader)",
        "self.requeue(reader)\nif reader.blocked:\n    self.queue.clear()",
    )


@wrong("CREDIT-27", "CREDIT-20", "CREDIT-21", "CREDIT-22", origin="FLINK-13245")
class ConnectionCancelLooksInTheQueue(CreditConnection):
    """Cancelling looks for the reader among those that have something to send; any other is never released."""

    def on_cancel(self, reader: Reader) -> wire.Observations:
        if reader not in self.queue:
            return []
        return super().on_cancel(reader)


@wrong("CREDIT-27", "CREDIT-21", "CREDIT-22")
class ConnectionCancelledKeepsItsTurn(CreditConnection):
    """A cancelled reader stays in the queue, and sends to a receiver that is gone."""

    def on_cancel(self, reader: Reader) -> wire.Observations:
        reader.life = "cancelled"
        return []


@wrong("CREDIT-27", "CREDIT-21", "CREDIT-22")
class ConnectionCancelDropsTheQueue(CreditConnection):
    """Cancelling one reader makes all others lose their turns."""

    def on_cancel(self, reader: Reader) -> wire.Observations:
        self.queue.clear()
        return super().on_cancel(reader)


@wrong("CREDIT-27")
class ConnectionCancelTwiceRefused(CreditConnection):
    """Cancelling a reader that is unknown is refused; it may cross with the end of a partition."""

    def on_stranger(self, kind: str) -> wire.Observations:
        return wire.rejected()


@wrong("CREDIT-27")
class ConnectionUnknownReadersIgnored(CreditConnection):
    """Credit and resume for a reader that is not there are taken without a word."""

    on_stranger = changed(CreditConnection.on_stranger, 'kind == "cancel"', 'kind in {"cancel", "credit", "resume"}')


@wrong("CREDIT-28", "CREDIT-20", "CREDIT-21", "CREDIT-22", "SUBP-6", "SUBP-7", origin="Flink before 1.14")
class ConnectionEmptyNeverSent(CreditConnection):
    """A reader that started without credit skips empty buffers, and the floating buffer granted for them is lost."""

    class Part(Reader):
        take_next = changed(Reader.take_next, " and self.initial > 0", "")

    reader = Part


@wrong("CREDIT-28", "CREDIT-20", "CREDIT-21", "CREDIT-22", "SUBP-6", "SUBP-7")
class ConnectionEmptyAlwaysSent(CreditConnection):
    """Empty buffers are sent by every reader."""

    class Part(Reader):
        take_next = changed(Reader.take_next, "is_empty and self.initial > 0", "False")

    reader = Part


@wrong("CREDIT-28", "CREDIT-20", "CREDIT-21", "CREDIT-22", "SUBP-6", "SUBP-7")
class ConnectionEmptyCostsNothing(CreditConnection):
    """An empty buffer is sent without spending the credit that was granted for it."""

    class Part(Reader):
        take_next = changed(Reader.take_next, 'return {"reader"', 'self.credit += is_empty\nreturn {"reader"')

    reader = Part


@wrong("SUBP-7", "CREDIT-20", "CREDIT-21", "CREDIT-28", origin="FLINK-14118")
class ConnectionEmptyBufferFlushed(CreditConnection):
    """A flush of nothing but an empty buffer is requested all the same, and wakes the reader."""

    class Part(Reader):
        on_flush = CreditSender.on_flush

    reader = Part


@wrong("SUBP-17", "CREDIT-20", "CREDIT-21")
class ConnectionAddedBehindTheEnd(CreditConnection):
    """Items are accepted behind the end of the partition."""

    class Part(Reader):
        add = changed(Reader.add, "self.finished", "False")

    reader = Part


@wrong("CREDIT-29", "CREDIT-21", "CREDIT-22")
class ConnectionFailureNotTold(CreditConnection):
    """A reader whose producer failed leaves the queue in silence: its receiver waits for ever."""

    def tell(self, reader: Reader) -> wire.Observations:
        return []


@wrong("CREDIT-29", "CREDIT-21", "CREDIT-22")
class ConnectionFailureToldToAll(CreditConnection):
    """The failure of one producer is reported as one of the connection."""

    def tell(self, reader: Reader) -> wire.Observations:
        return [{"type": "closed"}]


@wrong("CREDIT-29", "CREDIT-21", "CREDIT-22")
class ConnectionFailureToldAtOnce(CreditConnection):
    """The failure of a producer is reported before the turn of its reader."""

    on_fail = changed(CreditConnection.on_fail, "return []", "return self.tell(reader)")


@wrong("CREDIT-29", "CREDIT-21")
class ConnectionFailureBreaksTheConnection(CreditConnection):
    """The failure of one producer ends all readers."""

    def on_fail(self, reader: Reader) -> wire.Observations:
        return self.on_break()


@wrong("CREDIT-29", "CREDIT-21", "CREDIT-22")
class ConnectionFailedReaderSendsOn(CreditConnection):
    """A reader whose partition was released goes on to send what was queued."""

    on_fail = changed(CreditConnection.on_fail, "reader.clear()", "pass")


@wrong("CREDIT-29", "CREDIT-21", "CREDIT-22")
class ConnectionFailedReaderLeavesTheQueue(CreditConnection):
    """A reader whose producer failed loses its turn, and with it the chance to say so."""

    def on_fail(self, reader: Reader) -> wire.Observations:
        if reader in self.queue:
            self.queue.remove(reader)
        return super().on_fail(reader)


@wrong("CREDIT-29")
class ConnectionFailedReaderRefuses(CreditConnection):
    """What a failing producer still adds is refused."""

    on_reader = changed(
        CreditConnection.on_reader, '[] if reader.life == "failed"', 'wire.rejected() if reader.life == "failed"'
    )


@wrong("CREDIT-29")
class ConnectionRefusesOnceClosed(CreditConnection):
    """After the connection has failed events are refused instead of having no effect."""

    step = changed(
        CreditConnection.step, "if self.closed:\n        return []", "if self.closed:\n    return wire.rejected()"
    )


@wrong("CREDIT-29")
class ConnectionToldAgainOfTheEnd(CreditConnection):
    """A second failure of the connection is reported again."""

    on_break = changed(CreditConnection.on_break, "if self.closed:", "if False:")


@wrong("CREDIT-29")
class ConnectionToldToEachReader(CreditConnection):
    """The failure of the connection is reported once for each reader."""

    on_break = changed(CreditConnection.on_break, '[{"type": "closed"}]', '[{"type": "closed"} for _ in self.readers]')


@wrong("CREDIT-29", "CREDIT-27", "CREDIT-20", "CREDIT-21", "CREDIT-22")
class ConnectionGoesOnAfterABreak(CreditConnection):
    """After the connection has failed readers go on to send."""

    on_break = changed(CreditConnection.on_break, "self.closed = True", "self.closed = False")


@wrong("CREDIT-20", "CREDIT-19", "CREDIT-24")
class ConnectionCreditInAByte(CreditConnection):
    """An amount of credit is read in one byte."""

    def on_credit(self, reader: Reader, amount: int) -> wire.Observations:
        return super().on_credit(reader, amount & 0xFF)
