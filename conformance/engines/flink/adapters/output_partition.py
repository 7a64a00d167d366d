"""A partition whose number of consumers is not known yet.

The writer takes the number from the partition, so here it writes to a real one, whose subpartitions are read at once.
"""

from typing import Any

from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, buffers_of, make_subpartition
from tidegate.conformance.engines.flink.adapters.output_parts import FAILURE, Kit, KnownConsumers
from tidegate.conformance.engines.wire import Json

PARTITION = f"{NETWORK}partition."
STATE_WRITER = "org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter"
SEGMENT_SIZE = 1024


class UnknownConsumers:
    """A real pipelined partition without known consumers, with a reader on each subpartition.

    A broadcast is recorded once, when the last subpartition has it. To fail a record, the writer gets an error of its
    flusher, which is how errors reach it from outside; to fail an event, the partition fails.
    """

    def __init__(self, rig: Any, index: int, subpartitions: int) -> None:
        self.rig, self.index, self.subpartitions = rig, index, subpartitions
        jvm = rig.jvm
        self.pool = jvm.cls(f"{NETWORK}buffer.NetworkBufferPool")(4 * subpartitions + 4, SEGMENT_SIZE)
        self.partition = self.make_partition()
        self.partition.setup()
        self.partition.isNumberOfPartitionConsumerUndefined(True)
        self.pending = [b""] * subpartitions
        self.broadcasts: list[tuple[Json, set[int]]] = []
        self.views = [self.read_along(one) for one in range(subpartitions)]
        self.failing = False

    def make_partition(self) -> Any:
        jvm, count = self.rig.jvm, self.subpartitions
        made = jvm.jpype.JArray(jvm.cls(f"{PARTITION}ResultSubpartition"))(count)
        pools = {"get": lambda: self.pool.createBufferPool(count + 1, 4 * count + 4, count, 2**31 - 1, 0)}
        partition = jvm.cls(f"{PARTITION}PipelinedResultPartition")(
            "task",
            0,
            jvm.cls(f"{PARTITION}ResultPartitionID")(),
            jvm.cls(f"{PARTITION}ResultPartitionType").PIPELINED_BOUNDED,
            made,
            128,
            jvm.cls(f"{PARTITION}ResultPartitionManager")(),
            None,
            jvm.jpype.JProxy("org.apache.flink.util.function.SupplierWithException", dict=pools),
        )
        for one in range(count):
            made[one] = make_subpartition(jvm, one, 2, 2**31 - 1, partition)
            made[one].setChannelStateWriter(jvm.jpype.JProxy(STATE_WRITER, dict={"addOutputData": recycle_all}))
        return partition

    def read_along(self, one: int) -> Any:
        def read(*_arguments: Any) -> None:
            self.read(one)

        handlers = {"notifyDataAvailable": read, "notifyPriorityEvent": read}
        listener = self.rig.jvm.jpype.JProxy(f"{PARTITION}BufferAvailabilityListener", dict=handlers)
        indexes = self.rig.jvm.cls(f"{PARTITION}ResultSubpartitionIndexSet")
        return self.partition.createSubpartitionView(indexes(one), listener)

    def java(self) -> Any:
        return self.partition

    def use(self, writer: Any) -> None:
        self.writer = writer

    def fail(self, hops: int) -> None:
        self.failing = bool(hops)
        error = self.rig.kit.io_error(f"{FAILURE}{self.index}") if hops else None
        for name in ("flusherException", "volatileFlusherException"):
            self.rig.jvm.set_field(self.writer, name, error)

    def broadcast(self, output: Any, event: Any, *, priority: bool) -> None:
        if not self.failing:
            output.broadcastEvent(event, priority)
            return
        broken = KnownConsumers(self.rig, self.index)
        broken.fail(1)
        self.rig.jvm.set_field(self.writer, "targetPartition", broken.java())
        try:
            output.broadcastEvent(event, priority)
        finally:
            self.rig.jvm.set_field(self.writer, "targetPartition", self.partition)

    def read(self, one: int) -> None:
        while (found := self.views[one].getNextBuffer()) is not None:
            buffer = found.buffer()
            if buffer.isBuffer():
                self.pending[one] += buffers_of(self.rig.jvm).read(buffer)
                self.read_frames(one)
            else:
                self.note(one, self.read_event(one, buffer))
            buffer.recycleBuffer()

    def read_frames(self, one: int) -> None:
        while (data := self.pending[one]) and len(data) >= 4 + (length := int.from_bytes(data[:4], "big")):
            self.pending[one] = data[4 + length :]
            self.note(one, self.rig.kit.read_element(data[4 : 4 + length], self.index))

    def read_event(self, one: int, buffer: Any) -> Json:
        kind = buffer.getDataType()
        event = self.rig.kit.from_buffer(buffer, self.rig.kit.class_loader)
        if kind.isBlockingUpstream():
            self.views[one].resumeConsumption()
        kit: Kit = self.rig.kit
        return kit.read_event(event, self.index, priority=bool(kind.hasPriority()))

    def note(self, one: int, observation: Json) -> None:
        if observation["type"] not in ("status", "barrier", "end_of_data", "record_attributes"):
            self.rig.seen.append(observation)
            return
        waiting = next((had for known, had in self.broadcasts if known == observation and one not in had), None)
        if waiting is None:
            waiting = set()
            self.broadcasts.append((observation, waiting))
        waiting.add(one)
        if len(waiting) == self.subpartitions:
            self.broadcasts = [(known, had) for known, had in self.broadcasts if had is not waiting]
            self.rig.seen.append(observation)

    def close(self) -> None:
        self.partition.release()
        self.partition.close()
        self.pool.destroyAllBufferPools()
        self.pool.destroy()


def recycle_all(_checkpoint: Any, _subpartition: Any, _sequence: Any, buffers: Any) -> None:
    """A barrier that overtakes saves copies of what it overtook; keeping them would empty the pool."""
    for buffer in buffers:
        buffer.recycleBuffer()
