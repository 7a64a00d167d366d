"""The gate with priorities, GATE-1, GATE-2, GATE-5, GATE-6, GATE-10 … GATE-18, GATE-28.

The line of channels is one list; the first `urgent` of it have priority. In the same way a channel's items are one
list of which the first few overtake.
"""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

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
            if self.refuses(self.channels[index], item) or self.closed:
                return wire.rejected()
            self.on_arrive(index, self.channels[index], item)
        elif kind == "notify":
            self.enqueue(index)
        elif kind == "force":
            self.prioritise(index)
        else:
            self.on_priority(index, number)
        # A channel that a poll puts back says nothing, and neither does one that is not the first with priority.
        self.priority = self.priority or (self.urgent == 1 and ahead == 0)
        return self.signal(*before)

    def on_close(self) -> wire.Observations:
        self.closed = True
        return []

    def list_unfinished(self) -> list[int]:
        return [index for index in range(len(self.channels)) if not self.is_over(index)]

    def signal(self, available: bool, priority: bool) -> wire.Observations:  # noqa: FBT001 - both as they were before
        out: wire.Observations = []
        if self.priority and not priority:
            out.append({"type": "priority_available"})
        if self.available and not available:
            out.append({"type": "available"})
        return out

    # --- the line of channels

    def is_over(self, index: int) -> bool:
        return self.channels[index].polled_ends["end_of_partition"] == self.shared

    def enqueue(self, index: int) -> None:
        if index in self.line or self.is_over(index):
            return
        self.line.append(index)
        self.available = True

    def prioritise(self, index: int) -> None:
        if index in self.line[: self.urgent] or self.is_over(index):
            return
        if index in self.line:
            self.line.remove(index)
        self.line.insert(self.urgent, index)
        self.urgent += 1
        self.available = True

    def on_priority(self, index: int, number: int) -> None:
        last = self.channels[index].last_priority
        far = (last < 0) != (number < 0) and max(last, number) >= _HALF
        outdated = last < 0 if far else number <= last
        if not outdated:
            self.prioritise(index)

    # --- items

    def refuses(self, channel: Channel, item: str) -> bool:
        if channel.arrived_ends["end_of_partition"] == self.shared:
            return True
        return item == "end_of_data" and channel.arrived_ends["end_of_data"] == self.shared

    def on_arrive(self, index: int, channel: Channel, item: str) -> None:
        number, ahead = channel.number, channel.count_overtaking()
        was_empty = not channel.waiting
        self.put(channel, (item, number), ahead)
        if item in channel.arrived_ends:
            channel.arrived_ends[item] += 1
        channel.number = wire.to_int32(number + 1)
        if channel.count_overtaking() == 1 and ahead == 0:
            self.on_priority(index, number)
        if was_empty:
            self.enqueue(index)

    def put(self, channel: Channel, item: tuple[str, int], ahead: int) -> None:
        if item[0] == "priority":
            channel.waiting.insert(ahead, item)
            return
        if item[0] == "barrier":
            channel.waiting.insert(ahead, ("announcement", item[1]))
        channel.waiting.append(item)

    def is_finished(self) -> bool:
        return all(self.is_over(index) for index in range(len(self.channels)))

    def on_poll(self) -> wire.Observations:
        if self.is_finished():
            return [{"type": "none"}]
        if self.closed:
            return [{"type": "cancelled"}]
        while self.line:
            index = self.line.pop(0)
            self.urgent = max(0, self.urgent - 1)
            channel = self.channels[index]
            if not channel.waiting:
                continue
            item, number = channel.waiting.pop(0)
            swallowed = self.take_ending(channel, item)
            self.put_back(index, channel)
            if not swallowed:
                return self.hand_out(index, item, number)
        self.available = bool(self.line)
        return [{"type": "none"}]

    def put_back(self, index: int, channel: Channel) -> None:
        if channel.waiting and channel.waiting[0][0] not in _OVERTAKING:
            self.enqueue(index)
        elif channel.waiting:
            self.prioritise(index)

    def take_ending(self, channel: Channel, item: str) -> bool:
        """Whether an ending is swallowed, because others that share the channel are still to end."""
        if item not in channel.polled_ends:
            return False
        channel.polled_ends[item] += 1
        return channel.polled_ends[item] < self.shared

    def hand_out(self, index: int, item: str, number: int) -> wire.Observations:
        if item in _OVERTAKING:
            self.channels[index].last_priority = number
            if not self.urgent:
                self.priority = False
        seen: wire.Json = {"type": "item", "channel": index, "item": item, "more": bool(self.line)}
        seen["more_priority"] = self.urgent > 0
        if self.is_finished():
            self.line, self.urgent, self.available = [], 0, True
            seen["more"] = False
            return [seen, {"type": "finished"}]
        self.available = bool(self.line)
        return [seen]


