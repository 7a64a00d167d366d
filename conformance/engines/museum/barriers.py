"""The barrier handlers, BARR-1 … BARR-13, BARR-17, BARR-21 … BARR-23.

`Barriers` reads events; `BarrierHandler` knows one checkpoint at a time, `BarrierTracker` counts and never blocks.
"""

from collections.abc import Iterable

import attrs

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

EXTENSIONS = ("late_timers", "measures", "closing")
_KINDS = ("aligned", "at_least_once", "unaligned", "alternating")
_MODES = ("aligned", "timeout", "unaligned")
_MOST_PENDING = 50


# --- what is measured of an alignment, BARR-21


class Gauge:
    """`open` holds what is known of the present alignment; the checkpoint that was triggered last may hold the same."""

    def __init__(self) -> None:
        self.began: int | None = None
        self.checkpoint = -1
        self.delay = 0
        self.bytes = 0
        self.open: dict[str, int] = {}
        self.triggered: dict[str, int] = {}

    def begin(self, checkpoint: int, created: int, clock: int) -> None:
        self.reset()
        self.began, self.checkpoint = clock, checkpoint
        self.delay = max(0, clock - created)

    def end(self, duration: int) -> None:
        self.open.setdefault("duration", duration)
        self.open.setdefault("bytes", self.bytes)
        self.began = None
        self.bytes = 0

    def reset(self) -> None:
        self.end(0)
        self.began = None
        self.open = {}

    def count(self, clock: int, counted: int, wanted: int, checkpoint: int, created: int) -> None:
        if counted == 1:
            self.begin(checkpoint, created, clock)
            if wanted == 1:
                self.end(0)
        if counted == wanted and self.began is not None:
            self.end(clock - self.began)

    def trigger(self, checkpoint: int) -> None:
        same = checkpoint == self.checkpoint
        self.triggered = self.open if same else {"duration": 0, "bytes": 0}

    def process(self, amount: int) -> None:
        if self.began is not None:
            self.bytes += amount

    def show(self, clock: int) -> wire.Json:
        alignment = self.open.get("duration", 0) if self.began is None else clock - self.began
        return {"type": "measured", "alignment": alignment, "start_delay": str(self.delay), **self.triggered}


# --- one checkpoint at a time


