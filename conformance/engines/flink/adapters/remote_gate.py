"""A real `SingleInputGate` with `RemoteInputChannel`s; the adapter is the network.

The channels are set up as in a task: exclusive buffers from a `NetworkBufferPool` of exactly the right size, floating
ones from the gate's own pool on top of it.
"""

from collections.abc import Callable
from typing import Any

from tidegate.conformance.engines.flink.jvm import Jvm

NETWORK = "org.apache.flink.runtime.io.network."
CONSUMER = NETWORK + "partition.consumer."
GATE = CONSUMER + "SingleInputGate"
REMOTE = CONSUMER + "RemoteInputChannel"
SEGMENT_SIZE = 64


class RemoteGate:
    """`handlers` receive the calls of the channels to the network: `notifyCreditAvailable`, `resumeConsumption`.

    `writer` gets what the channels save, `provider` knows producers, `waits` are back-offs and timeouts.
    `make_channel` makes channels that are not remote, and returns None for those that are.
    """

    def __init__(
        self,
        jvm: Jvm,
        channels: int,
        exclusive: int,
        floating: int,
        handlers: dict[str, Callable[..., Any]],
        writer: Any = None,
        provider: Any = None,
        waits: tuple[int, ...] = (),
        make_channel: Callable[["RemoteGate", int], Any] | None = None,
        *,
        is_requested: bool = True,
    ) -> None:
        self._jvm = jvm
        self._waits = waits
        self._provider = provider or jvm.implement(NETWORK + "partition.PartitionProducerStateProvider", {})
        self._writer = writer or jvm.cls("org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter").NO_OP
        self._events = jvm.cls(NETWORK + "api.serialization.EventSerializer")
        self.network = jvm.cls(NETWORK + "buffer.NetworkBufferPool")(channels * exclusive + floating + 1, SEGMENT_SIZE)
        self.gate = self._make_gate(channels, floating)
        self._exclusive, self._connections = exclusive, self._make_connections(handlers)
        made = [make_channel(self, index) if make_channel else None for index in range(channels)]
        self.channels = [one or self.assemble_channel(REMOTE, index) for index, one in enumerate(made)]
        self.gate.setInputChannels(jvm.jpype.JArray(jvm.cls(CONSUMER + "InputChannel"))(self.channels))
        self.gate.setup()
        if is_requested:
            self.gate.requestPartitions()
        self._sequence = [0] * channels
        #: since 1.20 a buffer names its subpartition
        self._origin = (0,) if has_origin(jvm) else ()

    def _make_gate(self, channels: int, floating: int) -> Any:
        jvm = self._jvm
        supplies: dict[str, list[Any]] = {
            "String": ["consumer"],
            "IntermediateDataSetID": [jvm.cls("org.apache.flink.runtime.jobgraph.IntermediateDataSetID")()],
            "ResultPartitionType": [jvm.cls(NETWORK + "partition.ResultPartitionType").PIPELINED_BOUNDED],
            "PartitionProducerStateProvider": [self._provider],
            "SupplierWithException": [
                jvm.implement(
                    "org.apache.flink.util.function.SupplierWithException",
                    {"get": lambda: self.network.createBufferPool(1, floating)},
                )
            ],
            "MemorySegmentProvider": [self.network],
        }
        names = parameter_names(jvm, GATE)
        if "ThroughputCalculator" in names:
            supplies["ThroughputCalculator"] = [make_calculator(jvm)]
        if "IndexRange" in names:
            supplies["IndexRange"] = [jvm.cls("org.apache.flink.runtime.executiongraph.IndexRange")(0, 0)]
        # The index of the gate comes first, in some versions the index of the subpartition; these two come last.
        zeros = [0] * (names.count("int") - 2)
        supplies["int"] = [jvm.integer(one) for one in (*zeros, channels, SEGMENT_SIZE)]
        return jvm.assemble(GATE, supplies)

    def assemble_channel(self, name: str, index: int, more: dict[str, list[Any]] | None = None) -> Any:
        """A channel of that class. `more` has what only some classes need."""
        jvm = self._jvm
        counter = jvm.cls("org.apache.flink.metrics.SimpleCounter")
        names = parameter_names(jvm, name)
        # The index of the channel, then back-offs and timeouts, then, if there is room, exclusive buffers.
        between = max(names.count("int") - 2, 0)
        # From 1.15 to 1.18 the index of the subpartition comes before those.
        subpartition = [0] if between == 3 and "ResultSubpartitionIndexSet" not in names else []
        numbers = [index, *[*subpartition, *self._waits, *[0] * between][:between], self._exclusive][
            : names.count("int")
        ]
        supplies: dict[str, list[Any]] = {
            "SingleInputGate": [self.gate],
            "int": [jvm.integer(one) for one in numbers],
            "ResultPartitionID": [jvm.cls(NETWORK + "partition.ResultPartitionID")()],
            "ConnectionID": [make_connection_id(jvm)],
            "ConnectionManager": [self._connections],
            "Counter": [counter(), counter()],
            "ChannelStateWriter": [self._writer],
            "ArrayDeque": [jvm.cls("java.util.ArrayDeque")()],
            **(more or {}),
        }
        if "ResultSubpartitionIndexSet" in names:
            supplies["ResultSubpartitionIndexSet"] = [jvm.cls(NETWORK + "partition.ResultSubpartitionIndexSet")(0)]
        return jvm.assemble(name, supplies)

    def _make_connections(self, handlers: dict[str, Callable[..., Any]]) -> Any:
        client = self._jvm.implement(NETWORK + "PartitionRequestClient", dict(handlers))
        given = {"createPartitionRequestClient": lambda _connection: client}
        return self._jvm.implement(NETWORK + "ConnectionManager", given)

    def receive(self, channel: int, buffer: Any, backlog: int = 0) -> None:
        """What the network thread does with an incoming buffer. A released channel does not count it."""
        number = self._sequence[channel]
        self._sequence[channel] += not self._jvm.call(self.channels[channel], "isReleased")
        self.channels[channel].onBuffer(buffer, number, backlog, *self._origin)

    def receive_event(self, channel: int, event: Any, backlog: int = 0) -> None:
        self.receive(channel, self._events.toBuffer(event, False), backlog)

    def poll(self) -> Any:
        """The next item of the gate, or None."""
        found = self.gate.pollNext()
        return found.get() if found.isPresent() else None

    def close(self) -> None:
        self.gate.close()
        self.network.destroyAllBufferPools()
        self.network.destroy()


