"""The barrier handlers that know one checkpoint at a time, BARR-1 … BARR-8, BARR-13, BARR-17.

What is to be seen is collected in `out` on the way.
"""

from tidegate.conformance.engines.museum.barriers.gauge import Gauge
from tidegate.conformance.engines.wire import Host, Json, Observations

_NEVER = -1


class BarrierHandler:
    def __init__(self, config: Json, host: Host) -> None:
        self.bug = host.bug
        self.kind = config["kind"]
        self.channels: int = config["channels"]
        self.ends_count = config["finished_channels"]
        self.timeout: int = config.get("timeout", 0)
        self.clock = 0
        self.ended: set[int] = set()
        self.current = _NEVER
        self.pending = False
        self.arrived: set[int] = set()
        self.wanted = 0
        self.blocked: set[int] = set()
        self.announced: dict[int, int] = {}
        self.overtaking = self.kind == "unaligned"
        self.collecting = False
        self.begun_with = ("", 0)
        self.due: int | None = None
        self.out: Observations = []
        self.gauge = Gauge(self.bug)

    def is_blocked(self, channel: int) -> bool:
        return channel in self.blocked and self.bug == "barriers-blocked-refused"

    # --- what is seen

    def say(self, kind: str, **fields: object) -> None:
        self.out.append({"type": kind, **fields})

    def said(self) -> Observations:
        out, self.out = self.out, []
        return out

    def say_resumed(self) -> None:
        for channel in sorted(self.blocked):
            self.say("resume", channel=channel)
        self.blocked = set()

    def say_trigger(self, *, aligned: bool) -> None:
        if not aligned:
            self.say("start_persisting", checkpoint=str(self.current))
        self.say("trigger", checkpoint=str(self.current), aligned=aligned)
        self.gauge.trigger(self.current)
        if self.bug == "barriers-triggers-before-saving" and not aligned:
            self.out[-2:] = self.out[:-3:-1]

    def block(self, channel: int) -> None:
        self.blocked.add(channel)
        self.say("block", channel=channel)

    # --- events

    def on_barrier(self, channel: int, checkpoint: int, mode: str, created: int) -> Observations:
        bug = self.bug
        if checkpoint == self.current and not self.pending and bug == "barriers-completed-begins-again":
            self.current -= 1
        if checkpoint < self.current or (checkpoint == self.current and not self.pending):
            if mode != "unaligned" and bug != "barriers-obsolete-keeps-waiting":
                self.say("resume", channel=channel)
            return self.said()
        self.begin(checkpoint, mode, created)
        self.arrived.add(channel)
        self.gauge.count(self.clock, len(self.arrived), self.wanted, self.current, created)
        if self.overtaking:
            self.read_overtaking(channel, mode)
        elif mode == "unaligned":
            self.overtake()
            self.read_overtaking(channel, mode)
        else:
            self.read_aligned(channel, mode, created)
        self.finish_if_complete()
        return self.said()

    def on_announcement(self, channel: int, checkpoint: int, sequence: int, created: int) -> Observations:
        bug = self.bug
        if checkpoint > self.current:
            self.begin(checkpoint, "timeout", created)
        elif checkpoint < self.current or not self.pending:
            return self.said()
        if self.overtaking:
            if bug != "barriers-late-announcement-waits":
                self.say("prioritize", channel=channel, sequence=sequence)
        elif self.kind == "alternating":
            self.announced[channel] = sequence
        return self.said()

    def on_cancel(self, _channel: int, checkpoint: int) -> Observations:
        bug = self.bug
        newer = checkpoint > self.current
        if newer and self.pending and bug == "barriers-cancelled-newer-spares-pending":
            return []
        if newer and self.pending and bug == "barriers-cancelled-newer-names-pending":
            self.give_up(self.current, "subsumed")
        known = bool(self.arrived) or (bug == "barriers-cancel-needs-no-barrier" and self.pending)
        if (newer and bug != "barriers-unknown-cancel-ignored") or (checkpoint == self.current and known):
            self.give_up(checkpoint, "cancelled")
        return self.said()

    def on_end(self, channel: int) -> Observations:
        bug = self.bug
        self.ended.add(channel)
        if not self.pending:
            return []
        if not self.ends_count or bug == "barriers-end-is-fatal":
            self.give_up(self.current, "end_of_partition")
            return self.said()
        self.announced.pop(channel, None)
        if bug != "barriers-ended-stays-blocked":
            self.blocked.discard(channel)
        if bug == "barriers-end-not-counted":
            return []
        if bug == "barriers-end-lowers-target":
            self.wanted -= 1
        self.arrived.add(channel)
        self.gauge.count(self.clock, len(self.arrived), self.wanted, self.current, self.begun_with[1])
        if self.collecting or bug == "barriers-end-triggers-unread":
            self.read_end()
        self.finish_if_complete()
        return self.said()

    def read_end(self) -> None:
        if self.is_complete():
            if self.overtaking:
                self.stop_saving(self.current)
            else:
                self.take_aligned()
        elif self.is_late(*self.begun_with):
            self.overtake()

    def on_advance(self, milliseconds: int, *, fires: bool) -> Observations:
        self.clock += milliseconds
        grace = int(self.bug == "barriers-timer-a-moment-late")
        fires = fires or self.bug == "barriers-timer-never-late"
        if fires and self.due is not None and self.due + grace <= self.clock:
            self.due = None
            self.overtake()
        return self.said()

    def on_close(self) -> Observations:
        bug = self.bug
        if bug == "barriers-closing-gives-up" and self.pending:
            self.give_up(self.current, "cancelled")
        elif bug == "barriers-closing-resumes":
            self.say_resumed()
        if bug != "barriers-timer-outlives-the-close":
            self.due = None
        return self.said()

    # --- a checkpoint

    def begin(self, checkpoint: int, mode: str, created: int) -> None:
        bug = self.bug
        if checkpoint <= self.current:
            return
        if self.pending:
            if bug == "barriers-subsumed-in-silence":
                said = len(self.out)
                self.give_up(self.current, "subsumed")
                self.out[:] = [one for one in self.out[said:] if one["type"] != "abort"]
            elif bug == "barriers-subsumed-keeps-blocked":
                kept, self.blocked = self.blocked, set()
                self.give_up(self.current, "subsumed")
                self.blocked = kept
            else:
                self.give_up(self.current, "subsumed")
        self.current, self.pending = checkpoint, True
        self.arrived = set(self.ended) if bug == "barriers-ended-counted-twice" else set()
        self.wanted = self.channels if bug == "barriers-ended-still-wanted" else self.channels - len(self.ended)
        self.begun_with = (mode, created)
        if self.kind == "alternating" and mode == "timeout":
            passed = 0 if bug == "barriers-timer-forgets-what-passed" else self.clock - created
            self.due = self.clock + max(0, self.timeout - passed)
        elif bug != "barriers-timer-outlives-checkpoint":
            self.due = None

    def is_complete(self) -> bool:
        return len(self.arrived) == self.wanted

    def is_late(self, mode: str, created: int) -> bool:
        if self.kind != "alternating" or mode != "timeout" or self.bug == "barriers-only-the-timer-counts":
            return False
        late = self.clock - created - self.timeout
        return late >= 0 if self.bug == "barriers-late-at-the-timeout" else late > 0

    def read_aligned(self, channel: int, mode: str, created: int) -> None:
        bug = self.bug
        if bug != "barriers-announcement-stays":
            self.announced.pop(channel, None)
        silent = bug == "barriers-lone-channel-not-blocked" and self.wanted == 1
        if bug != "barriers-nobody-waits" and not silent:
            self.block(channel)
        if self.is_complete():
            self.take_aligned()
        elif self.is_late(mode, created):
            self.overtake()
            self.read_overtaking(channel, "unaligned")
        else:
            self.collecting = True

    def take_aligned(self) -> None:
        if self.bug == "barriers-resumes-before-trigger":
            self.unblock()
            self.say_trigger(aligned=True)
        else:
            self.say_trigger(aligned=True)
            self.unblock()

    def read_overtaking(self, channel: int, mode: str) -> None:
        bug = self.bug
        if mode != "unaligned" or bug == "barriers-unaligned-blocks":
            self.block(channel)
        if not self.collecting and (bug != "barriers-unaligned-waits-for-all" or self.is_complete()):
            self.say_trigger(aligned=False)
            self.collecting = True
        if self.is_complete():
            self.stop_saving(self.current)

    def overtake(self) -> None:
        bug = self.bug
        if self.overtaking:
            return
        if bug != "barriers-announced-stay-behind":
            for channel in sorted(self.announced):
                self.say("prioritize", channel=channel, sequence=self.announced[channel])
        self.announced.clear()
        self.overtaking = True
        if self.collecting or bug == "barriers-timeout-triggers-unread":
            self.say_trigger(aligned=False)
            self.collecting = True

    def stop_saving(self, checkpoint: int) -> None:
        if self.bug != "barriers-saving-goes-on":
            self.say("stop_persisting", checkpoint=str(checkpoint))
        self.unblock()

    def unblock(self) -> None:
        self.say_resumed()
        self.announced.clear()
        self.collecting = False
        if self.bug != "barriers-unaligned-for-good":
            self.overtaking = self.kind == "unaligned"

    def give_up(self, checkpoint: int, reason: str) -> None:
        bug = self.bug
        if bug == "barriers-aborts-before-resume":
            self.say("abort", checkpoint=str(checkpoint), reason=reason)
        if self.overtaking and self.collecting:
            self.stop_saving(checkpoint)
        else:
            self.unblock()
        if bug != "barriers-aborts-before-resume":
            self.say("abort", checkpoint=str(checkpoint), reason=reason)
        self.gauge.reset()
        self.current = max(self.current, checkpoint)
        self.pending = False
        self.arrived = set()
        self.wanted = 0
        self.due = None

    def finish_if_complete(self) -> None:
        if self.is_complete():
            self.pending = False
            self.arrived = set()
            self.due = self.due if self.bug == "barriers-timer-outlives-checkpoint" else None
