"""The union of gates, GATE-26, GATE-27, over members that are gates of their own."""

from collections import deque

import attrs

from tidegate.conformance.engines import wire

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
        self.bug = host.bug.removeprefix("union-")
        sizes = wire.get_counts(config, "members", 2)
        self.members = [Member(sum(sizes[:index]), [deque() for _ in range(size)]) for index, size in enumerate(sizes)]
        self.queue: deque[int] = deque()
        self.available = False
        self.ended: list[bool] = []

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") == "poll":
            return self.on_poll()
        if event.get("type") != "arrive":
            raise wire.unknown_type(event)
        member, channel = wire.get_integer(event, "member"), wire.get_integer(event, "channel")
        return self.on_arrive(member, channel, wire.get_choice(event, "item", _ITEMS))

    def on_arrive(self, index: int, channel: int, item: str) -> wire.Observations:
        bug = self.bug
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
            return [{"type": "available"}] if bug == "every-item-signals" else []
        if bug == "newcomer-first":
            self.queue.appendleft(index)
        else:
            self.queue.append(index)
        told, self.available = self.available, True
        if bug == "every-member-signals":
            told = False
        elif bug == "first-member-signals-alone":
            told = told or index > 0
        return [] if told else [{"type": "available"}]

    def is_finished(self) -> bool:
        counted = self.members[:8] if self.bug == "eight-members-finish" else self.members
        finished = [member.is_finished() for member in counted]
        return any(finished) if self.bug == "finished-with-first-member" else all(finished)

    def choose(self) -> int:
        if self.bug == "lowest-member-first":
            index = min(self.queue)
            self.queue.remove(index)
            return index
        return self.queue.pop() if self.bug == "newest-member-first" else self.queue.popleft()

    def on_poll(self) -> wire.Observations:
        bug = self.bug
        nothing: wire.Observations = [{"type": "none"}]
        if self.is_finished():
            return [*nothing, {"type": "finished"}] if bug == "finished-repeated" else nothing
        if not self.queue:
            self.available = bug == "available-for-ever" and self.available
            return nothing
        index = self.choose()
        member = self.members[index]
        channel = member.line.popleft()
        item = member.channels[channel].popleft()
        if member.channels[channel]:
            member.line.append(channel)
        if bug == "available-reset-before-requeue":
            self.available = bool(self.queue)
        if member.line:
            (self.queue.appendleft if bug == "member-drained-first" else self.queue.append)(index)
        elif bug == "unavailable-when-emptied":
            self.available = bool(self.queue)
        return self.show(member, channel, item)

    def show(self, member: Member, channel: int, item: str) -> wire.Observations:
        bug = self.bug
        more = bool(member.line) if bug == "more-means-own-member" else bool(self.queue)
        number = channel if bug == "local-channel-numbers" else member.first + channel
        said = "end_of_data" if item == "stop" and bug == "stop-shown-as-drained" else item
        out: wire.Observations = [{"type": "item", "channel": number, "item": said, "more": more}]
        if item in {"end_of_data", "stop"}:
            member.drains.append(item == "end_of_data")
            out += self.end_data(member)
        elif item == "end_of_partition":
            member.closed += 1
            if self.is_finished():
                out.append({"type": "finished"})
        return out

    def end_data(self, member: Member) -> wire.Observations:
        bug = self.bug
        ended = [one.has_data_ended() for one in self.members]
        if not (member.has_data_ended() if bug == "data-ends-with-each-member" else all(ended)):
            return []
        drains = [drain for one in self.members for drain in one.drains]
        drained = all(drains)
        if bug == "one-drain-is-enough":
            drained = any(drains)
        elif bug == "last-member-decides":
            drained = all(member.drains)
        return [{"type": "data_ended", "drained": drained}]


make = UnionGate
