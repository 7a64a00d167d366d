"""The result partition and its manager, SUBP-20 … SUBP-26, SUBP-40, over the museum's own subpartitions.

What the subpartitions answer is what the readers see; here is who may ask them, and what the writer makes of a record.
"""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.blocking_subpartition import BlockingSubpartition
from tidegate.conformance.engines.museum.subpartition import Subpartition
from tidegate.conformance.engines.museum.wrong import changed, wrong

_ANY_TIME = ("setup", "request", "expire", "shutdown")
_WRITES = ("emit", "broadcast", "end_of_data", "finish")
_OTHERS = ("flush", "close", "fail", "poll", "release_view", "release")

Part = Subpartition | BlockingSubpartition


@attrs.define(eq=False)
class View:
    """`place` is its number within a blocking subpartition."""

    subpartition: int
    place: int
    left: bool = False


@attrs.define(eq=False)
class Attempt:
    """What one attempt of the producer has set up: its subpartitions, the views of them, and how far the writer is."""

    parts: list[Part]
    views: list[View] = attrs.Factory(list)
    shared: bool = False
    drains: bool | None = None
    finished: bool = False
    closed: bool = False
    released: bool = False
    failed: bool = False

    def is_open(self, index: int) -> bool:
        part = self.parts[index]
        if isinstance(part, Subpartition):
            return part.has_open()
        return part.last is not None and part.last.open

    def tell(self, index: int, kind: str, /, **fields: object) -> wire.Observations:
        seen = self.parts[index].step({"type": kind, **fields})
        if {"type": "data_available"} not in seen:
            return []
        woken = [number for number, view in enumerate(self.views) if view.subpartition == index]
        return [{"type": "data_available", "view": number} for number in woken]

    def tell_all(self, kind: str, /, **fields: object) -> wire.Observations:
        return [one for index in range(len(self.parts)) for one in self.tell(index, kind, **fields)]

    def finish_buffers(self) -> wire.Observations:
        self.shared = False
        return [
            one for index in range(len(self.parts)) if self.is_open(index) for one in self.tell(index, "finish_buffer")
        ]


