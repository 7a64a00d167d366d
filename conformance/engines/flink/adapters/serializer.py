"""Records into buffers: `RecordWriter.serializeRecord` and a real `PipelinedResultPartition`.

Finished buffers are read from the subpartition at once; the open buffer is read only on a flush.
"""

from typing import Any

from tidegate.conformance.engines.flink.adapters.partitions import NETWORK, Partition, has_partitions
from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import Json, Observations, get_at_least, get_hex, rejected, unknown_type

_WRITER = NETWORK + "api.writer.RecordWriter"
_RECORD = "org.apache.flink.core.io.IOReadableWritable"


def declare(jvm: Jvm) -> Json | None:
    return {} if has_partitions(jvm) and jvm.has(_WRITER, "serializeRecord") else None


class Serializer:
    def __init__(self, jvm: Jvm, buffer_size: int) -> None:
        self._jvm = jvm
        self._bytes = jvm.jpype.JArray(jvm.jpype.JByte)
        self._scratch = jvm.cls("org.apache.flink.core.memory.DataOutputSerializer")(128)
        self._owner = Partition(jvm, buffer_size)
        self._partition = self._owner.partition
        listener = jvm.implement(NETWORK + "partition.BufferAvailabilityListener", {})
        self._view = self._owner.subpartition.createReadView(listener)

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        try:
            if kind == "record":
                self._partition.emitRecord(self._serialize(bytes.fromhex(get_hex(event, "payload"))), 0)
            elif kind == "flush":
                self._partition.flushAll()
            elif kind == "event":
                marker = self._jvm.cls(NETWORK + "api.CancelCheckpointMarker")(1)
                self._partition.broadcastEvent(marker, False)
            elif kind == "finish":
                self._partition.finish()
            else:
                raise unknown_type(event)
        except self._jvm.cls("java.lang.IllegalStateException"):
            return rejected()  # the partition is finished
        return self._take(also_open=kind == "flush")

    def _serialize(self, payload: bytes) -> Any:
        content = self._bytes(payload)
        record = self._jvm.implement(_RECORD, {"write": lambda out: out.write(content)})
        return self._jvm.call(self._jvm.cls(_WRITER), "serializeRecord", self._scratch, record)

    def _take(self, *, also_open: bool) -> Observations:
        """The items of the queue that may be read: all but the open buffer, or that as well."""
        count = int(self._owner.subpartition.unsynchronizedGetNumberOfQueuedBuffers())
        if not also_open and self._jvm.field(self._partition, "unicastBufferBuilders")[0] is not None:
            count -= 1
        shown = []
        for _ in range(count):
            polled = self._view.getNextBuffer()
            if polled is None:
                break
            buffer = polled.buffer()
            size = int(buffer.readableBytes())
            if size and buffer.isBuffer():
                content = self._bytes(size)
                buffer.asByteBuf().getBytes(0, content)
                shown.append({"type": "buffer", "data": bytes(content).hex()})
            buffer.recycleBuffer()
        return shown

    def close(self) -> None:
        self._view.releaseAllResources()


def make(jvm: Jvm, config: Json) -> Serializer:
    return Serializer(jvm, get_at_least(config, "buffer_size", 1))
