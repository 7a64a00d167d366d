"""The combination of several inputs of one operator, COMB."""

from tidegate.conformance.engines import wire

SEMANTICS = ("flink-38454", "flink-18934")
_STATUSES = ("idle", "active")


class Combiner:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.inputs = wire.get_at_least(config, "inputs", 1)
        self.all_idle_flushes = wire.get_semantics(config, SEMANTICS) == "flink-38454"
        self.bug = host.bug
        self.watermarks = [wire.LOWEST] * self.inputs
        self.idles = [False] * self.inputs
        self.combined = wire.LOWEST
        self.idle = False
        self.announced = "active"
        if self.bug == "combiner-all-idle-unflushed":
            self.all_idle_flushes = False
        elif self.bug == "combiner-old-flushes-too":
            self.all_idle_flushes = True
        elif self.bug == "combiner-starts-idle":
            self.idle = True

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        index = wire.get_integer(event, "input")
        if kind == "watermark":
            timestamp = wire.get_long(event, "timestamp")
            if not 0 <= index < self.inputs:
                return wire.rejected()
            return self.on_watermark(index, timestamp)
        if kind == "status":
            status = wire.get_choice(event, "status", _STATUSES)
            if not 0 <= index < self.inputs:
                return wire.rejected()
            return self.on_status(index, status)
        raise wire.unknown_type(event)

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        bug = self.bug
        if bug == "combiner-timestamps-32-bit":
            timestamp = wire.to_int32(timestamp)
        if self.idles[index] and bug == "combiner-idle-input-unheard":
            return []
        advances = timestamp > self.watermarks[index]
        if bug == "combiner-watermark-leaves-idle":
            pass
        elif advances or bug != "combiner-stale-watermark-leaves-idle":
            self.idles[index] = False
        if advances or bug == "combiner-regression-overwrites":
            self.watermarks[index] = timestamp
        was_idle = self.idle
        out = self.recompute(index)
        if was_idle and not self.idle and bug == "combiner-watermark-announces-active":
            out.append({"type": "status", "status": "active"})
        return out

    def on_status(self, index: int, status: str) -> wire.Observations:
        bug = self.bug
        was_idle = self.idle
        self.idles[index] = status == "idle"
        if bug == "combiner-idle-forgets-watermark" and status == "idle":
            self.watermarks[index] = wire.LOWEST
        out = self.recompute(index)
        changed = self.idle != was_idle
        if bug == "combiner-every-status-forwarded":
            changed = True
        elif bug == "combiner-statuses-must-alternate":
            changed = changed and status != self.announced
        if changed:
            self.announced = status
            forwarded = {"type": "status", "status": status}
            if bug == "combiner-status-first":
                return [forwarded, *out]
            out.append(forwarded)
        return out

    def recompute(self, index: int) -> wire.Observations:
        bug = self.bug
        idles = self.idles[:2] if bug == "combiner-two-inputs-only" else self.idles
        idle = any(idles) if bug == "combiner-any-idle-is-idle" else all(idles)
        if bug == "combiner-idle-flag-waits-for-value":
            was, before = self.idle, self.combined
            out = self.combine(index, idles, idle=all(idles))
            self.idle = all(idles) if self.combined != before else was
            return out
        self.idle = idle
        return self.combine(index, idles, idle=all(idles))

    def combine(self, index: int, idles: list[bool], *, idle: bool) -> wire.Observations:
        bug = self.bug
        if idle:
            if not self.all_idle_flushes:
                return []
            held = self.watermarks[:8] if bug == "combiner-flushes-the-first-eight" else self.watermarks
            value = self.watermarks[index] if bug == "combiner-flushes-last-idler" else max(held)
        elif bug == "combiner-idle-input-holds":
            value = min(self.watermarks)
        elif bug == "combiner-laggard-does-not-hold":
            awake = [w for w, i in zip(self.watermarks, idles, strict=False) if not i]
            value = min((w for w in awake if w >= self.combined), default=self.combined)
        elif bug == "combiner-maximum-for-minimum":
            value = max(w for w, i in zip(self.watermarks, idles, strict=False) if not i)
        else:
            value = min(w for w, i in zip(self.watermarks, idles, strict=False) if not i)
        if value > self.combined or (bug == "combiner-goes-back" and value < self.combined):
            self.combined = value
        elif bug != "combiner-repeats-minimum" or value < self.combined:
            return []
        return [{"type": "watermark", "timestamp": str(self.combined)}]


make = Combiner
