"""Requests to channels: a `SingleInputGate` with `RemoteInputChannel`s, `LocalInputChannel`s and others.

Buffers arrive on memory of their own. Behind a local channel is a `PipelinedResultPartition`. The gate's queue of
channels is emptied after each step, to show which channels notified the gate. Barriers are padded to a given size
by their location. Unknown channels, and calls at a wrong time, are refused here.
"""

from typing import TYPE_CHECKING, Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.partitions import PARTITION, Partition
from tidegate.conformance.engines.flink.adapters.remote_gate import CONSUMER, NETWORK, REMOTE, RemoteGate
from tidegate.conformance.engines.flink.jvm import Jvm

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("remote", "local", "unknown", "recovering")
READABLE = ("remote", "local")
OF_CHANNELS = ("data", "barrier", "end", "read", "resume", "gone", "release")
LOCAL = f"{CONSUMER}LocalInputChannel"
SEGMENT = 1024
UNTOLD = 2**31 - 1
#: What Flink throws for a request at a wrong time.
REFUSALS = ("IllegalStateException", "UnsupportedOperationException", "NullPointerException")


def declare(jvm: Jvm) -> wire.Json | None:
    return (
        {}
        if jvm.has(REMOTE, "unsynchronizedGetSizeOfQueuedBuffers") and jvm.has(CONSUMER + "RemoteRecoveredInputChannel")
        else None
    )


