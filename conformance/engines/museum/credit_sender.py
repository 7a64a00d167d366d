"""One reader over one pipelined subpartition: CREDIT-19 … CREDIT-26, SUBP-5 … SUBP-7, SUBP-10 … SUBP-13, SUBP-17.

`wake` is what a notification does, `write` the write loop of the connection; everything else only changes the queue.
"""

from collections import deque

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong


class CreditSender:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:

        self.initial = wire.get_at_least(config, "initial_credit", 0)
        self.credit = self.initial
        self.queue: deque[str] = deque()
        #: How many of the queued items are data.
        self.data = 0
        self.flush_requested = False
        self.blocked = False
        self.finished = False
        self.writable = True
        self.registered = False
        self.sequence = 0

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if self.is_over(kind):
            return wire.rejected()
        if kind in {"data", "event", "barrier"}:
            return self.on_add(kind)
        if kind == "flush":
            return self.on_flush()
        if kind == "credit":
            return self.on_credit(wire.get_integer(event, "amount"))
        if kind == "resume":
            return self.on_resume()
        if kind == "writable":
            return self.on_writable(value=wire.get_boolean(event, "value"))
        if kind == "finish":
            return self.on_finish()
        raise wire.unknown_type(event)

    def is_over(self, kind: str | None) -> bool:
        return self.finished and kind in {"data", "event", "barrier", "finish"}

    def count_finished(self) -> int:
        """How many queued items the reader knows to be finished."""
        queued = len(self.queue)
        return 1 if queued == 1 else max(0, queued - 1)

    def count_backlog(self) -> int:
        if not self.queue or self.blocked:
            return 0
        whole = self.flush_requested or self.finished or self.queue[-1] != "data"
        return self.data if whole else max(0, self.data - 1)

    def is_sendable(self) -> bool:
        if self.blocked or not self.queue:
            return False
        if not (self.flush_requested or self.count_finished()):
            return False
        return self.queue[0] != "data" or self.credit > 0

    def wake(self) -> wire.Observations:
        if self.registered:
            return []
        if self.is_sendable():
            self.registered = True
            return self.write()
        return self.announce()

    def announce(self) -> wire.Observations:
        backlog = self.count_backlog()
        if backlog == 0 or self.credit > 0 or self.initial > 0:
            return []
        return [{"type": "backlog", "backlog": backlog}]

    def write(self) -> wire.Observations:
        out: wire.Observations = []
        while self.registered and self.writable:
            self.registered = False
            if not self.queue or self.blocked:
                break
            out.append(self.take())
            self.registered = self.is_sendable()
        return out

    def take(self) -> wire.Json:
        if len(self.queue) == 1:
            self.flush_requested = False
        item = self.queue.popleft()
        if item == "data":
            self.data -= 1
            self.credit -= 1
        if item == "barrier":
            self.blocked = True
        sequence = self.sequence
        self.sequence += 1
        kind, backlog = "data" if item == "data" else "event", self.count_backlog()
        return {"type": "send", "kind": kind, "sequence": sequence, "backlog": backlog}

    def on_add(self, kind: str) -> wire.Observations:
        self.queue.append(kind)
        self.data += kind == "data"
        if self.blocked or self.flush_requested:
            return []
        return self.wake() if self.count_finished() == 1 else []

    def on_flush(self) -> wire.Observations:
        if not self.queue or self.flush_requested:
            return []
        self.flush_requested = True
        if self.blocked or len(self.queue) > 1:
            return []
        return self.wake()

    def on_credit(self, amount: int) -> wire.Observations:
        if amount < 1:
            return wire.rejected()
        self.credit += amount
        return self.wake()

    def on_resume(self) -> wire.Observations:
        if not self.blocked:
            return wire.rejected()
        self.blocked = False
        if self.initial == 0:
            self.credit = 0
        return self.wake()

    def on_writable(self, *, value: bool) -> wire.Observations:
        self.writable = value
        return self.write() if value else []

    def on_finish(self) -> wire.Observations:
        self.finished = True
        self.queue.append("end")
        return self.wake()


make = CreditSender

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SUBP-5", "SUBP-6", "SUBP-10", "SUBP-12", "CREDIT-19", "CREDIT-20", "CREDIT-21")
class SenderSingleBufferUnfinished(CreditSender):
    """A single queued buffer counts as unfinished though it is finished, so it waits for a second one or a flush."""

    count_finished = changed(
        CreditSender.count_finished, "1 if queued == 1", 'int(self.queue[0] != "data") if queued == 1'
    )


