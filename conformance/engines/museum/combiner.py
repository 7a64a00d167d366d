"""The combination of several inputs of one operator, COMB."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-38454", "flink-18934")
_STATUSES = ("idle", "active")


class Combiner:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.inputs = wire.get_at_least(config, "inputs", 1)
        self.all_idle_flushes = wire.get_semantics(config, SEMANTICS) == "flink-38454"
        self.watermarks = [wire.LOWEST] * self.inputs
        self.idles = [False] * self.inputs
        self.combined = wire.LOWEST
        self.idle = False
        self.announced = "active"

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
        advances = timestamp > self.watermarks[index]
        self.idles[index] = False
        if advances:
            self.watermarks[index] = timestamp
        return self.recompute(index)

    def on_status(self, index: int, status: str) -> wire.Observations:
        was_idle = self.idle
        self.idles[index] = status == "idle"
        out = self.recompute(index)
        changed = self.idle != was_idle
        if changed:
            self.announced = status
            forwarded = {"type": "status", "status": status}
            out.append(forwarded)
        return out

    def recompute(self, index: int) -> wire.Observations:
        idles = self.idles
        idle = all(idles)
        self.idle = idle
        return self.combine(index, idles, idle=all(idles))

    def combine(self, index: int, idles: list[bool], *, idle: bool) -> wire.Observations:
        if idle:
            if not self.all_idle_flushes:
                return []
            held = self.watermarks
            value = max(held)
        else:
            value = min((w for w, i in zip(self.watermarks, idles, strict=False) if not i))
        if value > self.combined:
            self.combined = value
        else:
            return []
        return [{"type": "watermark", "timestamp": str(self.combined)}]


make = Combiner

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("COMB-1", "COMB-2", "COMB-4", "COMB-7", "COMB-8")
class CombinerIdleInputUnheard(Combiner):
    """A watermark of an idle input is dropped, which is right in the valve and wrong here."""

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        if self.idles[index]:
            return []
        return super().on_watermark(index, timestamp)


@wrong("COMB-1", "COMB-2", "COMB-3", "COMB-4", "COMB-6", "COMB-7")
class CombinerWatermarkLeavesIdle(Combiner):
    """A watermark of an idle input is recorded but the input stays idle."""

    on_watermark = changed(Combiner.on_watermark, "self.idles[index] = False", "pass")


@wrong("COMB-1", "COMB-2", "COMB-3", "COMB-4", "COMB-6", "COMB-7")
class CombinerStaleWatermarkLeavesIdle(Combiner):
    """Only a watermark that advances wakes its input; the rule wakes it with any."""

    on_watermark = changed(
        Combiner.on_watermark, "self.idles[index] = False", "if advances:\n    self.idles[index] = False"
    )


@wrong("COMB-1", "COMB-2", "COMB-3", "COMB-4", origin="timeplus proton PR 1128")
class CombinerRegressionOverwrites(Combiner):
    """An older watermark replaces the input's own instead of being ignored."""

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        timestamp > self.watermarks[index]
        self.idles[index] = False
        self.watermarks[index] = timestamp
        return self.recompute(index)


@wrong("COMB-1", "COMB-2", "COMB-3", "COMB-4")
class CombinerTimestamps32Bit(Combiner):
    """Timestamps go through a 32-bit field."""

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        timestamp = wire.to_int32(timestamp)
        return super().on_watermark(index, timestamp)


@wrong("COMB-2", "COMB-4", "COMB-9", origin="FLINK-18934")
class CombinerIdleInputHolds(Combiner):
    """The minimum runs over all inputs, so one idle input freezes the operator."""

    combine = changed(
        Combiner.combine, "(w for w, i in zip(self.watermarks, idles, strict=False) if not i)", "self.watermarks"
    )


@wrong("COMB-2", "COMB-4", "COMB-8")
class CombinerLaggardDoesNotHold(Combiner):
    """The valve's notion of alignment is reused: an input behind the combined watermark does not hold it back."""

    combine = changed(
        Combiner.combine,
        "value = min((w for w, i in zip(self.watermarks, idles, strict=False) if not i))",
        "awake = [w for w, i in zip(self.watermarks, idles, strict=False) if not i]\n"
        "value = min((w for w in awake if w >= self.combined), default=self.combined)",
    )


@wrong("COMB-2", "COMB-4")
class CombinerMaximumForMinimum(Combiner):
    """The combined watermark follows the fastest input."""

    combine = changed(
        Combiner.combine,
        "min((w for w, i in zip(self.watermarks, idles, strict=False) if not i))",
        "max((w for w, i in zip(self.watermarks, idles, strict=False) if not i))",
    )


@wrong("COMB-2", "COMB-3", "COMB-4", "COMB-6")
class CombinerTwoInputsOnly(Combiner):
    """Written for two inputs and never extended: the status of a third is not looked at."""

    recompute = changed(Combiner.recompute, "self.idles", "self.idles[:2]")


