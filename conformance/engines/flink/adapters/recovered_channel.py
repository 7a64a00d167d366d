"""Recovered channels: `RecoveredInputChannel` of a real gate, and the live channel that it becomes.

The producers are real pipelined partitions. The adapter is the network between them and remote channels, the reader of
saved state, and the writer of channel state, which records its input. The futures of the gate tell when partitions may
be requested: an earlier request would break a real channel.
"""

from collections import defaultdict
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.barriers import get_checkpoint
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, buffers_of, events_of
from tidegate.conformance.engines.flink.adapters.channel_state import WRITER
from tidegate.conformance.engines.flink.adapters.output_partition import recycle_all
from tidegate.conformance.engines.flink.adapters.partitions import Partition
from tidegate.conformance.engines.flink.adapters.remote_gate import CONSUMER, RemoteGate
from tidegate.conformance.engines.flink.jvm import Jvm

SEMANTICS = ("flink-2.3", "flink-39018")
LOCATIONS = ("local", "remote")
RECOVERED = CONSUMER + "RecoveredInputChannel"
CHECKPOINT_ERROR = "org.apache.flink.runtime.checkpoint.CheckpointException"
#: Prefixes of recovered and sent data.
OURS, THEIRS = b"r", b"s"
KINDS = {
    "CheckpointBarrier": "barrier",
    "EndOfOutputChannelStateEvent": "recovery_completion",
    "EndOfInputChannelStateEvent": "end_of_state",
}


def declare(jvm: Jvm) -> wire.Json | None:
    return {"semantics": list(SEMANTICS)} if jvm.has(RECOVERED, "getBufferFilteringCompleteFuture") else None


def make(jvm: Jvm, config: wire.Json) -> "RecoveredChannels":
    channels = wire.get_at_least(config, "channels", 1)
    location = wire.get_choice(config, "location", LOCATIONS)
    return RecoveredChannels(jvm, channels, location, wire.get_semantics(config, SEMANTICS))