class ResultPartition:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.pipelined = wire.get_choice(config, "kind", ("pipelined", "blocking")) == "pipelined"
        self.count = wire.get_at_least(config, "subpartitions", 1)
        self.attempt: Attempt | None = None
        self.registered = self.shut_down = False
        self.waiting: list[int] = []

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in (*_ANY_TIME, *_WRITES, *_OTHERS):
            raise wire.unknown_type(event)
        if kind in _ANY_TIME:
            return self.on_manager(event)
        if kind == "release" and wire.get_choice(event, "by", ("manager", "producer")) == "manager":
            return self.forget_waiting() + self.let_go()
        attempt = self.attempt
        index = wire.get_integer(event, "view") if kind in {"poll", "release_view"} else 0
        if attempt is None:
            return wire.rejected()
        match kind:
            case "poll" | "release_view":
                return self.on_view(attempt, index, leaves=kind == "release_view")
            case "release":
                return self.release(attempt)
            case "fail":
                return self.on_fail(attempt)
            case "flush":
                return self.on_flush(attempt)
            case "close":
                return self.on_close(attempt)
        return self.on_write(attempt, event)

    # --- the manager

    def on_manager(self, event: wire.Json) -> wire.Observations:
        match event["type"]:
            case "setup":
                return self.on_setup()
            case "request":
                return self.on_request(
                    wire.get_integer(event, "subpartition"), listens=wire.get_boolean(event, "listen")
                )
            case "expire":
                return [] if self.shut_down else self.forget_waiting()
        self.shut_down = True
        return self.forget_waiting() + self.let_go()

    def on_setup(self) -> wire.Observations:
        if self.registered or self.shut_down:
            return wire.rejected()
        self.attempt, self.registered = Attempt([self.make_part() for _ in range(self.count)]), True
        told, self.waiting = sorted(self.waiting), []
        return [{"type": "created", "subpartition": one} for one in told]

    def make_part(self) -> Part:
        if self.pipelined:
            return Subpartition({}, wire.Host())
        return BlockingSubpartition({"store": "file_mmap"}, wire.Host())

    def on_request(self, index: int, *, listens: bool) -> wire.Observations:
        if not 0 <= index < self.count:
            return wire.rejected()
        if self.attempt is not None and self.registered:
            return self.make_view(self.attempt, index)
        if not listens:
            return [{"type": "not_found"}]
        if index in self.waiting:
            return wire.rejected()
        self.waiting.append(index)
        return []

    def make_view(self, attempt: Attempt, index: int) -> wire.Observations:
        if attempt.released:
            return wire.rejected()
        part = attempt.parts[index]
        place = 0 if isinstance(part, Subpartition) else len(part.views)
        if part.step({"type": "view"}) == wire.rejected():
            return wire.rejected()
        attempt.views.append(View(index, place))
        return [{"type": "view", "view": len(attempt.views) - 1}]

    def forget_waiting(self) -> wire.Observations:
        told: wire.Observations = [{"type": "timed_out", "subpartition": one} for one in sorted(self.waiting)]
        self.waiting = []
        return told

    def let_go(self) -> wire.Observations:
        if self.attempt is None or not self.registered:
            return []
        self.registered = False
        return self.release(self.attempt)

    def release(self, attempt: Attempt) -> wire.Observations:
        if attempt.released:
            return []
        attempt.released = True
        attempt.tell_all("release")
        return [{"type": "released"}]

    # --- the writer

    def on_write(self, attempt: Attempt, event: wire.Json) -> wire.Observations:
        kind = event["type"]
        data = wire.get_hex(event, "data") if kind in {"emit", "broadcast"} else ""
        index = wire.get_integer(event, "subpartition") if kind == "emit" else 0
        drains = wire.get_boolean(event, "drain") if kind == "end_of_data" else False
        if not 0 <= index < self.count:
            return wire.rejected()
        if kind == "end_of_data" and attempt.drains is not None and not attempt.closed:
            return []
        if attempt.finished or attempt.failed or attempt.closed:
            return wire.rejected()
        if kind == "finish" and attempt.released and not self.pipelined:
            return wire.rejected()
        match kind:
            case "emit":
                return self.emit(attempt, index, data)
            case "broadcast":
                return self.broadcast(attempt, data)
            case "end_of_data":
                attempt.drains = drains
            case "finish":
                attempt.finished = True
        out = attempt.finish_buffers()
        if kind == "end_of_data" and self.pipelined:
            return out + attempt.tell_all("event", kind="end_of_data")
        return out + attempt.tell_all(kind)

    def emit(self, attempt: Attempt, index: int, data: str) -> wire.Observations:
        out = attempt.finish_buffers() if attempt.shared else []
        if not attempt.is_open(index):
            out += attempt.tell(index, "buffer", data="", finished=False)
        return out + attempt.tell(index, "append", data=data)

    def broadcast(self, attempt: Attempt, data: str) -> wire.Observations:
        out: wire.Observations = []
        if not attempt.shared:
            out = attempt.finish_buffers() + attempt.tell_all("buffer", data="", finished=False)
            attempt.shared = True
        return out + attempt.tell_all("append", data=data)

    def on_flush(self, attempt: Attempt) -> wire.Observations:
        out = [] if self.pipelined else attempt.finish_buffers()
        return out + attempt.tell_all("flush")

    def on_close(self, attempt: Attempt) -> wire.Observations:
        if attempt.closed:
            return wire.rejected()
        attempt.closed = True
        return self.leave(attempt)

    def on_fail(self, attempt: Attempt) -> wire.Observations:
        self.registered = False
        if attempt.released:
            return []
        attempt.failed = True
        return self.release(attempt)

    # --- the readers

    def leave(self, attempt: Attempt) -> wire.Observations:
        left = {view.subpartition for view in attempt.views if view.left}
        gone = len(left) >= self.count and attempt.closed
        if not gone or attempt.released or not self.pipelined:
            return []
        self.registered = False
        return self.release(attempt)

    def on_view(self, attempt: Attempt, index: int, *, leaves: bool) -> wire.Observations:
        if not 0 <= index < len(attempt.views):
            return wire.rejected()
        view = attempt.views[index]
        part = attempt.parts[view.subpartition]
        if not leaves:
            return wire.rejected() if view.left else self.on_poll(attempt, view)
        if view.left:
            return []
        if isinstance(part, BlockingSubpartition):
            part.step({"type": "release_view", "view": view.place})
        view.left = True
        return self.leave(attempt)

    def on_poll(self, attempt: Attempt, view: View) -> wire.Observations:
        part = attempt.parts[view.subpartition]
        if isinstance(part, Subpartition) and attempt.released:
            return [{"type": "gone", "failed": attempt.failed}]
        event = {"type": "poll"} if isinstance(part, Subpartition) else {"type": "poll", "view": view.place}
        [seen] = part.step(event)
        if seen.get("kind") == "end_of_partition":
            seen = {**seen, "data": "00000000"}
        elif seen.get("kind") == "end_of_data":
            seen = {**seen, "data": "0000000800" if attempt.drains else "0000000801"}
        return [seen]


