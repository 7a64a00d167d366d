"""The channels of a gate, GATE-19 … GATE-25: how they find their producers, and what comes from there."""

from collections import deque

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_KNOWN = ("local", "remote")
_CAUSES = ("producer_failed", "connection_lost", "reordered", "partition_not_found")
_ITEMS = ("data", "empty", "event")
_OF_CHANNELS = ("update", "register", "retry", "not_found", "arrive", "fail", "read")


@attrs.define(eq=False)
class Channel:
    place: str
    #: The producer is there; the channel has got to it; the channel will look again.
    there: bool = False
    connected: bool = False
    ticking: bool = False
    waited: int = 0
    number: int = 0
    waiting: deque[str] = attrs.Factory(deque)
    error: str = ""


class InputChannels:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        places = config.get("locations")
        if not isinstance(places, list) or not places:
            raise wire.BadRequestError(f"locations must be a list of one or more, not {places!r}")
        self.channels = [
            Channel(wire.get_choice({"location": one}, "location", ("unknown", *_KNOWN))) for one in places
        ]
        self.initial = wire.get_at_least(config, "initial", 0) if "initial" in config else 100
        self.maximum = wire.get_at_least(config, "maximum", self.initial) if "maximum" in config else 10_000
        self.timeout = wire.get_at_least(config, "timeout", 0) if "timeout" in config else 10_000
        if self.initial > self.maximum:
            raise wire.BadRequestError(f"initial must not be above {self.maximum}, not {self.initial}")
        self.requested = self.closed = False
        self.kept: list[int] = []

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "request_partitions":
            return self.on_request_partitions()
        if kind == "task_event":
            return self.on_task_event(wire.get_integer(event, "event"))
        if kind == "close":
            self.closed = True
            for channel in self.channels:
                channel.waiting.clear()
                channel.ticking = False
            return []
        if kind not in _OF_CHANNELS:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "channel")
        place = wire.get_choice(event, "location", _KNOWN) if kind == "update" else ""
        item = wire.get_choice(event, "item", _ITEMS) if kind == "arrive" else ""
        number = wire.get_integer(event, "sequence") if kind == "arrive" else 0
        cause = wire.get_choice(event, "cause", _CAUSES) if kind == "fail" else ""
        if not 0 <= index < len(self.channels):
            return wire.rejected()
        channel = self.channels[index]
        match kind:
            case "update":
                return self.on_update(index, channel, place)
            case "arrive":
                return self.on_arrive(index, channel, number, item)
            case "fail" if self.closed or channel.place == "unknown":
                return wire.rejected()
            case "fail":
                return self.fail(index, channel, cause)
            case "read":
                return self.on_read(index, channel)
        return self.on_search(kind, index, channel)

    # --- the way to the producer

    def on_request_partitions(self) -> wire.Observations:
        if self.requested:
            return []
        if self.closed:
            return wire.rejected()
        self.requested = True
        out: wire.Observations = []
        for index, channel in enumerate(self.channels):
            out += self.ask(index, channel)
            if channel.place == "local" and not (channel.connected or channel.ticking):
                break
        return out

    def ask(self, index: int, channel: Channel) -> wire.Observations:
        if channel.place == "unknown":
            return []
        if channel.place == "remote":
            channel.connected = True
            return [{"type": "request", "channel": index}]
        if channel.there:
            channel.connected = True
            return [{"type": "notified", "channel": index}]
        delay = self.compute_delay(channel.waited)
        if delay is None:
            return self.fail(index, channel, "partition_not_found")
        channel.waited, channel.ticking = delay, True
        return [{"type": "retry_in", "channel": index, "delay": delay}]

    def compute_delay(self, last: int) -> int | None:
        if not self.initial:
            return None
        if not last:
            return self.initial
        if last >= self.maximum:
            return None
        return min(2 * last, self.maximum)

    def on_search(self, kind: str, index: int, channel: Channel) -> wire.Observations:
        if kind == "register":
            channel.there = True
            return []
        if kind == "retry":
            if not channel.ticking:
                return wire.rejected()
            channel.ticking = False
            return self.ask(index, channel)
        return self.on_not_found(index, channel)

    def on_not_found(self, index: int, channel: Channel) -> wire.Observations:
        if self.closed or channel.place != "remote" or not channel.connected or channel.error:
            return wire.rejected()
        waited = channel.waited + self.timeout
        if waited >= 2 * self.maximum or not self.timeout:
            return self.fail(index, channel, "partition_not_found")
        channel.waited = waited
        return [{"type": "request", "channel": index}]

    def on_update(self, index: int, channel: Channel, place: str) -> wire.Observations:
        if self.closed or channel.place != "unknown":
            return []
        if self.kept and (not self.requested or (place == "local" and not channel.there)):
            return wire.rejected()
        channel.place = place
        out = self.ask(index, channel) if self.requested else []
        out += [{"type": "sent", "channel": index, "event": number} for number in self.kept]
        if all(one.place != "unknown" for one in self.channels):
            self.kept = []
        return out

    def on_task_event(self, number: int) -> wire.Observations:
        known = [channel for channel in self.channels if channel.place != "unknown"]
        if self.closed or not all(one.connected and not one.error for one in known):
            return wire.rejected()
        if len(known) < len(self.channels):
            self.kept = [*self.kept, number]
        told = [index for index, channel in enumerate(self.channels) if channel.connected]
        return [{"type": "sent", "channel": index, "event": number} for index in told]

    # --- what comes from there

    def fail(self, index: int, channel: Channel, cause: str) -> wire.Observations:
        if channel.error:
            return []
        channel.error = cause
        return [{"type": "notified", "channel": index}]

    def on_arrive(self, index: int, channel: Channel, number: int, item: str) -> wire.Observations:
        if not channel.connected or (self.closed and channel.place == "local"):
            return wire.rejected()
        told: wire.Observations = [{"type": "notified", "channel": index}]
        if channel.place == "local":
            channel.waiting.append(item)
            return told
        recycled: wire.Observations = [] if item == "empty" else [{"type": "recycled", "channel": index}]
        if self.closed and (number == channel.number or item == "empty"):
            return recycled
        if number != channel.number:
            return recycled + self.fail(index, channel, "reordered")
        channel.number = number + 1
        if item == "empty":
            return []
        known = bool(channel.waiting)
        channel.waiting.append(item)
        return [] if known else told

    def on_read(self, index: int, channel: Channel) -> wire.Observations:
        if self.closed or channel.place == "unknown":
            return wire.rejected()
        if channel.error:
            return [{"type": "failed", "channel": index, "cause": channel.error}]
        if not channel.connected:
            return wire.rejected()
        while channel.waiting and channel.waiting[0] == "empty":
            channel.waiting.popleft()
        if not channel.waiting:
            return [{"type": "none"}]
        item = channel.waiting.popleft()
        return [{"type": "delivered", "channel": index, "item": item, "more": bool(channel.waiting)}]


