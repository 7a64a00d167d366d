"""Push and pull, XCHG-1 … XCHG-4.

Items are counted, not kept: a result is how many there are, and a reader is how many it has taken. A pushed result has
one reader, so what is queued is the difference.
"""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_PUSHED = ("pipelined", "pipelined_bounded")
_REPEATABLE = ("blocking", "blocking_persistent", "hybrid_full")
_KINDS = (*_PUSHED, *_REPEATABLE, "hybrid_selective")
_OF_PRODUCER = ("register", "produce", "flush", "finish")
_OF_CONSUMER = ("request", "pull", "leave")


@attrs.define(eq=False)
class Reader:
    taken: int = 0
    left: bool = False


class Exchange:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.kind = wire.get_choice(config, "result", _KINDS)
        self.pushed = self.kind in _PUSHED
        self.readers: list[Reader | None] = [None] * wire.get_at_least(config, "consumers", 1)
        self.limit = wire.get_at_least(config, "limit", 1)
        self.items = self.used = 0
        self.registered = self.finished = self.released = self.flushed = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in _OF_PRODUCER:
            return self.on_producer(kind)
        if kind in {"release", "end_job"}:
            return self.on_scheduler(ends_job=kind == "end_job")
        if kind not in _OF_CONSUMER:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "consumer")
        credit = wire.get_boolean(event, "credit") if kind == "pull" else False
        if not 0 <= index < len(self.readers):
            return wire.rejected()
        if kind == "request":
            return self.on_request(index)
        reader = self.readers[index]
        if reader is None or reader.left:
            return wire.rejected()
        return self.on_pull(reader, credit=credit) if kind == "pull" else self.on_leave(reader)

    # --- the producer

    def on_producer(self, kind: str) -> wire.Observations:
        if kind == "register":
            if self.released or self.registered:
                return wire.rejected()
            self.registered = True
            return []
        if self.released or not self.registered:
            return wire.rejected()
        if kind == "flush":
            return self.on_flush()
        if self.finished:
            return wire.rejected()
        if kind == "produce" and self.is_full():
            return [{"type": "full"}]
        return self.add(ends=kind == "finish")

    def is_full(self) -> bool:
        return self.kind == "pipelined_bounded" and self.items - self.used >= self.limit

    def add(self, *, ends: bool) -> wire.Observations:
        self.items, self.finished = self.items + 1, ends
        if not self.pushed:
            return [
                {"type": "notified", "consumer": index}
                for index, reader in enumerate(self.readers)
                if reader is not None and not reader.left and reader.taken == self.items - 1
            ]
        if ends and self.has_left():
            return self.let_go()
        return self.notify() if ends or (self.items - self.used <= 2 and not self.flushed) else []

    def has_left(self) -> bool:
        return any(reader is not None and reader.left for reader in self.readers)

    def notify(self) -> wire.Observations:
        return [
            {"type": "notified", "consumer": index}
            for index, reader in enumerate(self.readers)
            if reader is not None and not reader.left
        ]

    def on_flush(self) -> wire.Observations:
        queued = self.items - self.used
        if not self.pushed or not queued or self.flushed:
            return []
        self.flushed = True
        return self.notify() if queued == 1 else []

    def let_go(self) -> wire.Observations:
        self.released = True
        return [{"type": "released"}]

    # --- consumers

    def on_request(self, index: int) -> wire.Observations:
        if self.readers[index] is not None:
            return wire.rejected()
        if not self.registered or self.released:
            return [{"type": "retry", "consumer": index}]
        if not (self.pushed or self.finished or self.kind.startswith("hybrid")):
            return wire.rejected()
        if any(self.readers) and not self.is_repeatable():
            return wire.rejected()
        self.readers[index] = Reader()
        return [{"type": "connected", "consumer": index}]

    def is_repeatable(self) -> bool:
        return self.kind in _REPEATABLE

    def on_pull(self, reader: Reader, *, credit: bool) -> wire.Observations:
        number = self.used if self.pushed else reader.taken
        is_end = self.finished and number == self.items - 1
        if self.released or number == self.items or not (credit or is_end):
            return [{"type": "none"}]
        reader.taken += 1
        self.used += self.pushed
        self.flushed = self.flushed and self.used < self.items
        return [{"type": "item", "number": number, "end": is_end}]

    def on_leave(self, reader: Reader) -> wire.Observations:
        reader.left = True
        if self.released:
            return []
        return self.let_go() if self.pushed and self.finished else []

    # --- the scheduler

    def on_scheduler(self, *, ends_job: bool) -> wire.Observations:
        if not ends_job and self.pushed:
            return wire.rejected()
        if self.released:
            return []
        if ends_job and self.kind == "blocking_persistent":
            return []
        told = self.let_go()
        return told if self.registered else []