class BarrierHandler:
    """What is to be seen is collected in `out` on the way."""

    def __init__(self, config: wire.Json, gauge: Gauge) -> None:
        self.kind = config["kind"]
        self.channels: int = config["channels"]
        self.ends_count = config["finished_channels"]
        self.timeout: int = config.get("timeout", 0)
        self.clock = 0
        self.ended: set[int] = set()
        self.current = -1
        self.pending = False
        self.arrived: set[int] = set()
        self.wanted = 0
        self.blocked: set[int] = set()
        self.announced: dict[int, int] = {}
        self.overtaking = self.kind == "unaligned"
        self.collecting = False
        self.begun_with = ("", 0)
        self.due: int | None = None
        self.out: wire.Observations = []
        self.gauge = gauge

    def say(self, kind: str, **fields: object) -> None:
        self.out.append({"type": kind, **fields})

    def said(self) -> wire.Observations:
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

    def block(self, channel: int) -> None:
        self.blocked.add(channel)
        self.say("block", channel=channel)

    def on_barrier(self, channel: int, checkpoint: int, mode: str, created: int) -> wire.Observations:
        if checkpoint < self.current or (checkpoint == self.current and not self.pending):
            if mode != "unaligned":
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

    def on_announcement(self, channel: int, checkpoint: int, sequence: int, created: int) -> wire.Observations:
        if checkpoint > self.current:
            self.begin(checkpoint, "timeout", created)
        elif checkpoint < self.current or not self.pending:
            return self.said()
        if self.overtaking:
            self.say("prioritize", channel=channel, sequence=sequence)
        elif self.kind == "alternating":
            self.announced[channel] = sequence
        return self.said()

    def on_cancel(self, _channel: int, checkpoint: int) -> wire.Observations:
        if checkpoint > self.current or (checkpoint == self.current and self.arrived):
            self.give_up(checkpoint, "cancelled")
        return self.said()

    def on_end(self, channel: int) -> wire.Observations:
        self.ended.add(channel)
        if not self.pending:
            return []
        if not self.ends_count:
            self.give_up(self.current, "end_of_partition")
            return self.said()
        self.announced.pop(channel, None)
        self.blocked.discard(channel)
        self.arrived.add(channel)
        self.gauge.count(self.clock, len(self.arrived), self.wanted, self.current, self.begun_with[1])
        if self.collecting:
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

    def on_advance(self, milliseconds: int, *, fires: bool) -> wire.Observations:
        self.clock += milliseconds
        if fires and self.due is not None and self.due <= self.clock:
            self.due = None
            self.overtake()
        return self.said()

    def on_close(self) -> wire.Observations:
        self.due = None
        return self.said()

    def begin(self, checkpoint: int, mode: str, created: int) -> None:
        if checkpoint <= self.current:
            return
        if self.pending:
            self.give_up(self.current, "subsumed")
        self.current, self.pending = checkpoint, True
        self.arrived = set()
        self.wanted = self.channels - len(self.ended)
        self.begun_with = (mode, created)
        if self.kind == "alternating" and mode == "timeout":
            passed = self.clock - created
            self.due = self.clock + max(0, self.timeout - passed)
        else:
            self.due = None

    def is_complete(self) -> bool:
        return len(self.arrived) == self.wanted

    def is_late(self, mode: str, created: int) -> bool:
        return self.kind == "alternating" and mode == "timeout" and self.clock - created > self.timeout

    def read_aligned(self, channel: int, mode: str, created: int) -> None:
        self.announced.pop(channel, None)
        self.block(channel)
        if self.is_complete():
            self.take_aligned()
        elif self.is_late(mode, created):
            self.overtake()
            self.read_overtaking(channel, "unaligned")
        else:
            self.collecting = True

    def take_aligned(self) -> None:
        self.say_trigger(aligned=True)
        self.unblock()

    def read_overtaking(self, channel: int, mode: str) -> None:
        if mode != "unaligned":
            self.block(channel)
        if not self.collecting:
            self.say_trigger(aligned=False)
            self.collecting = True
        if self.is_complete():
            self.stop_saving(self.current)

    def overtake(self) -> None:
        if self.overtaking:
            return
        for channel in sorted(self.announced):
            self.say("prioritize", channel=channel, sequence=self.announced[channel])
        self.announced.clear()
        self.overtaking = True
        if self.collecting:
            self.say_trigger(aligned=False)

    def stop_saving(self, checkpoint: int) -> None:
        self.say("stop_persisting", checkpoint=str(checkpoint))
        self.unblock()

    def unblock(self) -> None:
        self.say_resumed()
        self.announced.clear()
        self.collecting = False
        self.overtaking = self.kind == "unaligned"

    def give_up(self, checkpoint: int, reason: str) -> None:
        if self.overtaking and self.collecting:
            self.stop_saving(checkpoint)
        else:
            self.unblock()
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
            self.due = None


# --- counting


@attrs.define
class Count:
    heard: set[int]
    wanted: int
    cancelled: bool = False


def say_trigger(checkpoint: int) -> wire.Observations:
    return [{"type": "trigger", "checkpoint": str(checkpoint), "aligned": True}]


def say_aborts(checkpoints: Iterable[int], reason: str) -> wire.Observations:
    return [{"type": "abort", "checkpoint": str(checkpoint), "reason": reason} for checkpoint in checkpoints]


