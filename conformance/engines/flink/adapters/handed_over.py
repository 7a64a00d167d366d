"""A local channel with recovered data: `LocalInputChannel` of a real gate, over a real pipelined partition.

The channel is made with its recovered data, as a recovered channel makes it. A failed channel gets no more calls.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, buffers_of, events_of
from tidegate.conformance.engines.flink.adapters.channel_state import WRITER
from tidegate.conformance.engines.flink.adapters.output_partition import recycle_all
from tidegate.conformance.engines.flink.adapters.partitions import Partition
from tidegate.conformance.engines.flink.adapters.remote_gate import CONSUMER, RemoteGate, parameter_names
from tidegate.conformance.engines.flink.jvm import Jvm

LOCAL = CONSUMER + "LocalInputChannel"
#: prefixes of recovered and sent data
OURS, THEIRS = b"r", b"s"
KINDS = ("request", "data", "barrier", "tell", "poll", "count")


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if "ArrayDeque" in parameter_names(jvm, LOCAL) and jvm.has(LOCAL, "getNextRecoveredBuffer") else None


class HandedOver:
    def __init__(self, jvm: Jvm, recovered: int) -> None:
        self.jvm, self.buffers, self.events = jvm, buffers_of(jvm), events_of(jvm)
        self.recovered = jvm.cls("java.util.ArrayDeque")()
        for _ in range(recovered):
            self.recovered.add(self.buffers.network_buffer(OURS))
        self.producer = Partition(jvm, 64)
        writer = jvm.implement(WRITER, {"addOutputData": recycle_all})
        self.producer.subpartition.setChannelStateWriter(writer)
        self.rig = RemoteGate(jvm, 1, 0, 1, {}, make_channel=self.make_channel, is_requested=False)
        self.channel = self.rig.channels[0]
        self.is_requested = self.is_failed = False

    def make_channel(self, rig: RemoteGate, index: int) -> Any:
        partition = self.producer.partition
        more: dict[str, list[Any]] = {
            "ResultPartitionID": [partition.getPartitionId()],
            "ResultPartitionManager": [self.jvm.field(partition, "partitionManager")],
            "TaskEventPublisher": [self.jvm.implement(NETWORK + "TaskEventPublisher", {})],
            "ArrayDeque": [self.recovered],
        }
        return rig.assemble_channel(LOCAL, index, more)

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in KINDS:
            raise wire.unknown_type(event)
        if self.is_failed:
            return wire.rejected()
        if kind == "poll":
            return self.poll()
        if kind == "count":
            return [{"type": "in_use", "count": int(self.jvm.call(self.channel, "getBuffersInUseCount"))}]
        if kind == "tell":
            self.channel.notifyPriorityEvent(self.jvm.jpype.JInt(0))
        elif kind == "request":
            return self.request()
        elif kind == "data":
            builder = self.buffers.open(THEIRS)
            builder.finish()
            self.producer.subpartition.add(builder.createBufferConsumerFromBeginning())
        elif self.is_requested:
            barrier = self.events.barrier(1, unaligned=True)
            self.producer.subpartition.add(self.buffers.to_consumer(barrier, True))
        else:
            return wire.rejected()
        return []

    def request(self) -> wire.Observations:
        if self.is_requested:
            return wire.rejected()
        self.is_requested = True
        self.jvm.call(self.channel, "requestSubpartitions")
        return []

    def poll(self) -> wire.Observations:
        """The class of the error tells a request that is too early: the channel itself has not failed."""
        states = self.jvm.cls("java.lang.IllegalStateException")
        try:
            found = self.channel.getNextBuffer()
        except states as error:
            return self.explain(str(error.getMessage()))
        if not found.isPresent():
            return [{"type": "none"}]
        buffer = found.get().buffer()
        kind = "barrier"
        if buffer.isBuffer():
            kind = "recovered" if self.buffers.read(buffer) == OURS else "data"
        buffer.recycleBuffer()
        return [{"type": "polled", "kind": kind}]

    def explain(self, message: str) -> wire.Observations:
        if message.startswith("Queried for a buffer"):
            return wire.rejected()
        self.is_failed = True
        missing = "partition" if "view" in message else "item" if message.endswith("null") else "barrier"
        return [{"type": "failed", "missing": missing}]

    def close(self) -> None:
        self.rig.close()
        self.producer.partition.release()


def make(jvm: Jvm, config: wire.Json) -> HandedOver:
    return HandedOver(jvm, wire.get_at_least(config, "recovered", 0))