make = Exchange

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("XCHG-1")
class ExchangePipelinedReadByTwo(Exchange):
    """A pipelined result connects a second consumer, and each finds half of it."""

    def is_repeatable(self) -> bool:
        return self.pushed or super().is_repeatable()


@wrong("XCHG-1")
class ExchangeNextMayFollow(Exchange):
    """A pipelined result connects another consumer when the first has left, who finds the rest."""

    def is_repeatable(self) -> bool:
        return self.has_left() if self.pushed else super().is_repeatable()


@wrong("XCHG-1", "XCHG-3")
class ExchangeNeverFull(Exchange):
    """The producer of a bounded result never waits."""

    def is_full(self) -> bool:
        return False


@wrong("XCHG-1", "XCHG-3")
class ExchangeOneBufferTooMany(Exchange):
    """A bounded result takes one buffer more than it may."""

    is_full = changed(Exchange.is_full, ">=", ">")


@wrong("XCHG-1", "XCHG-3")
class ExchangeEverythingPushedIsBounded(Exchange):
    """A pipelined result that is not bounded makes its producer wait."""

    is_full = changed(Exchange.is_full, 'self.kind == "pipelined_bounded"', "self.pushed")


@wrong("XCHG-1", "XCHG-3")
class ExchangeBoundCountsWhatWasRead(Exchange):
    """Buffers that were read count against the bound for ever."""

    is_full = changed(Exchange.is_full, "self.items - self.used", "self.items")


@wrong("XCHG-1")
class ExchangeFullIsAnError(Exchange):
    """A producer that has to wait is refused."""

    on_producer = changed(Exchange.on_producer, '[{"type": "full"}]', "wire.rejected()")


@wrong("XCHG-1")
class ExchangeReleasedBeforeTheEnd(Exchange):
    """A pipelined result is released when its consumer leaves, while the producer is at work."""

    on_leave = changed(Exchange.on_leave, "self.finished", "True")


@wrong("XCHG-1", "XCHG-3")
class ExchangeReleasedWithTheEnd(Exchange):
    """A pipelined result is released when its producer finishes, read or not."""

    add = changed(Exchange.add, "self.has_left()", "True")


@wrong("XCHG-1")
class ExchangeLeavingReleasesNothing(Exchange):
    """A finished pipelined result is not released when its consumer leaves."""

    on_leave = changed(Exchange.on_leave, "self.finished", "False")


@wrong("XCHG-1", "XCHG-3")
class ExchangeFinishForgetsWhoLeft(Exchange):
    """A pipelined result whose consumer left early is not released when the producer finishes."""

    add = changed(Exchange.add, "self.has_left()", "False")


@wrong("XCHG-1")
class ExchangeSchedulerMayReleaseAll(Exchange):
    """The scheduler's release of a pipelined result is not refused."""

    on_scheduler = changed(Exchange.on_scheduler, "wire.rejected()", "[]")


@wrong("XCHG-1", "XCHG-2")
class ExchangeFinishesTwice(Exchange):
    """The producer can finish twice."""

    on_producer = changed(Exchange.on_producer, "self.finished", 'self.finished and kind != "finish"')


@wrong("XCHG-2")
class ExchangeBlockingReadEarly(Exchange):
    """A blocking result is read before it is complete."""

    on_request = changed(Exchange.on_request, "self.finished", "True")