class BarrierTracker:
    def __init__(self, config: wire.Json, gauge: Gauge) -> None:
        self.channels: int = config["channels"]
        self.ends_count = config["finished_channels"]
        self.ended: set[int] = set()
        #: By checkpoint, the oldest first.
        self.pending: dict[int, Count] = {}
        self.latest = -1
        self.clock = 0
        self.gauge = gauge

    def on_advance(self, milliseconds: int, *, fires: bool) -> wire.Observations:
        self.clock += milliseconds
        return []

    def on_close(self) -> wire.Observations:
        return []

    def trigger(self, checkpoint: int) -> wire.Observations:
        """The time of an alignment is known of the checkpoint that began last, BARR-21."""
        if checkpoint == self.latest and self.gauge.began is not None:
            self.gauge.end(self.clock - self.gauge.began)
        self.gauge.trigger(checkpoint)
        return say_trigger(checkpoint)

    def on_announcement(self, _channel: int, _checkpoint: int, _sequence: int, _created: int) -> wire.Observations:
        return []

    def count_open(self) -> int:
        return self.channels - len(self.ended)

    def on_barrier(self, channel: int, checkpoint: int, _mode: str, created: int) -> wire.Observations:
        if self.count_open() == 1 and checkpoint > self.latest:
            self.gauge.begin(checkpoint, created, self.clock)
            self.gauge.end(0)
            self.gauge.trigger(checkpoint)
            return say_trigger(checkpoint)
        if checkpoint in self.pending:
            return self.count(channel, checkpoint)
        if checkpoint <= self.latest:
            return []
        self.gauge.begin(checkpoint, created, self.clock)
        self.pending[checkpoint] = Count({channel}, self.count_open())
        self.latest = checkpoint
        if len(self.pending) > _MOST_PENDING:
            del self.pending[min(self.pending)]
        return []

    def count(self, channel: int, checkpoint: int) -> wire.Observations:
        count = self.pending[checkpoint]
        count.heard.add(channel)
        if len(count.heard) < count.wanted:
            return []
        self.forget_to(checkpoint)
        return [] if count.cancelled else self.trigger(checkpoint)

    def forget_to(self, checkpoint: int) -> None:
        self.pending = {key: count for key, count in self.pending.items() if key > checkpoint}

    def on_cancel(self, channel: int, checkpoint: int) -> wire.Observations:
        if self.count_open() == 1 and checkpoint > self.latest:
            self.gauge.reset()
            return say_aborts([checkpoint], "cancelled")
        older = [key for key in self.pending if key < checkpoint]
        given_up = [key for key in older if not self.pending[key].cancelled]
        for key in older:
            del self.pending[key]
        if checkpoint in self.pending:
            count = self.pending[checkpoint]
            if not count.cancelled:
                given_up.append(checkpoint)
            count.cancelled = True
            count.heard.add(channel)
            if len(count.heard) >= count.wanted:
                del self.pending[checkpoint]
        elif checkpoint > self.latest:
            given_up.append(checkpoint)
            self.latest = checkpoint
            self.pending[checkpoint] = Count({channel}, self.count_open(), cancelled=True)
        return say_aborts(given_up, "cancelled")

    def on_end(self, channel: int) -> wire.Observations:
        self.ended.add(channel)
        if not self.ends_count:
            given_up = [key for key, count in self.pending.items() if not count.cancelled]
            self.pending = {}
            self.gauge.reset()
            return say_aborts(given_up, "end_of_partition")
        for count in self.pending.values():
            count.heard.add(channel)
        complete = [key for key, count in self.pending.items() if len(count.heard) >= count.wanted]
        if not complete:
            return []
        newest = complete[-1]
        silent = self.pending[newest].cancelled
        self.forget_to(newest)
        return [] if silent else self.trigger(newest)


# --- what they read


def get_checkpoint(event: wire.Json) -> int:
    checkpoint = wire.get_long(event, "checkpoint")
    if checkpoint < 0:
        raise wire.BadRequestError(f"no checkpoint: {checkpoint}")
    return checkpoint


class Barriers:
    """Reads events, and refuses those of channels that have ended or do not exist."""

    Meter = Gauge
    Handler = BarrierHandler
    Tracker = BarrierTracker

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        kind = wire.get_choice(config, "kind", _KINDS)
        extension = wire.get_extension(config, EXTENSIONS)
        self.channels = wire.get_at_least(config, "channels", 1)
        wire.get_boolean(config, "finished_channels")
        if ("timeout" in config) != (kind == "alternating"):
            raise wire.BadRequestError("timeout belongs to kind alternating, and to no other")
        if kind == "alternating":
            wire.get_at_least(config, "timeout", 1)
        self.measures = extension == "measures"
        self.may_be_late = extension == "late_timers"
        self.may_close = extension == "closing"
        self.takes_unaligned = kind in {"unaligned", "alternating"}
        self.closed = False
        make_handler = self.Tracker if kind == "at_least_once" else self.Handler
        self.handler: BarrierHandler | BarrierTracker = make_handler(config, self.Meter())

    def step(self, event: wire.Json) -> wire.Observations:
        handler = self.handler
        if event.get("type") in {"processed", "measure"} and self.measures:
            if event["type"] == "measure":
                return [handler.gauge.show(handler.clock)]
            handler.gauge.process(wire.get_at_least(event, "bytes", 0))
            return []
        if event.get("type") == "close" and self.may_close:
            self.closed = True
            return handler.on_close()
        if event.get("type") in {"advance", "delay"}:
            milliseconds = wire.get_at_least(event, "milliseconds", 0)
            if event["type"] == "delay" and not self.may_be_late:
                raise wire.BadRequestError("delay belongs to the extension late_timers")
            return handler.on_advance(milliseconds, fires=event["type"] == "advance")
        if event.get("type") not in {"barrier", "announcement", "cancel", "end_of_partition"}:
            raise wire.unknown_type(event)
        return self.on_item(event, wire.get_integer(event, "channel"))

    def on_item(self, event: wire.Json, channel: int) -> wire.Observations:
        handler = self.handler
        is_heard = self.is_heard(channel)
        match event["type"]:
            case "barrier":
                mode = wire.get_choice(event, "mode", _MODES)
                if mode == "unaligned" and not self.takes_unaligned:
                    raise wire.BadRequestError("this handler gets no unaligned barriers")
                checkpoint, created = get_checkpoint(event), wire.get_long(event, "created")
                return handler.on_barrier(channel, checkpoint, mode, created) if is_heard else wire.rejected()
            case "announcement":
                checkpoint, created = get_checkpoint(event), wire.get_long(event, "created")
                sequence = wire.get_integer(event, "sequence")
                return handler.on_announcement(channel, checkpoint, sequence, created) if is_heard else wire.rejected()
            case "cancel":
                checkpoint = get_checkpoint(event)
                return handler.on_cancel(channel, checkpoint) if is_heard else wire.rejected()
        return handler.on_end(channel) if is_heard else wire.rejected()

    def is_heard(self, channel: int) -> bool:
        return 0 <= channel < self.channels and channel not in self.handler.ended and not self.closed


