"""The gate with priorities, GATE-1, GATE-2, GATE-5, GATE-6, GATE-10 … GATE-18, GATE-28.

The line of channels is one list; the first `urgent` of it have priority. In the same way a channel's items are one
list of which the first few overtake.
"""

import attrs

from tidegate.conformance.engines import wire

EXTENSIONS = ("closing",)
_ITEMS = ("data", "end_of_data", "end_of_partition", "priority", "barrier")
_OVERTAKING = ("priority", "announcement")
_LEAST = -(2**31)
_HALF = 2**30


@attrs.define(eq=False)
class Channel:
    number: int
    waiting: list[tuple[str, int]] = attrs.Factory(list)
    last_priority: int = _LEAST
    arrived_ends: dict[str, int] = attrs.Factory(lambda: {"end_of_data": 0, "end_of_partition": 0})
    polled_ends: dict[str, int] = attrs.Factory(lambda: {"end_of_data": 0, "end_of_partition": 0})

    def count_overtaking(self) -> int:
        return sum(item in _OVERTAKING for item, _number in self.waiting)


def get_number(obj: wire.Json, key: str) -> int:
    number = wire.get_integer(obj, key)
    if wire.to_int32(number) != number:
        raise wire.BadRequestError(f"{key} does not fit 32 bits: {number}")
    return number