make = ResultPartition

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SUBP-15", "SUBP-22")
class PartitionSecondView(ResultPartition):
    """A pipelined subpartition gives a second view, which would find half of the items."""

    make_view = changed(ResultPartition.make_view, "== wire.rejected():", "== wire.rejected() and not self.pipelined:")


@wrong("SUBP-16", "SUBP-22", origin="Flink 1.5 to 1.11")
class PartitionViewWakes(ResultPartition):
    """Making a view wakes its reader if something is queued."""

    def make_view(self, attempt: Attempt, index: int) -> wire.Observations:
        seen, part = super().make_view(attempt, index), attempt.parts[index]
        wakes = seen != wire.rejected() and isinstance(part, Subpartition) and part.queue
        return [*seen, {"type": "data_available", "view": seen[0]["view"]}] if wakes else seen


@wrong("SUBP-20")
class PartitionSecondAttemptReplaces(ResultPartition):
    """A second partition is registered under an id that is taken."""

    on_setup = changed(ResultPartition.on_setup, "self.registered or self.shut_down", "self.shut_down")


@wrong("SUBP-20")
class PartitionShutDownManagerRegisters(ResultPartition):
    """A manager that has shut down registers partitions, which nobody will release."""

    on_setup = changed(ResultPartition.on_setup, "self.registered or self.shut_down", "self.registered")


@wrong("SUBP-20", "SUBP-21")
class PartitionShutdownReleasesNothing(ResultPartition):
    """Shutting down leaves the registered partition as it is."""

    on_manager = changed(ResultPartition.on_manager, " + self.let_go()", "")


@wrong("SUBP-20")
class PartitionIdIsUsedUp(ResultPartition):
    """After a release no other attempt can be set up under the id."""

    on_setup = changed(ResultPartition.on_setup, "self.shut_down", "self.shut_down or self.attempt is not None")


@wrong("SUBP-20", "SUBP-21", "SUBP-22")
class PartitionReleasedStaysKnown(ResultPartition):
    """The manager releases a partition and does not forget it."""

    let_go = changed(ResultPartition.let_go, "self.registered = False", "pass")


@wrong("SUBP-22", "SUBP-20", "SUBP-21")
class PartitionReleasedTwice(ResultPartition):
    """A partition that is released already is released again."""

    release = changed(ResultPartition.release, "return []", 'return [{"type": "released"}]')


@wrong("SUBP-21")
class PartitionUnknownIsRefused(ResultPartition):
    """A request for a partition that nobody has registered is refused instead of finding nothing."""

    on_request = changed(ResultPartition.on_request, '[{"type": "not_found"}]', "wire.rejected()")


@wrong("SUBP-21")
class PartitionListenerTurnedAway(ResultPartition):
    """Who is content to wait is told at once that there is nothing."""

    on_request = changed(ResultPartition.on_request, "return []", 'return [{"type": "not_found"}]')


@wrong("SUBP-21", "SUBP-20")
class PartitionListenersNeverTold(ResultPartition):
    """Who waits is not told that the partition is there."""

    on_setup = changed(ResultPartition.on_setup, '[{"type": "created", "subpartition": one} for one in told]', "[]")


