"""The combination of the splits of one source, MUX."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-38454", "flink-18934", "flink-17653")
_MODES = ("immediate", "deferred")
_STATUSES = ("idle", "active")
_KINDS = ("register", "unregister", "watermark", "status")


class Multiplexer:
    """Watermarks by id, and the ids of those that are idle."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.semantics = wire.get_semantics(config, SEMANTICS)
        self.watermarks: dict[int, int] = {}
        self.idle: set[int] = set()
        self.combined = wire.LOWEST
        self.found_idle = False

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "periodic_emit":
            return self.on_emit()
        if kind not in _KINDS:
            raise wire.unknown_type(event)
        output = wire.get_integer(event, "output")
        if kind == "register":
            return self.on_register(output)
        if kind == "unregister":
            return self.on_unregister(output)
        at_once = wire.get_choice(event, "mode", _MODES) == "immediate"
        if kind == "watermark":
            timestamp = wire.get_long(event, "timestamp")
            if output not in self.watermarks:
                return wire.rejected()
            return self.on_watermark(output, timestamp, at_once=at_once)
        status = wire.get_choice(event, "status", _STATUSES)
        if output not in self.watermarks:
            return wire.rejected()
        return self.on_status(output, status, at_once=at_once)

    def on_emit(self) -> wire.Observations:
        return self.derive()

    def on_register(self, output: int) -> wire.Observations:
        if output in self.watermarks:
            return wire.rejected()
        self.watermarks[output] = wire.LOWEST
        return []

    def on_unregister(self, output: int) -> wire.Observations:
        self.watermarks.pop(output, None)
        self.idle.discard(output)
        return []

    def on_watermark(self, output: int, timestamp: int, *, at_once: bool) -> wire.Observations:
        self.idle.discard(output)
        if timestamp <= self.watermarks[output]:
            return []
        self.watermarks[output] = timestamp
        return self.derive() if at_once and timestamp > self.combined else []

    def on_status(self, output: int, status: str, *, at_once: bool) -> wire.Observations:
        if status == "idle":
            self.idle.add(output)
        elif self.semantics == "flink-17653":
            return wire.rejected()
        else:
            self.idle.discard(output)
        return self.derive() if at_once else []

    def derive(self) -> wire.Observations:
        if not self.watermarks:
            return [{"type": "status", "status": "idle"}] if self.found_idle else []
        awake = [value for output, value in self.watermarks.items() if output not in self.idle]
        idle = not awake
        self.found_idle = idle and self.semantics != "flink-17653"
        seen: wire.Observations = []
        value = self.combine(awake)
        if value > self.combined:
            self.combined = value
            seen = [{"type": "watermark", "timestamp": str(value)}]
        if idle:
            seen.append({"type": "status", "status": "idle"})
        return seen

    def combine(self, awake: list[int]) -> int:
        if awake:
            return min(awake)
        return max(self.watermarks.values()) if self.semantics == "flink-38454" else self.combined


make = Multiplexer

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("MUX-1")
class MultiplexerRegisteredTwice(Multiplexer):
    """An id that is registered already is accepted, and starts anew."""

    def on_register(self, output: int) -> wire.Observations:
        self.on_unregister(output)
        return super().on_register(output)


@wrong("MUX-1", "MUX-3", "MUX-5", "MUX-6", "MUX-7", "MUX-8")
class MultiplexerNewSplitStartsIdle(Multiplexer):
    """A new split counts as idle until it speaks, so the others run ahead of what it brings."""

    on_register = changed(Multiplexer.on_register, "return []", "self.idle.add(output)\nreturn []")


@wrong("MUX-1", "MUX-8", origin="FLINK-22926, as it was proposed")
class MultiplexerNewSplitSaysActive(Multiplexer):
    """A new split makes an idle source active at once."""

    def on_register(self, output: int) -> wire.Observations:
        out = super().on_register(output)
        if out or not self.found_idle:
            return out
        self.found_idle = False
        return [{"type": "status", "status": "active"}]


