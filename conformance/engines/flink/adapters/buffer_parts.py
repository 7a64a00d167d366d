"""Shared by the adapters of the producing side: buffers with given bytes, events, and reading them back."""

from functools import cache
from typing import Any

from tidegate.conformance.engines.flink.jvm import Jvm

NETWORK = "org.apache.flink.runtime.io.network."

#: Flink's default segment size in bytes.
SEGMENT = 32768

#: The protocol's names of the kinds of items.
KINDS = {
    "NONE": "none",
    "DATA_BUFFER": "data",
    "EVENT_BUFFER": "event",
    "PRIORITIZED_EVENT_BUFFER": "priority",
    "ALIGNED_CHECKPOINT_BARRIER": "barrier",
    "ALIGNED_WATERMARK_EVENT": "aligned_watermark",
    "RECOVERY_COMPLETION": "recovery_completion",
    "END_OF_DATA": "end_of_data",
    "END_OF_PARTITION": "end_of_partition",
}


class Buffers:
    """Buffers and events on memory of their own, without a pool."""

    def __init__(self, jvm: Jvm) -> None:
        self.jvm = jvm
        self.recycler = jvm.cls(f"{NETWORK}buffer.FreeingBufferRecycler").INSTANCE
        self.allocate = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").allocateUnpooledSegment
        self.builder_class = jvm.cls(f"{NETWORK}buffer.BufferBuilder")
        self.data_types = jvm.cls(f"{NETWORK}buffer.Buffer$DataType")
        self.wrap = jvm.cls("java.nio.ByteBuffer").wrap
        self.to_consumer = jvm.cls(f"{NETWORK}api.serialization.EventSerializer").toBufferConsumer
        self.to_buffer = jvm.cls(f"{NETWORK}api.serialization.EventSerializer").toBuffer
        self.byte_array = jvm.jpype.JArray(jvm.jpype.JByte)

    def open(self, data: bytes) -> Any:
        """A builder with these bytes committed, and room for more: a segment, or longer for longer data."""
        builder = self.builder_class(self.allocate(max(SEGMENT, 2 * len(data))), self.recycler)
        self.append(builder, data)
        return builder

    def append(self, builder: Any, data: bytes) -> None:
        if data:
            builder.appendAndCommit(self.wrap(self.byte_array(data)))

    def network_buffer(self, data: bytes, data_type: str = "DATA_BUFFER") -> Any:
        segment = self.allocate(max(len(data), 1))
        if data:
            segment.put(0, self.byte_array(data))
        kind = self.data_types.valueOf(data_type)
        return self.jvm.cls(f"{NETWORK}buffer.NetworkBuffer")(segment, self.recycler, kind, len(data))

    def read(self, buffer: Any) -> bytes:
        """The bytes of an unread buffer."""
        length = int(buffer.readableBytes())
        if not length:
            return b""
        out = self.byte_array(length)
        buffer.asByteBuf().getBytes(0, out)
        return bytes(out)

    def kind_of(self, data_type: Any) -> str:
        return KINDS[str(data_type.name())]


class Events:
    """The events that travel between data."""

    def __init__(self, jvm: Jvm) -> None:
        api, checkpoint = f"{NETWORK}api.", "org.apache.flink.runtime.checkpoint."
        options = jvm.cls(f"{checkpoint}CheckpointOptions")
        self.location = jvm.cls("org.apache.flink.runtime.state.CheckpointStorageLocationReference").getDefault()
        self.checkpoint = jvm.cls(f"{checkpoint}CheckpointType").CHECKPOINT
        self.aligned = options.alignedNoTimeout(self.checkpoint, self.location)
        self.unaligned = options.unaligned(self.checkpoint, self.location)
        self.barrier_class = jvm.cls(f"{api}CheckpointBarrier")
        self.cancel_class = jvm.cls(f"{api}CancelCheckpointMarker")
        self.end_of_partition = jvm.cls(f"{api}EndOfPartitionEvent").INSTANCE
        stop = jvm.cls(f"{api}StopMode")
        end_of_data = jvm.cls(f"{api}EndOfData")
        self.end_of_data = end_of_data(stop.DRAIN)
        self.stop = end_of_data(stop.NO_DRAIN)

    def barrier(self, checkpoint: int = 1, *, unaligned: bool = False) -> Any:
        return self.barrier_class(checkpoint, 0, self.unaligned if unaligned else self.aligned)


@cache
def buffers_of(jvm: Jvm) -> Buffers:
    return Buffers(jvm)


@cache
def events_of(jvm: Jvm) -> Events:
    return Events(jvm)


def make_subpartition(jvm: Jvm, index: int, exclusive: int, size_hint: int, parent: Any) -> Any:
    """A pipelined subpartition; before 2.0 it takes no initial size of buffers."""
    name = f"{NETWORK}partition.PipelinedSubpartition"
    numbers = [jvm.integer(one) for one in (index, exclusive, size_hint)]
    made = jvm.assemble(name, {"int": numbers, "ResultPartition": [parent]})
    jvm.set_field(made, "bufferSize", numbers[2])
    return made


def make_parent(jvm: Jvm, subpartitions: Any) -> Any:
    """A result partition that only owns subpartitions."""
    return jvm.new(
        f"{NETWORK}partition.PipelinedResultPartition",
        jvm.jpype.JString("producer"),
        jvm.cls("java.lang.Integer")(0),
        jvm.cls(f"{NETWORK}partition.ResultPartitionID")(),
        jvm.cls(f"{NETWORK}partition.ResultPartitionType").PIPELINED_BOUNDED,
        subpartitions,
        jvm.cls("java.lang.Integer")(1),
        jvm.cls(f"{NETWORK}partition.ResultPartitionManager")(),
        None,
        None,
    )
