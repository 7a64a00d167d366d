"""Serialized events: `EventSerializer`, once as a buffer and once as an item of a queue, which must agree."""

from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import buffer_parts
from tidegate.conformance.engines.flink.adapters.subpartition import RECOVERY
from tidegate.conformance.engines.flink.jvm import Jvm

API = f"{buffer_parts.NETWORK}api."
CHECKPOINT = "org.apache.flink.runtime.checkpoint."
WATERMARK = "org.apache.flink.runtime.event.WatermarkEvent"
LONG_WATERMARK = "org.apache.flink.api.common.watermark.LongWatermark"
LABELS = {
    "EVENT_BUFFER": "event",
    "PRIORITIZED_EVENT_BUFFER": "urgent",
    "ALIGNED_CHECKPOINT_BARRIER": "aligned_barrier",
    "TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER": "timeout_barrier",
    "RECOVERY_COMPLETION": "recovery_completion",
    "END_OF_DATA": "end_of_data",
    "END_OF_PARTITION": "end_of_partition",
    "ALIGNED_WATERMARK_EVENT": "aligned_watermark",
    "UNALIGNED_WATERMARK_EVENT": "unaligned_watermark",
}


def declare(jvm: Jvm) -> wire.Json | None:
    """All kinds exist since 2.2."""
    known = {str(one.name()) for one in jvm.cls(f"{buffer_parts.NETWORK}buffer.Buffer$DataType").values()}
    return {} if known >= set(LABELS) and jvm.has(WATERMARK) and jvm.has(RECOVERY[0]) else None


@cache
def events_by_kind(jvm: Jvm) -> dict[str, Any]:
    parts = buffer_parts.events_of(jvm)
    options = jvm.cls(f"{CHECKPOINT}CheckpointOptions")
    timeout = options.alignedWithTimeout(parts.checkpoint, parts.location, 10)
    format_ = jvm.cls("org.apache.flink.core.execution.SavepointFormatType").NATIVE
    savepoint = jvm.cls(f"{CHECKPOINT}SavepointType").suspend(format_)
    modes = jvm.cls(f"{API}StopMode")
    watermark = jvm.cls(LONG_WATERMARK)(42, "test")
    barrier = parts.barrier_class
    return {
        "end_of_partition": jvm.cls(f"{API}EndOfPartitionEvent").INSTANCE,
        "end_of_superstep": jvm.cls(f"{API}EndOfSuperstepEvent").INSTANCE,
        "drain": jvm.cls(f"{API}EndOfData")(modes.DRAIN),
        "stop": jvm.cls(f"{API}EndOfData")(modes.NO_DRAIN),
        "aligned_barrier": barrier(1678, 4623784, parts.aligned),
        "timeout_barrier": barrier(1678, 4623784, timeout),
        "unaligned_barrier": barrier(1678, 4623784, parts.unaligned),
        "savepoint_barrier": barrier(1678, 4623784, options(savepoint, parts.location)),
        "cancellation": parts.cancel_class(287087987329842),
        "announcement": jvm.cls(f"{API}EventAnnouncement")(barrier(42, 1337, timeout), 44),
        "recovery_completion": jvm.cls(RECOVERY[0]).INSTANCE,
        "subtask_connection": jvm.cls(f"{API}SubtaskConnectionDescriptor")(23, 42),
        "aligned_watermark": jvm.cls(WATERMARK)(watermark, True),
        "unaligned_watermark": jvm.cls(WATERMARK)(watermark, False),
    }


class EventKinds:
    def __init__(self, jvm: Jvm) -> None:
        self._events = events_by_kind(jvm)
        self._serializer = jvm.cls(f"{API}serialization.EventSerializer")
        self._loader = jvm.cls("java.lang.ClassLoader").getSystemClassLoader()

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") != "put":
            raise wire.unknown_type(event)
        written = self._events[wire.get_choice(event, "kind", tuple(self._events))]
        urgent = wire.get_boolean(event, "urgent")
        buffer = self._serializer.toBuffer(written, urgent)
        consumer = self._serializer.toBufferConsumer(written, urgent)
        queued = consumer.build()
        kind = buffer.getDataType()
        if queued.getDataType() != kind or buffer.isBuffer() or not consumer.isFinished():
            raise AssertionError(f"a buffer says {kind}, and an item of a queue {queued.getDataType()}")
        read = self._serializer.fromBuffer(buffer, self._loader)
        seen = {
            "type": "labelled",
            "label": LABELS[str(kind.name())],
            "blocks": bool(kind.isBlockingUpstream()),
            "urgent": bool(kind.hasPriority()),
            "announced": bool(kind.requiresAnnouncement()),
            "same": bool(read.equals(written)),
        }
        for one in (buffer, queued, consumer):
            (one.close if one is consumer else one.recycleBuffer)()
        return [seen]


def make(jvm: Jvm, _config: wire.Json) -> EventKinds:
    return EventKinds(jvm)