@wrong("SUBP-6", "CREDIT-20", "CREDIT-24")
class SenderEveryAddWakes(CreditSender):
    """Every added item wakes the reader, not only the one that makes the first finished buffer: announcements
    repeat.
    """

    on_add = changed(CreditSender.on_add, "self.count_finished() == 1", "self.count_finished() >= 1")


@wrong("SUBP-6", "SUBP-7", "CREDIT-20", "CREDIT-24")
class SenderAddWakesDuringFlush(CreditSender):
    """An added item wakes the reader although a flush is already requested."""

    on_add = changed(CreditSender.on_add, "self.blocked or self.flush_requested", "self.blocked")


@wrong("SUBP-7", "CREDIT-20", "CREDIT-24", origin="FLINK-14118")
class SenderEveryFlushWakes(CreditSender):
    """A flush wakes the reader whenever something is queued, though there is nothing new to read."""

    on_flush = changed(CreditSender.on_flush, "self.blocked or len(self.queue) > 1", "self.blocked")


@wrong(
    "SUBP-7",
    "SUBP-10",
    "SUBP-11",
    "SUBP-12",
    "SUBP-13",
    "CREDIT-19",
    "CREDIT-23",
    "CREDIT-24",
    "CREDIT-26",
    origin="FLINK-23223",
)
class SenderFlushWhileBlockedLost(CreditSender):
    """A flush while the reader is blocked by a barrier is forgotten."""

    def on_flush(self) -> wire.Observations:
        return [] if self.blocked else super().on_flush()


@wrong("SUBP-7", "SUBP-10", "SUBP-11", "SUBP-12", "CREDIT-19", "CREDIT-23", "CREDIT-24")
class SenderFlushSingleOnly(CreditSender):
    """A flush counts only if a single buffer is queued."""

    def on_flush(self) -> wire.Observations:
        return super().on_flush() if len(self.queue) == 1 else []


@wrong("SUBP-7", "SUBP-6", "SUBP-10", "SUBP-12", "CREDIT-20", "CREDIT-24", origin="FLINK-8694")
class SenderFlushDoesNotWake(CreditSender):
    """The flush is recorded but the wake-up gets lost."""

    on_flush = changed(CreditSender.on_flush, "self.wake()", "[]")


@wrong("SUBP-7", "SUBP-10", "SUBP-11", "SUBP-12", "CREDIT-23", "CREDIT-24")
class SenderFlushNeedsData(CreditSender):
    """A flush with an event last in the queue is ignored."""

    def on_flush(self) -> wire.Observations:
        return super().on_flush() if self.queue and self.queue[-1] == "data" else []


@wrong(
    "SUBP-7",
    "SUBP-6",
    "SUBP-8",
    "SUBP-10",
    "SUBP-11",
    "SUBP-12",
    "CREDIT-19",
    "CREDIT-20",
    "CREDIT-21",
    "CREDIT-23",
    "CREDIT-24",
)
class SenderFlushNeverEnds(CreditSender):
    """A flush request outlives the last item it was made for."""

    take = changed(CreditSender.take, "self.flush_requested = False", "pass")


@wrong("SUBP-7", "SUBP-8", "SUBP-10", "SUBP-11", "SUBP-12", "CREDIT-19", "CREDIT-21", "CREDIT-23", "CREDIT-24")
class SenderFlushEndsAtFirstItem(CreditSender):
    """A flush request ends with the next item taken, though others are queued."""

    def take(self) -> wire.Json:
        self.flush_requested = False
        return super().take()


@wrong("SUBP-10", "CREDIT-21", "CREDIT-23")
class SenderEventsUnnumbered(CreditSender):
    """Events do not take a sequence number."""

    take = changed(CreditSender.take, "self.sequence += 1", 'if item == "data":\n    self.sequence += 1')


@wrong("SUBP-10", "CREDIT-21", "CREDIT-23")
class SenderSequenceIn5Bits(CreditSender):
    """Sequence numbers wrap after 32 items."""

    take = changed(CreditSender.take, "self.sequence += 1", "self.sequence = (self.sequence + 1) % 32")


@wrong("SUBP-10", "SUBP-13", "CREDIT-23", "CREDIT-26")
class SenderResumeRestartsSequence(CreditSender):
    """Sequence numbers start again after a barrier."""

    on_resume = changed(CreditSender.on_resume, "return self.wake()", "self.sequence = 0\nreturn self.wake()")