make = Barriers

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("BARR-1")
class BarriersObsoleteKeepsWaiting(Barriers):
    """The channel of an obsolete barrier is not told to go on, and its sender hangs."""

    class Handler(BarrierHandler):
        on_barrier = changed(BarrierHandler.on_barrier, 'mode != "unaligned"', "False")


@wrong("BARR-1", "BARR-2", origin="FLINK-18063")
class BarriersCompletedBeginsAgain(Barriers):
    """A late barrier of a checkpoint that is complete or was given up begins it again."""

    class Handler(BarrierHandler):
        def on_barrier(self, channel: int, checkpoint: int, mode: str, created: int) -> wire.Observations:
            if checkpoint == self.current and not self.pending:
                self.current -= 1
            return super().on_barrier(channel, checkpoint, mode, created)


@wrong("BARR-2")
class BarriersSubsumedInSilence(Barriers):
    """A checkpoint that a newer one subsumes is given up without a word."""

    class Handler(BarrierHandler):
        def give_up(self, checkpoint: int, reason: str) -> None:
            super().give_up(checkpoint, reason)
            if reason == "subsumed":
                self.out.pop()


@wrong("BARR-2", origin="FLINK-2427")
class BarriersSubsumedKeepsBlocked(Barriers):
    """The channels of a subsumed checkpoint stay blocked: barriers that were lost block the job."""

    class Handler(BarrierHandler):
        def give_up(self, checkpoint: int, reason: str) -> None:
            kept = self.blocked if reason == "subsumed" else set()
            self.blocked = self.blocked - kept
            super().give_up(checkpoint, reason)
            self.blocked = self.blocked | kept


@wrong("BARR-3", "BARR-4", "BARR-17")
class BarriersNobodyWaits(Barriers):
    """Channels whose barrier was read go on: data from behind the barrier is in the checkpoint."""

    class Handler(BarrierHandler):
        read_aligned = changed(BarrierHandler.read_aligned, "self.block(channel)", "")


@wrong("BARR-3", "BARR-4", "BARR-17", "BARR-6")
class BarriersResumesBeforeTrigger(Barriers):
    """Blocked channels go on before the task has taken its part of the checkpoint."""

    class Handler(BarrierHandler):
        def take_aligned(self) -> None:
            self.unblock()
            self.say_trigger(aligned=True)


@wrong("BARR-13", "BARR-17", origin="FLINK-17564")
class BarriersTriggersBeforeSaving(Barriers):
    """The task takes its part of an unaligned checkpoint before the channels have begun to save: in-flight data
    comes in the wrong order.
    """

    class Handler(BarrierHandler):
        def say_trigger(self, *, aligned: bool) -> None:
            super().say_trigger(aligned=aligned)
            if not aligned:
                self.out[-2:] = self.out[:-3:-1]


@wrong("BARR-4", "BARR-3", "BARR-17")
class BarriersLoneChannelNotBlocked(Barriers):
    """The barrier of a lone channel triggers without blocking it."""

    class Handler(BarrierHandler):
        read_aligned = changed(
            BarrierHandler.read_aligned, "self.block(channel)", "if self.wanted != 1:\n    self.block(channel)"
        )


