"""Channels that save what an unaligned checkpoint overtakes, BARR-14, BARR-15, BARR-16, BARR-19, BARR-20."""

from tidegate.conformance.engines import wire

_MODES = ("aligned", "timeout", "unaligned")
_NONE = -1


class Channel:
    """Items are pairs of a kind and a number; `cut` is the number of the barrier that counts."""

    def __init__(self) -> None:
        self.ahead: list[tuple[str, int]] = []
        self.behind: list[tuple[str, int]] = []
        self.count = 0
        self.latest, self.saving, self.has_barrier = _NONE, False, False
        self.barrier, self.cut = _NONE, _NONE


class ChannelState:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("channel-state-")
        self.channels = [Channel() for _ in range(wire.get_at_least(config, "channels", 1))]

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in {"start", "stop"}:
            checkpoint = get_checkpoint(event)
            return self.on_start(checkpoint) if kind == "start" else self.on_stop(checkpoint)
        if kind not in {"data", "event", "barrier", "poll", "prioritize"}:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "channel")
        if index == -1 and self.bug == "minus-one-is-the-last":
            index = len(self.channels) - 1
        known = 0 <= index < len(self.channels)
        channel = self.channels[index] if known else Channel()
        if kind == "barrier":
            seen = self.on_barrier(channel, get_checkpoint(event), wire.get_choice(event, "mode", _MODES))
        elif kind == "prioritize":
            seen = self.on_prioritize(channel, wire.get_integer(event, "sequence"))
        elif kind == "poll":
            seen = self.on_poll(channel)
        else:
            seen = self.on_arrival(channel, index, kind)
        return seen if known else wire.rejected()

    def on_arrival(self, channel: Channel, index: int, kind: str) -> wire.Observations:
        number = channel.count
        channel.behind.append((kind, number))
        channel.count += 1
        counts = kind == "data" or self.bug == "events-saved"
        if not channel.saving or not counts or self.bug == "late-data-lost":
            return []
        return [make_saved(index, channel.latest, [number])]

    def on_barrier(self, channel: Channel, checkpoint: int, mode: str) -> wire.Observations:
        bug, number = self.bug, channel.count
        channel.count += 1
        if mode == "unaligned" and bug == "newest-overtakes-all":
            channel.ahead.insert(0, ("barrier", number))
        elif mode == "unaligned" and bug != "barrier-waits":
            channel.ahead.append(("barrier", number))
        else:
            channel.behind.append(("barrier", number))
            if mode == "timeout" and bug != "no-announcement":
                channel.ahead.append(("announcement", number))
        over = not channel.saving and not channel.has_barrier
        if over and bug != "stopped-barrier-counts":
            obsolete = checkpoint <= channel.latest
        else:
            obsolete = checkpoint < channel.latest and bug != "any-barrier-ends-saving"
        if obsolete:
            return []
        channel.saving = bug == "saves-past-the-barrier" and channel.saving
        channel.has_barrier, channel.latest = True, checkpoint
        if checkpoint > channel.barrier or bug == "last-barrier-cuts":
            channel.barrier, channel.cut = checkpoint, number
        return []

    def on_poll(self, channel: Channel) -> wire.Observations:
        waiting = channel.ahead or channel.behind
        if not waiting:
            return []
        kind, number = waiting.pop(0)
        return [{"type": "polled", "kind": kind, "sequence": number}]

    def on_prioritize(self, channel: Channel, number: int) -> wire.Observations:
        bug, item = self.bug, ("barrier", number)
        latest = (channel.has_barrier and channel.cut == number) or bug == "any-barrier-prioritized"
        unheard = ("announcement", number) in channel.ahead and bug != "prioritized-unannounced"
        if item not in channel.behind or not latest or unheard:
            return wire.rejected()
        channel.behind.remove(item)
        if bug == "prioritized-stays":
            channel.behind.insert(0, item)
        else:
            channel.ahead.append(item)
        return []

    def on_start(self, checkpoint: int) -> wire.Observations:
        bug = self.bug
        out: wire.Observations = []
        kept = [dict(vars(channel)) for channel in self.channels]
        for index, channel in enumerate(self.channels):
            newer = checkpoint < channel.barrier
            if checkpoint > channel.barrier and bug != "old-barrier-cuts":
                channel.barrier = channel.cut = _NONE
            newer = newer or (channel.has_barrier and channel.latest > checkpoint)
            if newer and bug != "older-starts-all-the-same":
                if bug == "all-or-none":
                    for one, before in zip(self.channels, kept, strict=True):
                        vars(one).update(before)
                    out = []
                return [*out, {"type": "subsumed", "channel": index}]
            saved = self.find_overtaken(channel)
            if channel.latest < checkpoint:
                channel.latest, channel.saving, channel.has_barrier = checkpoint, True, False
            if saved:
                out.append(make_saved(index, checkpoint, saved))
        return out

    def find_overtaken(self, channel: Channel) -> list[int]:
        bug, cut = self.bug, channel.cut
        saved: list[int] = []
        for kind, number in channel.behind:
            if cut != _NONE and number > cut and bug != "saves-behind-the-barrier":
                break
            if kind == "event" and bug == "event-ends-saving":
                break
            if kind == "data" or (kind == "event" and bug == "events-saved"):
                saved.append(number)
        return [] if bug == "waiting-data-lost" else saved

    def on_stop(self, checkpoint: int) -> wire.Observations:
        bug = self.bug
        for channel in self.channels:
            if bug == "saving-never-stops":
                continue
            if checkpoint >= channel.latest or bug == "any-stop-stops":
                channel.saving = channel.has_barrier = False
                channel.latest = checkpoint
            if checkpoint == channel.barrier:
                channel.barrier = channel.cut = _NONE
        return []


def make_saved(index: int, checkpoint: int, numbers: list[int]) -> wire.Json:
    return {"type": "saved", "channel": index, "checkpoint": str(checkpoint), "sequences": numbers}


def get_checkpoint(event: wire.Json) -> int:
    checkpoint = wire.get_long(event, "checkpoint")
    if checkpoint < 0:
        raise wire.BadRequestError(f"no checkpoint: {checkpoint}")
    return checkpoint


make = ChannelState
