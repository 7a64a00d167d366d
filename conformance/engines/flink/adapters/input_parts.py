"""Shared by the adapters of the consuming side: a `SingleInputGate` whose channels are filled by hand.

Its channels are remote ones. The adapter is the connection behind them and records the requests of the gate. Buffers
arrive on memory of their own, so that no pool limits a case.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, buffers_of
from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import to_int32

CONSUMER = f"{NETWORK}partition.consumer."
GATE = f"{CONSUMER}SingleInputGate"
REMOTE = f"{CONSUMER}RemoteInputChannel"
#: The number of parameters of the known constructors, those of 1.20 and later.
GATE_PARAMETERS, REMOTE_PARAMETERS = (12,), (13, 14)
SEGMENT_SIZE = 64


def can_make_gates(jvm: Jvm) -> bool:
    known = ((GATE, GATE_PARAMETERS), (REMOTE, REMOTE_PARAMETERS))
    return all(any(len(one) in counts for one in jvm.parameters(name)) for name, counts in known)


@cache
def count_remote_parameters(jvm: Jvm) -> int:
    return max(map(len, jvm.parameters(REMOTE)))


@cache
def silent(jvm: Jvm, interface: str) -> Any:
    """An object for calls of the gate that do not matter here."""
    names = {str(one.getName()) for one in jvm.cls(interface).class_.getMethods()}

    def nothing(*_arguments: Any) -> None:
        return None

    return jvm.jpype.JProxy(interface, dict=dict.fromkeys(names, nothing))


def recycle_or_name(polled: Any, name_event: Callable[[Any], str]) -> str:
    """The name of the polled item; the memory of a buffer goes back at once."""
    if not polled.isBuffer():
        return name_event(polled.getEvent())
    polled.getBuffer().recycleBuffer()
    return "data"


class Gate:
    """A gate with remote channels, all of them requested; each may be shared by several subpartitions."""

    def __init__(self, jvm: Jvm, channels: int, *, index: int = 0, subpartitions: int = 1, first: int = 0) -> None:
        self.jvm, self.buffers = jvm, buffers_of(jvm)
        self.subpartitions = jvm.cls(f"{NETWORK}partition.ResultSubpartitionIndexSet")(0, subpartitions - 1)
        self.pool = jvm.cls(f"{NETWORK}buffer.NetworkBufferPool")(channels + 2, SEGMENT_SIZE)
        self.gate = self.make_gate(channels, index)
        connection = self.make_connection()
        self.channels = [self.make_channel(one, connection) for one in range(channels)]
        self.gate.setInputChannels(jvm.jpype.JArray(jvm.cls(f"{CONSUMER}InputChannel"))(self.channels))
        self.gate.setup()
        self.gate.requestPartitions()
        self.sequences = [first] * channels
        if first:
            for channel in self.channels:
                jvm.set_field(channel, "expectedSequenceNumber", jvm.integer(first))

    def make_gate(self, channels: int, index: int) -> Any:
        jvm = self.jvm
        clock = jvm.cls("org.apache.flink.util.clock.SystemClock").getInstance()
        pools = {"get": lambda: self.pool.createBufferPool(1, 1)}
        return jvm.cls(GATE)(
            "task",
            index,
            jvm.cls("org.apache.flink.runtime.jobgraph.IntermediateDataSetID")(),
            jvm.cls(f"{NETWORK}partition.ResultPartitionType").PIPELINED_BOUNDED,
            channels,
            silent(jvm, f"{NETWORK}partition.PartitionProducerStateProvider"),
            jvm.jpype.JProxy("org.apache.flink.util.function.SupplierWithException", dict=pools),
            None,
            self.pool,
            SEGMENT_SIZE,
            jvm.cls("org.apache.flink.runtime.throughput.ThroughputCalculator")(clock),
            None,
        )

    def make_connection(self) -> Any:
        client = silent(self.jvm, f"{NETWORK}PartitionRequestClient")
        handlers = {"createPartitionRequestClient": lambda _connection: client}
        return self.jvm.jpype.JProxy(f"{NETWORK}ConnectionManager", dict=handlers)

    def make_channel(self, index: int, connection: Any) -> Any:
        jvm = self.jvm
        resource = jvm.cls("org.apache.flink.runtime.clusterframework.types.ResourceID").generate()
        address = jvm.cls("java.net.InetSocketAddress").createUnresolved("localhost", 1)
        counter = jvm.cls("org.apache.flink.metrics.SimpleCounter")
        arguments = (
            self.gate,
            index,
            jvm.cls(f"{NETWORK}partition.ResultPartitionID")(),
            self.subpartitions,
            jvm.cls(f"{NETWORK}ConnectionID")(resource, address, 0),
            connection,
            0,
            0,
            0,
            1,
            counter(),
            counter(),
            jvm.cls("org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter").NO_OP,
            jvm.cls("java.util.ArrayDeque")(),  # initial buffers, since 2.3
        )
        return jvm.cls(REMOTE)(*arguments[: count_remote_parameters(jvm)])

    def arrive(self, channel: int, data: bytes) -> None:
        """A data buffer comes in from the network; an empty one takes no buffer."""
        sequence = self.next_sequence(channel)
        if data:
            self.channels[channel].onBuffer(self.buffers.network_buffer(data), sequence, 0, 0)
        else:
            self.channels[channel].onEmptyBuffer(sequence, 0)

    def arrive_event(self, channel: int, event: Any, *, priority: bool = False) -> None:
        sequence = self.next_sequence(channel)
        self.channels[channel].onBuffer(self.buffers.to_buffer(event, priority), sequence, 0, 0)

    def next_sequence(self, channel: int) -> int:
        """Numbers have 32 bits, and wrap around."""
        sequence = self.sequences[channel]
        self.sequences[channel] = to_int32(sequence + 1)
        return sequence

    def close(self) -> None:
        self.gate.close()
        self.pool.destroyAllBufferPools()
        self.pool.destroy()


class Endings:
    """What a producer never does: send on a channel that has ended, or end its data twice."""

    def __init__(self, channels: int) -> None:
        self.channels = channels
        self.over: set[int] = set()
        self.data_over: set[int] = set()

    def accepts(self, channel: int, kind: str = "data") -> bool:
        """Whether the item may come; if so, it counts as received."""
        if not 0 <= channel < self.channels or channel in self.over:
            return False
        if kind in ("end_of_data", "stop"):
            if channel in self.data_over:
                return False
            self.data_over.add(channel)
        if kind == "end_of_partition":
            self.over.add(channel)
        return True
