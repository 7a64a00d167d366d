"""The generator of a split with its idleness timer, IDLE."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong


class Idleness:
    """Two clocks: the one on the wall, and what of it was spent paused."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.timeout = wire.get_at_least(config, "timeout", 1)
        self.delay = wire.get_at_least(config, "delay", 0) if "delay" in config else 0
        self.wall = wire.get_integer(config, "clock") if "clock" in config else 0
        self.lost = 0
        self.pauses = 0
        self.best: int | None = None
        self.records = self.seen_records = 0
        #: When the timer began; a timer that begins at 0 is taken for none.
        self.began: int | None = None
        self.told = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "record":
            return self.on_record(wire.get_long(event, "timestamp"))
        if kind == "periodic_emit":
            return self.on_check()
        if kind == "advance":
            return self.on_advance(wire.get_at_least(event, "ticks", 0))
        if kind == "pause":
            self.pauses += 1
            return []
        if kind == "resume":
            if self.pauses == 0:
                return wire.rejected()
            self.pauses -= 1
            return []
        raise wire.unknown_type(event)

    def on_record(self, timestamp: int) -> wire.Observations:
        self.records += 1
        self.told = False
        if self.best is None or timestamp > self.best:
            self.best = timestamp
        return []

    def on_advance(self, ticks: int) -> wire.Observations:
        self.wall += ticks
        if self.pauses:
            self.lost += ticks
        return []

    def on_check(self) -> wire.Observations:
        now = self.wall - self.lost
        if self.records != self.seen_records:
            self.seen_records = self.records
            self.began = None
            return self.emit()
        if self.began is None:
            self.began = now or None
            return self.emit()
        if now - self.began <= self.timeout:
            return self.emit()
        if self.told:
            return []
        self.told = True
        return [{"type": "status", "status": "idle"}]

    def emit(self) -> wire.Observations:
        value = wire.LOWEST if self.best is None else max(self.best - self.delay - 1, wire.LOWEST)
        return [{"type": "watermark", "timestamp": str(value)}]


make = Idleness

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("IDLE-1", "IDLE-3")
class IdlenessNotOneLess(Idleness):
    """The watermark is the highest timestamp itself, so that an equal record is late."""

    emit = changed(Idleness.emit, "self.delay - 1", "self.delay")


@wrong("IDLE-1", "IDLE-3")
class IdlenessDelayForgotten(Idleness):
    """Records may not be late at all."""

    emit = changed(Idleness.emit, "self.best - self.delay", "self.best")


@wrong("IDLE-2", "IDLE-3")
class IdlenessLastRecordForHighest(Idleness):
    """The watermark follows the last record, not the highest."""

    def on_record(self, timestamp: int) -> wire.Observations:
        out = super().on_record(timestamp)
        self.best = timestamp
        return out


@wrong("IDLE-1", "IDLE-3", "IDLE-4", "IDLE-5", "IDLE-8")
class IdlenessOnlyNews(Idleness):
    """A watermark that is no higher than the last one is not emitted."""

    emitted: wire.Observations | None = None

    def emit(self) -> wire.Observations:
        last, self.emitted = self.emitted, super().emit()
        return [] if last == self.emitted else self.emitted


@wrong("IDLE-2")
class IdlenessRecordEmits(Idleness):
    """Each record emits a watermark."""

    on_record = changed(Idleness.on_record, "return []", "return self.emit()")


@wrong("IDLE-2")
class IdlenessRecordSaysActive(Idleness):
    """A record of an idle split says active."""

    def on_record(self, timestamp: int) -> wire.Observations:
        was_idle = self.told
        super().on_record(timestamp)
        return [{"type": "status", "status": "active"}] if was_idle else []