class ChannelRequests:
    def __init__(self, jvm: Jvm, kinds: list[str]) -> None:
        self._jvm, self._kinds = jvm, kinds
        self._shown: wire.Observations = []
        handlers: dict[str, Callable[..., Any]] = {
            "resumeConsumption": lambda channel: self._show("resumed", channel),
            "notifyNewBufferSize": lambda channel, size: self._show("size", channel, size=int(size)),
        }
        self._partitions: dict[int, Partition] = {}
        self._rig = RemoteGate(jvm, len(kinds), 2, 8, handlers, make_channel=self._make_channel, is_requested=False)
        self._gate, self._channels = self._rig.gate, self._rig.channels
        self._over = [False] * len(kinds)
        self._released = [False] * len(kinds)
        self._gone = [False] * len(kinds)
        self._requested = False
        self._checkpoint = 0
        self._memory = jvm.cls("org.apache.flink.core.memory.MemorySegmentFactory").allocateUnpooledSegment
        self._recycler = jvm.cls(NETWORK + "buffer.FreeingBufferRecycler").INSTANCE
        self._buffer = jvm.cls(NETWORK + "buffer.NetworkBuffer")
        self._builder = jvm.cls(NETWORK + "buffer.BufferBuilder")
        self._bytes = jvm.cls("java.nio.ByteBuffer").allocate
        self._events = jvm.cls(NETWORK + "api.serialization.EventSerializer")
        self._end = jvm.cls(NETWORK + "api.EndOfPartitionEvent").INSTANCE

    def _show(self, kind: str, channel: Any, **details: Any) -> None:
        self._shown.append({"type": kind, "channel": int(channel.getChannelIndex()), **details})

    def _make_channel(self, rig: RemoteGate, index: int) -> Any:
        jvm, kind = self._jvm, self._kinds[index]
        if kind == "remote":
            return None
        names = {"local": "LocalInputChannel", "unknown": "UnknownInputChannel"}
        name = CONSUMER + names.get(kind, "RemoteRecoveredInputChannel")
        partition = jvm.cls(PARTITION + "ResultPartitionID")()
        manager = jvm.cls(PARTITION + "ResultPartitionManager")()
        if kind == "local":
            made = self._partitions[index] = Partition(jvm, SEGMENT)
            partition = made.partition.getPartitionId()
            manager = jvm.field(made.partition, "partitionManager")
        more = {
            "ResultPartitionID": [partition],
            "ResultPartitionManager": [manager],
            "TaskEventPublisher": [jvm.implement(NETWORK + "TaskEventPublisher", {})],
            "InputChannelMetrics": [jvm.bare(NETWORK + "metrics.InputChannelMetrics")],
        }
        return rig.assemble_channel(name, index, more)

    def step(self, event: wire.Json) -> wire.Observations:
        self._shown = []
        kind = event.get("type")
        if kind in OF_CHANNELS:
            return self._ask_channel(event) if self._is_known(event) else wire.rejected()
        if kind == "announce":
            return self._announce(event)
        if kind == "request":
            return self._request()
        if kind == "checkpoint":
            return self._start_checkpoint()
        if kind != "measure":
            raise wire.unknown_type(event)
        gate = self._gate
        return [
            {
                "type": "measured",
                "queued": int(gate.getNumberOfQueuedBuffers()),
                "bytes": int(gate.getSizeOfQueuedBuffers()),
                "in_use": int(self._jvm.call(gate, "getBuffersInUseCount")),
            }
        ]

    def _is_known(self, event: wire.Json) -> bool:
        kind = event["type"]
        if kind in ("data", "barrier"):
            wire.get_at_least(event, "bytes", 1 if kind == "data" else 64)
        wire.get_at_least({"backlog": 0, **event}, "backlog", 0)
        return 0 <= wire.get_integer(event, "channel") < len(self._kinds)

    def _request(self) -> wire.Observations:
        if "recovering" in self._kinds:
            return wire.rejected()
        self._gate.requestPartitions()
        self._requested = True
        return self._hear()

    def _hear(self) -> wire.Observations:
        """The recorded observations, and the channels that notified the gate."""
        queue = self._jvm.field(self._gate, "inputChannelsWithData")
        told = [int(channel.getChannelIndex()) for channel in queue.asUnmodifiableCollection()]
        while queue.poll() is not None:
            pass
        self._jvm.field(self._gate, "enqueuedInputChannelsWithData").clear()
        return [*self._shown, *({"type": "woken", "channel": number} for number in sorted(told))]

    def _ask_channel(self, event: wire.Json) -> wire.Observations:
        kind, number = event["type"], event["channel"]
        if kind in ("data", "barrier", "end"):
            return self._arrive(kind, number, event)
        if kind == "read":
            return self._read(number)
        if kind == "resume":
            return self._try(lambda: self._gate.resumeConsumption(self._channels[number].getChannelInfo()))
        if kind == "gone":
            if number not in self._partitions or not self._requested or self._released[number]:
                return wire.rejected()
            self._gone[number] = True
            self._partitions[number].partition.release()
            return self._hear()
        if self._kinds[number] == "recovering" or (self._kinds[number] in READABLE and not self._requested):
            return wire.rejected()
        self._jvm.call(self._channels[number], "releaseAllResources")
        self._released[number] = self._kinds[number] in READABLE
        return self._hear()

    def _try(self, ask: Any) -> wire.Observations:
        try:
            ask()
        except self._jvm.jpype.JException as error:
            if str(error.getClass().getSimpleName()) in REFUSALS:
                return wire.rejected()
            raise
        return self._hear()

    def _arrive(self, kind: str, number: int, event: wire.Json) -> wire.Observations:
        backlog = event.get("backlog", 0)
        early = backlog > 0 if self._kinds[number] == "local" else not self._requested
        if self._kinds[number] not in READABLE or self._over[number] or early:
            return wire.rejected()
        if self._released[number] and number in self._partitions:
            return []
        if not self._released[number] and not self._gone[number]:
            self._over[number] = kind == "end"
        if number in self._partitions:
            self._write(number, kind, event)
        else:
            self._rig.receive(number, self._make_buffer(kind, event), backlog)
        return self._hear()

    def _make_event(self, kind: str, event: wire.Json) -> Any:
        if kind == "end":
            return self._end
        jvm = self._jvm
        reference = "org.apache.flink.runtime.state.CheckpointStorageLocationReference"
        checkpoint = "org.apache.flink.runtime.checkpoint."
        options = jvm.cls(checkpoint + "CheckpointOptions")
        type_ = jvm.cls(checkpoint + "CheckpointType").CHECKPOINT

        def make(length: int) -> Any:
            location = jvm.cls(reference)(jvm.jpype.JArray(jvm.jpype.JByte)(length))
            return jvm.cls(NETWORK + "api.CheckpointBarrier")(0, 0, options.alignedNoTimeout(type_, location))

        shortest = int(self._events.toSerializedEvent(make(1)).remaining())
        return make(1 + event["bytes"] - shortest)

    def _make_buffer(self, kind: str, event: wire.Json) -> Any:
        if kind != "data":
            return self._events.toBuffer(self._make_event(kind, event), False)
        buffer = self._buffer(self._memory(event["bytes"]), self._recycler)
        buffer.setSize(event["bytes"])
        return buffer

    def _write(self, number: int, kind: str, event: wire.Json) -> None:
        subpartition = self._partitions[number].subpartition
        if kind == "data":
            builder = self._builder(self._memory(event["bytes"]), self._recycler)
            consumer = builder.createBufferConsumerFromBeginning()
            builder.append(self._bytes(event["bytes"]))
            builder.finish()
        else:
            consumer = self._events.toBufferConsumer(self._make_event(kind, event), False)
        subpartition.add(consumer)
        subpartition.flush()

    def _read(self, number: int) -> wire.Observations:
        is_released = self._kinds[number] == "local" and self._released[number]
        if self._kinds[number] not in READABLE or not (self._requested or is_released):
            return wire.rejected()
        try:
            found = self._jvm.call(self._channels[number], "getNextBuffer")
        except self._jvm.jpype.JException as error:
            if str(error.getClass().getSimpleName()) == "CancelTaskException":
                return [{"type": "cancelled"}]
            raise
        if not found.isPresent():
            return [{"type": "empty"}]
        buffer = found.get().buffer()
        got: wire.Json = {"type": "got", "item": "data", "bytes": int(buffer.getSize())}
        if not buffer.isBuffer():
            read = self._events.fromBuffer(buffer, self._jvm.cls("java.lang.ClassLoader").getSystemClassLoader())
            got = {"type": "got", "item": "end" if read.equals(self._end) else "barrier"}
        buffer.recycleBuffer()
        return [got]

    def _announce(self, event: wire.Json) -> wire.Observations:
        size = wire.get_at_least(event, "size", 1)
        number = wire.get_integer(event, "channel") if "channel" in event else None
        if number is not None and not 0 <= number < len(self._kinds):
            return wire.rejected()
        told = [one.subpartition for one in self._partitions.values()]
        for subpartition in told:
            self._jvm.set_field(subpartition, "bufferSize", self._jvm.integer(UNTOLD))
        if number is None:
            heard = self._try(lambda: self._gate.announceBufferSize(size))
        else:
            heard = self._try(
                lambda: self._jvm.call(self._channels[number], "announceBufferSize", self._jvm.integer(size))
            )
        if heard == wire.rejected():
            return heard
        local = [
            {"type": "size", "channel": one, "size": int(self._jvm.field(made.subpartition, "bufferSize"))}
            for one, made in self._partitions.items()
        ]
        return sorted([*heard, *(one for one in local if one["size"] != UNTOLD)], key=lambda one: one["channel"])

    def _start_checkpoint(self) -> wire.Observations:
        self._checkpoint += 1
        options = self._jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointOptions")
        barrier = self._jvm.cls(NETWORK + "api.CheckpointBarrier")(
            self._checkpoint, 0, options.forCheckpointWithDefaultLocation()
        )
        try:
            self._gate.checkpointStarted(barrier)
        except self._jvm.jpype.JException as error:
            if str(error.getClass().getSimpleName()) == "CheckpointException":
                return [{"type": "declined"}]
            raise
        return [{"type": "started"}]

    def close(self) -> None:
        for partition in self._partitions.values():
            partition.partition.release()
        self._rig.close()


def make(jvm: Jvm, config: wire.Json) -> ChannelRequests:
    kinds = config.get("channels")
    if not isinstance(kinds, list) or not kinds or any(kind not in KINDS for kind in kinds):
        raise wire.BadRequestError("channels must be a list of kinds")
    return ChannelRequests(jvm, kinds)