@wrong("SUBP-21", "SUBP-20")
class PartitionFirstListenerToldAlone(ResultPartition):
    """Of those who wait for the partition one is told."""

    on_setup = changed(ResultPartition.on_setup, "sorted(self.waiting)", "sorted(self.waiting)[:1]")


@wrong("SUBP-21")
class PartitionWaitsTwice(ResultPartition):
    """A receiver that waits already may wait again."""

    def on_request(self, index: int, *, listens: bool) -> wire.Observations:
        return [] if listens and index in self.waiting else super().on_request(index, listens=listens)


@wrong("SUBP-21")
class PartitionExpiryTellsNobody(ResultPartition):
    """Who has waited too long goes on waiting."""

    on_manager = changed(ResultPartition.on_manager, "[] if self.shut_down else self.forget_waiting()", "[]")


@wrong("SUBP-21", "SUBP-20")
class PartitionToldInVainWaitsOn(ResultPartition):
    """Who was told to wait no longer is told again when the partition comes."""

    forget_waiting = changed(ResultPartition.forget_waiting, "self.waiting = []", "pass")


@wrong("SUBP-21")
class PartitionReleaseLeavesListenersWaiting(ResultPartition):
    """When the id is released, who waits for it is not told."""

    step = changed(ResultPartition.step, "self.forget_waiting() + ", "")


@wrong("SUBP-21", "SUBP-20")
class PartitionShutdownLeavesListenersWaiting(ResultPartition):
    """When the manager shuts down, who waits is not told."""

    on_manager = changed(ResultPartition.on_manager, "self.forget_waiting() + ", "")


@wrong("SUBP-22")
class PartitionRangeIncludesItsEnd(ResultPartition):
    """The index behind the last one stands for the last one."""

    def on_request(self, index: int, *, listens: bool) -> wire.Observations:
        return super().on_request(index - 1 if index == self.count else index, listens=listens)


@wrong("SUBP-22")
class PartitionReleasedIsNotFound(ResultPartition):
    """A partition that is released and still registered counts as not found."""

    def make_view(self, attempt: Attempt, index: int) -> wire.Observations:
        return [{"type": "not_found"}] if attempt.released else super().make_view(attempt, index)


@wrong("SUBP-23")
class PartitionSecondEndOfDataRefused(ResultPartition):
    """Asking for the end of data again is refused."""

    on_write = changed(ResultPartition.on_write, "return []", "return wire.rejected()")


@wrong("SUBP-23")
class PartitionLastEndOfDataCounts(ResultPartition):
    """Asking for the end of data again changes whether it drains."""

    on_write = changed(ResultPartition.on_write, "return []", "attempt.drains = drains\nreturn []")


@wrong("SUBP-23", "SUBP-8", "SUBP-10", "SUBP-11", "SUBP-17", "SUBP-33", "SUBP-32")
class PartitionDataEndsForTheFirst(ResultPartition):
    """The end of data goes to the first subpartition alone."""

    on_write = changed(
        ResultPartition.on_write,
        'attempt.tell_all("event", ',
        'attempt.tell(0, "event", ',
        "attempt.tell_all(kind)",
        'attempt.tell(0, kind) if kind == "end_of_data" else out + attempt.tell_all(kind)',
    )


@wrong("SUBP-23")
class PartitionEveryEndDrains(ResultPartition):
    """Every end of data says that it drains."""

    on_poll = changed(ResultPartition.on_poll, "attempt.drains", "True")


@wrong("SUBP-23")
class PartitionClosedWriterWrites(ResultPartition):
    """A writer that has closed goes on writing."""

    on_write = changed(ResultPartition.on_write, " or attempt.closed", "")


@wrong("SUBP-23")
class PartitionLateWritesIgnored(ResultPartition):
    """What is written after the end is not refused: it is lost in silence."""

    on_write = changed(
        ResultPartition.on_write,
        "or attempt.closed:\n        return wire.rejected()",
        "or attempt.closed:\n    return []",
    )


