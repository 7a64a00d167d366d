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
        self.idles[index] = False
        self.watermarks[index] = max(timestamp, self.watermarks[index])
        return self.recompute()

    def on_status(self, index: int, status: str) -> wire.Observations:
        was_idle = self.idle
        self.idles[index] = status == "idle"
        out = self.recompute()
        if self.idle != was_idle:
            out.append({"type": "status", "status": status})
        return out

    def recompute(self) -> wire.Observations:
        self.idle = all(self.idles)
        if self.idle and not self.all_idle_flushes:
            return []
        value = self.combine()
        if value <= self.combined:
            return []
        self.combined = value
        return [{"type": "watermark", "timestamp": str(value)}]

    def combine(self) -> int:
        awake = [watermark for watermark, idle in zip(self.watermarks, self.idles, strict=True) if not idle]
        return min(awake) if awake else max(self.watermarks)


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
        Combiner.on_watermark,
        "self.idles[index] = False",
        "if timestamp > self.watermarks[index]:\n    self.idles[index] = False",
    )


@wrong("COMB-1", "COMB-2", "COMB-3", "COMB-4", origin="timeplus proton PR 1128")
class CombinerRegressionOverwrites(Combiner):
    """An older watermark replaces the input's own instead of being ignored."""

    on_watermark = changed(Combiner.on_watermark, "max(timestamp, self.watermarks[index])", "timestamp")


@wrong("COMB-1", "COMB-2", "COMB-3", "COMB-4")
class CombinerTimestamps32Bit(Combiner):
    """Timestamps go through a 32-bit field."""

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        return super().on_watermark(index, wire.to_int32(timestamp))


@wrong("COMB-2", "COMB-4", "COMB-9", origin="FLINK-18934")
class CombinerIdleInputHolds(Combiner):
    """The minimum runs over all inputs, so one idle input freezes the operator."""

    combine = changed(Combiner.combine, "min(awake)", "min(self.watermarks)")


@wrong("COMB-2", "COMB-4", "COMB-8")
class CombinerLaggardDoesNotHold(Combiner):
    """The valve's notion of alignment is reused: an input behind the combined watermark does not hold it back."""

    combine = changed(
        Combiner.combine,
        "min(awake)",
        "min((watermark for watermark in awake if watermark >= self.combined), default=self.combined)",
    )


@wrong("COMB-2", "COMB-4")
class CombinerMaximumForMinimum(Combiner):
    """The combined watermark follows the fastest input."""

    combine = changed(Combiner.combine, "min(awake)", "max(awake)")


@wrong("COMB-2", "COMB-3", "COMB-4", "COMB-6")
class CombinerTwoInputsOnly(Combiner):
    """Written for two inputs and never extended: the status of a third is not looked at."""

    recompute = changed(Combiner.recompute, "self.idles", "self.idles[:2]")
    combine = changed(Combiner.combine, "self.idles, strict=True", "self.idles[:2], strict=False")


@wrong("COMB-2", "COMB-1", "COMB-3", "COMB-4", "COMB-6")
class CombinerIdleForgetsWatermark(Combiner):
    """Going idle resets the input's watermark to the lowest timestamp."""

    def on_status(self, index: int, status: str) -> wire.Observations:
        if status == "idle":
            self.watermarks[index] = wire.LOWEST
        return super().on_status(index, status)


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

    def on_status(self, index: int, status: str) -> wire.Observations:
        self.last = index
        return super().on_status(index, status)

    combine = changed(Combiner.combine, "max(self.watermarks)", "self.watermarks[self.last]")


@wrong("COMB-4", "COMB-2", "COMB-3", "COMB-6")
class CombinerGoesBack(Combiner):
    """The combined watermark follows the minimum downwards when a slow input comes back."""

    recompute = changed(Combiner.recompute, "value <= self.combined", "value == self.combined")


@wrong("COMB-4", "COMB-2", "COMB-3", "COMB-6")
class CombinerRepeatsMinimum(Combiner):
    """A minimum equal to the combined watermark is emitted again."""

    recompute = changed(Combiner.recompute, "value <= self.combined", "value < self.combined")


@wrong("COMB-4", "COMB-6", "COMB-7")
class CombinerIdleFlagWaitsForValue(Combiner):
    """Idleness is taken over only when the combined watermark changes too."""

    def recompute(self) -> wire.Observations:
        was_idle = self.idle
        out = super().recompute()
        if not out:
            self.idle = was_idle
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

    def recompute(self) -> wire.Observations:
        out = super().recompute()
        self.idle = any(self.idles)
        return out


@wrong("COMB-6", "COMB-3")
class CombinerStatusFirst(Combiner):
    """The status overtakes the watermark that belongs in front of it."""

    def on_status(self, index: int, status: str) -> wire.Observations:
        return super().on_status(index, status)[::-1]


@wrong("COMB-6", "COMB-4", "COMB-7")
class CombinerEveryStatusForwarded(Combiner):
    """Every status of every input is forwarded, whether or not the operator's idleness changed."""

    on_status = changed(Combiner.on_status, "self.idle != was_idle", "True")


@wrong("COMB-7", "COMB-1", "COMB-6")
class CombinerWatermarkAnnouncesActive(Combiner):
    """A watermark that wakes an idle operator brings an active status along."""

    def on_watermark(self, index: int, timestamp: int) -> wire.Observations:
        was_idle = self.idle
        out = super().on_watermark(index, timestamp)
        if was_idle and not self.idle:
            out.append({"type": "status", "status": "active"})
        return out


@wrong("COMB-6", "COMB-7")
class CombinerStatusesMustAlternate(Combiner):
    """A second idle status in a row is swallowed, although a watermark had woken the operator in between."""

    announced = "active"

    def on_status(self, index: int, status: str) -> wire.Observations:
        out = super().on_status(index, status)
        if out and out[-1]["type"] == "status":
            if status == self.announced:
                out.pop()
            self.announced = status
        return out


@wrong("COMB-3", "COMB-4", "COMB-6", semantics="flink-38454")
class CombinerFlushesTheFirstEight(Combiner):
    """When all inputs are idle the maximum is taken over the first eight."""

    combine = changed(Combiner.combine, "max(self.watermarks)", "max(self.watermarks[:8])")
