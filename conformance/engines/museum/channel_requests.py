"""What is asked of channels, CHAN-1 … CHAN-7."""

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

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
                return [{"type": "started" if all(one.is_known for one in self.channels) else "declined"}]
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
        if not channel.is_known or channel.over or unasked:
            return wire.rejected()
        if channel.released or channel.gone:
            return []
        was_empty = not channel.queue
        channel.queue.append((kind, size))
        channel.backlog = backlog
        channel.over = kind == "end"
        return self.wake(number) if was_empty and self.requested and not channel.blocked else []

    def wake(self, number: int) -> wire.Observations:
        return [{"type": "woken", "channel": number}]

    def read(self, channel: Channel) -> wire.Observations:
        if channel.released and channel.kind == "local":
            return [{"type": "empty"}]
        if not channel.is_known or not self.requested:
            return wire.rejected()
        if channel.released or channel.gone:
            return [{"type": "cancelled"}]
        if not channel.queue or channel.blocked:
            return [{"type": "empty"}]
        kind, size = channel.queue.pop(0)
        channel.blocked = kind == "barrier" and channel.kind == "local"
        return [{"type": "got", "item": kind, **({"bytes": size} if kind == "data" else {})}]

    def resume(self, number: int) -> wire.Observations:
        channel = self.channels[number]
        if channel.released or not channel.is_known:
            return wire.rejected()
        if channel.kind == "remote":
            return [{"type": "resumed", "channel": number}] if self.requested else wire.rejected()
        if not channel.blocked:
            return wire.rejected()
        channel.blocked = False
        return self.wake(number) if channel.queue or channel.gone else []

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
        if "channel" in event:
            asked = [wire.get_integer(event, "channel")]
            if not 0 <= asked[0] < len(self.channels) or self.channels[asked[0]].released:
                return wire.rejected()
        else:
            asked = [one for one in range(len(self.channels)) if not self.channels[one].released]
        if not self.requested and any(self.channels[one].kind == "remote" for one in asked):
            return wire.rejected()
        told = [one for one in asked if self.channels[one].is_known and self.requested]
        return [{"type": "size", "channel": one, "size": size} for one in told]

    def measure(self) -> wire.Json:
        shown = self.channels if self.requested else []
        queued = sum(len(one.queue) for one in shown)
        size = sum(part for one in shown if one.kind == "remote" for _, part in one.queue)
        backlog = sum(one.backlog for one in shown)
        return {"type": "measured", "queued": queued, "bytes": size, "in_use": queued + backlog}


make = ChannelRequests

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("CHAN-1")
class ChannelRequestsDataBeforeTheRequest(ChannelRequests):
    """What comes over a connection before it was asked for is queued."""

    arrive = changed(ChannelRequests.arrive, "channel.over or unasked", "channel.over")


@wrong("CHAN-2")
class ChannelRequestsWokenByEveryBuffer(ChannelRequests):
    """The gate is told of every buffer."""

    arrive = changed(ChannelRequests.arrive, "not channel.queue", "True")


@wrong("CHAN-3")
class ChannelRequestsReleasedIsJustEmpty(ChannelRequests):
    """Whoever reads a released remote channel waits for ever."""

    read = changed(ChannelRequests.read, "channel.released or channel.gone", "channel.gone")


@wrong("CHAN-3")
class ChannelRequestsWaitsForWhatIsGone(ChannelRequests):
    """The partition of a local channel was released, and its reader waits for it."""

    read = changed(ChannelRequests.read, "channel.released or channel.gone", "channel.released")


@wrong("CHAN-3")
class ChannelRequestsReleasedResumes(ChannelRequests):
    """A released channel tells its producer to go on."""

    resume = changed(ChannelRequests.resume, "channel.released or ", "")


@wrong("CHAN-4")
class ChannelRequestsReadsPastBarriers(ChannelRequests):
    """A local channel reads on behind a barrier."""

    read = changed(ChannelRequests.read, 'kind == "barrier" and channel.kind == "local"', "False")


@wrong("CHAN-4")
class ChannelRequestsResumesInSilence(ChannelRequests):
    """A local channel that may go on does not tell the gate, which never reads it again."""

    resume = changed(ChannelRequests.resume, "self.wake(number) if channel.queue or channel.gone else []", "[]")


@wrong("CHAN-5")
class ChannelRequestsReleasedAreToldSizes(ChannelRequests):
    """The producer of a released channel is told a size."""

    announce = changed(ChannelRequests.announce, " if not self.channels[one].released]", "]")


@wrong("CHAN-5")
class ChannelRequestsFirstChannelIsTold(ChannelRequests):
    """Only the first channel announces the size."""

    announce = changed(ChannelRequests.announce, "if not self.requested", "asked = asked[:1]\nif not self.requested")


@wrong("CHAN-6")
class ChannelRequestsUnknownChannelsAreSaved(ChannelRequests):
    """A checkpoint begins although nobody knows what a channel will bring."""

    step = changed(ChannelRequests.step, "one.is_known for", 'one.kind != "recovering" for')


@wrong("CHAN-7")
class ChannelRequestsBacklogsAddUp(ChannelRequests):
    """Every backlog counts, and not the last one."""

    arrive = changed(ChannelRequests.arrive, "channel.backlog = backlog", "channel.backlog += backlog")


@wrong("CHAN-7")
class ChannelRequestsBacklogIsNotInUse(ChannelRequests):
    """What the producer still has is not in use."""

    measure = changed(ChannelRequests.measure, "sum(one.backlog for one in shown)", "0")


@wrong("CHAN-7")
class ChannelRequestsLocalBytesCount(ChannelRequests):
    """Bytes that are queued at a local producer count."""

    measure = changed(ChannelRequests.measure, 'one.kind == "remote"', "True")


@wrong("CHAN-7")
class ChannelRequestsLocalCountsBeforeTheRequest(ChannelRequests):
    """What a local producer has counts before anybody asked for it."""

    measure = changed(ChannelRequests.measure, "self.channels if self.requested else []", "self.channels")
