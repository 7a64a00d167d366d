"""Channels that save what an unaligned checkpoint overtakes, BARR-14, BARR-15, BARR-16, BARR-19, BARR-20."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

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
        self.channels = [Channel() for _ in range(wire.get_at_least(config, "channels", 1))]

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in {"start", "stop"}:
            checkpoint = get_checkpoint(event)
            return self.on_start(checkpoint) if kind == "start" else self.on_stop(checkpoint)
        if kind not in {"data", "event", "barrier", "poll", "prioritize"}:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "channel")
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
        if not channel.saving or kind != "data":
            return []
        return [make_saved(index, channel.latest, [number])]

    def on_barrier(self, channel: Channel, checkpoint: int, mode: str) -> wire.Observations:
        number = channel.count
        channel.count += 1
        if mode == "unaligned":
            channel.ahead.append(("barrier", number))
        else:
            channel.behind.append(("barrier", number))
            if mode == "timeout":
                channel.ahead.append(("announcement", number))
        over = not channel.saving and not channel.has_barrier
        if checkpoint < channel.latest or (over and checkpoint == channel.latest):
            return []
        channel.has_barrier, channel.saving, channel.latest = True, False, checkpoint
        if checkpoint > channel.barrier:
            channel.barrier, channel.cut = checkpoint, number
        return []

    def on_poll(self, channel: Channel) -> wire.Observations:
        waiting = channel.ahead or channel.behind
        if not waiting:
            return []
        kind, number = waiting.pop(0)
        return [{"type": "polled", "kind": kind, "sequence": number}]

    def on_prioritize(self, channel: Channel, number: int) -> wire.Observations:
        item = ("barrier", number)
        latest = channel.has_barrier and channel.cut == number
        unheard = ("announcement", number) in channel.ahead
        if item not in channel.behind or not latest or unheard:
            return wire.rejected()
        channel.behind.remove(item)
        channel.ahead.append(item)
        return []

    def on_start(self, checkpoint: int) -> wire.Observations:
        out: wire.Observations = []
        for index, channel in enumerate(self.channels):
            newer = checkpoint < channel.barrier
            if checkpoint > channel.barrier:
                channel.barrier = channel.cut = _NONE
            if newer or (channel.has_barrier and channel.latest > checkpoint):
                return [*out, {"type": "subsumed", "channel": index}]
            saved = self.find_overtaken(channel)
            if channel.latest < checkpoint:
                channel.latest, channel.saving, channel.has_barrier = checkpoint, True, False
            if saved:
                out.append(make_saved(index, checkpoint, saved))
        return out

    def find_overtaken(self, channel: Channel) -> list[int]:
        saved: list[int] = []
        for kind, number in channel.behind:
            if number > channel.cut != _NONE:
                break
            if kind == "data":
                saved.append(number)
        return saved

    def on_stop(self, checkpoint: int) -> wire.Observations:
        for channel in self.channels:
            if checkpoint >= channel.latest:
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

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("BARR-14", "BARR-16")
class ChannelStateWaitingDataLost(ChannelState):
    """What waits in a channel when the checkpoint starts is not saved: overtaken data is lost."""

    def find_overtaken(self, channel: Channel) -> list[int]:
        return []


@wrong("BARR-14", "BARR-20")
class ChannelStateLateDataLost(ChannelState):
    """What comes in between the start of the checkpoint and the barrier is not saved."""

    def on_arrival(self, channel: Channel, index: int, kind: str) -> wire.Observations:
        super().on_arrival(channel, index, kind)
        return []


@wrong("BARR-14", "BARR-16")
class ChannelStateSavesBehindTheBarrier(ChannelState):
    """What waits behind the barrier is saved as well, and comes twice after a restart."""

    find_overtaken = changed(ChannelState.find_overtaken, "number > channel.cut != _NONE", "False")


@wrong("BARR-14", "BARR-20")
class ChannelStateSavesPastTheBarrier(ChannelState):
    """The barrier does not end saving: what comes behind it is saved until the checkpoint stops."""

    on_barrier = changed(
        ChannelState.on_barrier,
        "channel.has_barrier, channel.saving, channel.latest = True, False, checkpoint",
        "channel.has_barrier, channel.latest = True, checkpoint",
    )


@wrong("BARR-14", "BARR-16")
class ChannelStateEventsSaved(ChannelState):
    """Events are saved with the data."""

    on_arrival = changed(ChannelState.on_arrival, ' or kind != "data"', "")
    find_overtaken = changed(ChannelState.find_overtaken, 'kind == "data"', 'kind in {"data", "event"}')


@wrong("BARR-14", "BARR-16")
class ChannelStateEventEndsSaving(ChannelState):
    """What waits behind an event is not saved."""

    find_overtaken = changed(
        ChannelState.find_overtaken, 'if kind == "data":', 'if kind == "event":\n    break\nif kind == "data":'
    )


@wrong("BARR-14", "BARR-16")
class ChannelStateOldBarrierCuts(ChannelState):
    """The barrier of an older checkpoint cuts the newer one: what waits behind it is lost."""

    on_start = changed(ChannelState.on_start, "checkpoint > channel.barrier", "False")


@wrong("BARR-14", "BARR-16", "BARR-19")
class ChannelStateLastBarrierCuts(ChannelState):
    """A second barrier of the same checkpoint moves the cut."""

    on_barrier = changed(ChannelState.on_barrier, "if checkpoint > channel.barrier:", "if True:")


@wrong("BARR-15", "BARR-14", "BARR-16", "BARR-19")
class ChannelStateBarrierWaits(ChannelState):
    """An unaligned barrier waits behind the data: checkpoints are as slow as their channels."""

    on_barrier = changed(ChannelState.on_barrier, 'mode == "unaligned"', "False")


@wrong("BARR-15")
class ChannelStateNewestOvertakesAll(ChannelState):
    """A barrier overtakes those that came before it."""

    on_barrier = changed(
        ChannelState.on_barrier,
        'channel.ahead.append(("barrier", number))',
        'channel.ahead.insert(0, ("barrier", number))',
    )


@wrong("BARR-16", "BARR-14")
class ChannelStateOlderStartsAllTheSame(ChannelState):
    """A checkpoint starts although a newer barrier has arrived, and saves too much."""

    on_start = changed(ChannelState.on_start, "newer or (channel.has_barrier and channel.latest > checkpoint)", "False")


@wrong("BARR-16", "BARR-14")
class ChannelStateAllOrNone(ChannelState):
    """When a channel refuses, those before it are put back as if nothing had been started."""

    def on_start(self, checkpoint: int) -> wire.Observations:
        kept = [dict(vars(channel)) for channel in self.channels]
        out = super().on_start(checkpoint)
        if not out or out[-1]["type"] != "subsumed":
            return out
        for channel, before in zip(self.channels, kept, strict=True):
            vars(channel).update(before)
        return out[-1:]


@wrong("BARR-19", "BARR-15")
class ChannelStateNoAnnouncement(ChannelState):
    """A barrier that may time out is not announced: nobody knows that it waits."""

    on_barrier = changed(ChannelState.on_barrier, 'mode == "timeout"', "False")


@wrong("BARR-19", "BARR-15")
class ChannelStatePrioritizedStays(ChannelState):
    """A barrier that is made to overtake goes to the head of the data, behind nothing else that overtakes, and is
    not known to overtake.
    """

    on_prioritize = changed(ChannelState.on_prioritize, "channel.ahead.append(item)", "channel.behind.insert(0, item)")


@wrong("BARR-19", "BARR-15")
class ChannelStateAnyBarrierPrioritized(ChannelState):
    """A barrier that is not the latest one can be made to overtake."""

    on_prioritize = changed(ChannelState.on_prioritize, "channel.has_barrier and channel.cut == number", "True")


@wrong("BARR-19", "BARR-15")
class ChannelStatePrioritizedUnannounced(ChannelState):
    """A barrier is made to overtake before its announcement was handed out."""

    on_prioritize = changed(ChannelState.on_prioritize, '("announcement", number) in channel.ahead', "False")


@wrong("BARR-20", "BARR-14", "BARR-15", "BARR-16", "BARR-19")
class ChannelStateStoppedBarrierCounts(ChannelState):
    """The barrier of a checkpoint that was given up counts when it comes after all."""

    on_barrier = changed(ChannelState.on_barrier, " or (over and checkpoint == channel.latest)", "")


@wrong("BARR-20", "BARR-14", "BARR-16", "BARR-19")
class ChannelStateAnyBarrierEndsSaving(ChannelState):
    """The barrier of an older checkpoint ends the saving of the newer one."""

    on_barrier = changed(
        ChannelState.on_barrier,
        "checkpoint < channel.latest or (over and checkpoint == channel.latest)",
        "over and checkpoint <= channel.latest",
    )


@wrong("BARR-20", "BARR-14", "BARR-16", "BARR-19")
class ChannelStateAnyStopStops(ChannelState):
    """The end of an older checkpoint ends the saving of the newer one."""

    on_stop = changed(ChannelState.on_stop, "if checkpoint >= channel.latest:", "if True:")


@wrong("BARR-20", "BARR-14", "BARR-16", "BARR-19")
class ChannelStateSavingNeverStops(ChannelState):
    """A checkpoint that was given up is saved for as long as its barrier does not come."""

    def on_stop(self, checkpoint: int) -> wire.Observations:
        return []


@wrong("BARR-20", "BARR-14", "BARR-15", "BARR-19")
class ChannelStateMinusOneIsTheLast(ChannelState):
    """Channel -1 is taken for the last one."""

    step = changed(
        ChannelState.step,
        "known = ",
        "index = len(self.channels) - 1 if index == -1 else index\nknown = ",
    )
