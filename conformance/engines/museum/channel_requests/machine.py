"""What is asked of channels, CHAN-1 … CHAN-7."""

import attrs

from tidegate.conformance.engines import wire

_KINDS = ("remote", "local", "unknown", "recovering")
_OF_CHANNELS = ("data", "barrier", "end", "read", "resume", "gone", "release")


@attrs.define
class Channel:
    kind: str
    queue: list[tuple[str, int]] = attrs.Factory(list)
    backlog: int = 0
    over: bool = False
    blocked: bool = False
    gone: bool = False
    released: bool = False

    @property
    def is_known(self) -> bool:
        return self.kind in ("remote", "local")


class ChannelRequests:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("channel-requests-")
        kinds = config.get("channels")
        if not isinstance(kinds, list) or not kinds or any(kind not in _KINDS for kind in kinds):
            raise wire.BadRequestError("channels must be a list of kinds")
        self.channels = [Channel(kind) for kind in kinds]
        self.requested = False

    def step(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "request":
                return self.request()
            case "announce":
                return self.announce(event)
            case "checkpoint":
                declined = any(not one.is_known for one in self.channels)
                if self.bug == "unknown-channels-are-saved":
                    declined = any(one.kind == "recovering" for one in self.channels)
                return [{"type": "declined" if declined else "started"}]
            case "measure":
                return [self.measure()]
            case kind if kind in _OF_CHANNELS:
                return self.ask_channel(event)
        raise wire.unknown_type(event)

    def request(self) -> wire.Observations:
        if any(one.kind == "recovering" for one in self.channels):
            return wire.rejected()
        if self.requested:
            return []
        self.requested = True
        local = [number for number, one in enumerate(self.channels) if one.kind == "local"]
        return [{"type": "woken", "channel": number} for number in local]

    def ask_channel(self, event: wire.Json) -> wire.Observations:
        number = wire.get_integer(event, "channel")
        kind = event["type"]
        size = wire.get_at_least(event, "bytes", 1 if kind == "data" else 64) if kind in ("data", "barrier") else 4
        backlog = wire.get_at_least({"backlog": 0, **event}, "backlog", 0) if kind == "data" else 0
        if not 0 <= number < len(self.channels):
            return wire.rejected()
        channel = self.channels[number]
        if kind in ("data", "barrier", "end"):
            return self.arrive(number, kind, size, backlog)
        if kind == "read":
            return self.read(channel)
        if kind == "resume":
            return self.resume(number)
        return self.release(channel, gone=kind == "gone")

    def arrive(self, number: int, kind: str, size: int, backlog: int) -> wire.Observations:
        channel = self.channels[number]
        unasked = backlog > 0 if channel.kind == "local" else not self.requested
        if not channel.is_known or channel.over or (unasked and self.bug != "data-before-the-request"):
            return wire.rejected()
        if channel.released or channel.gone:
            return []
        was_empty = not channel.queue or self.bug == "woken-by-every-buffer"
        channel.queue.append((kind, size))
        channel.backlog = channel.backlog + backlog if self.bug == "backlogs-add-up" else backlog
        channel.over = kind == "end"
        return self.wake(number) if was_empty and self.requested and not channel.blocked else []

    def wake(self, number: int) -> wire.Observations:
        return [{"type": "woken", "channel": number}]

    def read(self, channel: Channel) -> wire.Observations:
        if channel.released and channel.kind == "local":
            return [{"type": "empty"}]
        if not channel.is_known or not self.requested:
            return wire.rejected()
        if channel.released and self.bug != "released-is-just-empty":
            return [{"type": "cancelled"}]
        if channel.gone and self.bug != "waits-for-what-is-gone":
            return [{"type": "cancelled"}]
        if not channel.queue or channel.blocked:
            return [{"type": "empty"}]
        kind, size = channel.queue.pop(0)
        channel.blocked = kind == "barrier" and channel.kind == "local" and self.bug != "reads-past-barriers"
        return [{"type": "got", "item": kind, **({"bytes": size} if kind == "data" else {})}]

    def resume(self, number: int) -> wire.Observations:
        channel = self.channels[number]
        if (channel.released and self.bug != "released-resumes") or not channel.is_known:
            return wire.rejected()
        if channel.kind == "remote":
            return [{"type": "resumed", "channel": number}] if self.requested else wire.rejected()
        if not channel.blocked:
            return wire.rejected()
        channel.blocked = False
        return self.wake(number) if (channel.queue or channel.gone) and self.bug != "resumes-in-silence" else []

    def release(self, channel: Channel, *, gone: bool) -> wire.Observations:
        if gone and (channel.kind != "local" or not self.requested or channel.released):
            return wire.rejected()
        if channel.kind == "recovering" or (channel.is_known and not self.requested):
            return wire.rejected()
        if channel.is_known:
            channel.queue = []
            channel.gone = channel.gone or gone
            channel.released = channel.released or not gone
        return []

    def announce(self, event: wire.Json) -> wire.Observations:
        size = wire.get_at_least(event, "size", 1)
        asked = list(range(len(self.channels)))
        if "channel" in event:
            asked = [wire.get_integer(event, "channel")]
            if not 0 <= asked[0] < len(self.channels) or self.channels[asked[0]].released:
                return wire.rejected()
        elif self.bug != "released-are-told-sizes":
            asked = [one for one in asked if not self.channels[one].released]
        if self.bug == "first-channel-is-told":
            asked = asked[:1]
        if not self.requested and any(self.channels[one].kind == "remote" for one in asked):
            return wire.rejected()
        told = [one for one in asked if self.channels[one].is_known and self.requested]
        return [{"type": "size", "channel": one, "size": size} for one in told]

    def measure(self) -> wire.Json:
        shown = self.channels if self.requested else []
        if self.bug == "local-counts-before-the-request":
            shown = self.channels
        queued = sum(len(one.queue) for one in shown)
        sized = [one for one in shown if one.kind == "remote" or self.bug == "local-bytes-count"]
        size = sum(part for one in sized for _, part in one.queue)
        backlog = 0 if self.bug == "backlog-is-not-in-use" else sum(one.backlog for one in shown)
        return {"type": "measured", "queued": queued, "bytes": size, "in_use": queued + backlog}


make = ChannelRequests