make = InputChannels

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("GATE-3", "GATE-24")
class ChannelsEveryItemWakes(InputChannels):
    """A remote channel that has something notifies the gate of each further item."""

    on_arrive = changed(InputChannels.on_arrive, "[] if known else told", "told")


@wrong("GATE-19", "GATE-22")
class ChannelsRequestsAgain(InputChannels):
    """A repeated call requests the partitions again, and consumes them twice."""

    on_request_partitions = changed(InputChannels.on_request_partitions, "if self.requested:", "if False:")


@wrong("GATE-19")
class ChannelsSecondRequestRefused(InputChannels):
    """A repeated call for the partitions is refused."""

    on_request_partitions = changed(InputChannels.on_request_partitions, "return []", "return wire.rejected()")


@wrong("GATE-19")
class ChannelsClosedGateRequests(InputChannels):
    """A closed gate requests its partitions."""

    on_request_partitions = changed(InputChannels.on_request_partitions, "self.closed", "False")


@wrong("GATE-19")
class ChannelsUnaskedChannelIsEmpty(InputChannels):
    """A channel that has not asked for its partition reads as empty."""

    on_read = changed(
        InputChannels.on_read,
        "if not channel.connected:\n        return wire.rejected()",
        'if not channel.connected:\n    return [{"type": "none"}]',
    )