@wrong("SUBP-11", "CREDIT-23", "CREDIT-24", origin="FLINK-11082")
class SenderBacklogCountsOpenBuffer(CreditSender):
    """The backlog counts the last buffer, which is not yet known to be finished."""

    count_backlog = changed(CreditSender.count_backlog, "return self.data if whole", "return self.data if True")


@wrong("SUBP-11", "CREDIT-23", "CREDIT-24")
class SenderBacklogIgnoresLastEvent(CreditSender):
    """One buffer is held back from the backlog even if an event follows it: the rule of 1.9 to 1.13."""

    count_backlog = changed(CreditSender.count_backlog, ' or self.queue[-1] != "data"', "")


@wrong("SUBP-11", "CREDIT-23", "CREDIT-24")
class SenderBacklogCountsEvents(CreditSender):
    """The backlog counts events."""

    def count_backlog(self) -> int:
        if not self.queue or self.blocked:
            return 0
        return len(self.queue) - (self.queue[-1] == "data" and not self.flush_requested)


@wrong("SUBP-11", "SUBP-7", "CREDIT-23", "CREDIT-24")
class SenderBacklogIgnoresFlush(CreditSender):
    """One buffer is held back from the backlog although a flush is requested."""

    count_backlog = changed(
        CreditSender.count_backlog,
        'self.flush_requested or self.finished or self.queue[-1] != "data"',
        'self.finished or self.queue[-1] != "data"',
    )


@wrong("SUBP-11", "SUBP-17", "CREDIT-23", "CREDIT-24")
class SenderBacklogForgetsEnd(CreditSender):
    """One buffer is held back from the backlog although the partition is finished."""

    count_backlog = changed(
        CreditSender.count_backlog,
        'self.flush_requested or self.finished or self.queue[-1] != "data"',
        'self.flush_requested or self.queue[-1] not in {"data", "end"}',
    )


@wrong("SUBP-11", "SUBP-13", "CREDIT-23", "CREDIT-24", "CREDIT-26")
class SenderBacklogWhileBlocked(CreditSender):
    """A blocked reader reports its backlog."""

    count_backlog = changed(CreditSender.count_backlog, "not self.queue or self.blocked", "not self.queue")


@wrong("SUBP-11", "SUBP-13", "CREDIT-23", "CREDIT-26")
class SenderBarrierReportsBacklog(CreditSender):
    """The barrier's own message still carries the backlog behind it."""

    take = changed(
        CreditSender.take,
        'if item == "barrier":',
        'backlog = self.count_backlog()\nif item == "barrier":',
        'kind, backlog = "data" if item == "data" else "event", self.count_backlog()',
        'kind = "data" if item == "data" else "event"',
    )


@wrong("SUBP-13", "SUBP-10", "SUBP-12", "CREDIT-19", "CREDIT-21", "CREDIT-26")
class SenderBarrierDoesNotBlock(CreditSender):
    """Sending goes on behind an aligned barrier."""

    take = changed(CreditSender.take, 'item == "barrier"', "False")


@wrong("SUBP-13", "SUBP-6", "SUBP-10", "SUBP-12", "CREDIT-19", "CREDIT-20", "CREDIT-26")
class SenderBarrierBlocksWhenQueued(CreditSender):
    """A barrier blocks when it is queued, not when it is sent, and so blocks itself."""

    def on_add(self, kind: str) -> wire.Observations:
        self.blocked = self.blocked or kind == "barrier"
        return super().on_add(kind)


@wrong("SUBP-13", "SUBP-10", "SUBP-11", "SUBP-12", "CREDIT-19", "CREDIT-21", "CREDIT-23", "CREDIT-26")
class SenderEveryEventBlocks(CreditSender):
    """Every event blocks, not only a barrier."""

    take = changed(CreditSender.take, 'item == "barrier"', 'item in {"barrier", "event"}')


@wrong("SUBP-17", "SUBP-6", "CREDIT-20", "CREDIT-24")
class SenderFinishWakesAsAdd(CreditSender):
    """The end of the partition wakes the reader only where another item would."""

    on_finish = changed(
        CreditSender.on_finish,
        "return self.wake()",
        "if self.flush_requested or self.blocked or self.count_finished() != 1:\n    return []\nreturn self.wake()",
    )