@wrong("MUX-2", "MUX-3", "MUX-4", "MUX-5", "MUX-6", "MUX-7", "MUX-8")
class MultiplexerIdleSplitUnheard(Multiplexer):
    """A watermark of an idle split is dropped, which is right in the valve and wrong here."""

    def on_watermark(self, output: int, timestamp: int, *, at_once: bool) -> wire.Observations:
        return [] if output in self.idle else super().on_watermark(output, timestamp, at_once=at_once)


@wrong("MUX-2", "MUX-3", "MUX-5", "MUX-6", "MUX-7", "MUX-8")
class MultiplexerWatermarkLeavesIdle(Multiplexer):
    """A watermark of an idle split is recorded but the split stays idle."""

    on_watermark = changed(Multiplexer.on_watermark, "self.idle.discard(output)", "pass")


@wrong("MUX-2", "MUX-3", "MUX-5", "MUX-6", "MUX-7", "MUX-8")
class MultiplexerOnlyAnAdvanceWakes(Multiplexer):
    """Only a watermark that advances wakes its split; the rule wakes it with any."""

    on_watermark = changed(
        Multiplexer.on_watermark,
        "self.idle.discard(output)",
        "if timestamp > self.watermarks[output]:\n    self.idle.discard(output)",
    )


@wrong("MUX-2", "MUX-3", "MUX-5", "MUX-6", "MUX-7")
class MultiplexerRegressionOverwrites(Multiplexer):
    """An older watermark replaces the split's own instead of being ignored."""

    def on_watermark(self, output: int, timestamp: int, *, at_once: bool) -> wire.Observations:
        out = super().on_watermark(output, timestamp, at_once=at_once)
        self.watermarks[output] = timestamp
        return out


@wrong("MUX-2", "MUX-3", "MUX-5", "MUX-6", "MUX-7")
class MultiplexerTimestamps32Bit(Multiplexer):
    """Timestamps go through a 32-bit field."""

    def on_watermark(self, output: int, timestamp: int, *, at_once: bool) -> wire.Observations:
        return super().on_watermark(output, wire.to_int32(timestamp), at_once=at_once)


@wrong("MUX-3", "MUX-2", "MUX-5", "MUX-6")
class MultiplexerImmediateWaits(Multiplexer):
    """Watermarks by the immediate door wait for the next emit, too."""

    def on_watermark(self, output: int, timestamp: int, *, at_once: bool) -> wire.Observations:
        return super().on_watermark(output, timestamp, at_once=False)


@wrong("MUX-3", "MUX-2", "MUX-10")
class MultiplexerEveryWatermarkDerives(Multiplexer):
    """A watermark that is not higher than the combined one derives all the same, and brings out what others had
    noted.
    """

    def on_watermark(self, output: int, timestamp: int, *, at_once: bool) -> wire.Observations:
        super().on_watermark(output, timestamp, at_once=False)
        return self.derive() if at_once else []


@wrong("MUX-3", "MUX-6", "MUX-10")
class MultiplexerActiveWaits(Multiplexer):
    """A split that turns active by the immediate door is noted, and derived with the next emit."""

    def on_status(self, output: int, status: str, *, at_once: bool) -> wire.Observations:
        return super().on_status(output, status, at_once=at_once and status == "idle")


@wrong("MUX-3", "MUX-6", "MUX-7", "MUX-8")
class MultiplexerOldNewsDerivesNothing(Multiplexer):
    """A status that is no news is not acted upon, so what was noted before it stays inside."""

    def on_status(self, output: int, status: str, *, at_once: bool) -> wire.Observations:
        news = (output in self.idle) != (status == "idle")
        return super().on_status(output, status, at_once=at_once and news)


@wrong("MUX-4", "MUX-6", "MUX-7", "MUX-8")
class MultiplexerDeferredAtOnce(Multiplexer):
    """Watermarks by the deferred door are derived at once."""

    def on_watermark(self, output: int, timestamp: int, *, at_once: bool) -> wire.Observations:
        return super().on_watermark(output, timestamp, at_once=True)


@wrong("MUX-4", "MUX-6", "MUX-7", "MUX-8")
class MultiplexerDeferredStatusAtOnce(Multiplexer):
    """Statuses by the deferred door are derived at once."""

    def on_status(self, output: int, status: str, *, at_once: bool) -> wire.Observations:
        return super().on_status(output, status, at_once=True)