@wrong("BARR-5")
class BarriersUnknownCancelIgnored(Barriers):
    """The cancellation of a checkpoint of which nothing was seen is ignored, and so its barriers will block."""

    class Handler(BarrierHandler):
        def on_cancel(self, channel: int, checkpoint: int) -> wire.Observations:
            return [] if checkpoint > self.current else super().on_cancel(channel, checkpoint)


@wrong("BARR-5")
class BarriersCancelNeedsNoBarrier(Barriers):
    """The present checkpoint can be cancelled when only an announcement of it was read."""

    class Handler(BarrierHandler):
        on_cancel = changed(BarrierHandler.on_cancel, "self.arrived", "(self.arrived or self.pending)")


@wrong("BARR-5")
class BarriersCancelledNewerSparesPending(Barriers):
    """The cancellation of a newer checkpoint is ignored while another one is pending."""

    class Handler(BarrierHandler):
        def on_cancel(self, channel: int, checkpoint: int) -> wire.Observations:
            return [] if checkpoint > self.current and self.pending else super().on_cancel(channel, checkpoint)


@wrong("BARR-5")
class BarriersCancelledNewerNamesPending(Barriers):
    """The pending checkpoint that goes with a cancelled newer one is said to be subsumed."""

    class Handler(BarrierHandler):
        def on_cancel(self, channel: int, checkpoint: int) -> wire.Observations:
            if checkpoint > self.current and self.pending:
                self.give_up(self.current, "subsumed")
            return super().on_cancel(channel, checkpoint)


@wrong("BARR-5", "BARR-2", "BARR-6")
class BarriersAbortsBeforeResume(Barriers):
    """That a checkpoint is given up is said before its channels go on."""

    class Handler(BarrierHandler):
        def give_up(self, checkpoint: int, reason: str) -> None:
            before = len(self.out)
            super().give_up(checkpoint, reason)
            self.out.insert(before, self.out.pop())


@wrong("BARR-6", origin="Flink 1.5 to 1.13")
class BarriersEndIsFatal(Barriers):
    """A channel that ends gives up the pending checkpoint also where finished channels count."""

    class Handler(BarrierHandler):
        on_end = changed(BarrierHandler.on_end, "not self.ends_count", "True")


@wrong("BARR-6", "BARR-17", "BARR-3", "BARR-13", origin="FLINK-23771")
class BarriersEndNotCounted(Barriers):
    """The end of a channel does not stand for its barrier, so the last barrier never completes the checkpoint."""

    class Handler(BarrierHandler):
        on_end = changed(BarrierHandler.on_end, "self.arrived.add(channel)", "return []")


@wrong("BARR-7", "BARR-6", "BARR-17", "BARR-3", "BARR-13")
class BarriersEndLowersTarget(Barriers):
    """A channel that ends counts as aligned and is no longer waited for: it counts twice."""

    class Handler(BarrierHandler):
        on_end = changed(
            BarrierHandler.on_end, "self.arrived.add(channel)", "self.wanted -= 1\nself.arrived.add(channel)"
        )


@wrong("BARR-6", "BARR-17")
class BarriersEndTriggersUnread(Barriers):
    """The end of a channel triggers a checkpoint of which only announcements were read."""

    class Handler(BarrierHandler):
        on_end = changed(BarrierHandler.on_end, "if self.collecting:", "if True:")


@wrong("BARR-7", "BARR-3", "BARR-4", "BARR-13", "BARR-17", "BARR-6")
class BarriersEndedStillWanted(Barriers):
    """A checkpoint waits for channels that ended before it began."""

    class Handler(BarrierHandler):
        begin = changed(BarrierHandler.begin, "self.channels - len(self.ended)", "self.channels")


@wrong("BARR-7", "BARR-3", "BARR-4", "BARR-13", "BARR-17", "BARR-6", "BARR-5")
class BarriersEndedCountedTwice(Barriers):
    """Channels that ended before a checkpoint began count as aligned, and are not waited for either."""

    class Handler(BarrierHandler):
        begin = changed(BarrierHandler.begin, "self.arrived = set()", "self.arrived = set(self.ended)")


@wrong("BARR-7")
class BarriersEndedHeard(Barriers):
    """A channel that has ended is still listened to."""

    is_heard = changed(Barriers.is_heard, " and channel not in self.handler.ended", "")


@wrong("BARR-8", "BARR-1", "BARR-2", "BARR-3", "BARR-5", "BARR-6", "BARR-13", "BARR-17")
class BarriersBlockedRefused(Barriers):
    """What is read of a blocked channel is refused: a cancellation or an end that comes there is lost."""

    def is_heard(self, channel: int) -> bool:
        blocked = self.handler.blocked if isinstance(self.handler, BarrierHandler) else ()
        return super().is_heard(channel) and channel not in blocked