make = PriorityGate

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("GATE-6", "GATE-1", "GATE-5", "GATE-12")
class PriorityQueuedTwice(PriorityGate):
    """A notification queues a channel that is queued already."""

    enqueue = changed(PriorityGate.enqueue, "index in self.line or ", "")


@wrong("GATE-6", "GATE-4", "GATE-5", "GATE-7", "GATE-13")
class PriorityIdleTurnEndsPoll(PriorityGate):
    """A channel that was queued for nothing makes the poll give nothing, though others wait."""

    on_poll = changed(PriorityGate.on_poll, "continue", "break")


@wrong("GATE-10", "GATE-13", "GATE-14", "GATE-11", "GATE-12")
class PriorityLatestItemFirst(PriorityGate):
    """An item with priority overtakes others with priority in its channel."""

    put = changed(PriorityGate.put, "insert(ahead, item)", "insert(0, item)", "insert(ahead, (", "insert(0, (")


@wrong("GATE-10", "GATE-13", "GATE-5", "GATE-6")
class PriorityWaitsInItsChannel(PriorityGate):
    """An item with priority stands behind the data of its channel."""

    put = changed(PriorityGate.put, "insert(ahead, item)", "append(item)")


@wrong("GATE-11", "GATE-12")
class PriorityLateNoticesHeeded(PriorityGate):
    """A notification that comes after its item was polled moves the channel to the front: a false alarm."""

    on_priority = changed(PriorityGate.on_priority, "if not outdated:", "if True:")


@wrong("GATE-11", "GATE-12")
class PriorityRepeatedNoticesHeeded(PriorityGate):
    """A notification with the very number that was polled last is heeded."""

    on_priority = changed(PriorityGate.on_priority, "if not outdated:", "if not outdated or number == last:")


@wrong("GATE-11", "GATE-12")
class PriorityNumbersNeverWrap(PriorityGate):
    """Numbers are compared as they are, so after 2^31 items every priority is outdated."""

    on_priority = changed(PriorityGate.on_priority, "last < 0 if far else number <= last", "number <= last")


@wrong("GATE-11", "GATE-12", "GATE-10")
class PriorityFirstNoticeAlwaysHeeded(PriorityGate):
    """As long as nothing with priority was polled every notification is heeded, also beyond 2^30 items."""

    on_priority = changed(PriorityGate.on_priority, "if not outdated:", "if not outdated or last == _LEAST:")


@wrong("GATE-11", "GATE-12", "GATE-14")
class PriorityAnnouncementsNotRemembered(PriorityGate):
    """An announcement that was polled does not make notifications outdated."""

    hand_out = changed(
        PriorityGate.hand_out,
        "self.channels[index].last_priority = number",
        'if item == "priority":\n    self.channels[index].last_priority = number',
    )


@wrong("GATE-12", "GATE-11")
class PriorityForceIsAPlainNotice(PriorityGate):
    """A channel that wants to be first is queued at the end."""

    step = changed(PriorityGate.step, "self.prioritise(index)", "self.enqueue(index)")