@wrong("GATE-20")
class ChannelsUnknownChannelIsEmpty(InputChannels):
    """A channel whose producer is not known reads as empty."""

    def on_read(self, index: int, channel: Channel) -> wire.Observations:
        if channel.place == "unknown" and not self.closed:
            return [{"type": "none"}]
        return super().on_read(index, channel)


@wrong("GATE-20", "GATE-21")
class ChannelsEventsNotKept(InputChannels):
    """Task events are not kept for channels that are unknown."""

    on_task_event = changed(InputChannels.on_task_event, "len(known) < len(self.channels)", "False")


@wrong("GATE-20", "GATE-21")
class ChannelsEventsKeptBackwards(InputChannels):
    """Task events that were kept are sent the last one first."""

    on_task_event = changed(InputChannels.on_task_event, "[*self.kept, number]", "[number, *self.kept]")


@wrong("GATE-20", "GATE-21")
class ChannelsFirstFoundGetsTheEvents(InputChannels):
    """Task events that were kept go to the first channel that becomes known, and are forgotten."""

    on_update = changed(InputChannels.on_update, 'all(one.place != "unknown" for one in self.channels)', "True")


@wrong("GATE-20")
class ChannelsEventGoesToTheFirst(InputChannels):
    """A task event goes to one producer."""

    on_task_event = changed(InputChannels.on_task_event, "for index in told]", "for index in told[:1]]")


@wrong("GATE-20")
class ChannelsFailedChannelGetsEvents(InputChannels):
    """A task event goes also to a channel that has failed."""

    on_task_event = changed(InputChannels.on_task_event, " and not one.error", "")


@wrong("GATE-21", "GATE-20")
class ChannelsFoundChannelDoesNotAsk(InputChannels):
    """A channel that becomes known after the gate has asked does not ask for its partition."""

    on_update = changed(InputChannels.on_update, "self.ask(index, channel) if self.requested else []", "[]")


@wrong("GATE-21", "GATE-20")
class ChannelsFoundChannelAsksAlways(InputChannels):
    """A channel that becomes known asks for its partition though the gate has not asked."""

    on_update = changed(InputChannels.on_update, " if self.requested else []", "")


@wrong("GATE-21")
class ChannelsKnownChannelReplaced(InputChannels):
    """An update replaces a channel that is known."""

    on_update = changed(InputChannels.on_update, 'channel.place != "unknown"', "channel.place == place")


@wrong("GATE-21")
class ChannelsClosedGateUpdated(InputChannels):
    """An update of a closed gate turns a channel into one that asks."""

    on_update = changed(InputChannels.on_update, "self.closed or ", "")


@wrong("GATE-22", "GATE-19", "GATE-21", "GATE-20")
class ChannelsNeverLooksAgain(InputChannels):
    """A local channel that does not find its partition fails at once."""

    def compute_delay(self, last: int) -> int | None:
        return None


@wrong("GATE-22", "GATE-19", "GATE-21", "GATE-20")
class ChannelsWaitsLongestFirst(InputChannels):
    """The first delay of a local channel is the longest."""

    compute_delay = changed(InputChannels.compute_delay, "return self.initial", "return self.maximum")


@wrong("GATE-22", "GATE-19", "GATE-21", "GATE-20")
class ChannelsZeroIsADelay(InputChannels):
    """A local channel whose initial delay is zero asks again at once, and again."""

    compute_delay = changed(InputChannels.compute_delay, "not self.initial", "False")


@wrong("GATE-22", "GATE-19")
class ChannelsAsksOnBehindAFailure(InputChannels):
    """A channel that fails at once does not keep the gate from asking those behind it."""

    on_request_partitions = changed(
        InputChannels.on_request_partitions,
        'channel.place == "local" and not (channel.connected or channel.ticking)',
        "False",
    )


@wrong("GATE-22")
class ChannelsDelaysStay(InputChannels):
    """The delay of a local channel does not grow."""

    compute_delay = changed(InputChannels.compute_delay, "2 * last", "last")


@wrong("GATE-22")
class ChannelsDelaysPassTheMaximum(InputChannels):
    """The last delay of a local channel passes the maximum."""

    compute_delay = changed(InputChannels.compute_delay, "min(2 * last, self.maximum)", "2 * last")


