"""A network buffer, its builder and its consumers, SUBP-1 … SUBP-3, SUBP-40, SUBP-41.

Who holds the memory is kept as a set of names; it is free when the set gets empty.
"""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_BUILDER = "builder"


@attrs.define(eq=False)
class Consumer:
    position: int
    believes_finished: bool
    slices: int = 0
    closed: bool = False


class Buffer:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.capacity = wire.get_at_least(config, "capacity", 1)
        self.written = b""
        self.committed = 0
        self.finished = False
        self.closed = False
        self.consumers: list[Consumer] = []
        self.holders = {_BUILDER}
        self.freed = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "append":
            return self.on_append(bytes.fromhex(wire.get_hex(event, "data")))
        if kind in {"commit", "finish", "close_builder", "consume"}:
            return wire.rejected() if self.closed else self.on_builder(kind)
        if kind not in {"copy", "inspect", "build", "recycle", "close"}:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "consumer")
        if not 0 <= index < len(self.consumers):
            return wire.rejected()
        consumer = self.consumers[index]
        if kind == "recycle":
            return self.on_recycle(index, consumer)
        if consumer.closed:
            return wire.rejected()
        return self.on_consumer(kind, index, consumer)

    def on_append(self, data: bytes) -> wire.Observations:
        if self.closed or self.finished:
            return wire.rejected()
        room = self.capacity - len(self.written)
        self.written += data[:room]
        return [{"type": "written", "bytes": len(data[:room])}]

    def on_builder(self, kind: str) -> wire.Observations:
        if kind == "close_builder":
            self.closed = True
            return self.let_go(_BUILDER)
        if kind == "commit":
            self.committed = len(self.written)
            return []
        if kind == "finish":
            self.committed = len(self.written)
            self.finished = True
            return [{"type": "written", "bytes": len(self.written)}]
        if self.consumers:
            return wire.rejected()
        return self.add(0, believes_finished=self.finished)

    def add(self, position: int, *, believes_finished: bool) -> wire.Observations:
        self.holders.add(f"consumer {len(self.consumers)}")
        self.consumers.append(Consumer(position, believes_finished))
        return []

    def on_consumer(self, kind: str, index: int, consumer: Consumer) -> wire.Observations:
        if kind == "copy":
            return self.add(consumer.position, believes_finished=self.finished)
        if kind == "inspect":
            unread = consumer.position < self.committed
            return [{"type": "knowledge", "finished": consumer.believes_finished, "unread": unread}]
        if kind == "build":
            return self.on_build(index, consumer)
        consumer.closed = True
        return self.let_go(f"consumer {index}")

    def on_build(self, index: int, consumer: Consumer) -> wire.Observations:
        data = self.written[consumer.position : self.committed]
        consumer.position = self.committed
        consumer.believes_finished = self.finished
        self.holders.add(f"slice {index}.{consumer.slices}")
        consumer.slices += 1
        return [{"type": "slice", "data": data.hex()}]

    def on_recycle(self, index: int, consumer: Consumer) -> wire.Observations:
        if not consumer.slices:
            return wire.rejected()
        consumer.slices -= 1
        return self.let_go(f"slice {index}.{consumer.slices}")

    def let_go(self, holder: str) -> wire.Observations:
        self.holders.discard(holder)
        if self.holders or self.freed:
            return []
        self.freed = True
        return [{"type": "recycled"}]


make = Buffer

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("SUBP-1")
class BufferAllOrNothing(Buffer):
    """Bytes that do not fit as a whole are not taken at all."""

    def on_append(self, data: bytes) -> wire.Observations:
        return super().on_append(data if len(self.written) + len(data) <= self.capacity else b"")


@wrong("SUBP-1", "SUBP-2", "SUBP-3")
class BufferAppendCommits(Buffer):
    """What is written becomes visible at once, without a commit."""

    def on_append(self, data: bytes) -> wire.Observations:
        out = super().on_append(data)
        if out != wire.rejected():
            self.committed = len(self.written)
        return out


@wrong("SUBP-1", "SUBP-2", "SUBP-3")
class BufferFinishDoesNotCommit(Buffer):
    """Finishing does not commit: the last bytes are never read."""

    on_builder = changed(
        Buffer.on_builder, "self.committed = len(self.written)\n        self.finished", "self.finished"
    )


@wrong("SUBP-1")
class BufferFinishSaysWhatWasCommitted(Buffer):
    """Finishing answers with what was committed before, not with what was written."""

    on_builder = changed(
        Buffer.on_builder,
        'if kind == "finish":',
        'if kind == "finish":\n    count = self.committed',
        '"bytes": len(self.written)',
        '"bytes": count',
    )


