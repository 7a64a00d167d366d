"""The input gate over remote channels, GATE-1 … GATE-5, GATE-7 … GATE-9, GATE-15 … GATE-17."""

from collections import deque

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_ITEMS = ("data", "end_of_data", "end_of_partition")


class Gate:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.channels = wire.get_at_least(config, "channels", 1)
        self.queue: deque[int] = deque()
        self.received: list[deque[str]] = [deque() for _ in range(self.channels)]
        self.data_ended: set[int] = set()
        #: Channels on which the end of the partition has arrived, and those on which it was polled.
        self.closing: set[int] = set()
        self.closed: set[int] = set()

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "arrive":
            return self.on_arrive(wire.get_integer(event, "channel"), wire.get_choice(event, "item", _ITEMS))
        if kind == "poll":
            return self.on_poll()
        raise wire.unknown_type(event)

    @property
    def finished(self) -> bool:
        return len(self.closed) == self.channels

    def is_refused(self, channel: int, item: str) -> bool:
        return channel in self.closing or (item == "end_of_data" and channel in self.data_ended)

    def on_arrive(self, channel: int, item: str) -> wire.Observations:
        if not 0 <= channel < self.channels or self.is_refused(channel, item):
            return wire.rejected()
        received = self.received[channel]
        was_empty = not received
        if item == "end_of_data":
            self.data_ended.add(channel)
        elif item == "end_of_partition":
            self.closing.add(channel)
        received.append(item)
        return self.notify(channel) if was_empty else []

    def notify(self, channel: int) -> wire.Observations:
        was_empty = not self.queue
        self.queue.append(channel)
        return [{"type": "available"}] if was_empty else []

    def on_poll(self) -> wire.Observations:
        if not self.queue:
            return [{"type": "none"}]
        channel = self.queue.popleft()
        received = self.received[channel]
        item = received.popleft()
        if received:
            self.queue.append(channel)
        more = bool(self.queue)
        out: wire.Observations = [{"type": "item", "channel": channel, "item": item, "more": more}]
        if item == "end_of_partition":
            self.closed.add(channel)
        if item == "end_of_partition" and self.finished:
            out.append({"type": "finished"})
        return out


make = Gate

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("GATE-1", "GATE-2", "GATE-3", "GATE-5", "GATE-6", "GATE-7", "GATE-8")
class GateQueuedAtEveryArrival(Gate):
    """A channel gets in line with every arrival, so it stands there several times."""

    on_arrive = changed(Gate.on_arrive, "self.notify(channel) if was_empty else []", "self.notify(channel)")
    on_poll = changed(
        Gate.on_poll,
        "item = received.popleft()",
        'if not received:\n    return [{"type": "none"}]\nitem = received.popleft()',
        "if received:",
        "if False:",
    )


@wrong("GATE-1", "GATE-2", "GATE-5", "GATE-7", "GATE-8")
class GateQueuedInFourLanes(Gate):
    """Membership in the line is kept modulo four: the arrival on one channel is taken for a repeat of another."""

    def notify(self, channel: int) -> wire.Observations:
        if any(queued % 4 == channel % 4 for queued in self.queue):
            return []
        return super().notify(channel)


@wrong("GATE-2", "GATE-7")
class GateAvailableAtEveryChannel(Gate):
    """Every channel that gets in line signals availability, not only the first."""

    notify = changed(Gate.notify, " if was_empty else []", "")


@wrong("GATE-7", "GATE-2", "GATE-4")
class GateAvailableOnlyIfPolledEmpty(Gate):
    """Availability is reset only by a poll that finds nothing, so an arrival right after the last item makes no
    signal.
    """

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.available = False

    def notify(self, channel: int) -> wire.Observations:
        seen = super().notify(channel)
        told, self.available = self.available, True
        return [] if told else seen

    def on_poll(self) -> wire.Observations:
        self.available = self.available and bool(self.queue)
        return super().on_poll()


@wrong("GATE-5", "GATE-3", "GATE-7", "GATE-8", "GATE-9", "GATE-2")
class GateNotRequeued(Gate):
    """A channel with more items is not put back in line."""

    on_poll = changed(Gate.on_poll, "if received:", "if False:")


@wrong("GATE-5", "GATE-7", origin="FLINK-21992")
class GateMoreBeforeRequeue(Gate):
    """Whether there is more is decided before the channel is put back."""

    on_poll = changed(
        Gate.on_poll,
        "more = bool(self.queue)",
        "pass",
        "item = received.popleft()",
        "item = received.popleft()\nmore = bool(self.queue)",
    )


@wrong("GATE-5", "GATE-7")
class GateMoreMeansOwnChannel(Gate):
    """Whether there is more looks at the item's own channel only."""

    on_poll = changed(Gate.on_poll, "more = bool(self.queue)", "more = bool(received)")


@wrong("GATE-8", "GATE-5")
class GateChannelDrainedFirst(Gate):
    """A channel is put back at the front, so it is drained before the others are served."""

    on_poll = changed(Gate.on_poll, "self.queue.append", "self.queue.appendleft")