@wrong("XCHG-2")
class ExchangeBlockingReadOnce(Exchange):
    """A blocking result can be read once: a consumer that fails cannot start again."""

    def is_repeatable(self) -> bool:
        return self.kind != "blocking" and super().is_repeatable()


@wrong("XCHG-2", "XCHG-3")
class ExchangeNextGoesOnWhereAnotherWas(Exchange):
    """Another reading begins where the one that came furthest is."""

    on_request = changed(
        Exchange.on_request, "Reader()", "Reader(max((reader.taken for reader in self.readers if reader), default=0))"
    )


@wrong("XCHG-2", "XCHG-3")
class ExchangeReadersShareAPlace(Exchange):
    """A consumer that reads moves all others."""

    on_pull = changed(
        Exchange.on_pull, "reader.taken += 1", "for one in filter(None, self.readers):\n    one.taken += 1"
    )


@wrong("XCHG-2")
class ExchangeReaderReleases(Exchange):
    """A finished result that is kept is released by the first consumer that leaves."""

    on_leave = changed(Exchange.on_leave, "self.pushed and self.finished", "self.finished")


@wrong("XCHG-2")
class ExchangePersistentEndsWithTheJob(Exchange):
    """A persistent result is released at the end of the job."""

    on_scheduler = changed(Exchange.on_scheduler, 'self.kind == "blocking_persistent"', "False")


@wrong("XCHG-2")
class ExchangePersistentForEver(Exchange):
    """A persistent result is not released even when the scheduler says so."""

    on_scheduler = changed(Exchange.on_scheduler, "ends_job and self.kind", "self.kind")


@wrong("XCHG-2")
class ExchangeBlockingOutlivesTheJob(Exchange):
    """A blocking result that is not persistent is left behind by its job."""

    on_scheduler = changed(
        Exchange.on_scheduler, 'self.kind == "blocking_persistent"', 'self.kind in {"blocking", "blocking_persistent"}'
    )


@wrong("XCHG-2")
class ExchangeReleasedTwice(Exchange):
    """What is released already is released again."""

    def on_scheduler(self, *, ends_job: bool) -> wire.Observations:
        if self.released and (ends_job or not self.pushed):
            return self.let_go()
        return super().on_scheduler(ends_job=ends_job)


@wrong("XCHG-2")
class ExchangeUnknownIsReleased(Exchange):
    """A result that was never registered is said to be released."""

    on_scheduler = changed(Exchange.on_scheduler, "told if self.registered else []", "told")


@wrong("XCHG-2", "XCHG-3")
class ExchangeReleasedIsRead(Exchange):
    """A result that is kept can be read after its release."""

    on_pull = changed(Exchange.on_pull, "self.released", "self.released and self.pushed")


@wrong("XCHG-2")
class ExchangeHybridWaitsForTheEnd(Exchange):
    """A hybrid result cannot be read before its end."""

    on_request = changed(Exchange.on_request, 'self.kind.startswith("hybrid")', "False")


@wrong("XCHG-2", "XCHG-1")
class ExchangeHybridReadOnce(Exchange):
    """A full hybrid result can be read once."""

    def is_repeatable(self) -> bool:
        return self.kind != "hybrid_full" and super().is_repeatable()


@wrong("XCHG-1", "XCHG-2")
class ExchangeSelectiveReadAgain(Exchange):
    """A selective hybrid result can be read again, though part of it was never kept."""

    def is_repeatable(self) -> bool:
        return self.kind == "hybrid_selective" or super().is_repeatable()


@wrong("XCHG-2")
class ExchangeEarlyReadersNotTold(Exchange):
    """Who reads a hybrid result early is not told of what is added."""

    def add(self, *, ends: bool) -> wire.Observations:
        told = super().add(ends=ends)
        return told if self.pushed else []


@wrong("XCHG-2")
class ExchangeAllReadersTold(Exchange):
    """Every reader of a hybrid result is told of what is added, also one that has not come so far."""

    add = changed(Exchange.add, " and reader.taken == self.items - 1", "")