@wrong("SUBP-1")
class BufferSecondFinishRefused(Buffer):
    """Finishing again is refused."""

    def on_builder(self, kind: str) -> wire.Observations:
        return wire.rejected() if self.finished and kind == "finish" else super().on_builder(kind)


@wrong("SUBP-1", origin="FLINK-19302")
class BufferFinishedTakesMore(Buffer):
    """A finished buffer takes more bytes, which nobody will read."""

    on_append = changed(Buffer.on_append, " or self.finished", "")


@wrong("SUBP-1")
class BufferBuilderMakesMany(Buffer):
    """A builder makes a second consumer that is not a copy."""

    on_builder = changed(Buffer.on_builder, "self.consumers", "False")


@wrong("SUBP-1")
class BufferClosedBuilderCommits(Buffer):
    """A builder that has let go of the memory commits."""

    step = changed(Buffer.step, "if self.closed", 'if self.closed and kind != "commit"')


@wrong("SUBP-2")
class BufferFinishedKnownAtOnce(Buffer):
    """Every consumer knows at once that the buffer is finished."""

    on_consumer = changed(Buffer.on_consumer, "consumer.believes_finished", "self.finished")


@wrong("SUBP-2", "SUBP-40")
class BufferCopyBelievesLikeItsOriginal(Buffer):
    """A copy believes what its original believes, instead of looking."""

    on_consumer = changed(Buffer.on_consumer, "self.finished", "consumer.believes_finished")


@wrong("SUBP-2", "SUBP-3")
class BufferReadingIsBelieving(Buffer):
    """A consumer that has read takes the buffer for finished, which it may not be."""

    on_build = changed(Buffer.on_build, "self.finished", "True")


@wrong("SUBP-2", "SUBP-1")
class BufferUnreadCountsUncommitted(Buffer):
    """Bytes that were not committed count as unread."""

    on_consumer = changed(Buffer.on_consumer, "self.committed", "len(self.written)")


@wrong("SUBP-3", origin="FLINK-8588")
class BufferSliceFromTheStart(Buffer):
    """A second slice begins at the start of the memory again: bytes are handed out twice."""

    on_build = changed(Buffer.on_build, "self.written[consumer.position", "self.written[0")


@wrong("SUBP-3")
class BufferEmptySliceRefused(Buffer):
    """A consumer that has nothing new to hand out refuses."""

    def on_build(self, index: int, consumer: Consumer) -> wire.Observations:
        if consumer.position == self.committed:
            return wire.rejected()
        return super().on_build(index, consumer)


@wrong("SUBP-40", "SUBP-3", "SUBP-2")
class BufferCopyStartsOver(Buffer):
    """A copy reads from the beginning, not from where its original is."""

    on_consumer = changed(Buffer.on_consumer, "self.add(consumer.position", "self.add(0")


@wrong("SUBP-40", "SUBP-3", "SUBP-2")
class BufferCopySkipsToTheEnd(Buffer):
    """A copy reads only what is written after it was made."""

    on_consumer = changed(Buffer.on_consumer, "self.add(consumer.position", "self.add(self.committed")


@wrong("SUBP-40", "SUBP-3", "SUBP-2")
class BufferReadersShareAPosition(Buffer):
    """One subpartition that reads moves all others: they miss what it has read."""

    def on_build(self, index: int, consumer: Consumer) -> wire.Observations:
        out = super().on_build(index, consumer)
        for other in self.consumers:
            other.position = self.committed
        return out


@wrong("SUBP-41", origin="FLINK-17322")
class BufferFirstConsumerFrees(Buffer):
    """The memory is given back when the first consumer of a broadcast is done, and overwritten while others read."""

    def let_go(self, holder: str) -> wire.Observations:
        if holder.startswith("consumer"):
            self.holders = {other for other in self.holders if not other.startswith("consumer")}
        return super().let_go(holder)


@wrong("SUBP-41")
class BufferSlicesHoldNothing(Buffer):
    """The memory is given back while slices of it are still out."""

    on_build = changed(Buffer.on_build, 'self.holders.add(f"slice {index}.{consumer.slices}")', "")


@wrong("SUBP-41")
class BufferBuilderHoldsNothing(Buffer):
    """The memory is given back while its builder still writes."""

    __init__ = changed(Buffer.__init__, "{_BUILDER}", "set()")


@wrong("SUBP-41", origin="FLINK-17823")
class BufferClosedConsumerBuilds(Buffer):
    """A consumer that has let go hands out memory that may be somebody else's by now."""

    step = changed(Buffer.step, "consumer.closed", 'consumer.closed and kind != "build"')


@wrong("SUBP-41", origin="FLINK-17823")
class BufferRecyclesNothing(Buffer):
    """A slice that is not out can be recycled."""

    on_recycle = changed(Buffer.on_recycle, "wire.rejected()", "[]")