@wrong("GATE-12", "GATE-13", "GATE-5", "GATE-6", "GATE-14")
class PriorityLatestChannelFirst(PriorityGate):
    """A channel with priority overtakes others with priority."""

    prioritise = changed(PriorityGate.prioritise, "insert(self.urgent, index)", "insert(0, index)")


@wrong("GATE-12", "GATE-10", "GATE-11", "GATE-14")
class PriorityQueuedChannelsStay(PriorityGate):
    """A channel that is queued already is not moved to the front, so its barrier waits behind the others' data."""

    prioritise = changed(PriorityGate.prioritise, "self.line.remove(index)", "return")


@wrong("GATE-12", "GATE-10", "GATE-11", "GATE-14")
class PriorityNeverSignalled(PriorityGate):
    """Nobody is told that something with priority waits."""

    signal = changed(PriorityGate.signal, "self.priority and not priority", "False")


@wrong("GATE-12", "GATE-10", "GATE-11", "GATE-14", "GATE-2")
class PrioritySignalStandsForBoth(PriorityGate):
    """Whoever waits for the gate is not woken if the first channel has priority."""

    signal = changed(
        PriorityGate.signal, "self.available and not available", "self.available and not available and not out"
    )


@wrong("GATE-13", "GATE-10", "GATE-12", "GATE-14", "GATE-11")
class PriorityOutlivesItsItems(PriorityGate):
    """Priority stays available after the last item with priority was polled."""

    hand_out = changed(PriorityGate.hand_out, "not self.urgent", "False")


@wrong("GATE-13", "GATE-10", "GATE-12", "GATE-14", "GATE-11")
class PriorityFallsWithAnyItem(PriorityGate):
    """Any item takes priority away when no channel with priority is left."""

    hand_out = changed(
        PriorityGate.hand_out,
        "if item in _OVERTAKING:",
        "if not self.urgent:\n    self.priority = False\nif item in _OVERTAKING:",
    )


@wrong("GATE-13", "GATE-5", "GATE-12", "GATE-14", "GATE-10")
class PriorityPutBackWithoutPriority(PriorityGate):
    """A channel with more items of priority goes to the end of the line all the same."""

    put_back = changed(PriorityGate.put_back, "self.prioritise(index)", "self.enqueue(index)")


@wrong("GATE-13", "GATE-5", "GATE-14")
class PriorityMorePriorityMeansOwnChannel(PriorityGate):
    """Whether more with priority waits is answered for the item's own channel."""

    hand_out = changed(PriorityGate.hand_out, "= self.urgent > 0", "= self.channels[index].count_overtaking() > 0")


@wrong("GATE-14", "GATE-10", "GATE-12")
class PriorityBarriersNotAnnounced(PriorityGate):
    """An aligned barrier that may time out is not announced, so the clock starts when it is read."""

    put = changed(PriorityGate.put, 'item[0] == "barrier"', "False")


@wrong("GATE-14", "GATE-5", "GATE-13")
class PriorityAnnouncementReplacesBarrier(PriorityGate):
    """An announced barrier does not come any more."""

    put = changed(
        PriorityGate.put,
        'channel.waiting.insert(ahead, ("announcement", item[1]))',
        'channel.waiting.insert(ahead, ("announcement", item[1]))\nreturn',
    )


@wrong("GATE-14", "GATE-5", "GATE-13")
class PriorityBarrierOvertakesWithItsAnnouncement(PriorityGate):
    """An announced barrier overtakes the data, which then comes behind it."""

    put = changed(
        PriorityGate.put,
        'channel.waiting.insert(ahead, ("announcement", item[1]))',
        'channel.waiting[ahead:ahead] = [("announcement", item[1]), item]\nreturn',
    )