@wrong("GATE-22")
class ChannelsGivesUpBelowTheMaximum(InputChannels):
    """A local channel does not wait for the maximum if doubling passes it."""

    compute_delay = changed(InputChannels.compute_delay, "last >= self.maximum", "2 * last > self.maximum")


@wrong("GATE-22")
class ChannelsLooksForEver(InputChannels):
    """A local channel never gives up."""

    compute_delay = changed(InputChannels.compute_delay, "last >= self.maximum", "False")


@wrong("GATE-22")
class ChannelsRegistrationConnects(InputChannels):
    """A registration wakes a local channel that would look again later."""

    on_search = changed(
        InputChannels.on_search, "return []", "return self.ask(index, channel) if channel.ticking else []"
    )


@wrong("GATE-22", "GATE-19", "GATE-21", "GATE-20")
class ChannelsPartitionFoundInSilence(InputChannels):
    """A local channel that has found its partition does not tell the gate, which never reads what was there
    before.
    """

    ask = changed(InputChannels.ask, '[{"type": "notified", "channel": index}]', "[]")


@wrong("GATE-22", "GATE-23")
class ChannelsWaitsHalfAsLong(InputChannels):
    """A remote channel gives up when it has waited for the maximum, not twice that."""

    on_not_found = changed(InputChannels.on_not_found, "2 * self.maximum", "self.maximum")


@wrong("GATE-22", "GATE-23")
class ChannelsAsksOnceMore(InputChannels):
    """A remote channel asks again when it has waited exactly twice the maximum."""

    on_not_found = changed(InputChannels.on_not_found, "waited >= 2", "waited > 2")


@wrong("GATE-22", "GATE-23")
class ChannelsAsksRemoteForEver(InputChannels):
    """A remote channel never gives up."""

    on_not_found = changed(InputChannels.on_not_found, "channel.waited = waited", "channel.waited = 0")


@wrong("GATE-22", "GATE-23")
class ChannelsAsksForEverWithoutTimeout(InputChannels):
    """Without a timeout a remote channel never gives up."""

    on_not_found = changed(InputChannels.on_not_found, " or not self.timeout", "")


@wrong("GATE-23")
class ChannelsLastErrorStays(InputChannels):
    """A later error replaces the first, which is the cause."""

    fail = changed(InputChannels.fail, "return []", "channel.error = cause\nreturn []")


@wrong("GATE-23", "GATE-24")
class ChannelsEachErrorWakes(InputChannels):
    """Each error notifies the gate."""

    def fail(self, index: int, channel: Channel, cause: str) -> wire.Observations:
        super().fail(index, channel, cause)
        return [{"type": "notified", "channel": index}]


@wrong("GATE-23", "GATE-22", "GATE-24")
class ChannelsErrorWakesNobody(InputChannels):
    """An error does not notify the gate: who sleeps on it sleeps on."""

    def fail(self, index: int, channel: Channel, cause: str) -> wire.Observations:
        super().fail(index, channel, cause)
        return []


@wrong("GATE-23")
class ChannelsErrorIsToldOnce(InputChannels):
    """The error is gone when it was read."""

    def on_read(self, index: int, channel: Channel) -> wire.Observations:
        seen = super().on_read(index, channel)
        if seen[0]["type"] == "failed":
            channel.error = ""
        return seen


@wrong("GATE-23")
class ChannelsDataBeforeTheError(InputChannels):
    """What waits on a failed channel is read before the error."""

    on_read = changed(InputChannels.on_read, "if channel.error:", "if channel.error and not channel.waiting:")


@wrong("GATE-24", "GATE-23")
class ChannelsGapsGoUnnoticed(InputChannels):
    """An item with a number that is too high is taken: data was lost."""

    on_arrive = changed(InputChannels.on_arrive, "number != channel.number", "number < channel.number")


@wrong("GATE-24", "GATE-23")
class ChannelsDoublesGoUnnoticed(InputChannels):
    """An item with a number that is too low is taken: data came twice."""

    on_arrive = changed(InputChannels.on_arrive, "number != channel.number", "number > channel.number")