class RecoveredChannels:
    def __init__(self, jvm: Jvm, channels: int, location: str, semantics: str) -> None:
        self.jvm, self.buffers, self.events = jvm, buffers_of(jvm), events_of(jvm)
        self.seen: wire.Observations = []
        self.remote = location == "remote"
        self.during_recovery = semantics == SEMANTICS[1]
        saves = {"addInputData": self.save, "addOutputData": recycle_all}
        handlers: dict[str, Any] = {"requestSubpartition": self.connect, "resumeConsumption": self.resume}
        self.writer = jvm.implement(WRITER, saves)
        self.class_name = f"{CONSUMER}{location.capitalize()}RecoveredInputChannel"
        self.producers = [Partition(jvm, 64) for _ in range(channels)]
        self.rig = RemoteGate(jvm, channels, 0, 1, handlers, make_channel=self.make_channel, is_requested=False)
        self.gate = self.rig.gate
        self.gate.setCheckpointingDuringRecoveryEnabled(self.during_recovery)
        self.tracker = jvm.cls(
            "org.apache.flink.streaming.runtime.io.checkpointing.UpstreamRecoveryTracker"
        ).forInputGate(self.gate)
        self.views: dict[int, Any] = {}
        self.finished = self.live = False
        self.announced: set[int] = set()
        self.given = [0] * channels
        self.written = [0] * channels
        #: the numbers of the non-data items, by kind, in order
        self.numbers: dict[tuple[int, str], list[int]] = defaultdict(list)
        self.plain = jvm.cls(NETWORK + "api.EndOfSuperstepEvent").INSTANCE
        self.complete = jvm.cls(CONSUMER + "EndOfOutputChannelStateEvent").INSTANCE
        self.from_buffer = jvm.cls(NETWORK + "api.serialization.EventSerializer").fromBuffer
        self.loader = jvm.cls(RECOVERED).class_.getClassLoader()

    def make_channel(self, rig: RemoteGate, index: int) -> Any:
        """A channel that is recovered first, and its producer."""
        jvm, producer = self.jvm, self.producers[index]
        groups = jvm.cls("org.apache.flink.metrics.groups.UnregisteredMetricsGroup")
        more: dict[str, list[Any]] = {
            "ResultPartitionID": [producer.partition.getPartitionId()],
            "ResultPartitionManager": [jvm.field(producer.partition, "partitionManager")],
            "TaskEventPublisher": [jvm.implement(NETWORK + "TaskEventPublisher", {})],
            "InputChannelMetrics": [jvm.cls(NETWORK + "metrics.InputChannelMetrics")(groups())],
        }
        made = rig.assemble_channel(self.class_name, index, more)
        made.setChannelStateWriter(self.writer)
        producer.subpartition.setChannelStateWriter(self.writer)
        return made

    def step(self, event: wire.Json) -> wire.Observations:
        self.seen = []
        kind = event.get("type", "")
        whole = {"finish": self.on_finish, "convert": self.on_convert}
        if kind in whole:
            return self.seen if whole[kind]() else wire.rejected()
        if kind in ("mark", "start", "stop"):
            checkpoint = get_checkpoint(event)
            if kind == "mark":
                return wire.rejected()
            return self.on_start(checkpoint) if kind == "start" else self.on_stop(checkpoint)
        handlers = {
            "recovered": self.on_recovered,
            "data": self.on_data,
            "event": self.on_event,
            "complete": self.on_complete,
            "barrier": self.on_barrier,
            "poll": self.on_poll,
        }
        if kind not in handlers:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "channel")
        checkpoint = get_checkpoint(event) if kind == "barrier" else 0
        known = 0 <= index < len(self.given)
        return self.seen if known and handlers[kind](index, checkpoint) else wire.rejected()

    # Saved state

    def on_recovered(self, index: int, _checkpoint: int) -> bool:
        if self.finished:
            return False
        payload = OURS + self.given[index].to_bytes(4, "big")
        self.gate.getChannel(index).onRecoveredStateBuffer(self.buffers.network_buffer(payload))
        self.given[index] += 1
        return True

    def on_finish(self) -> bool:
        if self.finished:
            return False
        self.finished = True
        before = self.is_ready()
        self.gate.finishReadRecoveredState()
        for index, count in enumerate(self.given):
            self.numbers[index, "end_of_state"].append(count)
        self.note_ready(before=before)
        return True

    def is_ready(self) -> bool:
        if self.live:
            return True
        trigger = (
            self.gate.getBufferFilteringCompleteFuture() if self.during_recovery else self.gate.getStateConsumedFuture()
        )
        return bool(trigger.isDone())

    def note_ready(self, *, before: bool) -> None:
        if self.is_ready() and not before:
            self.seen.append({"type": "ready"})

    def on_convert(self) -> bool:
        if not self.is_ready():
            return False
        self.live = True
        self.gate.requestPartitions()
        return True

    # The network

    def connect(self, _partition: Any, subpartitions: Any, channel: Any, _delay: Any) -> None:
        index = int(channel.getChannelIndex())
        heard = {"notifyPriorityEvent": lambda _sequence: None}
        listener = self.jvm.implement(NETWORK + "partition.BufferAvailabilityListener", heard)
        self.views[index] = self.producers[index].partition.createSubpartitionView(subpartitions, listener)
        self.transfer(index, channel)

    def transfer(self, index: int, channel: Any) -> None:
        """Send what the producer has for a remote channel, as far as it may be read."""
        view = self.views.get(index)
        while view is not None and (found := view.getNextBuffer()) is not None:
            channel.onBuffer(found.buffer(), found.getSequenceNumber(), 0, 0)

    def resume(self, channel: Any) -> None:
        index = int(channel.getChannelIndex())
        self.views[index].resumeConsumption()
        self.seen.append({"type": "resumed", "channel": index})
        self.transfer(index, channel)

    # Producers

    def on_data(self, index: int, _checkpoint: int) -> bool:
        builder = self.buffers.open(THEIRS + self.written[index].to_bytes(4, "big"))
        builder.finish()
        return self.write(index, builder.createBufferConsumerFromBeginning())

    def on_event(self, index: int, _checkpoint: int) -> bool:
        return self.write_event(index, "event", self.plain)

    def on_complete(self, index: int, _checkpoint: int) -> bool:
        if index in self.announced:
            return False
        self.announced.add(index)
        return self.write_event(index, "recovery_completion", self.complete)

    def on_barrier(self, index: int, checkpoint: int) -> bool:
        return self.live and self.write_event(
            index, "barrier", self.events.barrier(checkpoint, unaligned=True), priority=True
        )

    def write_event(self, index: int, kind: str, event: Any, *, priority: bool = False) -> bool:
        self.numbers[index, kind].append(self.written[index])
        return self.write(index, self.buffers.to_consumer(event, priority))

    def write(self, index: int, item: Any) -> bool:
        self.producers[index].subpartition.add(item)
        self.written[index] += 1
        self.transfer(index, self.gate.getChannel(index))
        return True

    # The task

    def on_poll(self, index: int, _checkpoint: int) -> bool:
        channel, before = self.gate.getChannel(index), self.is_ready()
        consumed = self.is_consumed(channel)
        found = channel.getNextBuffer()
        if found.isPresent():
            self.note_polled(index, channel, found.get())
        elif self.is_consumed(channel) and not consumed:
            self.numbers[index, "end_of_state"].pop()
            self.seen.append({"type": "consumed", "channel": index})
        self.note_ready(before=before)
        return True

    def is_consumed(self, channel: Any) -> bool:
        return not self.live and bool(self.jvm.call(channel, "getStateConsumedFuture").isDone())

    def note_polled(self, index: int, channel: Any, item: Any) -> None:
        buffer = item.buffer()
        following = self.buffers.kind_of(self.jvm.field(item, "nextDataType"))
        if buffer.isBuffer():
            payload = self.buffers.read(buffer)
            kind, recovered, number = "data", payload[:1] == OURS, int.from_bytes(payload[1:], "big")
        else:
            kind = KINDS.get(str(self.from_buffer(buffer, self.loader).getClass().getSimpleName()), "event")
            recovered, number = kind == "end_of_state", self.numbers[index, kind].pop(0)
        buffer.recycleBuffer()
        polled = {"type": "polled", "kind": kind, "recovered": recovered, "number": number, "next": following}
        self.seen.append(polled)
        if kind == "recovery_completion":
            self.tell_tracker(channel)

    def tell_tracker(self, channel: Any) -> None:
        before = [self.is_blocked(producer) for producer in self.producers]
        self.tracker.handleEndOfRecovery(channel.getChannelInfo())
        if self.remote:
            return
        for index, producer in enumerate(self.producers):
            if before[index] and not self.is_blocked(producer):
                self.seen.append({"type": "resumed", "channel": index})

    def is_blocked(self, producer: Partition) -> bool:
        return bool(self.jvm.field(producer.subpartition, "isBlocked"))

    # Checkpoints

    def on_start(self, checkpoint: int) -> wire.Observations:
        barrier = self.events.barrier(checkpoint, unaligned=True)
        for index in range(len(self.given)):
            try:
                self.gate.getChannel(index).checkpointStarted(barrier)
            except self.jvm.cls(CHECKPOINT_ERROR) as error:
                reason = str(error.getCheckpointFailureReason().name())
                kind = "subsumed" if reason == "CHECKPOINT_SUBSUMED" else "declined"
                return [*self.seen, {"type": kind, "channel": index}]
        return self.seen

    def on_stop(self, checkpoint: int) -> wire.Observations:
        for index in range(len(self.given)):
            self.gate.getChannel(index).checkpointStopped(checkpoint)
        return self.seen

    def save(self, checkpoint: Any, info: Any, _sequence: Any, data: Any) -> None:
        numbers: dict[bytes, list[int]] = {OURS: [], THEIRS: []}
        while data.hasNext():
            buffer = data.next()
            payload = self.buffers.read(buffer)
            numbers[payload[:1]].append(int.from_bytes(payload[1:], "big"))
            buffer.recycleBuffer()
        saved = {"type": "saved", "channel": int(info.getInputChannelIdx()), "checkpoint": str(checkpoint)}
        self.seen.append({**saved, "recovered": numbers[OURS], "sent": numbers[THEIRS]})

    def close(self) -> None:
        self.seen = []
        self.rig.close()
        for producer in self.producers:
            producer.partition.release()