class PriorityGate:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("priority-")
        first = get_number(config, "first") if "first" in config else 0
        self.shared = wire.get_at_least(config, "subpartitions", 1) if "subpartitions" in config else 1
        self.channels = [Channel(first) for _ in range(wire.get_at_least(config, "channels", 1))]
        self.line: list[int] = []
        self.urgent = 0
        self.available = False
        self.priority = False
        self.may_close = wire.get_extension(config, EXTENSIONS) is not None
        self.closed = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "poll":
            return self.on_poll()
        if kind == "close" and self.may_close:
            return self.on_close()
        if kind == "ask_unfinished" and self.may_close:
            return [{"type": "unfinished", "channels": self.list_unfinished()}]
        if kind not in {"arrive", "notify", "notify_priority", "force"}:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "channel")
        item = wire.get_choice(event, "item", _ITEMS) if kind == "arrive" else ""
        number = get_number(event, "sequence") if kind == "notify_priority" else 0
        if not 0 <= index < len(self.channels):
            return wire.rejected()
        before, ahead = (self.available, self.priority), self.urgent
        if kind == "arrive":
            if self.refuses(self.channels[index], item) or (self.closed and self.bug != "closed-takes-more"):
                return wire.rejected()
            self.on_arrive(index, self.channels[index], item)
        elif kind == "notify":
            self.enqueue(index)
        elif kind == "force":
            self.on_force(index)
        else:
            self.on_priority(index, number)
        # A channel that a poll puts back says nothing, and neither does one that is not the first with priority.
        self.priority = self.priority or (self.urgent == 1 and ahead == 0)
        return self.signal(*before)

    def on_close(self) -> wire.Observations:
        bug = self.bug
        again, self.closed = self.closed, True
        if bug == "closing-twice-is-refused" and again:
            return wire.rejected()
        if bug == "closing-wakes" and not self.available:
            return [{"type": "available"}]
        return []

    def list_unfinished(self) -> list[int]:
        bug = self.bug
        channels = range(len(self.channels))
        if bug == "unfinished-counts-what-arrived":
            return [index for index in channels if self.channels[index].arrived_ends["end_of_partition"] < self.shared]
        if bug == "first-end-finishes":
            return [index for index in channels if not self.channels[index].polled_ends["end_of_partition"]]
        return [index for index in channels if not self.is_over(index)]

    def signal(self, available: bool, priority: bool) -> wire.Observations:  # noqa: FBT001 - both as they were before
        bug = self.bug
        out: wire.Observations = []
        if self.priority and not priority and bug != "never-signalled":
            out.append({"type": "priority_available"})
        if self.available and not available and not (out and bug == "signal-stands-for-both"):
            out.append({"type": "available"})
        return out

    # --- the line of channels

    def is_over(self, index: int) -> bool:
        return self.channels[index].polled_ends["end_of_partition"] == self.shared

    def enqueue(self, index: int) -> None:
        if (index in self.line and self.bug != "queued-twice") or self.is_over(index):
            return
        self.line.append(index)
        self.available = True

    def prioritise(self, index: int) -> None:
        bug = self.bug
        if index in self.line[: self.urgent] or self.is_over(index):
            return
        if index in self.line:
            if bug == "queued-channels-stay":
                return
            self.line.remove(index)
        self.line.insert(0 if bug == "latest-channel-first" else self.urgent, index)
        self.urgent = (self.urgent + 1) % 256 if bug == "channels-counted-in-a-byte" else self.urgent + 1
        self.available = True

    def on_force(self, index: int) -> None:
        if self.bug == "force-is-a-plain-notice":
            self.enqueue(index)
        else:
            self.prioritise(index)

    def on_priority(self, index: int, number: int) -> None:
        bug, last = self.bug, self.channels[index].last_priority
        far = (last < 0) != (number < 0) and max(last, number) >= _HALF
        outdated = last < 0 if far else number <= last
        if bug == "late-notices-heeded":
            outdated = False
        elif bug == "numbers-never-wrap":
            outdated = number <= last
        elif bug == "repeated-notices-heeded":
            outdated = outdated and number != last
        elif bug == "first-notice-always-heeded":
            outdated = outdated and last != _LEAST
        if not outdated:
            self.prioritise(index)

    # --- items

    def refuses(self, channel: Channel, item: str) -> bool:
        if channel.arrived_ends["end_of_partition"] == self.shared:
            return True
        return item == "end_of_data" and channel.arrived_ends["end_of_data"] == self.shared

    def on_arrive(self, index: int, channel: Channel, item: str) -> None:
        bug, number, ahead = self.bug, channel.number, channel.count_overtaking()
        was_empty = not channel.waiting
        place = 0 if bug == "latest-item-first" else ahead
        if item == "priority":
            channel.waiting.insert(len(channel.waiting) if bug == "waits-in-its-channel" else place, (item, number))
        elif item == "barrier" and bug != "barriers-not-announced":
            channel.waiting.insert(place, ("announcement", number))
            if bug == "barrier-overtakes-with-its-announcement":
                channel.waiting.insert(place + 1, (item, number))
            elif bug != "announcement-replaces-barrier":
                channel.waiting.append((item, number))
        else:
            channel.waiting.append((item, number))
        if item in channel.arrived_ends:
            channel.arrived_ends[item] += 1
        channel.number = wire.to_int32(number + 1)
        if channel.count_overtaking() == 1 and ahead == 0:
            self.on_priority(index, number)
        if was_empty:
            self.enqueue(index)

    def is_finished(self) -> bool:
        return all(self.is_over(index) for index in range(len(self.channels)))

    def on_poll(self) -> wire.Observations:
        bug = self.bug
        if self.is_finished():
            return [{"type": "cancelled" if self.closed and bug == "finished-is-cancelled" else "none"}]
        if self.closed and not (bug == "priority-survives-the-close" and self.urgent):
            return [{"type": "none" if bug == "closed-gives-nothing" else "cancelled"}]
        while self.line:
            index = self.line.pop(0)
            self.urgent = max(0, self.urgent - 1)
            channel = self.channels[index]
            if not channel.waiting:
                if bug == "idle-turn-ends-poll":
                    break
                continue
            item, number = channel.waiting.pop(0)
            swallowed = self.take_ending(channel, item)
            self.put_back(index, channel)
            if not swallowed:
                return self.hand_out(index, item, number)
            if bug == "swallowing-ends-poll":
                break
        self.available = bool(self.line)
        return [{"type": "none"}]

    def put_back(self, index: int, channel: Channel) -> None:
        if channel.waiting and (channel.waiting[0][0] not in _OVERTAKING or self.bug == "put-back-without-priority"):
            self.enqueue(index)
        elif channel.waiting:
            self.prioritise(index)

    def take_ending(self, channel: Channel, item: str) -> bool:
        """Whether an ending is swallowed, because others that share the channel are still to end."""
        bug = self.bug
        if item not in channel.polled_ends:
            return False
        channel.polled_ends[item] += 1
        count = channel.polled_ends[item]
        if bug == "first-ending-shown":
            return count > 1
        if bug == "every-ending-shown" or (bug == "data-ends-each-shown" and item == "end_of_data"):
            return False
        return count < self.shared

    def hand_out(self, index: int, item: str, number: int) -> wire.Observations:
        bug = self.bug
        if item in _OVERTAKING:
            if bug != "announcements-not-remembered" or item == "priority":
                self.channels[index].last_priority = number
            if not self.urgent and bug != "outlives-its-items":
                self.priority = False
        elif bug == "falls-with-any-item" and not self.urgent:
            self.priority = False
        ahead = self.urgent if bug != "more-priority-means-own-channel" else self.channels[index].count_overtaking()
        seen: wire.Json = {"type": "item", "channel": index, "item": item, "more": bool(self.line)}
        seen["more_priority"] = bool(ahead)
        if self.is_finished():
            self.line, self.urgent, self.available = [], 0, True
            seen["more"] = bug == "last-item-promises-more"
            return [seen, {"type": "finished"}]
        self.available = bool(self.line)
        return [seen]


make = PriorityGate