@wrong("GATE-8", "GATE-5")
class GateLowestChannelFirst(Gate):
    """The lowest channel in line is served first."""

    on_poll = changed(
        Gate.on_poll, "channel = self.queue.popleft()", "channel = min(self.queue)\nself.queue.remove(channel)"
    )


@wrong("GATE-8", "GATE-5")
class GateNewestChannelFirst(Gate):
    """The channel that got in line last is served first."""

    on_poll = changed(Gate.on_poll, "self.queue.popleft()", "self.queue.pop()")


@wrong("GATE-8", "GATE-1", "GATE-5")
class GateNewcomerFirst(Gate):
    """A channel that gets data enters the line at the front."""

    notify = changed(Gate.notify, "self.queue.append", "self.queue.appendleft")


@wrong("GATE-9", "GATE-15", "GATE-5", origin="FLINK-17564")
class GateEndOfDataOvertakes(Gate):
    """The end of data overtakes data already received."""

    on_arrive = changed(
        Gate.on_arrive,
        "received.append(item)",
        '(received.appendleft if item == "end_of_data" else received.append)(item)',
    )


@wrong("GATE-15", "GATE-3", "GATE-2")
class GateEndOfDataTwice(Gate):
    """A second end of data on a channel is accepted."""

    is_refused = changed(Gate.is_refused, "channel in self.data_ended", "False")


@wrong("GATE-15", "GATE-1", "GATE-2", "GATE-3")
class GateEndOfDataOncePerGate(Gate):
    """The end of data is remembered for the gate: the second channel to end is refused."""

    is_refused = changed(Gate.is_refused, "channel in self.data_ended", "bool(self.data_ended)")


@wrong("GATE-15", "GATE-1", "GATE-2", "GATE-3")
class GateDataAfterEndOfDataRefused(Gate):
    """Data behind the end of data is refused."""

    def is_refused(self, channel: int, item: str) -> bool:
        return super().is_refused(channel, item) or (item == "data" and channel in self.data_ended)


@wrong("GATE-16", "GATE-1", "GATE-2", "GATE-3", "GATE-15")
class GateEndOfPartitionNeedsEndOfData(Gate):
    """The end of a partition is refused unless the end of data came before."""

    def is_refused(self, channel: int, item: str) -> bool:
        return super().is_refused(channel, item) or (item == "end_of_partition" and channel not in self.data_ended)


@wrong("GATE-16", "GATE-1", "GATE-2", "GATE-3")
class GateOpenUntilEndPolled(Gate):
    """Arrivals behind the end of the partition are accepted until that end is polled."""

    is_refused = changed(Gate.is_refused, "self.closing", "self.closed")


@wrong("GATE-16", "GATE-5", "GATE-9")
class GateEndOfPartitionDropsData(Gate):
    """The arrival of the end of a partition releases the channel with the data still in it."""

    on_arrive = changed(Gate.on_arrive, "self.closing.add(channel)", "self.closing.add(channel)\nreceived.clear()")


@wrong("GATE-17", "GATE-5", "GATE-16")
class GateEndOfPartitionHasNoMore(Gate):
    """Every end of partition claims that there is nothing more, not only the last."""

    on_poll = changed(Gate.on_poll, "bool(self.queue)", 'bool(self.queue) and item != "end_of_partition"')


@wrong("GATE-17", "GATE-16", origin="apache/doris PR 22988")
class GateFinishedAtFirstEnd(Gate):
    """The first end of partition finishes the gate."""

    on_poll = changed(Gate.on_poll, "self.finished", "len(self.closed) == 1")


@wrong("GATE-17", "GATE-15", "GATE-16")
class GateFinishedAtEndOfData(Gate):
    """The gate is finished when all channels sent end of data."""

    on_poll = changed(
        Gate.on_poll,
        'item == "end_of_partition" and self.finished',
        'item == "end_of_data" and len(self.data_ended) == self.channels',
    )


@wrong("GATE-17", "GATE-16")
class GateFinishedWhenAllEndsArrived(Gate):
    """The gate is finished as soon as the last end of partition has arrived, though others were not polled yet."""

    on_poll = changed(Gate.on_poll, "self.finished", "len(self.closing) == self.channels")


@wrong("GATE-17", "GATE-5")
class GateLastItemPromisesMore(Gate):
    """The last end of partition claims that there is more."""

    on_poll = changed(
        Gate.on_poll, 'out.append({"type": "finished"})', 'out.append({"type": "finished"})\nout[0]["more"] = True'
    )


@wrong("GATE-17", "GATE-4")
class GateFinishedRepeated(Gate):
    """Every poll after the end says again that the gate is finished."""

    def on_poll(self) -> wire.Observations:
        if self.finished:
            return [{"type": "none"}, {"type": "finished"}]
        return super().on_poll()


@wrong("GATE-17", "GATE-16")
class GateFinishedBeforeItem(Gate):
    """The gate says that it is finished before it hands over the last item."""

    on_poll = changed(
        Gate.on_poll, 'out.append({"type": "finished"})', 'out.append({"type": "finished"})\nout.reverse()'
    )