@wrong("SUBP-17", "SUBP-6", "SUBP-10", "SUBP-12", "SUBP-13", "CREDIT-19", "CREDIT-20", "CREDIT-26")
class SenderFinishResumes(CreditSender):
    """The end of the partition lifts the barrier."""

    on_finish = changed(CreditSender.on_finish, "return self.wake()", "self.blocked = False\nreturn self.wake()")


@wrong("SUBP-17", "SUBP-10", "SUBP-11", "CREDIT-21", "CREDIT-23", "CREDIT-24")
class SenderFinishDropsQueue(CreditSender):
    """The end of the partition discards what is still queued."""

    on_finish = changed(
        CreditSender.on_finish, "return self.wake()", 'self.queue = deque(["end"])\nself.data = 0\nreturn self.wake()'
    )


@wrong("SUBP-17", "SUBP-4", "SUBP-6")
class SenderDataAfterFinish(CreditSender):
    """Data is accepted after the end."""

    is_over = changed(CreditSender.is_over, '"data", ', "")


@wrong("SUBP-17", "SUBP-4", "SUBP-6")
class SenderFinishAfterFinish(CreditSender):
    """A second end is accepted."""

    is_over = changed(CreditSender.is_over, ', "finish"', "")


@wrong("CREDIT-19", "SUBP-10", "SUBP-12", "CREDIT-20", "CREDIT-21", "CREDIT-24")
class SenderEventsWaitForCredit(CreditSender):
    """Events wait for credit like data, so a barrier can be stuck behind a receiver without buffers."""

    is_sendable = changed(CreditSender.is_sendable, 'self.queue[0] != "data"', "False")


@wrong("CREDIT-19", "SUBP-12", "CREDIT-20", "CREDIT-21", "CREDIT-24")
class SenderCreditOffByOne(CreditSender):
    """One buffer goes out on no credit at all."""

    is_sendable = changed(CreditSender.is_sendable, "self.credit > 0", "self.credit >= 0")


@wrong("CREDIT-20", "CREDIT-19", "CREDIT-21")
class SenderCreditDoesNotWake(CreditSender):
    """Credit is added but nobody looks whether something can be sent now."""

    on_credit = changed(CreditSender.on_credit, "self.wake()", "[]")


@wrong("CREDIT-20", "CREDIT-24")
class SenderZeroCreditAccepted(CreditSender):
    """A grant of no credit is accepted."""

    on_credit = changed(CreditSender.on_credit, "amount < 1", "amount < 0")


@wrong("CREDIT-20", "CREDIT-19", "CREDIT-21", "CREDIT-24")
class SenderRejectedCreditCounts(CreditSender):
    """A negative grant is refused and nevertheless subtracted."""

    on_credit = changed(
        CreditSender.on_credit,
        "return wire.rejected()",
        "self.credit = max(0, self.credit + amount)\nreturn wire.rejected()",
    )


@wrong("CREDIT-20", "CREDIT-19", "CREDIT-21")
class SenderCreditReplaces(CreditSender):
    """New credit replaces the credit left instead of adding to it."""

    on_credit = changed(CreditSender.on_credit, "self.credit += amount", "self.credit = amount")


@wrong("CREDIT-21", "SUBP-10", "CREDIT-19", "CREDIT-20")
class SenderOneItemPerWake(CreditSender):
    """A reader that can send more is not put back in the line."""

    write = changed(CreditSender.write, "self.registered = self.is_sendable()", "pass")


@wrong("CREDIT-21", "CREDIT-19", "CREDIT-20", "CREDIT-24")
class SenderEventsCostCredit(CreditSender):
    """Events use up credit."""

    def take(self) -> wire.Json:
        if self.queue[0] != "data":
            self.credit = max(0, self.credit - 1)
        return super().take()


@wrong("CREDIT-22", "CREDIT-20", "CREDIT-21")
class SenderUnwritableWakeLost(CreditSender):
    """A reader woken while the connection is not writable is forgotten."""

    wake = changed(CreditSender.wake, "self.registered = True", "if self.writable:\n    self.registered = True")


@wrong("CREDIT-22", "CREDIT-20", "CREDIT-21")
class SenderWritesUnwritable(CreditSender):
    """Sending does not wait for the connection to become writable."""

    write = changed(CreditSender.write, "self.registered and self.writable", "self.registered")


@wrong("CREDIT-22", "CREDIT-19", "CREDIT-20", "CREDIT-21", "CREDIT-24")
class SenderCreditWhileUnwritableLost(CreditSender):
    """Credit that arrives while the connection is not writable is lost."""

    on_credit = changed(
        CreditSender.on_credit, "self.credit += amount", "if not self.writable:\n    return []\nself.credit += amount"
    )