@wrong("MUX-5", "MUX-6", "MUX-10")
class MultiplexerEmitRepeats(Multiplexer):
    """Each emit sends the combined watermark, whether or not it is new."""

    def on_emit(self) -> wire.Observations:
        seen = super().on_emit()
        if seen or self.combined == wire.LOWEST:
            return seen
        return [{"type": "watermark", "timestamp": str(self.combined)}]


@wrong("MUX-5", "MUX-7", "MUX-8", "MUX-10")
class MultiplexerEmitOnlyWhenAwake(Multiplexer):
    """An emit while every split is idle is skipped as pointless."""

    def on_emit(self) -> wire.Observations:
        return [] if self.watermarks.keys() <= self.idle else super().on_emit()


@wrong("MUX-6", "MUX-3", "MUX-5")
class MultiplexerMaximumForMinimum(Multiplexer):
    """The combined watermark follows the fastest split."""

    combine = changed(Multiplexer.combine, "min(awake)", "max(awake)")


@wrong("MUX-6", "MUX-7", "MUX-3", "MUX-5", "MUX-8")
class MultiplexerIdleSplitHolds(Multiplexer):
    """The minimum runs over all splits, so one idle split freezes the source."""

    def combine(self, awake: list[int]) -> int:
        return min(self.watermarks.values())


@wrong("MUX-6", "MUX-5", "MUX-3", "MUX-7")
class MultiplexerGoesBack(Multiplexer):
    """The combined watermark follows the minimum downwards when a slow split comes back."""

    derive = changed(
        Multiplexer.derive, "value > self.combined", "value > self.combined or wire.LOWEST < value < self.combined"
    )


@wrong("MUX-7", "MUX-3", "MUX-5", "MUX-6", "MUX-8")
class MultiplexerIdleForgetsWatermark(Multiplexer):
    """Turning idle resets the split's watermark to the lowest timestamp."""

    def on_status(self, output: int, status: str, *, at_once: bool) -> wire.Observations:
        if status == "idle":
            self.watermarks[output] = wire.LOWEST
        return super().on_status(output, status, at_once=at_once)


@wrong("MUX-7", "MUX-3", "MUX-5", "MUX-8", origin="FLINK-38454", semantics="flink-38454")
class MultiplexerNotedIsLost(Multiplexer):
    """A watermark that was noted is not emitted when all splits are idle: what releases up to 2.1 did, under the
    newer name.
    """

    combine = changed(Multiplexer.combine, 'self.semantics == "flink-38454"', "False")


@wrong("MUX-7", "MUX-3", "MUX-5", "MUX-8", semantics="flink-18934")
class MultiplexerOldFlushesToo(Multiplexer):
    """The maximum of all idle splits is emitted also under the semantics that leave the combined watermark alone."""

    combine = changed(Multiplexer.combine, 'self.semantics == "flink-38454"', "True")


@wrong("MUX-7", "MUX-3", "MUX-5", "MUX-8", semantics="flink-38454")
class MultiplexerFlushesMinimum(Multiplexer):
    """When all splits are idle their minimum is emitted, as if they were awake."""

    combine = changed(Multiplexer.combine, "max(self.watermarks.values())", "min(self.watermarks.values())")


@wrong("MUX-8", "MUX-3", "MUX-5", "MUX-6", "MUX-10")
class MultiplexerAnyIdleIsIdle(Multiplexer):
    """One idle split makes the source idle."""

    derive = changed(Multiplexer.derive, "not awake", "not awake or bool(self.idle)")


@wrong("MUX-8", "MUX-3", "MUX-5", "MUX-7")
class MultiplexerIdleOnce(Multiplexer):
    """Idle is emitted when it begins and not again while it lasts."""

    told_idle = False

    def derive(self) -> wire.Observations:
        seen = super().derive()
        if not self.watermarks:
            return seen
        told, self.told_idle = self.told_idle, {"type": "status", "status": "idle"} in seen
        return seen[:-1] if told and self.told_idle else seen


@wrong("MUX-8", "MUX-3", "MUX-5", "MUX-7")
class MultiplexerIdleFirst(Multiplexer):
    """Idle overtakes the watermark that belongs in front of it."""

    derive = changed(Multiplexer.derive, "seen.append(", "seen.insert(0, ")


