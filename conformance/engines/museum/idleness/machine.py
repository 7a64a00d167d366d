"""The generator of a split with its idleness timer, IDLE."""

from tidegate.conformance.engines import wire


class Idleness:
    """Two clocks: the one on the wall, and what of it was spent paused."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug.removeprefix("idleness-")
        self.timeout = wire.get_at_least(config, "timeout", 1)
        self.delay = wire.get_at_least(config, "delay", 0) if "delay" in config else 0
        self.wall = wire.get_integer(config, "clock") if "clock" in config else 0
        self.lost = 0
        self.pauses = 0
        self.best: int | None = None
        self.emitted: int | None = None
        self.records = self.seen_records = 0
        #: when the timer began
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
            self.pauses = 1 if self.bug == "pauses-do-not-nest" else self.pauses + 1
            return []
        if kind == "resume":
            if self.pauses == 0:
                return [] if self.bug == "resume-without-pause" else wire.rejected()
            self.pauses -= 1
            return []
        raise wire.unknown_type(event)

    def on_record(self, timestamp: int) -> wire.Observations:
        was_idle = self.told
        if self.bug != "only-a-higher-record-counts" or self.best is None or timestamp > self.best:
            self.records += 1
            if self.bug == "records-in-a-byte":
                self.records &= 0xFF
            if self.bug != "idle-for-ever":
                self.told = False
        if self.best is None or timestamp > self.best or self.bug == "last-record-for-highest":
            self.best = timestamp
        if self.bug == "record-emits":
            return [self.watermark()]
        if self.bug == "record-stops-the-timer":
            self.began = None
            self.seen_records = self.records
        if self.bug == "record-says-active" and was_idle:
            return [{"type": "status", "status": "active"}]
        return []

    def on_advance(self, ticks: int) -> wire.Observations:
        self.wall += ticks
        if self.pauses and self.bug != "counts-while-paused":
            self.lost += ticks
        return []

    def on_check(self) -> wire.Observations:
        now, bug = self.wall - self.lost, self.bug
        if self.records != self.seen_records:
            self.seen_records = self.records
            self.began = now if bug == "timer-begins-at-once" else None
            return self.emit()
        if self.began is None:
            self.began = now if now != 0 or bug == "zero-is-a-time" else None
            return [] if bug == "silent-check-emits-nothing" else self.emit()
        silent = now - self.began
        if bug == "each-check-restarts":
            self.began = now
        limit = self.timeout - 1 if bug == "idle-at-the-timeout" else self.timeout
        if silent <= limit:
            return self.emit()
        if self.told and bug != "idle-repeated":
            return []
        self.told = True
        idle: wire.Observations = [{"type": "status", "status": "idle"}]
        return [self.watermark(), *idle] if bug == "watermark-with-idle" else idle

    def emit(self) -> wire.Observations:
        now = self.watermark()
        if self.bug == "only-news" and self.emitted == int(now["timestamp"]):
            return []
        self.emitted = int(now["timestamp"])
        return [now]

    def watermark(self) -> wire.Json:
        off = 0 if self.bug == "not-one-less" else 1
        if self.bug == "delay-forgotten":
            off -= self.delay
        value = wire.LOWEST if self.best is None else max(self.best - self.delay - off, wire.LOWEST)
        return {"type": "watermark", "timestamp": str(value)}


make = Idleness
