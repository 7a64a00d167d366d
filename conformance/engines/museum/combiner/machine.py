"""The combination of several inputs of one operator, COMB."""

from tidegate.conformance.engines.wire import (
    LOWEST,
    Host,
    Json,
    Observations,
    get_at_least,
    get_choice,
    get_integer,
    get_long,
    get_semantics,
    rejected,
    to_int32,
    unknown_type,
)

SEMANTICS = ("flink-38454", "flink-18934")
_STATUSES = ("idle", "active")


class Combiner:
    def __init__(self, config: Json, host: Host) -> None:
        self.inputs = get_at_least(config, "inputs", 1)
        self.all_idle_flushes = get_semantics(config, SEMANTICS) == "flink-38454"
        self.bug = host.bug
        self.watermarks = [LOWEST] * self.inputs
        self.idles = [False] * self.inputs
        self.combined = LOWEST
        self.idle = False
        self.announced = "active"
        if self.bug == "combiner-all-idle-unflushed":
            self.all_idle_flushes = False
        elif self.bug == "combiner-old-flushes-too":
            self.all_idle_flushes = True
        elif self.bug == "combiner-starts-idle":
            self.idle = True

    def step(self, event: Json) -> Observations:
        kind = event.get("type")
        index = get_integer(event, "input")
        if kind == "watermark":
            timestamp = get_long(event, "timestamp")
            if not 0 <= index < self.inputs:
                return rejected()
            return self.on_watermark(index, timestamp)
        if kind == "status":
            status = get_choice(event, "status", _STATUSES)
            if not 0 <= index < self.inputs:
                return rejected()
            return self.on_status(index, status)
        raise unknown_type(event)

    def on_watermark(self, index: int, timestamp: int) -> Observations:
        bug = self.bug
        if bug == "combiner-timestamps-32-bit":
            timestamp = to_int32(timestamp)
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

    def on_status(self, index: int, status: str) -> Observations:
        bug = self.bug
        was_idle = self.idle
        self.idles[index] = status == "idle"
        if bug == "combiner-idle-forgets-watermark" and status == "idle":
            self.watermarks[index] = LOWEST
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

    def recompute(self, index: int) -> Observations:
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

    def combine(self, index: int, idles: list[bool], *, idle: bool) -> Observations:
        bug = self.bug
        if idle:
            if not self.all_idle_flushes:
                return []
            value = self.watermarks[index] if bug == "combiner-flushes-last-idler" else max(self.watermarks)
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

#: What the right engine declares of the component.
CLAIM: Json = {"semantics": list(SEMANTICS)}