@wrong("MUX-8", "MUX-3", "MUX-5", "MUX-6", origin="FLINK-40504, as it was proposed")
class MultiplexerSaysActive(Multiplexer):
    """A derivation that finds the source active again says so."""

    def derive(self) -> wire.Observations:
        was_idle = self.found_idle
        seen = super().derive()
        return [{"type": "status", "status": "active"}, *seen] if was_idle and not self.found_idle else seen


@wrong("MUX-9")
class MultiplexerUnknownSplitRefused(Multiplexer):
    """Unregistering an id that is not registered is an error."""

    def on_unregister(self, output: int) -> wire.Observations:
        return super().on_unregister(output) if output in self.watermarks else wire.rejected()


@wrong("MUX-9", "MUX-1", "MUX-2", "MUX-5", "MUX-6", "MUX-7", "MUX-8", "MUX-10")
class MultiplexerGoneSplitHolds(Multiplexer):
    """A split that is done is told goodbye and kept."""

    def on_unregister(self, output: int) -> wire.Observations:
        return []


@wrong("MUX-9", "MUX-6", "MUX-7", "MUX-8", "MUX-10")
class MultiplexerGoneSplitShowsAtOnce(Multiplexer):
    """Unregistering a split derives at once."""

    def on_unregister(self, output: int) -> wire.Observations:
        is_known = output in self.watermarks
        super().on_unregister(output)
        return self.derive() if is_known else []


@wrong("MUX-9", "MUX-1", "MUX-3", "MUX-5", "MUX-6", "MUX-7")
class MultiplexerRemembersOldSplits(Multiplexer):
    """An id that is registered again goes on where it was."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.past: dict[int, int] = {}

    def on_unregister(self, output: int) -> wire.Observations:
        if output in self.watermarks:
            self.past[output] = self.watermarks[output]
        return super().on_unregister(output)

    on_register = changed(Multiplexer.on_register, "wire.LOWEST", "self.past.get(output, wire.LOWEST)")


@wrong("MUX-9", "MUX-3", "MUX-5", "MUX-6", "MUX-7", "MUX-10")
class MultiplexerLastToGoResets(Multiplexer):
    """When the last split is done, time starts again from the lowest timestamp."""

    def on_unregister(self, output: int) -> wire.Observations:
        super().on_unregister(output)
        if not self.watermarks:
            self.combined = wire.LOWEST
        return []


@wrong("MUX-10", "MUX-5", origin="FLINK-23011")
class MultiplexerNoSplitIsIdle(Multiplexer):
    """A source that has no split yet calls itself idle."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.found_idle = True


@wrong("MUX-10", "MUX-5")
class MultiplexerLastToGoIsForgotten(Multiplexer):
    """When the last split is done, that it was idle is forgotten."""

    def on_unregister(self, output: int) -> wire.Observations:
        super().on_unregister(output)
        if not self.watermarks:
            self.found_idle = False
        return []


@wrong("MUX-10", "MUX-5", semantics="flink-17653")
class MultiplexerOldRemembersIdleness(Multiplexer):
    """Idleness outlives the last split also under the semantics that say nothing without splits."""

    derive = changed(Multiplexer.derive, 'idle and self.semantics != "flink-17653"', "idle")


@wrong("MUX-11", "MUX-2", "MUX-3", "MUX-4", semantics="flink-17653")
class MultiplexerOldHearsActive(Multiplexer):
    """A split can be told that it is active under the semantics that do not know that call."""

    on_status = changed(Multiplexer.on_status, 'self.semantics == "flink-17653"', "False")


@wrong("MUX-6", "MUX-3", "MUX-2")
class MultiplexerEightDecide(Multiplexer):
    """Only the first eight outputs are looked at: a ninth holds nothing back."""

    derive = changed(Multiplexer.derive, "self.combine(awake)", "self.combine(awake[:8])")


@wrong("MUX-3", "MUX-10", "MUX-5", "MUX-8")
class MultiplexerEveryAdvanceDerives(Multiplexer):
    """By the immediate door every advance of an output derives anew, also one that is not above the combined
    watermark.
    """

    on_watermark = changed(Multiplexer.on_watermark, "at_once and timestamp > self.combined", "at_once")