@wrong("GATE-24", "GATE-23")
class ChannelsEventsNotNumbered(InputChannels):
    """Events take no number."""

    on_arrive = changed(
        InputChannels.on_arrive, "channel.number = number + 1", 'channel.number = number + (item != "event")'
    )


@wrong("GATE-24", "GATE-23")
class ChannelsReorderedBufferLeaks(InputChannels):
    """An item that is out of order is not given back."""

    on_arrive = changed(InputChannels.on_arrive, "recycled + self.fail", "self.fail")


@wrong("GATE-24")
class ChannelsReleasedChannelLeaks(InputChannels):
    """What arrives after the release is not given back."""

    on_arrive = changed(InputChannels.on_arrive, '"empty"):\n        return recycled', '"empty"):\n    return []')


@wrong("GATE-25", "GATE-24", "GATE-23")
class ChannelsEmptyNotNumbered(InputChannels):
    """An empty buffer takes no number."""

    on_arrive = changed(
        InputChannels.on_arrive, "channel.number = number + 1", 'channel.number = number + (item != "empty")'
    )


@wrong("GATE-25", "GATE-24")
class ChannelsEmptyBufferQueued(InputChannels):
    """A remote channel queues and reports empty buffers."""

    on_arrive = changed(InputChannels.on_arrive, 'if item == "empty":', "if False:")


@wrong("GATE-25", "GATE-3")
class ChannelsLocalEmptyBufferIsSilent(InputChannels):
    """An empty buffer of a local channel does not notify the gate."""

    on_arrive = changed(InputChannels.on_arrive, "return told", 'return [] if item == "empty" else told')


@wrong("GATE-25", "GATE-24")
class ChannelsLocalEmptyBufferDelivered(InputChannels):
    """A local channel hands out empty buffers."""

    on_read = changed(InputChannels.on_read, 'channel.waiting and channel.waiting[0] == "empty"', "False")


@wrong("GATE-25", "GATE-24")
class ChannelsEmptyBufferEndsTheRead(InputChannels):
    """A local channel that meets an empty buffer gives nothing, instead of what lies behind it."""

    on_read = changed(
        InputChannels.on_read,
        'while channel.waiting and channel.waiting[0] == "empty":\n        channel.waiting.popleft()',
        'if channel.waiting and channel.waiting[0] == "empty":\n'
        "    channel.waiting.popleft()\n"
        '    return [{"type": "none"}]',
    )


@wrong("GATE-25", "GATE-24")
class ChannelsMoreLooksThrough(InputChannels):
    """Empty buffers behind an item do not count as more."""

    on_read = changed(InputChannels.on_read, "bool(channel.waiting)", 'any(one != "empty" for one in channel.waiting)')


@wrong("GATE-23", "GATE-19")
class ChannelsUnaskedChannelHidesItsError(InputChannels):
    """A remote channel that has not asked for its partition does not say that it has failed."""

    on_read = changed(
        InputChannels.on_read,
        "if channel.error:",
        'if channel.error and (channel.connected or channel.place == "local"):',
    )


@wrong("GATE-24")
class ChannelsReleasedChannelTakesAnyNumber(InputChannels):
    """What arrives after the channel was released is given back without a look at its number."""

    on_arrive = changed(
        InputChannels.on_arrive, 'self.closed and (number == channel.number or item == "empty")', "self.closed"
    )


@wrong("GATE-20")
class ChannelsEventsRefusedBeforeTheRequest(InputChannels):
    """A task event is refused before the gate has asked for its partitions, although no channel is known."""

    on_task_event = changed(InputChannels.on_task_event, "if self.closed", "if not self.requested or self.closed")


@wrong("GATE-22", "GATE-19")
class ChannelsAsksOnBehindAnOldFailure(InputChannels):
    """The gate asks for what lies behind a channel that had failed before, and does not find its partition."""

    on_request_partitions = changed(
        InputChannels.on_request_partitions,
        "out += self.ask(index, channel)",
        "failed = channel.error\nout += self.ask(index, channel)",
        'channel.place == "local" and not (channel.connected or channel.ticking)',
        "channel.error != failed",
    )
