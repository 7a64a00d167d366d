"""What an unaligned checkpoint saves: `RemoteInputChannel` and `ChannelStatePersister` of a real gate.

The adapter is the network, the task that polls, and the writer of channel state, which records its input. Data
carries its sequence number. A barrier that cannot overtake would break a real channel, so the adapter checks that
first, from the channel's own memory.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.barriers import get_checkpoint
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, Buffers, events_of
from tidegate.conformance.engines.flink.adapters.remote_gate import REMOTE, RemoteGate
from tidegate.conformance.engines.flink.jvm import Jvm

WRITER = "org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter"
MODES = ("aligned", "timeout", "unaligned")
TIMEOUT = 1000


def declare(jvm: Jvm) -> wire.Json | None:
    """Barriers are announced since 1.13, and made of a kind of snapshot since 1.15; saving is as old as 1.12."""
    can_save = jvm.has(REMOTE, "checkpointStarted") and jvm.has(REMOTE, "convertToPriorityEvent")
    return {} if can_save and jvm.has("org.apache.flink.runtime.checkpoint.SnapshotType") else None


def make(jvm: Jvm, config: wire.Json) -> "ChannelState":
    return ChannelState(jvm, wire.get_at_least(config, "channels", 1))


class ChannelState:
    def __init__(self, jvm: Jvm, channels: int) -> None:
        self.jvm, self.buffers, self.events = jvm, Buffers(jvm), events_of(jvm)
        self.seen: wire.Observations = []
        names = {str(one.getName()) for one in jvm.cls(WRITER).class_.getMethods()}
        handlers: dict[str, Any] = dict.fromkeys(names, lambda *_arguments: None)
        writer = jvm.jpype.JProxy(WRITER, dict=handlers | {"addInputData": self.save})
        nothing = {"notifyCreditAvailable": lambda _channel: None, "resumeConsumption": lambda _channel: None}
        self.rig = RemoteGate(jvm, channels, 0, 1, nothing, writer=writer)
        self.next = [0] * channels
        self.plain = jvm.cls(NETWORK + "api.EndOfSuperstepEvent").INSTANCE
        self.to_buffer = jvm.cls(NETWORK + "api.serialization.EventSerializer").toBuffer
        self.from_buffer = jvm.cls(NETWORK + "api.serialization.EventSerializer").fromBuffer
        self.loader = jvm.cls(REMOTE).class_.getClassLoader()
        options = jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointOptions")
        self.options = {
            "aligned": self.events.aligned,
            "unaligned": self.events.unaligned,
            "timeout": options.alignedWithTimeout(self.events.checkpoint, self.events.location, TIMEOUT),
        }

    def save(self, checkpoint: Any, info: Any, _sequence: Any, data: Any) -> None:
        numbers = []
        while data.hasNext():
            buffer = data.next()
            numbers.append(int.from_bytes(self.buffers.read(buffer), "big"))
            buffer.recycleBuffer()
        channel = int(info.getInputChannelIdx())
        self.seen.append({"type": "saved", "channel": channel, "checkpoint": str(checkpoint), "sequences": numbers})

    def step(self, event: wire.Json) -> wire.Observations:
        self.seen = []
        kind = event.get("type")
        if kind == "start":
            return self.on_start(get_checkpoint(event))
        if kind == "stop":
            checkpoint = get_checkpoint(event)
            for channel in self.rig.channels:
                channel.checkpointStopped(checkpoint)
            return self.seen
        handlers = {
            "data": self.on_data,
            "event": self.on_event,
            "barrier": self.on_barrier,
            "poll": self.on_poll,
            "prioritize": self.on_prioritize,
        }
        if kind not in handlers:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "channel")
        known = 0 <= index < len(self.rig.channels)
        return self.seen if handlers[kind](event, index, known) else wire.rejected()

    def on_start(self, checkpoint: int) -> wire.Observations:
        barrier = self.events.barrier_class(checkpoint, 0, self.options["unaligned"])
        for index, channel in enumerate(self.rig.channels):
            try:
                channel.checkpointStarted(barrier)
            except self.jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointException"):
                return [*self.seen, {"type": "subsumed", "channel": index}]
        return self.seen

    def receive(self, index: int, buffer: Any) -> None:
        self.rig.receive(index, buffer)
        self.next[index] += 1

    def on_data(self, _event: wire.Json, index: int, known: bool) -> bool:  # noqa: FBT001
        if known:
            self.receive(index, self.buffers.network_buffer(self.next[index].to_bytes(4, "big")))
        return known

    def on_event(self, _event: wire.Json, index: int, known: bool) -> bool:  # noqa: FBT001
        if known:
            self.receive(index, self.to_buffer(self.plain, False))
        return known

    def on_barrier(self, event: wire.Json, index: int, known: bool) -> bool:  # noqa: FBT001
        mode = wire.get_choice(event, "mode", MODES)
        barrier = self.events.barrier_class(get_checkpoint(event), 0, self.options[mode])
        if known:
            self.receive(index, self.to_buffer(barrier, mode == "unaligned"))
        return known

    def on_poll(self, _event: wire.Json, index: int, known: bool) -> bool:  # noqa: FBT001
        if not known:
            return False
        found = self.jvm.call(self.rig.channels[index], "getNextBuffer")  # package-private up to 1.17
        if found.isPresent():
            item = found.get()
            self.seen.append(
                {"type": "polled", "kind": self.kind_of(item.buffer()), "sequence": int(item.getSequenceNumber())}
            )
            item.buffer().recycleBuffer()
        return True

    def kind_of(self, buffer: Any) -> str:
        if buffer.isBuffer():
            return "data"
        name = str(self.from_buffer(buffer, self.loader).getClass().getSimpleName())
        return {"CheckpointBarrier": "barrier", "EventAnnouncement": "announcement"}.get(name, "event")

    def on_prioritize(self, event: wire.Json, index: int, known: bool) -> bool:  # noqa: FBT001
        sequence = wire.get_integer(event, "sequence")
        if not known:
            return False
        channel, field = self.rig.channels[index], self.jvm.field
        latest = int(field(channel, "lastBarrierSequenceNumber")) == sequence
        received = bool(self.jvm.call(field(channel, "channelStatePersister"), "hasBarrierReceived"))
        if not latest or not received or not self.is_in_place(channel, sequence):
            return False
        channel.convertToPriorityEvent(sequence)
        return True

    def is_in_place(self, channel: Any, sequence: int) -> bool:
        """Whether it is in the queue after everything that overtakes, and its announcement is not in front."""
        waiting = self.jvm.field(channel, "receivedBuffers")
        numbers = [int(self.jvm.field(item, "sequenceNumber")) for item in waiting.asUnmodifiableCollection()]
        first = int(waiting.getNumPriorityElements())
        return sequence in numbers[first:] and sequence not in numbers[:first]

    def close(self) -> None:
        self.seen = []
        self.rig.close()