@wrong("BARR-8", "BARR-1", "BARR-2", "BARR-3", "BARR-5", "BARR-6", "BARR-13", "BARR-17")
class BarriersEndedStaysBlocked(Barriers):
    """A blocked channel that ends is told to go on with the others, although it is over."""

    class Handler(BarrierHandler):
        on_end = changed(BarrierHandler.on_end, "self.blocked.discard(channel)", "")


@wrong("BARR-17")
class BarriersTimerNeverLate(Barriers):
    """The timer fires in time although the task is busy: a checkpoint turns unaligned in the midst of something
    else.
    """

    class Handler(BarrierHandler):
        def on_advance(self, milliseconds: int, *, fires: bool) -> wire.Observations:
            return super().on_advance(milliseconds, fires=True)


@wrong("BARR-13", "BARR-17")
class BarriersUnalignedWaitsForAll(Barriers):
    """The task takes its part of an unaligned checkpoint with the last barrier instead of the first."""

    class Handler(BarrierHandler):
        read_overtaking = changed(
            BarrierHandler.read_overtaking, "not self.collecting", "not self.collecting and self.is_complete()"
        )


@wrong("BARR-13", "BARR-17")
class BarriersUnalignedBlocks(Barriers):
    """Unaligned barriers block their channels."""

    class Handler(BarrierHandler):
        read_overtaking = changed(BarrierHandler.read_overtaking, 'mode != "unaligned"', "True")


@wrong("BARR-13", "BARR-17", "BARR-2", "BARR-5", "BARR-6")
class BarriersSavingGoesOn(Barriers):
    """Channels go on saving after the last barrier."""

    class Handler(BarrierHandler):
        def stop_saving(self, checkpoint: int) -> None:
            self.unblock()


@wrong("BARR-17")
class BarriersAnnouncedStayBehind(Barriers):
    """When time runs out barriers that were announced are left where they wait."""

    class Handler(BarrierHandler):
        overtake = changed(BarrierHandler.overtake, "sorted(self.announced)", "()")


@wrong("BARR-17")
class BarriersLateAnnouncementWaits(Barriers):
    """Barriers that are announced after the time-out are left where they wait."""

    class Handler(BarrierHandler):
        on_announcement = changed(
            BarrierHandler.on_announcement, 'self.say("prioritize", channel=channel, sequence=sequence)', "pass"
        )


@wrong("BARR-17")
class BarriersAnnouncementStays(Barriers):
    """A barrier that was announced and then read is made to overtake all the same."""

    class Handler(BarrierHandler):
        read_aligned = changed(BarrierHandler.read_aligned, "self.announced.pop(channel, None)", "")


@wrong("BARR-17", "BARR-13")
class BarriersTimeoutTriggersUnread(Barriers):
    """The time-out triggers a checkpoint of which only announcements were read."""

    class Handler(BarrierHandler):
        overtake = changed(
            BarrierHandler.overtake, "self.overtaking = True", "self.overtaking = self.collecting = True"
        )


@wrong("BARR-17")
class BarriersTimerForgetsWhatPassed(Barriers):
    """The timer runs for the whole time-out, whatever has passed since the checkpoint was created."""

    class Handler(BarrierHandler):
        begin = changed(BarrierHandler.begin, "self.clock - created", "0")


@wrong("BARR-17")
class BarriersTimerAMomentLate(Barriers):
    """The timer does not fire at the moment when it is due."""

    class Handler(BarrierHandler):
        on_advance = changed(BarrierHandler.on_advance, "self.due <= self.clock", "self.due < self.clock")


@wrong("BARR-17")
class BarriersTimerOutlivesCheckpoint(Barriers):
    """The timer of a complete checkpoint fires into the next one."""

    class Handler(BarrierHandler):
        begin = changed(BarrierHandler.begin, "else:\n        self.due = None", "")
        finish_if_complete = changed(BarrierHandler.finish_if_complete, "self.due = None", "")


@wrong("BARR-17", "BARR-6")
class BarriersOnlyTheTimerCounts(Barriers):
    """A barrier that comes later than the time-out waits for the timer."""

    class Handler(BarrierHandler):
        def is_late(self, mode: str, created: int) -> bool:
            return False


@wrong("BARR-17", "BARR-6")
class BarriersLateAtTheTimeout(Barriers):
    """A barrier that comes exactly at the time-out does not wait for the timer."""

    class Handler(BarrierHandler):
        is_late = changed(BarrierHandler.is_late, "> self.timeout", ">= self.timeout")