@wrong("SUBP-24", origin="FLINK-22424")
class PartitionWriterIsNoUser(ResultPartition):
    """The partition goes with its last reader, while the writer is still at work."""

    leave = changed(ResultPartition.leave, " and attempt.closed", "")


@wrong("SUBP-24")
class PartitionGoesWithTheWriter(ResultPartition):
    """The partition goes when the writer closes, read or not."""

    leave = changed(ResultPartition.leave, "len(left) >= self.count and attempt.closed", "attempt.closed")


@wrong("SUBP-24")
class PartitionFirstReaderCountsForAll(ResultPartition):
    """The first reader to leave counts for all of them."""

    leave = changed(ResultPartition.leave, "len(left) >= self.count", "left")


@wrong("SUBP-24")
class PartitionLeftTwiceCountsTwice(ResultPartition):
    """A view that is released twice counts for two."""

    leave = changed(ResultPartition.leave, "len(left)", "sum(view.left for view in attempt.views)")
    on_view = changed(ResultPartition.on_view, "if view.left:", "if False:", "view.left = True", "view.left += 1")


@wrong("SUBP-24")
class PartitionLeftTwiceIsRefused(ResultPartition):
    """Releasing a view again is refused."""

    on_view = changed(ResultPartition.on_view, "return []", "return wire.rejected()")


@wrong("SUBP-24", "SUBP-18", "SUBP-25")
class PartitionLeftViewIsRead(ResultPartition):
    """A view that was released can be polled."""

    on_view = changed(ResultPartition.on_view, "wire.rejected() if view.left else ", "")


@wrong("SUBP-24", "SUBP-20", "SUBP-21", "SUBP-22")
class PartitionUsedUpStaysKnown(ResultPartition):
    """A partition that its last user has left is released and not forgotten."""

    leave = changed(ResultPartition.leave, "self.registered = False", "self.registered = True")


@wrong("SUBP-24")
class PartitionBlockingGoesWithItsReaders(ResultPartition):
    """A blocking partition is released with its last reader, so nobody can start again."""

    leave = changed(ResultPartition.leave, " or not self.pipelined", "")


@wrong("SUBP-24")
class PartitionClosesTwice(ResultPartition):
    """The writer can close twice."""

    on_close = changed(ResultPartition.on_close, "if attempt.closed:", "if False:")


@wrong("SUBP-25", "SUBP-20", "SUBP-21", "SUBP-22")
class PartitionFailedStaysKnown(ResultPartition):
    """A failed partition is released and not forgotten."""

    on_fail = changed(ResultPartition.on_fail, "self.registered = False", "pass")


@wrong("SUBP-25", "SUBP-18")
class PartitionFailureIsARelease(ResultPartition):
    """Readers of a failed partition are not told that its producer failed."""

    on_fail = changed(ResultPartition.on_fail, "attempt.failed = True", "attempt.failed = False")


@wrong("SUBP-18", "SUBP-25")
class PartitionReleaseIsAFailure(ResultPartition):
    """Readers of a partition that was released are told that its producer failed."""

    on_poll = changed(ResultPartition.on_poll, "attempt.failed", "True")


@wrong("SUBP-25", "SUBP-18")
class PartitionGoneIsSilent(ResultPartition):
    """Readers of a partition that is gone find nothing, as if it were empty."""

    on_poll = changed(ResultPartition.on_poll, '{"type": "gone", "failed": attempt.failed}', '{"type": "none"}')


@wrong("SUBP-25", "SUBP-18")
class PartitionReleasedCanFail(ResultPartition):
    """A partition that is released already counts as failed when its producer fails afterwards."""

    on_fail = changed(ResultPartition.on_fail, "attempt.released", "False")


@wrong("SUBP-26", "SUBP-8", "SUBP-9", "SUBP-10", "SUBP-11", "SUBP-3", "SUBP-2")
class PartitionEveryFlushFinishes(ResultPartition):
    """Flushing a pipelined partition finishes its buffers, and each record behind a flush gets a buffer of its own."""

    on_flush = changed(ResultPartition.on_flush, "[] if self.pipelined else ", "")


