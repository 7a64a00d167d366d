"""The gate with priorities: `SingleInputGate` over remote channels, notifications from other threads included.

Arrivals at a closed gate are refused here. Channels shared by several subpartitions, and
sequence numbers that start anywhere, are set up on the real ones.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, events_of
from tidegate.conformance.engines.flink.adapters.input_parts import GATE, Gate, can_make_gates, recycle_or_name
from tidegate.conformance.engines.flink.jvm import Jvm

EXTENSIONS = ("closing",)
ITEMS = ("data", "end_of_data", "end_of_partition", "priority", "barrier")
NAMES = {"EndOfData": "end_of_data", "EndOfPartitionEvent": "end_of_partition", "EventAnnouncement": "announcement"}


def declare(jvm: Jvm) -> wire.Json | None:
    return (
        {"extensions": list(EXTENSIONS)} if can_make_gates(jvm) and jvm.has(GATE, "notifyPriorityEventForce") else None
    )


def make(jvm: Jvm, config: wire.Json) -> "PriorityGate":
    config = {"subpartitions": 1, "first": 0, **config}
    channels, subpartitions = wire.get_at_least(config, "channels", 1), wire.get_at_least(config, "subpartitions", 1)
    gate = PriorityGate(jvm, channels, subpartitions, get_int32(config, "first"))
    gate.may_close = wire.get_extension(config, EXTENSIONS) is not None
    return gate


def get_int32(holder: wire.Json, key: str) -> int:
    value = wire.get_integer(holder, key)
    if value != wire.to_int32(value):
        raise wire.BadRequestError(f"{key} {value} does not fit into 32 bits")
    return value


class PriorityGate:
    def __init__(self, jvm: Jvm, channels: int, subpartitions: int, first: int) -> None:
        self.jvm, self.events, self.subpartitions = jvm, events_of(jvm), subpartitions
        self.rig = Gate(jvm, channels, subpartitions=subpartitions, first=first)
        self.gate = self.rig.gate
        self.endings = {item: [0] * channels for item in ("end_of_data", "end_of_partition")}
        options = jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointOptions")
        self.timeout = options.alignedWithTimeout(self.events.checkpoint, self.events.location, 30)
        self.checkpoints = 0
        self.may_close = self.closed = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "poll":
            return self.on_poll()
        if kind == "close" and self.may_close:
            self.closed = True
            return self.watch(self.gate.close)
        if kind == "ask_unfinished" and self.may_close:
            infos = self.gate.getUnfinishedChannels()
            return [{"type": "unfinished", "channels": [int(info.getInputChannelIdx()) for info in infos]}]
        if kind not in ("arrive", "notify", "notify_priority", "force"):
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        item = wire.get_choice(event, "item", ITEMS) if kind == "arrive" else ""
        sequence = get_int32(event, "sequence") if kind == "notify_priority" else 0
        if not 0 <= channel < len(self.rig.channels) or (item and (self.closed or not self.is_due(channel, item))):
            return wire.rejected()
        if item:
            return self.watch(self.arrive, channel, item)
        return self.watch(self.notify, kind, self.rig.channels[channel], sequence)

    def watch(self, action: Any, *arguments: Any) -> wire.Observations:
        """Which waiters something wakes."""
        before = self.availability()
        action(*arguments)
        names = ("priority_available", "available")
        now = zip(names, before, self.availability(), strict=True)
        return [{"type": name} for name, was, is_now in now if is_now and not was]

    def availability(self) -> tuple[bool, bool]:
        return bool(self.gate.getPriorityEventAvailableFuture().isDone()), bool(self.gate.isAvailable())

    def is_due(self, channel: int, item: str) -> bool:
        """Each subpartition ends its data once, and itself; nothing comes after the last end."""
        if self.endings["end_of_partition"][channel] == self.subpartitions:
            return False
        if item in self.endings:
            if self.endings[item][channel] == self.subpartitions:
                return False
            self.endings[item][channel] += 1
        return True

    def arrive(self, channel: int, item: str) -> None:
        self.checkpoints += 1
        if item == "data":
            self.rig.arrive(channel, b"data")
        elif item == "priority":
            self.rig.arrive_event(channel, self.events.barrier(self.checkpoints, unaligned=True), priority=True)
        elif item == "barrier":
            barrier = self.events.barrier_class(self.checkpoints, 0, self.timeout)
            self.rig.arrive_event(channel, barrier)
        else:
            self.rig.arrive_event(channel, getattr(self.events, item))

    def notify(self, kind: Any, channel: Any, sequence: int) -> None:
        if kind == "notify":
            self.jvm.call(self.gate, "notifyChannelNonEmpty", channel)
        elif kind == "force":
            self.jvm.call(self.gate, "notifyPriorityEventForce", channel)
        else:
            self.jvm.call(self.gate, "notifyPriorityEvent", channel, self.jvm.integer(sequence))

    def on_poll(self) -> wire.Observations:
        try:
            found = self.gate.pollNext()
        except self.jvm.cls("org.apache.flink.runtime.execution.CancelTaskException"):
            if not self.closed:
                raise
            return [{"type": "cancelled"}]
        if not found.isPresent():
            return [{"type": "none"}]
        polled = found.get()
        seen: wire.Observations = [
            {
                "type": "item",
                "channel": int(polled.getChannelInfo().getInputChannelIdx()),
                "item": recycle_or_name(polled, self.name_event),
                "more": bool(polled.moreAvailable()),
                "more_priority": bool(polled.morePriorityEvents()),
            }
        ]
        if self.gate.isFinished():
            seen.append({"type": "finished"})
        return seen

    def name_event(self, event: Any) -> str:
        if isinstance(event, self.jvm.cls(f"{NETWORK}api.CheckpointBarrier")):
            return "priority" if event.getCheckpointOptions().isUnalignedCheckpoint() else "barrier"
        return NAMES[str(event.getClass().getSimpleName())]

    def close(self) -> None:
        self.rig.close()
