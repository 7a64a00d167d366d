"""The channels of a gate: `UnknownInputChannel`, `LocalInputChannel` and `RemoteInputChannel` in a `SingleInputGate`.

Partitions have numbers as ids, so that the gate's hash map iterates over its channels in order. The gate's queue
of channels is emptied after each step, to show which channels notified the gate. The timer of local retries
is a `java.util.Timer` whose thread never runs: the adapter runs its tasks. The check of the producer's state answers
at once that it runs. A producer on this machine is a `PipelinedResultPartition` that announces every item.

Calls that Flink never makes are refused here: items before they were requested, failures of a channel that is
unknown or closed, an update that could not pass on a task event. After some updates the gate no longer knows a channel:
such an update is shown as refused, with that as the reason, because everything after it would depend on chance.
"""

from contextlib import suppress
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.partitions import PARTITION, Partition, has_partitions
from tidegate.conformance.engines.flink.adapters.remote_gate import (
    CONSUMER,
    NETWORK,
    REMOTE,
    RemoteGate,
    has_origin,
)
from tidegate.conformance.engines.flink.jvm import Jvm

KNOWN = ("local", "remote")
ITEMS = ("data", "empty", "event")
OF_CHANNELS = ("update", "register", "retry", "not_found", "arrive", "fail", "read")
DELAYS = {"initial": 100, "maximum": 10_000, "timeout": 10_000}
SEGMENT = 16
#: How the causes differ.
CAUSES = {
    "producer_failed": "ProducerFailedException",
    "connection_lost": "PartitionConnectionException",
    "reordered": "BufferReorderingException",
    "partition_not_found": "PartitionNotFoundException",
}
#: For one channel: what happens to a request or an item, then notifications of the gate, then messages sent.
RANKS = ("request", "retry_in", "recycled", "notified", "sent")


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if has_partitions(jvm) and has_origin(jvm) else None


class Timer:
    """A timer of the gate without its thread."""

    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self.timer = jvm.bare("java.util.Timer")
        queue = jvm.new("java.util.TaskQueue")
        for name, value in (
            ("queue", queue),
            ("thread", jvm.new("java.util.TimerThread", queue)),
            ("cleanup", jvm.implement("java.lang.ref.Cleaner$Cleanable", {})),
        ):
            jvm.set_field(self.timer, name, value)
        self._queue = queue

    def take(self) -> list[Any]:
        """The tasks that were scheduled since."""
        jvm, queue = self._jvm, self._queue
        tasks = [jvm.call(queue, "get", jvm.integer(1 + number)) for number in range(jvm.call(queue, "size"))]
        jvm.call(queue, "clear")
        return tasks


