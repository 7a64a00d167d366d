"""The record writer: `ChannelSelectorRecordWriter` or `BroadcastRecordWriter` over a real `PipelinedResultPartition`.

The partition is examined at each of its calls: for a buffer, on its counters, to notify a reader. Items queued by
then are shown; a buffer is read when it is finished, or when a flush notifies its reader. The adapter is the thread
that flushes periodically: time in a case is not real time. The writer hears of its failure as from that thread.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.partitions import NETWORK, PIPELINED, Partition, has_partitions
from tidegate.conformance.engines.flink.jvm import Jvm

EXTENSIONS = ("measures",)
_WRITERS = f"{NETWORK}api.writer."
_KINDS = {"selecting": f"{_WRITERS}ChannelSelectorRecordWriter", "broadcast": f"{_WRITERS}BroadcastRecordWriter"}
_RECORD = "org.apache.flink.core.io.IOReadableWritable"
_COUNTER = "org.apache.flink.metrics.Counter"
_CONSUMER = f"{NETWORK}buffer.BufferConsumerWithPartialRecordLength"
#: The first release that enlarges a buffer if the pool has no other.
_FIRST_TO_ENLARGE = (1, 19)


def declare(jvm: Jvm) -> wire.Json | None:
    if jvm.release < _FIRST_TO_ENLARGE or not has_partitions(jvm):
        return None
    if not jvm.has(_CONSUMER) or not jvm.has(_KINDS["selecting"], "broadcastEmit"):
        return None
    return {"extensions": list(EXTENSIONS)} if jvm.has(PIPELINED, "getBytesInQueueUnsafe") else {}


class Writer:
    def __init__(self, jvm: Jvm, kind: str, channels: int, buffer_size: int, timeout: int) -> None:
        self._jvm = jvm
        self._channels, self._timeout = channels, timeout
        self._elapsed = 0
        self._failed = self._finished = False
        self._shown: wire.Observations = []
        self._counted = 0
        self._selected = 0
        self._added: list[Any] = [None] * channels
        self._bytes = jvm.jpype.JArray(jvm.jpype.JByte)
        self._owner = Partition(jvm, buffer_size, channels=channels, on_request=self._on_request)
        self._partition = self._owner.partition
        self._queues = [jvm.field(one, "buffers") for one in self._owner.subpartitions]
        self._builders = jvm.field(self._partition, "unicastBufferBuilders")
        self._views = [self._read_along(channel) for channel in range(channels)]
        self._count()
        selector = jvm.implement(f"{_WRITERS}ChannelSelector", {"selectChannel": lambda _record: self._selected})
        selectors = [selector] if kind == "selecting" else []
        flushes = jvm.cls("java.lang.Long").valueOf(jvm.jpype.JLong(0 if timeout == 0 else -1))
        self._writer = jvm.new(_KINDS[kind], self._partition, *selectors, flushes, "writer")
        self._is_selecting = kind == "selecting"
        self.measures = False

    def _read_along(self, channel: int) -> Any:
        handlers = {"notifyDataAvailable": lambda *_view: self._on_awake(channel)}
        listener = self._jvm.implement(f"{NETWORK}partition.BufferAvailabilityListener", handlers)
        return self._owner.subpartitions[channel].createReadView(listener)

    def _count(self) -> None:
        """Replace the counters of the partition with observed ones."""
        for name, handler in (("numBytesOut", self._on_bytes), ("numBuffersOut", self._on_buffers)):
            self._jvm.set_field(self._partition, name, self._jvm.implement(_COUNTER, {"inc": handler}))

    # --- events -----------------------------------------------------------------------------------------------

    def step(self, event: wire.Json) -> wire.Observations:
        self._shown = []
        try:
            self._dispatch(event)
        except self._jvm.cls("java.lang.IllegalStateException"):
            return wire.rejected()  # the partition is finished
        except self._jvm.cls("java.io.IOException"):
            # Nothing is emitted after the end: which of the two is noticed first does not matter.
            return wire.rejected() if self._finished else [{"type": "io_error"}]
        self._note_adds()
        return self._shown

    def _dispatch(self, event: wire.Json) -> None:
        kind = event.get("type")
        if kind == "record":
            self._on_record(wire.get_integer(event, "channel"), bytes.fromhex(wire.get_hex(event, "payload")))
        elif kind == "broadcast":
            self._writer.broadcastEmit(self._record(bytes.fromhex(wire.get_hex(event, "payload"))))
        elif kind == "event":
            self._writer.broadcastEvent(self._jvm.cls(f"{NETWORK}api.CancelCheckpointMarker")(1))
        elif kind == "hint":
            self._on_hint(wire.get_integer(event, "channel"), wire.get_at_least(event, "size", 0))
        elif kind == "pool":
            self._owner.has_buffers = wire.get_boolean(event, "available")
        elif kind == "flush":
            self._writer.flushAll()
        elif kind == "elapse":
            self._on_elapse(wire.get_at_least(event, "milliseconds", 1))
        elif kind == "fail":
            self._on_fail()
        elif kind == "measure" and self.measures and self._finished:
            # A refused element after the end counts as written, which nothing reads.
            self._shown = wire.rejected()
        elif kind == "measure" and self.measures:
            queued = [int(self._partition.getBytesInQueueUnsafe(channel)) for channel in range(self._channels)]
            self._shown.append({"type": "queued", "bytes": queued})
        elif kind == "finish":
            self._finished = True
            self._partition.finish()
        else:
            raise wire.unknown_type(event)

    def _on_record(self, channel: int, payload: bytes) -> None:
        if not 0 <= channel < self._channels:
            self._shown = wire.rejected()
        elif self._is_selecting:
            self._selected = channel
            self._writer.emit(self._record(payload))
        else:
            # As a random emit does, which is for latency markers.
            self._writer.emit(self._record(payload), channel)

    def _record(self, payload: bytes) -> Any:
        content = self._bytes(payload)
        return self._jvm.implement(_RECORD, {"write": lambda out: out.write(content)})

    def _on_hint(self, channel: int, size: int) -> None:
        if 0 <= channel < self._channels:
            self._views[channel].notifyNewBufferSize(size)
        else:
            self._shown = wire.rejected()

    def _on_elapse(self, milliseconds: int) -> None:
        if self._timeout <= 0 or self._failed:
            return
        self._elapsed += milliseconds
        if self._elapsed >= self._timeout:
            self._elapsed %= self._timeout
            self._writer.flushAll()

    def _on_fail(self) -> None:
        if self._timeout <= 0 or self._failed or self._finished:
            self._shown = wire.rejected()
            return
        self._failed = True
        self._jvm.call(self._writer, "notifyFlusherException", self._jvm.cls("java.io.IOException")("flusher"))

    # --- calls of the partition ----------------------------------------------------------------------------------

    def _on_request(self) -> None:
        self._note_adds()
        self._shown.append({"type": "request"})

    def _on_bytes(self, count: int) -> None:
        self._counted = int(count)

    def _on_buffers(self, count: int = 1) -> None:
        """A buffer was finished: that of all channels, or that of the channel whose builder says so."""
        self._note_adds()
        shared = self._jvm.field(self._partition, "broadcastBufferBuilder")
        everywhere = shared is not None and shared.isFinished()
        for channel, builder in enumerate(self._builders):
            if everywhere or (builder is not None and builder.isFinished()):
                self._read(channel)
        self._shown.append({"type": "count", "bytes": self._counted, "buffers": int(count)})

    def _on_awake(self, channel: int) -> None:
        self._note_adds()
        self._read(channel)

    def _note_adds(self) -> None:
        """A new buffer: its reader knows what it held when it was queued."""
        for channel, queue in enumerate(self._queues):
            entry = queue.peekLast()
            if entry is None or entry == self._added[channel]:
                continue
            self._added[channel] = entry
            consumer = entry.getBufferConsumer()
            if consumer.isBuffer():
                committed = self._jvm.call(self._jvm.field(consumer, "writerPosition"), "getCached")
                partial = int(entry.getPartialRecordLength())
                self._shown.append(
                    {"type": "add", "channel": channel, "committed": abs(int(committed)), "partial": partial}
                )

    def _read(self, channel: int) -> None:
        while (found := self._views[channel].getNextBuffer()) is not None:
            buffer = found.buffer()
            size = int(buffer.readableBytes())
            if not buffer.isBuffer():
                if not self._finished:  # the end is the last event
                    self._shown.append({"type": "event", "channel": channel})
            elif size:
                content = self._bytes(size)
                buffer.asByteBuf().getBytes(0, content)
                self._shown.append({"type": "buffer", "channel": channel, "data": bytes(content).hex()})
            buffer.recycleBuffer()

    def close(self) -> None:
        for view in self._views:
            view.releaseAllResources()


def make(jvm: Jvm, config: wire.Json) -> Writer:
    kind = wire.get_choice(config, "kind", tuple(_KINDS))
    channels, size = wire.get_at_least(config, "channels", 1), wire.get_at_least(config, "buffer_size", 1)
    timeout = wire.get_at_least(config, "timeout", -1)
    if timeout > 2**31 - 1:
        raise wire.BadRequestError(f"timeout does not fit 32 bits: {timeout}")
    writer = Writer(jvm, kind, channels, size, timeout)
    writer.measures = wire.get_extension(config, EXTENSIONS) is not None
    return writer