@wrong("CREDIT-24", "CREDIT-20", origin="FLINK-16641")
class SenderNeverAnnounces(CreditSender):
    """Without initial credit and without an announcement both sides wait for each other."""

    def announce(self) -> wire.Observations:
        return []


@wrong("CREDIT-24", "CREDIT-21", "CREDIT-23", "CREDIT-25")
class SenderAnnouncesFromWriteLoop(CreditSender):
    """The write loop announces what it leaves behind, although the last message has just said so."""

    write = changed(
        CreditSender.write,
        "self.registered = self.is_sendable()",
        "self.registered = self.is_sendable()\nif not self.registered:\n    out += self.announce()",
    )


@wrong("CREDIT-20", "CREDIT-22", "CREDIT-24")
class SenderAnnouncesWhileQueued(CreditSender):
    """A reader that already waits in line announces its backlog as well."""

    wake = changed(CreditSender.wake, "return []", "return self.announce()")


@wrong("CREDIT-24", "CREDIT-20", "CREDIT-22")
class SenderAnnouncementWaitsForWritable(CreditSender):
    """No announcement is made while the connection is not writable."""

    wake = changed(CreditSender.wake, "return self.announce()", "return self.announce() if self.writable else []")


@wrong("CREDIT-25", "CREDIT-24")
class SenderAnnouncesWithInitialCredit(CreditSender):
    """A reader that was given initial credit announces its backlog too."""

    announce = changed(CreditSender.announce, " or self.initial > 0", "")


@wrong("CREDIT-26", "SUBP-13", "CREDIT-19", "CREDIT-20", "CREDIT-24")
class SenderResumeKeepsCredit(CreditSender):
    """Without initial credit, old credit survives the barrier."""

    on_resume = changed(CreditSender.on_resume, "self.credit = 0", "pass")


@wrong("CREDIT-26", "SUBP-13", "CREDIT-19", "CREDIT-20", "CREDIT-25")
class SenderResumeClearsAllCredit(CreditSender):
    """Resuming clears the credit also of a reader that was given initial credit."""

    on_resume = changed(CreditSender.on_resume, "if self.initial == 0:", "if True:")


@wrong("CREDIT-26", "SUBP-13", "CREDIT-19", "CREDIT-20", "CREDIT-21")
class SenderResumeRestoresInitial(CreditSender):
    """Resuming sets the credit back to the initial amount."""

    on_resume = changed(
        CreditSender.on_resume, "if self.initial == 0:\n        self.credit = 0", "self.credit = self.initial"
    )


@wrong("CREDIT-26", "SUBP-13", "CREDIT-20", "CREDIT-24")
class SenderResumeDoesNotWake(CreditSender):
    """Resuming lifts the barrier but does not look whether something can be sent."""

    on_resume = changed(CreditSender.on_resume, "self.wake()", "[]")


@wrong("SUBP-13", "CREDIT-19", "CREDIT-20", "CREDIT-24", "CREDIT-26")
class SenderRejectedResumeClearsCredit(CreditSender):
    """Resuming a reader that is not blocked is refused, but its credit is gone."""

    on_resume = changed(
        CreditSender.on_resume,
        "return wire.rejected()",
        "if self.initial == 0:\n    self.credit = 0\nreturn wire.rejected()",
    )


@wrong("CREDIT-26", "CREDIT-19", "CREDIT-20", "CREDIT-21")
class SenderCreditWhileBlockedLost(CreditSender):
    """Credit that arrives while blocked is lost."""

    on_credit = changed(
        CreditSender.on_credit, "self.credit += amount", "if self.blocked:\n    return []\nself.credit += amount"
    )


@wrong("CREDIT-20", "SUBP-17", "CREDIT-19", "CREDIT-21", "CREDIT-26")
class SenderCreditAfterFinishLost(CreditSender):
    """Credit that arrives after the end of the partition was queued is lost."""

    on_credit = changed(
        CreditSender.on_credit, "self.credit += amount", "if self.finished:\n    return []\nself.credit += amount"
    )


@wrong("CREDIT-24", "SUBP-11")
class SenderAnnouncesInAByte(CreditSender):
    """A backlog is announced in one byte."""

    announce = changed(CreditSender.announce, '"backlog": backlog', '"backlog": backlog & 0xFF')