@wrong("GATE-18", "GATE-16", "GATE-17", "GATE-5")
class PriorityFirstEndingShown(PriorityGate):
    """On a shared channel the first ending is handed out, and the others are swallowed."""

    take_ending = changed(PriorityGate.take_ending, "< self.shared", "> 1")


@wrong("GATE-18", "GATE-16", "GATE-17", "GATE-5")
class PriorityEveryEndingShown(PriorityGate):
    """On a shared channel every ending is handed out."""

    take_ending = changed(PriorityGate.take_ending, "channel.polled_ends[item] < self.shared", "False")


@wrong("GATE-18", "GATE-5")
class PriorityDataEndsEachShown(PriorityGate):
    """On a shared channel every end of data is handed out; only ends of partitions are counted."""

    take_ending = changed(PriorityGate.take_ending, "< self.shared", '< self.shared and item != "end_of_data"')


@wrong("GATE-18", "GATE-5", "GATE-4", "GATE-7")
class PrioritySwallowingEndsPoll(PriorityGate):
    """A poll that swallows an ending gives nothing, though others wait."""

    on_poll = changed(PriorityGate.on_poll, "if not swallowed:", "if swallowed:\n    break\nelse:")


@wrong("GATE-17", "GATE-16", "GATE-5")
class PriorityLastItemPromisesMore(PriorityGate):
    """The last end of partition says that there is more."""

    hand_out = changed(PriorityGate.hand_out, 'seen["more"] = False', 'seen["more"] = True')


@wrong("GATE-28")
class PriorityClosedTakesMore(PriorityGate):
    """What arrives after the close is queued."""

    step = changed(PriorityGate.step, " or self.closed", "")


@wrong("GATE-28")
class PriorityClosingTwiceIsRefused(PriorityGate):
    """A second thread that closes the gate is refused."""

    def on_close(self) -> wire.Observations:
        return wire.rejected() if self.closed else super().on_close()


@wrong("GATE-28")
class PriorityClosingWakes(PriorityGate):
    """Closing makes the gate look as if it had data."""

    def on_close(self) -> wire.Observations:
        super().on_close()
        return [] if self.available else [{"type": "available"}]


@wrong("GATE-28")
class PriorityFinishedIsCancelled(PriorityGate):
    """A gate that was finished is cancelled by a close, and the task fails at its end."""

    def on_poll(self) -> wire.Observations:
        return [{"type": "cancelled"}] if self.closed else super().on_poll()


@wrong("GATE-28")
class PriorityPrioritySurvivesTheClose(PriorityGate):
    """What has priority comes out of a gate that is closed: a checkpoint of a task that is cancelled."""

    on_poll = changed(PriorityGate.on_poll, "self.closed", "self.closed and not self.urgent")


@wrong("GATE-28")
class PriorityClosedGivesNothing(PriorityGate):
    """A closed gate has nothing to give, and its task waits for ever."""

    on_poll = changed(PriorityGate.on_poll, '"cancelled"', '"none"')


@wrong("GATE-16")
class PriorityUnfinishedCountsWhatArrived(PriorityGate):
    """A channel counts as ended when its end arrives, not when it is polled."""

    list_unfinished = changed(
        PriorityGate.list_unfinished,
        "not self.is_over(index)",
        'self.channels[index].arrived_ends["end_of_partition"] < self.shared',
    )


@wrong("GATE-16")
class PriorityFirstEndFinishes(PriorityGate):
    """A shared channel counts as ended with the first end of those that share it."""

    list_unfinished = changed(
        PriorityGate.list_unfinished, "self.is_over(index)", 'self.channels[index].polled_ends["end_of_partition"]'
    )


@wrong("GATE-12", "GATE-13", "GATE-5")
class PriorityChannelsCountedInAByte(PriorityGate):
    """How many channels of the line have priority is kept in a byte: with 256 of them none has."""

    prioritise = changed(PriorityGate.prioritise, "self.urgent += 1", "self.urgent = (self.urgent + 1) % 256")