@wrong("COMB-2", "COMB-1", "COMB-3", "COMB-4", "COMB-6")
class CombinerIdleForgetsWatermark(Combiner):
    """Going idle resets the input's watermark to the lowest timestamp."""

    on_status = changed(
        Combiner.on_status,
        "out = self.recompute(index)",
        'if status == "idle":\n    self.watermarks[index] = wire.LOWEST\nout = self.recompute(index)',
    )


@wrong("COMB-3", "COMB-4", "COMB-6", origin="FLINK-38454", semantics="flink-38454")
class CombinerAllIdleUnflushed(Combiner):
    """When all inputs are idle the highest watermark is not emitted: what releases up to 2.1 did, under the newer
    name.
    """

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.all_idle_flushes = False


@wrong("COMB-3", "COMB-4", "COMB-6", semantics="flink-18934")
class CombinerOldFlushesToo(Combiner):
    """The all-idle maximum is emitted also under the semantics that leave the combined watermark alone."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.all_idle_flushes = True


@wrong("COMB-3", "COMB-4", "COMB-6", semantics="flink-38454")
class CombinerFlushesLastIdler(Combiner):
    """When all inputs are idle the watermark of the last one to go idle is emitted instead of the maximum."""

    combine = changed(Combiner.combine, "max(held)", "self.watermarks[index]")


@wrong("COMB-4", "COMB-2", "COMB-3", "COMB-6")
class CombinerGoesBack(Combiner):
    """The combined watermark follows the minimum downwards when a slow input comes back."""

    combine = changed(Combiner.combine, "value > self.combined", "value > self.combined or value < self.combined")


@wrong("COMB-4", "COMB-2", "COMB-3", "COMB-6")
class CombinerRepeatsMinimum(Combiner):
    """A minimum equal to the combined watermark is emitted again."""

    def combine(self, index: int, idles: list[bool], *, idle: bool) -> wire.Observations:
        if idle:
            if not self.all_idle_flushes:
                return []
            held = self.watermarks
            value = max(held)
        else:
            value = min((w for w, i in zip(self.watermarks, idles, strict=False) if not i))
        if value > self.combined:
            self.combined = value
        elif value < self.combined:
            return []
        return [{"type": "watermark", "timestamp": str(self.combined)}]


@wrong("COMB-4", "COMB-6", "COMB-7")
class CombinerIdleFlagWaitsForValue(Combiner):
    """Idleness is taken over only when the combined watermark changes too."""

    def recompute(self, index: int) -> wire.Observations:
        idles = self.idles
        all(idles)
        was, before = (self.idle, self.combined)
        out = self.combine(index, idles, idle=all(idles))
        self.idle = all(idles) if self.combined != before else was
        return out


@wrong("COMB-6", "COMB-3", "COMB-4", "COMB-5", "COMB-7", origin="FLINK-23011")
class CombinerStartsIdle(Combiner):
    """Before it has heard anything the combiner takes itself for idle."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.idle = True


@wrong("COMB-6", "COMB-3", "COMB-4")
class CombinerAnyIdleIsIdle(Combiner):
    """One idle input makes the operator idle."""

    recompute = changed(Combiner.recompute, "idle = all(idles)", "idle = any(idles)")


@wrong("COMB-6", "COMB-3")
class CombinerStatusFirst(Combiner):
    """The status overtakes the watermark that belongs in front of it."""

    on_status = changed(Combiner.on_status, "out.append(forwarded)", "return [forwarded, *out]")


@wrong("COMB-6", "COMB-4", "COMB-7")
class CombinerEveryStatusForwarded(Combiner):
    """Every status of every input is forwarded, whether or not the operator's idleness changed."""

    on_status = changed(Combiner.on_status, "self.idle != was_idle", "True")


@wrong("COMB-7", "COMB-1", "COMB-6")
class CombinerWatermarkAnnouncesActive(Combiner):
    """A watermark that wakes an idle operator brings an active status along."""

    on_watermark = changed(
        Combiner.on_watermark,
        "return out",
        'if was_idle and (not self.idle):\n    out.append({"type": "status", "status": "active"})\nreturn out',
    )


@wrong("COMB-6", "COMB-7")
class CombinerStatusesMustAlternate(Combiner):
    """A second idle status in a row is swallowed, although a watermark had woken the operator in between."""

    on_status = changed(
        Combiner.on_status, "if changed:", "changed = changed and status != self.announced\nif changed:"
    )


@wrong("COMB-3", "COMB-4", "COMB-6", semantics="flink-38454")
class CombinerFlushesTheFirstEight(Combiner):
    """When all inputs are idle the maximum is taken over the first eight."""

    combine = changed(Combiner.combine, "held = self.watermarks", "held = self.watermarks[:8]")
