"""The channels of a gate, GATE-19 … GATE-25: how they find their producers, and what comes from there."""

from collections import deque

import attrs

from tidegate.conformance.engines import wire

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
        self.bug = host.bug.removeprefix("channels-")
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
            case "fail":
                return (
                    wire.rejected() if self.closed or channel.place == "unknown" else self.fail(index, channel, cause)
                )
            case "read":
                return self.on_read(index, channel)
        return self.on_search(kind, index, channel)

    # --- the way to the producer

    def on_request_partitions(self) -> wire.Observations:
        bug = self.bug
        if self.requested and bug != "requests-again":
            return wire.rejected() if bug == "second-request-refused" else []
        if self.closed and bug != "closed-gate-requests":
            return wire.rejected()
        self.requested = True
        out: wire.Observations = []
        for index, channel in enumerate(self.channels):
            failed = channel.error
            out += self.ask(index, channel)
            gives_up = channel.place == "local" and not (channel.connected or channel.ticking)
            if bug == "asks-on-behind-an-old-failure":
                gives_up = channel.error != failed
            if gives_up and bug != "asks-on-behind-a-failure":
                break
        return out

    def ask(self, index: int, channel: Channel) -> wire.Observations:
        bug = self.bug
        if channel.place == "unknown":
            return []
        if channel.place == "remote":
            channel.connected = True
            return [{"type": "request", "channel": index}]
        if channel.there:
            channel.connected = True
            return [] if bug == "partition-found-in-silence" else [{"type": "notified", "channel": index}]
        delay = self.compute_delay(channel.waited)
        if delay is None:
            return self.fail(index, channel, "partition_not_found")
        channel.waited, channel.ticking = delay, True
        return [{"type": "retry_in", "channel": index, "delay": delay}]

    def compute_delay(self, last: int) -> int | None:
        bug = self.bug
        if bug == "never-looks-again":
            return None
        if not self.initial and bug != "zero-is-a-delay":
            return None
        if not last:
            return self.maximum if bug == "waits-longest-first" else self.initial
        if last >= self.maximum and bug != "looks-for-ever":
            return None
        following = last if bug == "delays-stay" else 2 * last
        if bug == "gives-up-below-the-maximum" and following > self.maximum:
            return None
        return following if bug == "delays-pass-the-maximum" else min(following, self.maximum)

    def on_search(self, kind: str, index: int, channel: Channel) -> wire.Observations:
        if kind == "register":
            channel.there = True
            found = self.bug == "registration-connects" and channel.ticking
            return self.ask(index, channel) if found else []
        if kind == "retry":
            if not channel.ticking:
                return wire.rejected()
            channel.ticking = False
            return self.ask(index, channel)
        return self.on_not_found(index, channel)

    def on_not_found(self, index: int, channel: Channel) -> wire.Observations:
        bug = self.bug
        if self.closed or channel.place != "remote" or not channel.connected or channel.error:
            return wire.rejected()
        waited = channel.waited + self.timeout
        most = self.maximum if bug == "waits-half-as-long" else 2 * self.maximum
        if bug == "asks-once-more":
            most += 1
        if waited >= most or (not self.timeout and bug != "asks-for-ever-without-timeout"):
            return self.fail(index, channel, "partition_not_found")
        channel.waited = 0 if bug == "asks-remote-for-ever" else waited
        return [{"type": "request", "channel": index}]

    def on_update(self, index: int, channel: Channel, place: str) -> wire.Observations:
        bug = self.bug
        if self.closed and bug != "closed-gate-updated":
            return []
        if channel.place != "unknown" and not (bug == "known-channel-replaced" and channel.place != place):
            return []
        if self.kept and (not self.requested or (place == "local" and not channel.there)):
            return wire.rejected()
        channel.place = place
        out = self.ask(index, channel) if self.requested and bug != "found-channel-does-not-ask" else []
        if bug == "found-channel-asks-always" and not self.requested:
            out = self.ask(index, channel)
        out += [{"type": "sent", "channel": index, "event": number} for number in self.kept]
        if all(one.place != "unknown" for one in self.channels) or bug == "first-found-gets-the-events":
            self.kept = []
        return out

    def on_task_event(self, number: int) -> wire.Observations:
        bug = self.bug
        known = [channel for channel in self.channels if channel.place != "unknown"]
        lost = not all(one.connected and (not one.error or bug == "failed-channel-gets-events") for one in known)
        if self.closed or lost or (bug == "events-refused-before-the-request" and not self.requested):
            return wire.rejected()
        if len(known) < len(self.channels) and bug != "events-not-kept":
            self.kept = [number, *self.kept] if bug == "events-kept-backwards" else [*self.kept, number]
        told = [index for index, channel in enumerate(self.channels) if channel.connected]
        if bug == "event-goes-to-the-first":
            told = told[:1]
        return [{"type": "sent", "channel": index, "event": number} for index in told]

    # --- what comes from there

    def fail(self, index: int, channel: Channel, cause: str) -> wire.Observations:
        bug = self.bug
        known, channel.error = channel.error, channel.error or cause
        if known and bug == "last-error-stays":
            channel.error = cause
        if (known and bug != "each-error-wakes") or bug == "error-wakes-nobody":
            return []
        return [{"type": "notified", "channel": index}]

    def on_arrive(self, index: int, channel: Channel, number: int, item: str) -> wire.Observations:
        bug = self.bug
        if not channel.connected or (self.closed and channel.place == "local"):
            return wire.rejected()
        told: wire.Observations = [{"type": "notified", "channel": index}]
        if channel.place == "local":
            channel.waiting.append(item)
            return [] if item == "empty" and bug == "local-empty-buffer-is-silent" else told
        recycled: wire.Observations = [] if item == "empty" else [{"type": "recycled", "channel": index}]
        if self.closed and (number == channel.number or item == "empty" or bug == "released-channel-takes-any-number"):
            return [] if bug == "released-channel-leaks" else recycled
        if number != channel.number and not self.takes(number, channel):
            return ([] if bug == "reordered-buffer-leaks" else recycled) + self.fail(index, channel, "reordered")
        counts = (item != "event" or bug != "events-not-numbered") and (item != "empty" or bug != "empty-not-numbered")
        channel.number = number + 1 if counts else channel.number
        if item == "empty" and bug != "empty-buffer-queued":
            return []
        known = bool(channel.waiting)
        channel.waiting.append(item)
        return told if not known or bug == "every-item-wakes" else []

    def takes(self, number: int, channel: Channel) -> bool:
        """Whether a wrong channel takes an item that is out of order."""
        if self.bug == "gaps-go-unnoticed":
            return number > channel.number
        return self.bug == "doubles-go-unnoticed" and number < channel.number

    def on_read(self, index: int, channel: Channel) -> wire.Observations:
        bug = self.bug
        nothing: wire.Observations = [{"type": "none"}]
        if self.closed or channel.place == "unknown":
            return nothing if not self.closed and bug == "unknown-channel-is-empty" else wire.rejected()
        if channel.error and (
            bug != "unasked-channel-hides-its-error" or channel.connected or channel.place == "local"
        ):
            cause = channel.error
            if bug == "error-is-told-once":
                channel.error = ""
            if not (channel.waiting and bug == "data-before-the-error"):
                return [{"type": "failed", "channel": index, "cause": cause}]
        if not channel.connected:
            return nothing if bug == "unasked-channel-is-empty" else wire.rejected()
        while channel.waiting and channel.waiting[0] == "empty" and bug != "local-empty-buffer-delivered":
            channel.waiting.popleft()
            if bug == "empty-buffer-ends-the-read":
                return nothing
        if not channel.waiting:
            return nothing
        item = channel.waiting.popleft()
        more = any(one != "empty" for one in channel.waiting) if bug == "more-looks-through" else bool(channel.waiting)
        return [{"type": "delivered", "channel": index, "item": item, "more": more}]


make = InputChannels