def make_connection_id(jvm: Jvm) -> Any:
    """Since 1.16 it also names the task manager."""
    address = jvm.cls("java.net.InetSocketAddress").createUnresolved("localhost", 1)
    connection_id = jvm.cls(NETWORK + "ConnectionID")
    if len(max(jvm.parameters(NETWORK + "ConnectionID"), key=len)) == 2:
        return connection_id(address, 0)
    return connection_id(jvm.cls("org.apache.flink.runtime.clusterframework.types.ResourceID").generate(), address, 0)


def make_calculator(jvm: Jvm) -> Any:
    clock = jvm.cls("org.apache.flink.util.clock.SystemClock").getInstance()
    calculator = "org.apache.flink.runtime.throughput.ThroughputCalculator"
    zeros = [jvm.integer(1)] * parameter_names(jvm, calculator).count("int")
    return jvm.assemble(calculator, {"Clock": [clock], "int": zeros})


def parameter_names(jvm: Jvm, class_name: str) -> list[str]:
    """The simple types of the longest constructor."""
    longest = max(jvm.parameters(class_name), key=len)
    return [one.rpartition(".")[2] for one in longest]


def has_origin(jvm: Jvm) -> bool:
    methods = jvm.cls(REMOTE).class_.getDeclaredMethods()
    return any(str(one.getName()) == "onBuffer" and one.getParameterCount() == 4 for one in methods)