@wrong("XCHG-3", "XCHG-1", "XCHG-2")
class ExchangeDataNeedsNoCredit(Exchange):
    """Data is handed out to a consumer that has no buffer for it."""

    on_pull = changed(Exchange.on_pull, " or not (credit or is_end)", "")


@wrong("XCHG-3", "XCHG-1", "XCHG-2")
class ExchangeEndNeedsCredit(Exchange):
    """The end of the result is handed out for credit only."""

    on_pull = changed(Exchange.on_pull, "(credit or is_end)", "credit")


@wrong("XCHG-3", "XCHG-1")
class ExchangeToldOfEachBuffer(Exchange):
    """The consumer is told of each buffer that is added."""

    add = changed(Exchange.add, "self.items - self.used <= 2 and not self.flushed", "True")


@wrong("XCHG-3", "XCHG-1")
class ExchangeToldOfTheFirstAlone(Exchange):
    """The consumer is told of a buffer only if none was queued."""

    add = changed(Exchange.add, "<= 2 and not self.flushed", "== 1")


@wrong("XCHG-3", "XCHG-1")
class ExchangeEndToldLikeABuffer(Exchange):
    """The end is told only where a buffer would be."""

    add = changed(Exchange.add, "ends or ", "")


@wrong("XCHG-3", "XCHG-1")
class ExchangeWhoLeftIsTold(Exchange):
    """A consumer that has left is told of what is added."""

    notify = changed(Exchange.notify, " and not reader.left", "")


@wrong("XCHG-3")
class ExchangeEachFlushTells(Exchange):
    """A flush tells the consumer what a flush has told it before."""

    on_flush = changed(Exchange.on_flush, " or self.flushed", "")


@wrong("XCHG-3")
class ExchangeFlushTellsNobody(Exchange):
    """A flush tells nobody."""

    on_flush = changed(Exchange.on_flush, "queued == 1", "False")


@wrong("XCHG-3")
class ExchangeFlushTellsAlways(Exchange):
    """A flush of several buffers tells the consumer, who knows."""

    on_flush = changed(Exchange.on_flush, "queued == 1", "True")


@wrong("XCHG-3", "XCHG-1")
class ExchangeFlushNotRemembered(Exchange):
    """That the consumer was told by a flush is forgotten."""

    on_flush = changed(Exchange.on_flush, "self.flushed = True", "self.flushed = False")


@wrong("XCHG-3", "XCHG-1")
class ExchangeFlushRequestStays(Exchange):
    """A flush is remembered when all was read, and the next buffer is not told."""

    on_pull = changed(Exchange.on_pull, " and self.used < self.items", "")


@wrong("XCHG-3", "XCHG-1")
class ExchangeFlushForgottenByAdding(Exchange):
    """What is added behind a flush is told again."""

    add = changed(Exchange.add, " and not self.flushed", "")


@wrong("XCHG-4")
class ExchangeRegistersTwice(Exchange):
    """A result is registered twice."""

    on_producer = changed(Exchange.on_producer, "self.released or self.registered", "self.released")


@wrong("XCHG-4")
class ExchangeProducesUnregistered(Exchange):
    """A result that is not registered is produced."""

    on_producer = changed(Exchange.on_producer, " or not self.registered", "")


@wrong("XCHG-4")
class ExchangeEarlyRequestFails(Exchange):
    """A consumer that asks before the result is registered fails, instead of asking again."""

    on_request = changed(Exchange.on_request, '[{"type": "retry", "consumer": index}]', "wire.rejected()")


@wrong("XCHG-4", "XCHG-1")
class ExchangeWhoLeftAsksAgain(Exchange):
    """A consumer that has left asks again."""

    on_request = changed(
        Exchange.on_request,
        "self.readers[index] is not None",
        "self.readers[index] is not None and not self.readers[index].left",
    )


@wrong("XCHG-4")
class ExchangeWhoLeftPulls(Exchange):
    """A consumer that has left goes on pulling."""

    step = changed(Exchange.step, "reader.left", '(reader.left and kind != "pull")')
