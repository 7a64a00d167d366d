"""Channels that come back from a checkpoint, REC-1 to REC-12."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.channel_state.machine import get_checkpoint

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
        self.bug = host.bug.removeprefix("recovered-channel-")
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
        if index == -1 and self.bug == "minus-one-is-the-last":
            index = len(self.channels) - 1
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
            if channel.announced and self.bug != "completes-twice":
                return False
            channel.announced = True
            kind = "recovery_completion"
        channel.there.append((kind, channel.written, False, _NONE, 0))
        channel.written += 1
        self.transfer(channel, index)
        return True

    # Saved state

    def on_recovered(self, channel: Channel) -> bool:
        if (self.finished and self.bug != "gives-behind-the-end") or (self.marks and not self.live):
            return False
        item = ("data", channel.given, True, _NONE, 0)
        channel.saved.insert(0 if self.bug == "newest-state-first" else len(channel.saved), item)
        channel.given += 1
        return True

    def on_finish(self) -> bool:
        if (self.finished and self.bug != "finishes-twice") or (self.marks and not self.live):
            return False
        self.finished = True
        for channel in self.channels:
            if self.bug == "empty-channel-has-no-end" and not channel.given:
                channel.consumed = True
                continue
            channel.saved.append(("end_of_state", channel.given, True, _NONE, 0))
        if self.hands_over:
            self.out.append({"type": "ready"})
        return True

    def on_convert(self) -> bool:
        ready = self.finished if self.hands_over else all(one.consumed for one in self.channels)
        if not ready and not self.marks and self.bug != "live-too-early":
            return False
        if self.live:
            return self.bug != "asks-once"
        self.live = True
        for index, channel in enumerate(self.channels):
            if self.bug != "forgets-the-stop":
                self.stop(channel, self.stopped)
            if self.bug == "drops-leftovers":
                channel.saved = []
            if self.bug == "leftovers-without-end" and self.hands_over:
                channel.saved = [one for one in channel.saved if one[0] != "end_of_state"]
            self.transfer(channel, index)
        return True

    # Producers

    def recovers(self, channel: Channel) -> bool:
        return self.marks and not channel.consumed and self.bug != "sends-while-recovering"

    def transfer(self, channel: Channel, index: int) -> None:
        while self.live and not self.local and channel.there and not channel.blocked and not self.recovers(channel):
            kind, number, recovered, checkpoint, _at = channel.there.pop(0)
            channel.here.append((kind, number, recovered, checkpoint, channel.arrived))
            channel.arrived += 1
            if kind == "recovery_completion" and self.bug != "end-does-not-block":
                channel.blocked = True
            if channel.saving and kind == "data" and self.bug != "late-data-lost":
                self.save(index, channel.latest, [], [number])

    def on_barrier(self, channel: Channel, checkpoint: int) -> bool:
        if not self.live:
            return False
        item = ("barrier", channel.written, False, checkpoint, 0)
        channel.written += 1
        if self.bug == "block-holds-barriers" and channel.blocked:
            channel.there.append(item)
            return True
        if self.bug == "barrier-behind-recovered" and channel.saved:
            channel.saved.append(item)
        elif self.bug == "newest-barrier-first":
            channel.urgent.insert(0, item)
        else:
            channel.urgent.append(item)
        if not self.local:
            self.hear(channel, checkpoint, channel.arrived)
            channel.arrived += 1
        return True

    def hear(self, channel: Channel, checkpoint: int, at: int) -> None:
        over = not channel.saving and not channel.has_barrier
        least = channel.latest + (over and self.bug != "stopped-barrier-counts")
        if checkpoint < least:
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
            self.show(channel, item, self.find_next(channel))
        elif channel.saved and (self.bug != "new-before-recovered" or not channel.here):
            self.poll_saved(channel, index)
        elif channel.here:
            self.poll_sent(channel, index, channel.here.pop(0))
        elif self.local and self.live and channel.there and not channel.blocked and not self.recovers(channel):
            item = channel.there.pop(0)
            channel.blocked = item[0] == "recovery_completion" and self.bug != "end-does-not-block"
            if channel.saving and item[0] == "data" and self.bug != "late-data-lost":
                self.save(index, channel.latest, [], [item[1]])
            self.poll_sent(channel, index, item)

    def poll_saved(self, channel: Channel, index: int) -> None:
        item = channel.saved.pop(0)
        ends = item[0] == "end_of_state"
        if ends and not self.live and self.bug == "end-is-an-item":
            self.show(channel, item, self.find_next(channel))
        if not ends or self.live:
            self.poll_leftover(channel, index, item)
        if not ends or (self.live and not self.marks):
            return
        channel.consumed = True
        if self.local:
            channel.saved = []
        self.out.append({"type": "consumed", "channel": index})
        self.transfer(channel, index)
        ready = any if self.bug == "one-is-enough" else all
        if not self.hands_over and not self.marks and ready(one.consumed for one in self.channels):
            self.out.append({"type": "ready"})

    def poll_leftover(self, channel: Channel, index: int, item: Item) -> None:
        again = self.local and self.hands_over and self.live and self.bug != "saved-once"
        if again and channel.saving and item[0] == "data":
            self.save(index, channel.latest, [item[1]], [])
        following = self.find_next(channel) if self.live or channel.saved else "none"
        if self.local and not channel.saved and following != "none" and self.bug != "last-says-what-it-is":
            following = "data"
        self.show(channel, item, following)

    def poll_sent(self, channel: Channel, index: int, item: Item) -> None:
        self.show(channel, item, self.find_next(channel))
        if item[0] != "recovery_completion":
            return
        channel.complete = True
        if self.bug == "resumes-alone":
            channel.blocked = False
            self.out.append({"type": "resumed", "channel": index})
            self.transfer(channel, index)
        elif all(one.complete for one in self.channels) and self.bug != "never-resumes":
            order = list(enumerate(self.channels))
            for number, one in reversed(order) if self.bug == "resumes-backwards" else order:
                one.blocked = False
                self.out.append({"type": "resumed", "channel": number})
                self.transfer(one, number)

    def show(self, _channel: Channel, item: Item, following: str) -> None:
        kind, number, recovered, _checkpoint, _at = item
        following = "none" if self.bug == "never-says-what-comes" else following
        polled = {"type": "polled", "kind": kind, "recovered": recovered, "number": number, "next": following}
        self.out.append(polled)

    def find_next(self, channel: Channel) -> str:
        silent = self.local and channel.blocked and self.bug != "blocked-tells-barriers"
        if channel.urgent and not silent:
            return "priority"
        if channel.saved:
            return _CALLED.get(channel.saved[0][0], channel.saved[0][0])
        if self.recovers(channel) or (self.local and channel.blocked):
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
        if not self.live and self.bug != "early-checkpoint":
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
        numbers = [one[1] for one in saved if one[0] == "data" and self.bug != "leftovers-not-saved"]
        if not self.local and not recovering:
            if checkpoint < channel.barrier:
                return "subsumed"
            if checkpoint > channel.barrier:
                channel.barrier = channel.cut = _NONE
        if channel.has_barrier and channel.latest > checkpoint and self.bug != "older-starts-all-the-same":
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
        if self.bug == "needs-no-mark" and not places:
            return channel.saved
        if not places or (channel.saved[places[0]][3] > checkpoint and self.bug != "newer-mark-will-do"):
            return None
        before, behind = channel.saved[: places[0]], channel.saved[places[0] + 1 :]
        kept = before if self.bug == "old-marks-stay" else [one for one in before if one[0] != "mark"]
        channel.saved = [*kept, *behind]
        return channel.saved if self.bug == "saves-past-the-mark" else before

    def on_stop(self, checkpoint: int) -> bool:
        if not self.live:
            newest = max(self.stopped, checkpoint)
            self.stopped = newest if self.bug == "newest-stop-counts" else checkpoint
            return True
        for channel in self.channels:
            self.stop(channel, checkpoint)
        return True

    def stop(self, channel: Channel, checkpoint: int) -> None:
        if checkpoint >= channel.latest and self.bug != "saving-never-stops":
            channel.saving = channel.has_barrier = False
            channel.latest = checkpoint
        if checkpoint == channel.barrier:
            channel.barrier = channel.cut = _NONE

    def save(self, index: int, checkpoint: int, recovered: list[int], sent: list[int]) -> None:
        saved = {"type": "saved", "channel": index, "checkpoint": str(checkpoint)}
        self.out.append({**saved, "recovered": recovered, "sent": sent})


make = RecoveredChannels
