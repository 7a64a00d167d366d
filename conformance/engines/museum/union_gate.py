"""The union of gates, GATE-26, GATE-27, over members that are gates of their own."""

from collections import deque

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_ITEMS = ("data", "end_of_data", "stop", "end_of_partition")


@attrs.define(eq=False)
class Member:
    """A gate: what waits on each channel, whose turn it is, and what was polled of its endings."""

    first: int
    channels: list[deque[str]]
    line: deque[int] = attrs.Factory(deque)
    data_ended: set[int] = attrs.Factory(set)
    closing: set[int] = attrs.Factory(set)
    drains: list[bool] = attrs.Factory(list)
    closed: int = 0

    def refuses(self, channel: int, item: str) -> bool:
        if not 0 <= channel < len(self.channels) or channel in self.closing:
            return True
        return item in {"end_of_data", "stop"} and channel in self.data_ended

    def is_finished(self) -> bool:
        return self.closed == len(self.channels)

    def has_data_ended(self) -> bool:
        return len(self.drains) == len(self.channels)


class UnionGate:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        sizes = wire.get_counts(config, "members", 2)
        self.members = [Member(sum(sizes[:index]), [deque() for _ in range(size)]) for index, size in enumerate(sizes)]
        self.queue: deque[int] = deque()
        self.available = False

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") == "poll":
            return self.on_poll()
        if event.get("type") != "arrive":
            raise wire.unknown_type(event)
        member, channel = wire.get_integer(event, "member"), wire.get_integer(event, "channel")
        return self.on_arrive(member, channel, wire.get_choice(event, "item", _ITEMS))

    def on_arrive(self, index: int, channel: int, item: str) -> wire.Observations:
        if not 0 <= index < len(self.members) or self.members[index].refuses(channel, item):
            return wire.rejected()
        member = self.members[index]
        was_empty = not member.line
        if item in {"end_of_data", "stop"}:
            member.data_ended.add(channel)
        elif item == "end_of_partition":
            member.closing.add(channel)
        if not member.channels[channel]:
            member.line.append(channel)
        member.channels[channel].append(item)
        if not was_empty:
            return []
        self.queue.append(index)
        told, self.available = self.available, True
        return [] if told else [{"type": "available"}]

    def is_finished(self) -> bool:
        return all(member.is_finished() for member in self.members)

    def on_poll(self) -> wire.Observations:
        if self.is_finished():
            return [{"type": "none"}]
        if not self.queue:
            self.available = False
            return [{"type": "none"}]
        index = self.queue.popleft()
        member = self.members[index]
        channel = member.line.popleft()
        item = member.channels[channel].popleft()
        if member.channels[channel]:
            member.line.append(channel)
        if member.line:
            self.queue.append(index)
        return self.show(member, channel, item)

    def show(self, member: Member, channel: int, item: str) -> wire.Observations:
        number, more = member.first + channel, bool(self.queue)
        out: wire.Observations = [{"type": "item", "channel": number, "item": item, "more": more}]
        if item in {"end_of_data", "stop"}:
            member.drains.append(item == "end_of_data")
            if all(one.has_data_ended() for one in self.members):
                drained = all(drain for one in self.members for drain in one.drains)
                out.append({"type": "data_ended", "drained": drained})
        elif item == "end_of_partition":
            member.closed += 1
            if self.is_finished():
                out.append({"type": "finished"})
        return out


make = UnionGate

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("GATE-26", origin="FLINK-18094")
class UnionLocalChannelNumbers(UnionGate):
    """Channels keep the numbers of their member, so the state of the wrong channel is used above the union."""

    show = changed(UnionGate.show, "member.first + channel", "channel")


@wrong("GATE-26", "GATE-27")
class UnionMemberDrainedFirst(UnionGate):
    """A member that has more stays at the head, and starves the others."""

    on_poll = changed(UnionGate.on_poll, "self.queue.append", "self.queue.appendleft")


@wrong("GATE-26", "GATE-27")
class UnionNewcomerFirst(UnionGate):
    """A member that gets something goes to the head of the queue."""

    on_arrive = changed(UnionGate.on_arrive, "self.queue.append", "self.queue.appendleft")