@wrong("BARR-17", "BARR-13")
class BarriersUnalignedForGood(Barriers):
    """After one time-out every checkpoint is unaligned."""

    class Handler(BarrierHandler):
        unblock = changed(BarrierHandler.unblock, 'self.overtaking = self.kind == "unaligned"', "")


@wrong("BARR-10", "BARR-9")
class TrackerAnnouncementCounts(Barriers):
    """At least once counts announcements as barriers."""

    class Tracker(BarrierTracker):
        def on_announcement(self, channel: int, checkpoint: int, _sequence: int, created: int) -> wire.Observations:
            return self.on_barrier(channel, checkpoint, "timeout", created)


@wrong("BARR-9", "BARR-11", "BARR-10")
class TrackerLoneChannelRemembers(Barriers):
    """With one open channel a checkpoint is triggered once."""

    class Tracker(BarrierTracker):
        on_barrier = changed(
            BarrierTracker.on_barrier,
            "return say_trigger(checkpoint)",
            "self.latest = checkpoint\nreturn say_trigger(checkpoint)",
        )


@wrong("BARR-7", "BARR-9", "BARR-10", "BARR-11")
class TrackerEndedStillWanted(Barriers):
    """At least once waits for channels that have ended."""

    class Tracker(BarrierTracker):
        def count_open(self) -> int:
            return self.channels


@wrong("BARR-10", "BARR-12", "BARR-11")
class TrackerOlderStayPending(Barriers):
    """Checkpoints that are older than a complete one stay pending, and trigger after it."""

    class Tracker(BarrierTracker):
        def forget_to(self, checkpoint: int) -> None:
            del self.pending[checkpoint]


@wrong("BARR-10", "BARR-11")
class TrackerOldBarriersBeginAgain(Barriers):
    """A barrier of a checkpoint that was completed and forgotten begins it again."""

    class Tracker(BarrierTracker):
        on_barrier = changed(
            BarrierTracker.on_barrier,
            "checkpoint <= self.latest",
            "False",
            "self.latest = checkpoint",
            "self.latest = max(self.latest, checkpoint)",
        )


@wrong("BARR-10")
class TrackerCountsBarriersNotChannels(Barriers):
    """A second barrier of the same channel counts for another one."""

    class Tracker(BarrierTracker):
        count = changed(
            BarrierTracker.count,
            "count.heard.add(channel)",
            "if channel in count.heard:\n    count.wanted -= 1\ncount.heard.add(channel)",
        )


@wrong("BARR-10", "BARR-11", "BARR-12")
class TrackerNeverForgets(Barriers):
    """Pending checkpoints are remembered for ever."""

    class Tracker(BarrierTracker):
        on_barrier = changed(BarrierTracker.on_barrier, "len(self.pending) > _MOST_PENDING", "False")


@wrong("BARR-10", "BARR-11", "BARR-12")
class TrackerForgetsEarly(Barriers):
    """One checkpoint less may be pending."""

    class Tracker(BarrierTracker):
        on_barrier = changed(BarrierTracker.on_barrier, "> _MOST_PENDING", ">= _MOST_PENDING")


@wrong("BARR-10", "BARR-11", "BARR-12")
class TrackerDropsTheNewest(Barriers):
    """When too many are pending the newest one is dropped."""

    class Tracker(BarrierTracker):
        on_barrier = changed(BarrierTracker.on_barrier, "min(self.pending)", "max(self.pending)")


@wrong("BARR-11", "BARR-10")
class TrackerCancelledTriggers(Barriers):
    """A cancelled checkpoint triggers when its last barrier comes."""

    class Tracker(BarrierTracker):
        count = changed(BarrierTracker.count, "[] if count.cancelled else ", "")


@wrong("BARR-11", "BARR-10")
class TrackerUnknownCancelNotRemembered(Barriers):
    """The cancellation of a checkpoint that is not known is not remembered, so its barriers are counted."""

    class Tracker(BarrierTracker):
        on_cancel = changed(BarrierTracker.on_cancel, "self.latest = checkpoint", "", "self.pending[checkpoint] = ", "")


@wrong("BARR-11")
class TrackerCancelSparesOlder(Barriers):
    """A cancellation gives up its own checkpoint only."""

    class Tracker(BarrierTracker):
        on_cancel = changed(BarrierTracker.on_cancel, "[key for key in self.pending if key < checkpoint]", "[]")