@wrong("IDLE-2", "IDLE-3", "IDLE-4", "IDLE-5")
class IdlenessOnlyAHigherRecordCounts(Idleness):
    """Records that do not raise the watermark do not show that the split is alive."""

    def on_record(self, timestamp: int) -> wire.Observations:
        return super().on_record(timestamp) if self.best is None or timestamp > self.best else []


@wrong("IDLE-2", "IDLE-5")
class IdlenessIdleForEver(Idleness):
    """A split that was idle once never says so again."""

    on_record = changed(Idleness.on_record, "self.told = False", "pass")


@wrong("IDLE-3", "IDLE-4", "IDLE-5")
class IdlenessTimerBeginsAtOnce(Idleness):
    """The timer begins at the check that notices a record, one check early."""

    on_check = changed(Idleness.on_check, "self.began = None", "self.began = now")


@wrong("IDLE-3", "IDLE-4", "IDLE-5")
class IdlenessRecordStopsTheTimer(Idleness):
    """A record stops the timer itself, so that the first check after it begins it again."""

    def on_record(self, timestamp: int) -> wire.Observations:
        out = super().on_record(timestamp)
        self.began = None
        self.seen_records = self.records
        return out


@wrong("IDLE-4", "IDLE-8", "IDLE-1")
class IdlenessSilentCheckEmitsNothing(Idleness):
    """The check that begins the timer emits no watermark."""

    on_check = changed(Idleness.on_check, "self.began = now or None", "self.began = now or None\nreturn []")


@wrong("IDLE-5")
class IdlenessIdleAtTheTimeout(Idleness):
    """A split is idle when the timeout is reached, not when it has passed."""

    on_check = changed(Idleness.on_check, "<= self.timeout", "< self.timeout")


@wrong("IDLE-5", "IDLE-6")
class IdlenessEachCheckRestarts(Idleness):
    """Each check begins the timer anew, and with frequent checks no split is ever idle."""

    on_check = changed(
        Idleness.on_check,
        "if now - self.began <= self.timeout",
        "silent, self.began = now - self.began, now\nif silent <= self.timeout",
    )


@wrong("IDLE-5")
class IdlenessWatermarkWithIdle(Idleness):
    """The watermark is emitted once more before idle, and wakes the split in the multiplexer."""

    on_check = changed(Idleness.on_check, 'return [{"type"', 'return [*self.emit(), {"type"')


@wrong("IDLE-6")
class IdlenessIdleRepeated(Idleness):
    """Each check of an idle split says idle."""

    on_check = changed(Idleness.on_check, "if self.told:", "if False:")


@wrong("IDLE-7", "IDLE-4", "IDLE-5", "IDLE-8", origin="FLINK-35886")
class IdlenessCountsWhilePaused(Idleness):
    """Time on the wall counts: a split that may not be read turns idle."""

    on_advance = changed(Idleness.on_advance, "self.pauses", "False")


@wrong("IDLE-7", "IDLE-5")
class IdlenessPausesDoNotNest(Idleness):
    """The first resume lets the clock go on, though there is another reason to pause."""

    step = changed(Idleness.step, "self.pauses += 1", "self.pauses = 1")


@wrong("IDLE-7")
class IdlenessResumeWithoutPause(Idleness):
    """A resume too many is taken without a word."""

    step = changed(Idleness.step, "wire.rejected()", "[]")


@wrong("IDLE-8", "IDLE-4", "IDLE-5", origin="one-rule change: a flag beside the time")
class IdlenessZeroIsATime(Idleness):
    """A timer that begins at 0 is a timer; Flink takes it for none."""

    on_check = changed(Idleness.on_check, "now or None", "now")


@wrong("IDLE-2", "IDLE-3", "IDLE-4", "IDLE-5")
class IdlenessRecordsInAByte(Idleness):
    """Records are counted in a byte, and a check that finds the number of the last one sees no record: 256 of them
    are silence.
    """

    def on_record(self, timestamp: int) -> wire.Observations:
        out = super().on_record(timestamp)
        self.records &= 0xFF
        return out
