"""The union gate: `UnionInputGate` over real gates, whose channels the adapter fills."""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.buffer_parts import events_of
from tidegate.conformance.engines.flink.adapters.input_parts import (
    CONSUMER,
    Endings,
    Gate,
    can_make_gates,
    recycle_or_name,
)
from tidegate.conformance.engines.flink.jvm import Jvm

UNION = f"{CONSUMER}UnionInputGate"
ITEMS = ("data", "end_of_data", "stop", "end_of_partition")


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if can_make_gates(jvm) and jvm.has(UNION, "hasReceivedEndOfData") else None


def make(jvm: Jvm, config: wire.Json) -> "UnionGate":
    return UnionGate(jvm, wire.get_counts(config, "members", 2))


class UnionGate:
    def __init__(self, jvm: Jvm, members: list[int]) -> None:
        self.events = events_of(jvm)
        self.members = [Gate(jvm, channels, index=index) for index, channels in enumerate(members)]
        self.endings = [Endings(channels) for channels in members]
        gates = jvm.jpype.JArray(jvm.cls(f"{CONSUMER}IndexedInputGate"))([one.gate for one in self.members])
        self.union = jvm.cls(UNION)(gates)
        self.numbers = {place_of(info): number for number, info in enumerate(self.union.getChannelInfos())}

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "poll":
            return self.on_poll()
        if kind == "arrive":
            return self.on_arrive(event)
        raise wire.unknown_type(event)

    def on_arrive(self, event: wire.Json) -> wire.Observations:
        member, channel = wire.get_integer(event, "member"), wire.get_integer(event, "channel")
        item = wire.get_choice(event, "item", ITEMS)
        if not 0 <= member < len(self.members) or not self.endings[member].accepts(channel, item):
            return wire.rejected()
        was_available = bool(self.union.isAvailable())
        if item == "data":
            self.members[member].arrive(channel, b"data")
        else:
            self.members[member].arrive_event(channel, getattr(self.events, item))
        return [{"type": "available"}] if not was_available and self.union.isAvailable() else []

    def on_poll(self) -> wire.Observations:
        before = str(self.union.hasReceivedEndOfData().name())
        found = self.union.pollNext()
        if not found.isPresent():
            return [{"type": "none"}]
        polled = found.get()
        item = recycle_or_name(polled, self.name_event)
        channel = self.numbers[place_of(polled.getChannelInfo())]
        seen: wire.Observations = [
            {"type": "item", "channel": channel, "item": item, "more": bool(polled.moreAvailable())}
        ]
        after = str(self.union.hasReceivedEndOfData().name())
        if after != before:
            seen.append({"type": "data_ended", "drained": after == "DRAINED"})
        if self.union.isFinished():
            seen.append({"type": "finished"})
        return seen

    def name_event(self, event: Any) -> str:
        return next(item for item in ITEMS[1:] if getattr(self.events, item).equals(event))

    def close(self) -> None:
        for one in self.members:
            one.close()


def place_of(info: Any) -> tuple[int, int]:
    return int(info.getGateIdx()), int(info.getInputChannelIdx())