@wrong("BARR-11")
class TrackerAbortsRepeated(Barriers):
    """A checkpoint that was given up is given up again."""

    class Tracker(BarrierTracker):
        on_cancel = changed(
            BarrierTracker.on_cancel, " if not self.pending[key].cancelled", "", "not count.cancelled", "True"
        )


@wrong("BARR-12", origin="Flink 1.5 to 1.13")
class TrackerEndIsFatal(Barriers):
    """A channel that ends gives up all pending checkpoints also where finished channels count."""

    class Tracker(BarrierTracker):
        on_end = changed(BarrierTracker.on_end, "not self.ends_count", "True")


@wrong("BARR-12", "BARR-10", origin="FLINK-23771")
class TrackerEndNotCounted(Barriers):
    """The end of a channel counts for no pending checkpoint."""

    class Tracker(BarrierTracker):
        on_end = changed(BarrierTracker.on_end, "count.heard.add(channel)", "pass")


@wrong("BARR-12")
class TrackerEndCompletesTheOldest(Barriers):
    """Of the checkpoints that the end of a channel completes the oldest is triggered."""

    class Tracker(BarrierTracker):
        on_end = changed(BarrierTracker.on_end, "complete[-1]", "complete[0]")


@wrong("BARR-12")
class TrackerEndTriggersAll(Barriers):
    """All checkpoints that the end of a channel completes are triggered."""

    class Tracker(BarrierTracker):
        on_end = changed(
            BarrierTracker.on_end,
            "silent = self.pending[newest].cancelled",
            "live = [key for key in complete if not self.pending[key].cancelled]",
            "[] if silent else self.trigger(newest)",
            "[one for key in live for one in self.trigger(key)]",
        )


@wrong("BARR-21")
class BarriersDelayBelowZero(Barriers):
    """A checkpoint that was created by a clock ahead of ours began before it was created."""

    class Meter(Gauge):
        begin = changed(Gauge.begin, "max(0, clock - created)", "clock - created")


@wrong("BARR-21")
class BarriersGivenUpStaysOpen(Barriers):
    """The time of a checkpoint that was given up is never settled: whoever waits for it waits for ever."""

    class Meter(Gauge):
        reset = changed(Gauge.reset, "self.end(0)", "")


@wrong("BARR-21")
class BarriersBytesOfAllAlignments(Barriers):
    """Bytes of earlier alignments count as well."""

    class Meter(Gauge):
        end = changed(Gauge.end, "self.bytes = 0", "")


@wrong("BARR-22")
class TrackerAnyTriggerEndsTheAlignment(Barriers):
    """At least once an older checkpoint that is triggered ends the alignment of the newer one."""

    class Tracker(BarrierTracker):
        trigger = changed(BarrierTracker.trigger, "checkpoint == self.latest", "True")


@wrong("BARR-22")
class TrackerCancelSettlesTheAlignment(Barriers):
    """At least once a cancellation settles the alignment of the checkpoint that it gives up."""

    class Tracker(BarrierTracker):
        def on_cancel(self, channel: int, checkpoint: int) -> wire.Observations:
            given_up = super().on_cancel(channel, checkpoint)
            if given_up:
                self.gauge.reset()
            return given_up


@wrong("BARR-23")
class BarriersTimerOutlivesTheClose(Barriers):
    """The timer of an alignment fires after the handler was closed, and the task begins a checkpoint at its end."""

    class Handler(BarrierHandler):
        on_close = changed(BarrierHandler.on_close, "self.due = None", "")


@wrong("BARR-23")
class BarriersClosingGivesUp(Barriers):
    """Closing declines the checkpoint that is pending, which the end of the task does anyway."""

    class Handler(BarrierHandler):
        def on_close(self) -> wire.Observations:
            if self.pending:
                self.give_up(self.current, "cancelled")
            return super().on_close()


@wrong("BARR-23")
class BarriersClosingResumes(Barriers):
    """Closing lets blocked channels go on, which nobody reads any more."""

    class Handler(BarrierHandler):
        def on_close(self) -> wire.Observations:
            self.say_resumed()
            return super().on_close()


@wrong("BARR-23")
class BarriersClosedReadsOn(Barriers):
    """A handler that is closed takes barriers as before."""

    is_heard = changed(Barriers.is_heard, " and not self.closed", "")


@wrong("BARR-21", "BARR-22")
class BarriersDelayIn32Bits(Barriers):
    """When a checkpoint was created is kept in 32 bits, so the delay of its start is wrong."""

    class Meter(Gauge):
        begin = changed(Gauge.begin, "clock - created", "clock - wire.to_int32(created)")