@wrong("GATE-26", "GATE-27")
class UnionNewestMemberFirst(UnionGate):
    """The member that was queued last is served first."""

    on_poll = changed(UnionGate.on_poll, "index = self.queue.popleft()", "index = self.queue.pop()")


@wrong("GATE-26", "GATE-27")
class UnionLowestMemberFirst(UnionGate):
    """Of the members that wait the one with the lowest number is served."""

    on_poll = changed(
        UnionGate.on_poll, "index = self.queue.popleft()", "index = min(self.queue)\nself.queue.remove(index)"
    )


@wrong("GATE-26", "GATE-27")
class UnionStopShownAsDrained(UnionGate):
    """An end of data without drain is handed out as one with drain."""

    show = changed(UnionGate.show, '"item": item', '"item": "end_of_data" if item == "stop" else item')


@wrong("GATE-27", "GATE-26", "GATE-2")
class UnionEveryItemSignals(UnionGate):
    """Every item that arrives makes the union available again."""

    on_arrive = changed(
        UnionGate.on_arrive,
        "if not was_empty:\n        return []",
        'if not was_empty:\n    return [{"type": "available"}]',
    )


@wrong("GATE-27", "GATE-26", "GATE-2")
class UnionEveryMemberSignals(UnionGate):
    """Every member that gets something makes the union available again."""

    on_arrive = changed(UnionGate.on_arrive, "[] if told else ", "")


@wrong("GATE-27", "GATE-26", "GATE-2")
class UnionFirstMemberSignalsAlone(UnionGate):
    """Only the first member is listened to: items of the others wake nobody."""

    on_arrive = changed(UnionGate.on_arrive, "[] if told else", "[] if told or index > 0 else")


@wrong("GATE-27", "GATE-26", origin="FLINK-21992")
class UnionAvailableResetBeforeRequeue(UnionGate):
    """Availability is reset when the last member is taken, although it has more and is queued again."""

    on_poll = changed(UnionGate.on_poll, "if member.line:", "self.available = bool(self.queue)\nif member.line:")


@wrong("GATE-27", "GATE-26")
class UnionUnavailableWhenEmptied(UnionGate):
    """The union becomes unavailable with its last item, without a poll in vain."""

    on_poll = changed(
        UnionGate.on_poll,
        "if member.line:\n        self.queue.append(index)",
        "if member.line:\n    self.queue.append(index)\nelse:\n    self.available = bool(self.queue)",
    )


@wrong("GATE-27", "GATE-26")
class UnionAvailableForEver(UnionGate):
    """A poll in vain does not make the union unavailable, so the next item wakes nobody."""

    on_poll = changed(UnionGate.on_poll, "self.available = False", "pass")


@wrong("GATE-27", "GATE-26")
class UnionMoreMeansOwnMember(UnionGate):
    """Whether there is more is answered for the member alone."""

    show = changed(UnionGate.show, "bool(self.queue)", "bool(member.line)")


@wrong("GATE-27", "GATE-26")
class UnionFinishedWithFirstMember(UnionGate):
    """The union is finished when one member is."""

    is_finished = changed(UnionGate.is_finished, "all", "any")


@wrong("GATE-27")
class UnionFinishedRepeated(UnionGate):
    """A finished union says so with every poll."""

    def on_poll(self) -> wire.Observations:
        return [{"type": "none"}, {"type": "finished"}] if self.is_finished() else super().on_poll()


@wrong("GATE-27", "GATE-26")
class UnionDataEndsWithEachMember(UnionGate):
    """The data of the union is said to end with that of each member."""

    show = changed(UnionGate.show, "all(one.has_data_ended() for one in self.members)", "member.has_data_ended()")


@wrong("GATE-27", "GATE-26")
class UnionOneDrainIsEnough(UnionGate):
    """The union counts as drained if any channel was."""

    show = changed(UnionGate.show, "all(drain for", "any(drain for")


@wrong("GATE-27", "GATE-26")
class UnionLastMemberDecides(UnionGate):
    """Whether the union is drained goes by the member that ended last."""

    show = changed(UnionGate.show, "all(drain for one in self.members for drain in one.drains)", "all(member.drains)")


@wrong("GATE-27", "GATE-26")
class UnionEightMembersFinish(UnionGate):
    """The union is finished when its first eight members are."""

    is_finished = changed(UnionGate.is_finished, "self.members", "self.members[:8]")