@wrong("SUBP-26", "SUBP-33", "SUBP-32", origin="FLINK-19302")
class PartitionBlockingFlushFinishesNothing(ResultPartition):
    """Flushing a blocking partition leaves its buffers open: what is written into them later is lost."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        #: Buffers that it takes for open although they were written to the file.
        self.stale: set[tuple[Attempt, int]] = set()

    def on_flush(self, attempt: Attempt) -> wire.Observations:
        if self.pipelined:
            return super().on_flush(attempt)
        self.stale |= {(attempt, index) for index in range(self.count) if attempt.is_open(index)}
        return attempt.tell_all("flush")

    emit = changed(
        ResultPartition.emit,
        "not attempt.is_open(index)",
        "not attempt.is_open(index) and (attempt, index) not in self.stale",
    )


@wrong("SUBP-26", "SUBP-40", "SUBP-33", "SUBP-32", origin="FLINK-19302")
class PartitionBroadcastGoesOnBehindAFlush(ResultPartition):
    """Flushing a blocking partition leaves the buffer of a broadcast open: what is broadcast behind it goes on in
    it.
    """

    on_flush = changed(ResultPartition.on_flush, "self.pipelined", "self.pipelined or attempt.shared")


@wrong("SUBP-26", "SUBP-11", "SUBP-10", "SUBP-33")
class PartitionFirstIsFlushedAlone(ResultPartition):
    """A flush reaches the first subpartition only."""

    on_flush = changed(ResultPartition.on_flush, 'attempt.tell_all("flush")', 'attempt.tell(0, "flush")')


@wrong("SUBP-26", "SUBP-8", "SUBP-9", "SUBP-10", "SUBP-11", "SUBP-33", "SUBP-32")
class PartitionEachRecordHasABuffer(ResultPartition):
    """Each record opens a buffer of its own."""

    def emit(self, attempt: Attempt, index: int, data: str) -> wire.Observations:
        ends = attempt.is_open(index) and not attempt.shared
        out = attempt.tell(index, "finish_buffer") if ends else []
        return out + super().emit(attempt, index, data)


@wrong("SUBP-31", "SUBP-22")
class PartitionUnfinishedIsNotFound(ResultPartition):
    """A blocking partition that is not finished counts as not found."""

    def make_view(self, attempt: Attempt, index: int) -> wire.Observations:
        seen = super().make_view(attempt, index)
        unfinished = seen == wire.rejected() and not attempt.released and not self.pipelined
        return [{"type": "not_found"}] if unfinished else seen


@wrong("SUBP-40", "SUBP-26", "SUBP-8", "SUBP-9", "SUBP-33", "SUBP-32")
class PartitionRecordInTheSharedBuffer(ResultPartition):
    """A record behind a broadcast goes into the shared buffer, and so to everybody."""

    def emit(self, attempt: Attempt, index: int, data: str) -> wire.Observations:
        if attempt.shared:
            return attempt.tell_all("append", data=data)
        return super().emit(attempt, index, data)


@wrong("SUBP-40", "SUBP-8", "SUBP-9", "SUBP-10", "SUBP-11", "SUBP-33", "SUBP-32")
class PartitionBroadcastIsManyRecords(ResultPartition):
    """A broadcast is copied into the open buffer of each subpartition."""

    def broadcast(self, attempt: Attempt, data: str) -> wire.Observations:
        return [one for index in range(self.count) for one in self.emit(attempt, index, data)]


@wrong("SUBP-40", "SUBP-8", "SUBP-9", "SUBP-10", "SUBP-11", "SUBP-33", "SUBP-32")
class PartitionEachBroadcastHasABuffer(ResultPartition):
    """Each broadcast opens a shared buffer of its own."""

    broadcast = changed(ResultPartition.broadcast, "not attempt.shared", "True")


@wrong("SUBP-40", "SUBP-8", "SUBP-9", "SUBP-33", "SUBP-32", origin="FLINK-10995")
class PartitionBroadcastKeptByTheFirst(ResultPartition):
    """The bytes of a broadcast are in the first subpartition only, which holds them for all."""

    broadcast = changed(
        ResultPartition.broadcast, 'attempt.tell_all("append", data=data)', 'attempt.tell(0, "append", data=data)'
    )