class InputChannels:
    def __init__(self, jvm: Jvm, locations: list[str], waits: tuple[int, int, int]) -> None:
        self._jvm, self._locations, self._waits = jvm, list(locations), waits
        self._shown: wire.Observations = []
        self._ids = [self._make_id(index) for index in range(len(locations))]
        self._manager = jvm.cls(PARTITION + "ResultPartitionManager")()
        self._partitions: dict[int, Partition] = {}
        self._publisher = jvm.implement(NETWORK + "TaskEventPublisher", {"publish": self._publish})
        handlers = {"requestSubpartition": self._on_request, "sendTaskEvent": self._send}
        provider = jvm.implement(
            PARTITION + "PartitionProducerStateProvider", {"requestPartitionProducerState": self._answer}
        )
        self._rig = RemoteGate(
            jvm,
            len(locations),
            2,
            8,
            handlers,
            provider=provider,
            waits=waits,
            make_channel=self._make_channel,
            is_requested=False,
        )
        self._gate = self._rig.gate
        self._timer = Timer(jvm)
        jvm.set_field(self._gate, "retriggerLocalRequestTimer", self._timer.timer)
        self._tasks: dict[int, Any] = {}
        self._is_closed = False
        self._sent: list[tuple[Any, int]] = []

    # --- set-up

    def _make_id(self, index: int) -> Any:
        jvm = self._jvm
        zero = jvm.jpype.JLong(0)
        data_set = jvm.cls("org.apache.flink.runtime.jobgraph.IntermediateDataSetID")(
            jvm.cls("org.apache.flink.util.AbstractID")(zero, zero)
        )
        number = jvm.cls("org.apache.flink.runtime.jobgraph.IntermediateResultPartitionID")(data_set, index)
        attempt = jvm.cls("org.apache.flink.runtime.executiongraph.ExecutionAttemptID").randomId()
        return jvm.cls(PARTITION + "ResultPartitionID")(number, attempt)

    def _make_channel(self, rig: RemoteGate, index: int) -> Any:
        jvm, location = self._jvm, self._locations[index]
        group = jvm.cls("org.apache.flink.metrics.groups.UnregisteredMetricsGroup")
        initial, maximum, timeout = self._waits
        numbers = {"local": (index, initial, maximum)}.get(location, (index, initial, maximum, timeout, 2))
        more = {
            "int": [jvm.integer(number) for number in numbers],
            "ResultPartitionID": [self._ids[index]],
            "ResultPartitionManager": [self._manager],
            "TaskEventPublisher": [self._publisher],
            "InputChannelMetrics": [jvm.cls(NETWORK + "metrics.InputChannelMetrics")(group())],
        }
        return rig.assemble_channel(f"{CONSUMER}{location.capitalize()}InputChannel", index, more)

    # --- what the channels call

    def _show(self, kind: str, channel: int, **details: Any) -> None:
        self._shown.append({"type": kind, "channel": channel, **details})

    def _on_request(self, *arguments: Any) -> None:
        (channel,) = [one for one in arguments if hasattr(one, "getChannelIndex")]
        self._show("request", int(channel.getChannelIndex()))

    def _send(self, partition: Any, event: Any, *_channel: Any) -> None:
        number = next(number for one, number in self._sent if one is event or one == event)
        self._show("sent", int(partition.getPartitionId().getPartitionNumber()), event=number)

    def _publish(self, partition: Any, event: Any) -> bool:
        self._send(partition, event)
        return True

    def _answer(self, _result: Any, _partition: Any, then: Any) -> None:
        running = self._jvm.cls("org.apache.flink.runtime.execution.ExecutionState").RUNNING
        either = self._jvm.cls("org.apache.flink.types.Either")
        handlers = {
            "getConsumerExecutionState": lambda: running,
            "getProducerExecutionState": lambda: either.Left(running),
        }
        then.accept(self._jvm.implement(PARTITION + "PartitionProducerStateProvider$ResponseHandle", handlers))

    # --- steps

    def step(self, event: wire.Json) -> wire.Observations:
        self._shown = []
        kind = event.get("type")
        if kind == "request_partitions":
            return self._try(self._gate.requestPartitions)
        if kind == "task_event":
            return self._send_task_event(wire.get_integer(event, "event"))
        if kind == "close":
            self._is_closed = True
            self._tasks = {}
            return self._try(self._gate.close)
        if kind not in OF_CHANNELS:
            raise wire.unknown_type(event)
        return self._ask_channel(kind, event)

    def _ask_channel(self, kind: str, event: wire.Json) -> wire.Observations:
        index = wire.get_integer(event, "channel")
        location = wire.get_choice(event, "location", KNOWN) if kind == "update" else ""
        item = wire.get_choice(event, "item", ITEMS) if kind == "arrive" else ""
        sequence = wire.get_integer(event, "sequence") if kind == "arrive" else 0
        cause = wire.get_choice(event, "cause", tuple(CAUSES)) if kind == "fail" else ""
        if not 0 <= index < len(self._locations):
            return wire.rejected()
        match kind:
            case "update":
                return self._update(index, location)
            case "register":
                return self._register(index)
            case "retry":
                task = self._tasks.pop(index, None)
                return wire.rejected() if task is None else self._try(task.run)
            case "not_found":
                return self._miss(index)
            case "arrive":
                return self._arrive(index, sequence, item)
            case "fail":
                return self._fail(index, cause)
        return self._read(index)

    def _try(self, ask: Any) -> wire.Observations:
        try:
            ask()
        except self._jvm.JavaError as error:
            self._hear()
            return refuse(error)
        return self._hear()

    def _hear(self) -> wire.Observations:
        """The recorded observations, the scheduled retries, and the channels that notified the gate."""
        jvm = self._jvm
        for task in self._timer.take():
            channel = self._find_owner(task)
            index = int(channel.getChannelIndex())
            self._tasks[index] = task
            self._show("retry_in", index, delay=int(jvm.call(channel, "getCurrentBackoff")))
        queue = jvm.field(self._gate, "inputChannelsWithData")
        for channel in queue.asUnmodifiableCollection():
            self._show("notified", int(channel.getChannelIndex()))
        while queue.poll() is not None:
            pass
        jvm.field(self._gate, "enqueuedInputChannelsWithData").clear()
        return sorted(self._shown, key=lambda one: (one["channel"], RANKS.index(one["type"])))

    def _find_owner(self, task: Any) -> Any:
        """The channel that owns an anonymous class."""
        owner = task.getClass().getDeclaredField("this$0")
        owner.setAccessible(True)
        return owner.get(task)

    def _send_task_event(self, number: int) -> wire.Observations:
        if self._is_closed:
            return wire.rejected()
        event = self._jvm.cls("org.apache.flink.runtime.iterative.event.TerminationEvent")()
        self._sent.append((event, number))
        return self._try(lambda: self._gate.sendTaskEvent(event))

    def _channel(self, index: int) -> Any:
        return self._gate.getChannel(index)

    def _is_connected(self, index: int) -> bool:
        name = {"local": "subpartitionView", "remote": "partitionRequestClient"}.get(self._locations[index])
        return name is not None and self._jvm.field(self._channel(index), name) is not None

    def _has_failed(self, index: int) -> bool:
        return self._jvm.field(self._channel(index), "cause").get() is not None

    # --- the way to the producer

    def _update(self, index: int, location: str) -> wire.Observations:
        jvm = self._jvm
        pending = bool(jvm.field(self._gate, "pendingEvents"))
        if not self._is_closed and self._locations[index] == "unknown":
            requested = bool(jvm.field(self._gate, "requestedPartitionsFlag"))
            if pending and (not requested or (location == "local" and index not in self._partitions)):
                return refuse("it would leave a task event behind")
        here = jvm.cls("org.apache.flink.runtime.clusterframework.types.ResourceID")("here")
        there = jvm.cls("org.apache.flink.runtime.clusterframework.types.ResourceID")("there")
        info = jvm.cls("org.apache.flink.runtime.shuffle.NettyShuffleDescriptor$NetworkPartitionConnectionInfo")
        descriptor = jvm.cls("org.apache.flink.runtime.shuffle.NettyShuffleDescriptor")(
            here if location == "local" else there,
            info(jvm.cls("java.net.InetSocketAddress").createUnresolved("localhost", 1), 0),
            self._ids[index],
        )
        seen = self._try(lambda: self._gate.updateInputChannel(here, descriptor))
        if seen and seen[0]["type"] == "rejected":
            return seen
        if not self._is_closed:
            if self._locations[index] == "unknown":
                self._locations[index] = location
            if not jvm.field(self._gate, "inputChannels").get(self._ids[index].getPartitionId()):
                return refuse("the channel is gone from the table of the gate")
        return seen

    def _register(self, index: int) -> wire.Observations:
        """A producer registers its partition once."""
        if index not in self._partitions:
            self._partitions[index] = Partition(self._jvm, SEGMENT, 0, identity=self._ids[index], manager=self._manager)
        return self._hear()

    def _miss(self, index: int) -> wire.Observations:
        is_asking = self._locations[index] == "remote" and self._is_connected(index)
        if self._is_closed or not is_asking or self._has_failed(index):
            return wire.rejected()
        return self._try(self._channel(index).onFailedPartitionRequest)

    # --- data from there

    def _arrive(self, index: int, sequence: int, item: str) -> wire.Observations:
        is_local = self._locations[index] == "local"
        if is_local and (self._is_closed or not self._is_connected(index)):
            return wire.rejected()
        if is_local:
            self._write(index, item)
            return self._hear()
        if not self._is_connected(index):
            return wire.rejected()
        channel = self._channel(index)
        if item == "empty":
            channel.onEmptyBuffer(sequence, 0)
            return self._hear()
        buffer = self._make_buffer(item)
        channel.onBuffer(buffer, sequence, 0, 0)
        if buffer.isRecycled():
            self._show("recycled", index)
        return self._hear()

    def _make_event(self) -> Any:
        return self._jvm.cls(NETWORK + "api.EndOfSuperstepEvent").INSTANCE

    def _make_memory(self, size: int) -> Any:
        return self._jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").allocateUnpooledSegment(size)

    def _make_buffer(self, item: str) -> Any:
        jvm = self._jvm
        if item == "event":
            return jvm.cls(NETWORK + "api.serialization.EventSerializer").toBuffer(self._make_event(), False)
        recycler = jvm.cls(NETWORK + "buffer.FreeingBufferRecycler").INSTANCE
        buffer = jvm.cls(NETWORK + "buffer.NetworkBuffer")(self._make_memory(1), recycler)
        buffer.setSize(1)
        return buffer

    def _write(self, index: int, item: str) -> None:
        jvm, subpartition = self._jvm, self._partitions[index].subpartition
        if item == "event":
            serializer = jvm.cls(NETWORK + "api.serialization.EventSerializer")
            consumer = serializer.toBufferConsumer(self._make_event(), False)
        else:
            recycler = jvm.cls(NETWORK + "buffer.FreeingBufferRecycler").INSTANCE
            builder = jvm.cls(NETWORK + "buffer.BufferBuilder")(self._make_memory(1), recycler)
            if item == "data":
                builder.append(jvm.cls("java.nio.ByteBuffer").allocate(1))
            builder.finish()
            consumer = builder.createBufferConsumerFromBeginning()
        subpartition.add(consumer)
        channel = self._channel(index)
        channel.notifyDataAvailable(jvm.field(channel, "subpartitionView"))

    def _fail(self, index: int, cause: str) -> wire.Observations:
        if self._is_closed or self._locations[index] == "unknown":
            return wire.rejected()
        self._jvm.call(self._channel(index), "setError", self._make_error(index, cause))
        return self._hear()

    def _make_error(self, index: int, cause: str) -> Any:
        jvm, name = self._jvm, CAUSES[cause]
        if cause == "reordered":
            return jvm.new(f"{REMOTE}${name}", jvm.integer(0), jvm.integer(1))
        error = jvm.cls("java.lang.RuntimeException")("as the case says")
        if cause == "producer_failed":
            return jvm.cls(PARTITION + name)(error)
        if cause == "connection_lost":
            return jvm.cls(f"{CONSUMER}{name}")(self._ids[index], error)
        return jvm.cls(PARTITION + name)(self._ids[index])

    def _read(self, index: int) -> wire.Observations:
        jvm, channel = self._jvm, self._channel(index)
        try:
            if self._is_closed:
                self._gate.pollNext()
            found = channel.getNextBuffer()
        except jvm.jpype.JException as error:
            name = str(error.getClass().getSimpleName())
            causes = [cause for cause, one in CAUSES.items() if one == name]
            if causes:
                return [{"type": "failed", "channel": index, "cause": causes[0]}]
            return refuse(error)
        if not found.isPresent():
            return [{"type": "none"}]
        buffer = found.get().buffer()
        item = "data" if buffer.isBuffer() else "event"
        buffer.recycleBuffer()
        self._hear()
        return [{"type": "delivered", "channel": index, "item": item, "more": bool(found.get().moreAvailable())}]

    def close(self) -> None:
        """A gate that has lost a channel cannot be closed."""
        for index in range(len(self._locations)):
            self._jvm.call(self._channel(index), "releaseAllResources")
        with suppress(self._jvm.JavaError):
            self._gate.close()
        self._rig.network.destroyAllBufferPools()
        self._rig.network.destroy()


def refuse(reason: Any) -> wire.Observations:
    return [{"type": "rejected", "reason": str(reason)}]


def make(jvm: Jvm, config: wire.Json) -> InputChannels:
    places = config.get("locations")
    if not isinstance(places, list) or not places:
        raise wire.BadRequestError(f"locations must be a list of one or more, not {places!r}")
    locations = [wire.get_choice({"location": one}, "location", ("unknown", *KNOWN)) for one in places]
    given = {**DELAYS, **config}
    initial = wire.get_at_least(given, "initial", 0)
    maximum = wire.get_at_least(given, "maximum", initial)
    return InputChannels(jvm, locations, (initial, maximum, wire.get_at_least(given, "timeout", 0)))
