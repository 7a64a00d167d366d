"""Channels that come back from a checkpoint, REC-1 to REC-12."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.channel_state import get_checkpoint
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-2.3", "flink-39018", "flink-39521")
_LOCATIONS = ("local", "remote")
_NONE = -1
#: What a reader is told of kinds that it does not tell apart.
_CALLED = {"barrier": "priority", "end_of_state": "event", "mark": "event"}

#: A kind, a number, whether it was recovered, a checkpoint if there is one, and when it came in.
Item = tuple[str, int, bool, int, int]


class Channel:
    """`saved` was recovered, `urgent` overtakes, `here` came in from a remote producer, `there` waits with it."""

    def __init__(self) -> None:
        self.saved: list[Item] = []
        self.urgent: list[Item] = []
        self.here: list[Item] = []
        self.there: list[Item] = []
        self.given = self.written = self.arrived = 0
        self.consumed = self.announced = self.complete = self.blocked = False
        self.latest, self.saving, self.has_barrier = _NONE, False, False
        self.barrier, self.cut = _NONE, _NONE


class RecoveredChannels:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.local = wire.get_choice(config, "location", _LOCATIONS) == "local"
        semantics = wire.get_semantics(config, SEMANTICS)
        self.hands_over, self.marks = semantics == SEMANTICS[1], semantics == SEMANTICS[2]
        self.channels = [Channel() for _ in range(wire.get_at_least(config, "channels", 1))]
        self.finished = self.live = False
        self.stopped = _NONE
        self.out: wire.Observations = []

    def step(self, event: wire.Json) -> wire.Observations:
        self.out = []
        kind = event.get("type", "")
        if kind in {"finish", "convert"}:
            done = self.on_finish() if kind == "finish" else self.on_convert()
            return self.out if done else wire.rejected()
        if kind in {"mark", "start", "stop"}:
            checkpoint = get_checkpoint(event)
            done = {"mark": self.on_mark, "start": self.on_start, "stop": self.on_stop}[kind](checkpoint)
            return self.out if done else wire.rejected()
        if kind not in {"recovered", "data", "event", "complete", "barrier", "poll"}:
            raise wire.unknown_type(event)
        index = wire.get_integer(event, "channel")
        checkpoint = get_checkpoint(event) if kind == "barrier" else _NONE
        if not 0 <= index < len(self.channels):
            return wire.rejected()
        return self.out if self.on_channel(kind, index, checkpoint) else wire.rejected()

    def on_channel(self, kind: str, index: int, checkpoint: int) -> bool:
        channel = self.channels[index]
        if kind == "poll":
            self.on_poll(channel, index)
            return True
        if kind == "recovered":
            return self.on_recovered(channel)
        if kind == "barrier":
            return self.on_barrier(channel, checkpoint)
        if kind == "complete":
            if channel.announced:
                return False
            channel.announced = True
            kind = "recovery_completion"
        channel.there.append((kind, channel.written, False, _NONE, 0))
        channel.written += 1
        self.transfer(channel, index)
        return True

    # Saved state

    def on_recovered(self, channel: Channel) -> bool:
        if self.finished or (self.marks and not self.live):
            return False
        channel.saved.append(("data", channel.given, True, _NONE, 0))
        channel.given += 1
        return True

    def on_finish(self) -> bool:
        if self.finished or (self.marks and not self.live):
            return False
        self.finished = True
        for channel in self.channels:
            channel.saved.append(("end_of_state", channel.given, True, _NONE, 0))
        if self.hands_over:
            self.out.append({"type": "ready"})
        return True

    def on_convert(self) -> bool:
        ready = self.finished if self.hands_over else all(one.consumed for one in self.channels)
        if not ready and not self.marks:
            return False
        if self.live:
            return True
        self.live = True
        for index, channel in enumerate(self.channels):
            self.stop(channel, self.stopped)
            self.transfer(channel, index)
        return True

    # Producers

    def recovers(self, channel: Channel) -> bool:
        return self.marks and not channel.consumed

    def transfer(self, channel: Channel, index: int) -> None:
        while self.live and not self.local and channel.there and not channel.blocked and not self.recovers(channel):
            item = channel.there.pop(0)
            channel.here.append((*item[:4], channel.arrived))
            channel.arrived += 1
            self.take_in(channel, index, item)

    def take_in(self, channel: Channel, index: int, item: Item) -> None:
        """What is saved of it, and whether its producer has to wait for the others behind it."""
        channel.blocked = item[0] == "recovery_completion"
        if channel.saving and item[0] == "data":
            self.save(index, channel.latest, [], [item[1]])

    def on_barrier(self, channel: Channel, checkpoint: int) -> bool:
        if not self.live:
            return False
        channel.urgent.append(("barrier", channel.written, False, checkpoint, 0))
        channel.written += 1
        if not self.local:
            self.hear(channel, checkpoint, channel.arrived)
            channel.arrived += 1
        return True

    def hear(self, channel: Channel, checkpoint: int, at: int) -> None:
        over = not channel.saving and not channel.has_barrier
        if checkpoint < channel.latest or (over and checkpoint == channel.latest):
            return
        channel.saving, channel.has_barrier, channel.latest = False, True, checkpoint
        if not self.local and checkpoint > channel.barrier:
            channel.barrier, channel.cut = checkpoint, at

    # Reading

    def on_poll(self, channel: Channel, index: int) -> None:
        if channel.urgent:
            item = channel.urgent.pop(0)
            if self.local:
                self.hear(channel, item[3], 0)
            self.show(item, self.find_next(channel))
        elif channel.saved:
            self.poll_saved(channel, index)
        elif channel.here:
            self.poll_sent(channel, index, channel.here.pop(0))
        elif self.local and self.live and channel.there and not channel.blocked and not self.recovers(channel):
            item = channel.there.pop(0)
            self.take_in(channel, index, item)
            self.poll_sent(channel, index, item)

    def poll_saved(self, channel: Channel, index: int) -> None:
        item = channel.saved.pop(0)
        ends = item[0] == "end_of_state"
        if not ends or self.live:
            self.poll_leftover(channel, index, item)
        if not ends or (self.live and not self.marks):
            return
        channel.consumed = True
        if self.local:
            channel.saved = []
        self.out.append({"type": "consumed", "channel": index})
        self.transfer(channel, index)
        if not self.hands_over and not self.marks and all(one.consumed for one in self.channels):
            self.out.append({"type": "ready"})

    def poll_leftover(self, channel: Channel, index: int, item: Item) -> None:
        again = self.local and self.hands_over and self.live
        if again and channel.saving and item[0] == "data":
            self.save(index, channel.latest, [item[1]], [])
        following = self.find_next(channel) if self.live or channel.saved else "none"
        if self.local and not channel.saved and following != "none":
            following = "data"
        self.show(item, following)

    def poll_sent(self, channel: Channel, index: int, item: Item) -> None:
        self.show(item, self.find_next(channel))
        if item[0] != "recovery_completion":
            return
        channel.complete = True
        if all(one.complete for one in self.channels):
            for number, one in enumerate(self.channels):
                self.resume(one, number)

    def resume(self, channel: Channel, index: int) -> None:
        channel.blocked = False
        self.out.append({"type": "resumed", "channel": index})
        self.transfer(channel, index)

    def show(self, item: Item, following: str) -> None:
        kind, number, recovered, _checkpoint, _at = item
        polled = {"type": "polled", "kind": kind, "recovered": recovered, "number": number, "next": following}
        self.out.append(polled)

    def find_next(self, channel: Channel) -> str:
        silent = self.local and channel.blocked
        if channel.urgent and not silent:
            return "priority"
        if channel.saved:
            return _CALLED.get(channel.saved[0][0], channel.saved[0][0])
        if self.recovers(channel) or silent:
            return "none"
        waiting = channel.there if self.local else channel.here
        return _CALLED.get(waiting[0][0], waiting[0][0]) if waiting else "none"

    # Checkpoints

    def on_mark(self, checkpoint: int) -> bool:
        if not self.marks or not self.live:
            return False
        for channel in self.channels:
            if not channel.consumed:
                channel.saved.append(("mark", channel.given, True, checkpoint, 0))
        return True

    def on_start(self, checkpoint: int) -> bool:
        if not self.live:
            self.out.append({"type": "declined", "channel": 0})
            return True
        for index, channel in enumerate(self.channels):
            failure = self.start(channel, index, checkpoint)
            if failure:
                self.out.append({"type": failure, "channel": index})
                break
        return True

    def start(self, channel: Channel, index: int, checkpoint: int) -> str:
        recovering = self.marks and not channel.consumed
        saved = self.find_marked(channel, checkpoint) if recovering else channel.saved
        if saved is None:
            return "declined"
        numbers = [one[1] for one in saved if one[0] == "data"]
        if not self.local and not recovering:
            if checkpoint < channel.barrier:
                return "subsumed"
            if checkpoint > channel.barrier:
                channel.barrier = channel.cut = _NONE
        if channel.has_barrier and channel.latest > checkpoint:
            return "subsumed"
        sent = [one[1] for one in channel.here if one[0] == "data" and (channel.cut == _NONE or one[4] < channel.cut)]
        if channel.latest < checkpoint:
            channel.latest, channel.saving, channel.has_barrier = checkpoint, True, False
        if numbers or sent:
            self.save(index, checkpoint, numbers, sent)
        return ""

    def find_marked(self, channel: Channel, checkpoint: int) -> list[Item] | None:
        """What stands before the mark, which is taken away; or nothing if it is missing."""
        places = [place for place, one in enumerate(channel.saved) if one[0] == "mark" and one[3] >= checkpoint]
        if not places or channel.saved[places[0]][3] > checkpoint:
            return None
        before, behind = channel.saved[: places[0]], channel.saved[places[0] + 1 :]
        kept = [one for one in before if one[0] != "mark"]
        channel.saved = [*kept, *behind]
        return before

    def on_stop(self, checkpoint: int) -> bool:
        if not self.live:
            self.stopped = checkpoint
            return True
        for channel in self.channels:
            self.stop(channel, checkpoint)
        return True

    def stop(self, channel: Channel, checkpoint: int) -> None:
        if checkpoint >= channel.latest:
            channel.saving = channel.has_barrier = False
            channel.latest = checkpoint
        if checkpoint == channel.barrier:
            channel.barrier = channel.cut = _NONE

    def save(self, index: int, checkpoint: int, recovered: list[int], sent: list[int]) -> None:
        saved = {"type": "saved", "channel": index, "checkpoint": str(checkpoint)}
        self.out.append({**saved, "recovered": recovered, "sent": sent})


make = RecoveredChannels

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("REC-1", "REC-8")
class RecoveredChannelNewBeforeRecovered(RecoveredChannels):
    """What the producer sends anew is read before what is left of the saved state."""

    on_poll = changed(RecoveredChannels.on_poll, "elif channel.saved:", "elif channel.saved and not channel.here:")


@wrong("REC-1")
class RecoveredChannelNewestStateFirst(RecoveredChannels):
    """Saved buffers are read last in, first out."""

    on_recovered = changed(RecoveredChannels.on_recovered, "channel.saved.append(", "channel.saved.insert(0, ")


@wrong("REC-1")
class RecoveredChannelGivesBehindTheEnd(RecoveredChannels):
    """Saved state is given behind its end, where nobody reads it in time."""

    on_recovered = changed(RecoveredChannels.on_recovered, "self.finished or ", "")


@wrong("REC-1")
class RecoveredChannelMinusOneIsTheLast(RecoveredChannels):
    """Channel -1 is taken for the last one, as Python does."""

    step = changed(
        RecoveredChannels.step,
        "if not 0 <=",
        "index = len(self.channels) - 1 if index == -1 else index\nif not 0 <=",
    )


@wrong("REC-2")
class RecoveredChannelEmptyChannelHasNoEnd(RecoveredChannels):
    """A channel of which nothing was saved is consumed without a word."""

    on_finish = changed(
        RecoveredChannels.on_finish,
        "channel.saved.append",
        "if not channel.given:\n    channel.consumed = True\n    continue\nchannel.saved.append",
    )


@wrong("REC-2")
class RecoveredChannelOneIsEnough(RecoveredChannels):
    """The gate is ready as soon as one channel is consumed."""

    poll_saved = changed(RecoveredChannels.poll_saved, "all(one.consumed", "any(one.consumed")


@wrong("REC-2")
class RecoveredChannelEndIsAnItem(RecoveredChannels):
    """The end of saved state is handed out as an event of the channel."""

    poll_saved = changed(
        RecoveredChannels.poll_saved,
        "if not ends or self.live:",
        "if ends and not self.live:\n    self.show(item, self.find_next(channel))\nif not ends or self.live:",
    )


@wrong("REC-2")
class RecoveredChannelFinishesTwice(RecoveredChannels):
    """Saved state may be complete twice, with two ends."""

    on_finish = changed(RecoveredChannels.on_finish, "self.finished or ", "")


@wrong("REC-3")
class RecoveredChannelLiveTooEarly(RecoveredChannels):
    """The partitions are asked for whether or not the saved state was read."""

    on_convert = changed(RecoveredChannels.on_convert, "not ready and not self.marks", "False")


@wrong("REC-3")
class RecoveredChannelAsksOnce(RecoveredChannels):
    """To ask for the partitions once more is an error."""

    def on_convert(self) -> bool:
        return not self.live and super().on_convert()


@wrong("REC-4")
class RecoveredChannelEarlyCheckpoint(RecoveredChannels):
    """A checkpoint starts on channels that still recover."""

    on_start = changed(RecoveredChannels.on_start, "not self.live", "False")


@wrong("REC-5")
class RecoveredChannelForgetsTheStop(RecoveredChannels):
    """A checkpoint that was stopped during recovery comes to life with its late barrier."""

    on_convert = changed(RecoveredChannels.on_convert, "self.stop(channel, self.stopped)", "pass")


@wrong("REC-5")
class RecoveredChannelNewestStopCounts(RecoveredChannels):
    """Of several stops the newest checkpoint is remembered, not the last stop."""

    on_stop = changed(
        RecoveredChannels.on_stop, "self.stopped = checkpoint", "self.stopped = max(self.stopped, checkpoint)"
    )


@wrong("REC-6")
class RecoveredChannelEndDoesNotBlock(RecoveredChannels):
    """A producer that is complete sends on, while others still recover."""

    def take_in(self, channel: Channel, index: int, item: Item) -> None:
        super().take_in(channel, index, item)
        channel.blocked = False


@wrong("REC-6")
class RecoveredChannelResumesAlone(RecoveredChannels):
    """Every producer is resumed with its own end of recovery."""

    def poll_sent(self, channel: Channel, index: int, item: Item) -> None:
        self.show(item, self.find_next(channel))
        if item[0] == "recovery_completion":
            channel.complete = True
            self.resume(channel, index)


@wrong("REC-6")
class RecoveredChannelNeverResumes(RecoveredChannels):
    """Nobody resumes the producers: the job hangs after its recovery."""

    poll_sent = changed(RecoveredChannels.poll_sent, "all(one.complete for one in self.channels)", "False")


@wrong("REC-6")
class RecoveredChannelResumesBackwards(RecoveredChannels):
    """The producers are resumed from the last channel to the first."""

    poll_sent = changed(
        RecoveredChannels.poll_sent, "enumerate(self.channels)", "reversed(list(enumerate(self.channels)))"
    )


@wrong("REC-6")
class RecoveredChannelCompletesTwice(RecoveredChannels):
    """A producer may say twice that it is complete, and stays blocked by the second."""

    on_channel = changed(RecoveredChannels.on_channel, "if channel.announced:", "if False:")


@wrong("REC-7", origin="Flink up to 2.2")
class RecoveredChannelBlockHoldsBarriers(RecoveredChannels):
    """A blocked producer holds back barriers, too: a checkpoint waits for the slowest recovery."""

    on_barrier = changed(
        RecoveredChannels.on_barrier,
        "channel.urgent.append(",
        "if channel.blocked:\n"
        '    channel.there.append(("barrier", channel.written, False, checkpoint, 0))\n'
        "    channel.written += 1\n"
        "    return True\n"
        "channel.urgent.append(",
    )


@wrong("REC-7")
class RecoveredChannelBarrierBehindRecovered(RecoveredChannels):
    """A barrier waits until the recovered data before it was read."""

    on_barrier = changed(
        RecoveredChannels.on_barrier, "channel.urgent.append(", "(channel.saved or channel.urgent).append("
    )


@wrong("REC-7")
class RecoveredChannelNewestBarrierFirst(RecoveredChannels):
    """The barrier that came last is read first."""

    on_barrier = changed(RecoveredChannels.on_barrier, "channel.urgent.append(", "channel.urgent.insert(0, ")


@wrong("REC-8")
class RecoveredChannelDropsLeftovers(RecoveredChannels):
    """What was not read when the channel went live is gone."""

    on_convert = changed(RecoveredChannels.on_convert, "self.transfer(", "channel.saved = []\nself.transfer(")


@wrong("REC-8")
class RecoveredChannelLeftoversWithoutEnd(RecoveredChannels):
    """The leftovers are handed over without their end."""

    on_convert = changed(
        RecoveredChannels.on_convert,
        "self.transfer(",
        "if self.hands_over:\n"
        '    channel.saved = [one for one in channel.saved if one[0] != "end_of_state"]\n'
        "self.transfer(",
    )


@wrong("REC-8")
class RecoveredChannelLeftoversNotSaved(RecoveredChannels):
    """A checkpoint during recovery saves what was sent, and loses the recovered data that waits before it."""

    start = changed(RecoveredChannels.start, '[one[1] for one in saved if one[0] == "data"]', "[]")


@wrong("REC-9", origin="FLINK-40016")
class RecoveredChannelSavedOnce(RecoveredChannels):
    """The corrected channel: recovered data is saved when the checkpoint starts, and not again. It is not 2.3.0."""

    poll_leftover = changed(RecoveredChannels.poll_leftover, "self.local and self.hands_over and self.live", "False")


@wrong("REC-10")
class RecoveredChannelSendsWhileRecovering(RecoveredChannels):
    """A live channel that still recovers is sent data, which gets between the recovered."""

    def recovers(self, channel: Channel) -> bool:
        return False


@wrong("REC-11")
class RecoveredChannelNeverSaysWhatComes(RecoveredChannels):
    """The reader is always told that nothing comes next, and does not ask again."""

    def show(self, item: Item, following: str) -> None:
        super().show(item, "none")


@wrong("REC-11")
class RecoveredChannelLastSaysWhatItIs(RecoveredChannels):
    """Behind the last recovered item a local channel tells the kind of what its producer has."""

    poll_leftover = changed(RecoveredChannels.poll_leftover, 'following = "data"', "pass")


@wrong("REC-11")
class RecoveredChannelBlockedTellsBarriers(RecoveredChannels):
    """A local producer that is blocked tells of the barriers that wait."""

    find_next = changed(RecoveredChannels.find_next, "channel.urgent and not silent", "channel.urgent")


@wrong("REC-12")
class RecoveredChannelNeedsNoMark(RecoveredChannels):
    """A checkpoint without a mark saves all recovered data that happens to be there."""

    find_marked = changed(
        RecoveredChannels.find_marked, "if not places", "if not places:\n    return channel.saved\nif not places"
    )


@wrong("REC-12")
class RecoveredChannelNewerMarkWillDo(RecoveredChannels):
    """A checkpoint takes the mark of a newer one for its own."""

    find_marked = changed(RecoveredChannels.find_marked, " or channel.saved[places[0]][3] > checkpoint", "")


@wrong("REC-12")
class RecoveredChannelOldMarksStay(RecoveredChannels):
    """The marks of older checkpoints stay, and are read."""

    find_marked = changed(RecoveredChannels.find_marked, '[one for one in before if one[0] != "mark"]', "before")


@wrong("REC-12")
class RecoveredChannelSavesPastTheMark(RecoveredChannels):
    """What was given behind the mark is saved, too; whoever gave it saves it as well."""

    find_marked = changed(RecoveredChannels.find_marked, "return before", "return channel.saved")


@wrong("BARR-14")
class RecoveredChannelLateDataLost(RecoveredChannels):
    """Data that comes in before the barrier of its channel is not saved."""

    def take_in(self, channel: Channel, index: int, item: Item) -> None:
        channel.blocked = item[0] == "recovery_completion"


@wrong("BARR-20")
class RecoveredChannelStoppedBarrierCounts(RecoveredChannels):
    """The barrier of a checkpoint that was stopped counts."""

    hear = changed(RecoveredChannels.hear, " or (over and checkpoint == channel.latest)", "")


@wrong("BARR-20")
class RecoveredChannelSavingNeverStops(RecoveredChannels):
    """A checkpoint that was stopped goes on saving."""

    stop = changed(RecoveredChannels.stop, "checkpoint >= channel.latest", "False")


@wrong("BARR-16")
class RecoveredChannelOlderStartsAllTheSame(RecoveredChannels):
    """A checkpoint starts on a local channel where a newer barrier was read."""

    start = changed(RecoveredChannels.start, "channel.has_barrier and channel.latest > checkpoint", "False")
