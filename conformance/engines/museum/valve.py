"""The watermark valve of one input, VALVE.

Kept close to how engines write it: three parallel lists over channels, scanned at each step. Flink 1.17 replaced the
scan by a heap; its bug is structural, so the wrong engine that has it keeps the aligned channels in a collection of
their own.
"""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

SEMANTICS = ("flink-7728", "flink-40475")
_STATUSES = ("idle", "active")


class Valve:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.channels = wire.get_at_least(config, "channels", 1)
        #: As before the repair of FLINK-40475.
        self.dated = wire.get_semantics(config, SEMANTICS) == "flink-7728"
        self.watermarks = [wire.LOWEST] * self.channels
        self.active = [True] * self.channels
        self.aligned = [True] * self.channels
        self.last = wire.LOWEST
        self.out_active = True

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        channel = wire.get_integer(event, "channel")
        if kind == "watermark":
            timestamp = wire.get_long(event, "timestamp")
            if not 0 <= channel < self.channels:
                return wire.rejected()
            return self.on_watermark(channel, timestamp)
        if kind == "status":
            status = wire.get_choice(event, "status", _STATUSES)
            if not 0 <= channel < self.channels:
                return wire.rejected()
            return self.on_idle(channel) if status == "idle" else self.on_active(channel)
        raise wire.unknown_type(event)

    def on_watermark(self, channel: int, timestamp: int) -> wire.Observations:
        if not self.active[channel] or timestamp <= self.watermarks[channel]:
            return []
        self.watermarks[channel] = timestamp
        if timestamp >= self.last:
            self.aligned[channel] = True
        return self.advance()

    def on_idle(self, channel: int) -> wire.Observations:
        if not self.active[channel]:
            return []
        self.active[channel] = False
        self.aligned[channel] = False
        was_last = self.watermarks[channel] == self.last
        if any(self.active):
            return self.advance() if was_last else []
        self.out_active = False
        flushed = self.flush() if was_last or not self.dated else []
        return [*flushed, {"type": "status", "status": "idle"}]

    def flush(self) -> wire.Observations:
        highest = max(self.watermarks)
        return self.emit(highest) if highest > self.last else []

    def on_active(self, channel: int) -> wire.Observations:
        if self.active[channel]:
            return []
        self.active[channel] = True
        self.aligned[channel] = self.watermarks[channel] >= self.last
        out: wire.Observations = []
        if not self.out_active:
            self.out_active = True
            out.append({"type": "status", "status": "active"})
        if not self.dated:
            out += self.advance()
        return out

    def advance(self) -> wire.Observations:
        """The aligned-minimum check."""
        counted = [watermark for watermark, aligned in zip(self.watermarks, self.aligned, strict=True) if aligned]
        lowest = min(counted, default=self.last)
        return self.emit(lowest) if lowest > self.last else []

    def emit(self, watermark: int) -> wire.Observations:
        self.last = watermark
        return [{"type": "watermark", "timestamp": str(watermark)}]


make = Valve

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("VALVE-1", "VALVE-5", "VALVE-10")
class ValveLastSurvivesCase(Valve):
    """The last emitted watermark lives in the engine, not in the valve: a new valve starts where the one before it
    stopped.
    """

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.memory = host.memory
        self.last = self.memory.get("last", wire.LOWEST)

    def emit(self, watermark: int) -> wire.Observations:
        self.memory["last"] = watermark
        return super().emit(watermark)


@wrong("VALVE-1", "VALVE-5", "VALVE-6", origin="apache/beam issue 39822")
class ValveStartsUnaligned(Valve):
    """A channel that has not reported yet is left out of the minimum, so the first channel to speak lets the
    watermark jump ahead.
    """

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.aligned[1:] = [False] * (self.channels - 1)


@wrong("VALVE-1", "VALVE-2", "VALVE-3", "VALVE-4", "VALVE-5", "VALVE-7", "VALVE-8", "VALVE-9", "VALVE-10", "VALVE-11")
class ValveNegativeChannelWraps(Valve):
    """A negative channel index counts from the end of the list instead of being refused."""

    def step(self, event: wire.Json) -> wire.Observations:
        channel = wire.get_integer(event, "channel")
        return super().step({**event, "channel": channel + self.channels if channel < 0 else channel})


@wrong("VALVE-2", "VALVE-3", "VALVE-4", "VALVE-5", "VALVE-10", "VALVE-11", "VALVE-14")
class ValveIdleChannelHeard(Valve):
    """The watermark of an idle channel is recorded, and counts as soon as the channel is active again or all are
    idle.
    """

    on_watermark = changed(
        Valve.on_watermark,
        "not self.active[channel] or ",
        "",
        "timestamp >= self.last",
        "self.active[channel] and timestamp >= self.last",
    )


@wrong("VALVE-2", "VALVE-4", "VALVE-5", "VALVE-11")
class ValveWatermarkWakesChannel(Valve):
    """A watermark on an idle channel makes it active again, which is right in the combiner and wrong here."""

    def on_watermark(self, channel: int, timestamp: int) -> wire.Observations:
        return self.on_active(channel) + super().on_watermark(channel, timestamp)


@wrong("VALVE-3", "VALVE-12", semantics="flink-7728")
class ValveEqualWatermarkCounts(Valve):
    """A watermark equal to the channel's own is accepted, so it releases a pending minimum one step too early."""

    on_watermark = changed(Valve.on_watermark, "timestamp <= self", "timestamp < self")


@wrong("VALVE-3", "VALVE-4", "VALVE-5", "VALVE-9", "VALVE-10", origin="timeplus proton PR 1128")
class ValveRegressionOverwrites(Valve):
    """A watermark below the channel's own replaces it, where the larger of the two should stay."""

    def on_watermark(self, channel: int, timestamp: int) -> wire.Observations:
        out = super().on_watermark(channel, timestamp)
        if self.active[channel]:
            self.watermarks[channel] = timestamp
        return out


@wrong("VALVE-4", "VALVE-3", "VALVE-5", "VALVE-10", "VALVE-15", "VALVE-16")
class ValveTimestamps32Bit(Valve):
    """Timestamps go through a 32-bit field."""

    def on_watermark(self, channel: int, timestamp: int) -> wire.Observations:
        return super().on_watermark(channel, wire.to_int32(timestamp))


@wrong("VALVE-4", "VALVE-3", "VALVE-5", "VALVE-10", "VALVE-15", "VALVE-16")
class ValveTimestampsAsDoubles(Valve):
    """Timestamps go through a double, so beyond 2^53 neighbours fall together."""

    def on_watermark(self, channel: int, timestamp: int) -> wire.Observations:
        return super().on_watermark(channel, min(int(float(timestamp)), wire.HIGHEST))


@wrong("VALVE-4", "VALVE-5", "VALVE-6")
class ValveCatchUpStrict(Valve):
    """A channel that lags behind is aligned again only by a watermark above the last output; reaching it is not
    enough.
    """

    on_watermark = changed(Valve.on_watermark, "timestamp >= self.last", "timestamp > self.last")


@wrong("VALVE-4", "VALVE-5", "VALVE-6")
class ValveNeverRealigns(Valve):
    """A channel that came back behind the output is never aligned again by its watermarks."""

    on_watermark = changed(Valve.on_watermark, "timestamp >= self.last", "False")


@wrong("VALVE-4", "VALVE-5", "VALVE-6")
class ValveAnyWatermarkAligns(Valve):
    """Any accepted watermark aligns its channel, even one below the last output."""

    on_watermark = changed(Valve.on_watermark, "timestamp >= self.last", "True")


@wrong("VALVE-4", "VALVE-5", "VALVE-12", semantics="flink-7728")
class ValveUnalignedWatermarkUnchecked(Valve):
    """A watermark that leaves its channel unaligned does not trigger the minimum check, so a pending minimum stays
    pending.
    """

    on_watermark = changed(
        Valve.on_watermark, "return self.advance()", "return self.advance() if self.aligned[channel] else []"
    )


@wrong("VALVE-5", "VALVE-6", "VALVE-9", origin="FLINK-7721")
class ValveEmptyMinimumEmitted(Valve):
    """The minimum over no aligned channel at all is the largest timestamp, and it is emitted."""

    advance = changed(Valve.advance, "default=self.last", "default=wire.HIGHEST")


@wrong("VALVE-5", "VALVE-4", "VALVE-6", "VALVE-9")
class ValveMaximumForMinimum(Valve):
    """The output follows the fastest aligned channel instead of the slowest."""

    advance = changed(Valve.advance, "min(counted", "max(counted")


@wrong("VALVE-5", "VALVE-4", "VALVE-6", "VALVE-9", origin="SPARK-22017")
class ValveFirstChannelDecides(Valve):
    """The first aligned channel speaks for all of them."""

    advance = changed(Valve.advance, "min(counted, default=self.last)", "counted[0] if counted else self.last")


@wrong("VALVE-5", "VALVE-3", "VALVE-4", "VALVE-9")
class ValveRepeatsMinimum(Valve):
    """A minimum equal to the last output is emitted again."""

    advance = changed(Valve.advance, "if lowest > self.last", "if counted and lowest >= self.last")


@wrong("VALVE-6", "VALVE-4", "VALVE-5", "VALVE-9", "VALVE-11")
class ValveMinimumOverActive(Valve):
    """Every active channel counts in the minimum, also one that came back behind the output."""

    advance = changed(Valve.advance, "self.aligned", "self.active")


@wrong("VALVE-6", "VALVE-4", "VALVE-5", "VALVE-8", "VALVE-9", origin="RisingWave PR 11554")
class ValveMinimumOverAll(Valve):
    """Idle channels count in the minimum, so one idle channel holds the watermark back for ever."""

    advance = changed(Valve.advance, "self.aligned", "[True] * self.channels")


@wrong("VALVE-7", "VALVE-8", "VALVE-10")
class ValveRepeatedIdleAnnounced(Valve):
    """Once all channels are idle, every further idle status is announced again."""

    def on_idle(self, channel: int) -> wire.Observations:
        return super().on_idle(channel) if self.out_active else [{"type": "status", "status": "idle"}]


@wrong("VALVE-7", "VALVE-11")
class ValveRepeatedActiveAnnounced(Valve):
    """An active status on an active channel is announced."""

    on_active = changed(Valve.on_active, "return []", 'return [{"type": "status", "status": "active"}]')


@wrong("VALVE-8", "VALVE-5", "VALVE-6", "VALVE-9")
class ValveIdleStaysAligned(Valve):
    """A channel that goes idle stays in the aligned set and goes on holding the minimum back."""

    on_idle = changed(Valve.on_idle, "self.aligned[channel] = False", "pass")


@wrong("VALVE-8", "VALVE-3", "VALVE-4", "VALVE-10", "VALVE-11")
class ValveIdleForgetsWatermark(Valve):
    """Going idle resets the channel's watermark to the lowest timestamp."""

    on_idle = changed(
        Valve.on_idle, "if any(self.active):", "self.watermarks[channel] = wire.LOWEST\nif any(self.active):"
    )


@wrong("VALVE-8", "VALVE-7", "VALVE-9", "VALVE-10", "VALVE-18", origin="FLINK-31628")
class ValveHeapRemovalUnchecked(Valve):
    """Aligned channels are kept in a heap, and a channel that goes idle is removed from it even when it was not in
    there: an index error, as in 1.17.0.
    """

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.heap = list(range(self.channels))

    def on_idle(self, channel: int) -> wire.Observations:
        if self.active[channel]:
            self.heap.remove(channel)
        return super().on_idle(channel)

    def on_active(self, channel: int) -> wire.Observations:
        out = super().on_active(channel)
        self.collect(channel)
        return out

    def on_watermark(self, channel: int, timestamp: int) -> wire.Observations:
        out = super().on_watermark(channel, timestamp)
        self.collect(channel)
        return out

    def collect(self, channel: int) -> None:
        if self.aligned[channel] and channel not in self.heap:
            self.heap.append(channel)


@wrong("VALVE-9", "VALVE-12", semantics="flink-7728")
class ValveIdleAlwaysRechecks(Valve):
    """Every idle transition runs the minimum check, not only that of a channel whose watermark is the last output."""

    on_idle = changed(Valve.on_idle, "self.advance() if was_last else []", "self.advance()")


@wrong("VALVE-9", "VALVE-5")
class ValveIdleNeverRechecks(Valve):
    """When the channel that held the minimum goes idle, nobody looks whether the others are ahead."""

    on_idle = changed(Valve.on_idle, "self.advance() if was_last else []", "[]")


@wrong("VALVE-10", "VALVE-13", origin="FLINK-7728")
class ValveNeverFlushes(Valve):
    """When all channels are idle only the status goes out; the highest watermark is lost."""

    on_idle = changed(Valve.on_idle, "was_last or not self.dated", "False")


@wrong("VALVE-10", "VALVE-13", semantics="flink-7728")
class ValveAlwaysFlushes(Valve):
    """The maximum is flushed whatever channel was the last to go idle: what FLINK-40475 asks for, and not what the
    older rule says.
    """

    on_idle = changed(Valve.on_idle, "was_last or not self.dated", "True")


@wrong("VALVE-10", "VALVE-2")
class ValveIdleBeforeFlush(Valve):
    """The idle status overtakes the flushed watermark, so whoever listens drops it."""

    def on_idle(self, channel: int) -> wire.Observations:
        return super().on_idle(channel)[::-1]


@wrong("VALVE-14", "VALVE-10")
class ValveFlushRepeats(Valve):
    """The flush emits its maximum even if it equals the last output, the lowest timestamp included."""

    flush = changed(Valve.flush, "highest > self.last", "highest >= self.last")


@wrong("VALVE-10", "VALVE-13")
class ValveFlushInFourLanes(Valve):
    """The flush looks for the maximum in the first four channels only."""

    flush = changed(Valve.flush, "max(self.watermarks)", "max(self.watermarks[:4])")


@wrong("VALVE-9", "VALVE-8", "VALVE-10")
class ValveFourChannelMask(Valve):
    """The active channels are kept in a mask of four bits: the fifth is not seen and the valve goes idle too
    early.
    """

    on_idle = changed(Valve.on_idle, "any(self.active)", "any(self.active[:4])")


@wrong("VALVE-10", "VALVE-13", origin="FLINK-40475", semantics="flink-40475")
class ValveRepairForgetsFlush(Valve):
    """The repaired valve without one half of the repair: no flush if the last channel to go idle was not at the
    last output.
    """

    on_idle = changed(Valve.on_idle, "was_last or not self.dated", "was_last")


@wrong("VALVE-11", "VALVE-5", "VALVE-12", origin="FLINK-40475", semantics="flink-40475")
class ValveRepairForgetsRecheck(Valve):
    """The repaired valve without the other half: a channel that comes back ahead of the output does not trigger
    the minimum check.
    """

    on_active = changed(Valve.on_active, "not self.dated", "False")


@wrong("VALVE-11", "VALVE-12", origin="FLINK-40475", semantics="flink-7728")
class ValveRejoinRechecks(Valve):
    """A channel that comes back triggers the minimum check: the repair, in a valve that claims the older rule."""

    on_active = changed(Valve.on_active, "not self.dated", "True")


@wrong("VALVE-11", "VALVE-4", "VALVE-5", "VALVE-6")
class ValveRejoinStrict(Valve):
    """A channel that comes back exactly at the last output is not aligned."""

    on_active = changed(Valve.on_active, ">= self.last", "> self.last")


@wrong("VALVE-11", "VALVE-5", "VALVE-6", "VALVE-12")
class ValveRejoinNeverAligned(Valve):
    """A channel that comes back must first send a watermark before it counts."""

    on_active = changed(Valve.on_active, "self.watermarks[channel] >= self.last", "False")


@wrong("VALVE-11", "VALVE-3", "VALVE-4", "VALVE-5", "VALVE-6", "VALVE-9", "VALVE-10", origin="RisingWave issue 6308")
class ValveRejoinsAtCurrent(Valve):
    """A channel that comes back behind the output is lifted to it, so its own watermarks are ignored and it counts
    as aligned.
    """

    def on_active(self, channel: int) -> wire.Observations:
        self.watermarks[channel] = max(self.watermarks[channel], self.last)
        return super().on_active(channel)


@wrong("VALVE-11", "VALVE-7")
class ValveActiveNotAnnounced(Valve):
    """The first channel to come back wakes the valve without announcing it."""

    on_active = changed(Valve.on_active, 'out.append({"type": "status", "status": "active"})', "pass")


@wrong("VALVE-15", "VALVE-5")
class ValveMaxIsSentinel(Valve):
    """The largest timestamp doubles as 'no aligned channel', so the closing watermark never comes out."""

    advance = changed(Valve.advance, "lowest > self.last", "wire.HIGHEST > lowest > self.last")


@wrong("VALVE-15", "VALVE-7", "VALVE-8", "VALVE-10", "VALVE-11")
class ValveMaxCloses(Valve):
    """After the closing watermark no status passes any more."""

    def on_idle(self, channel: int) -> wire.Observations:
        return [] if self.last == wire.HIGHEST else super().on_idle(channel)

    def on_active(self, channel: int) -> wire.Observations:
        return [] if self.last == wire.HIGHEST else super().on_active(channel)


@wrong("VALVE-13", "VALVE-10", "VALVE-11", "VALVE-12", "VALVE-9")
class ValveCorrectedByDefault(Valve):
    """A config that names no semantics gets the corrected valve, instead of that of Flink 1.4 to 2.3."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        super().__init__(config, host)
        self.dated = config.get("semantics") == "flink-7728"


@wrong("VALVE-9", "VALVE-12", semantics="flink-7728")
class ValveIdleAboveRechecks(Valve):
    """A channel above the last output that turns idle lets the minimum be checked, too: `>=` for `==`."""

    on_idle = changed(
        Valve.on_idle, "self.advance() if was_last", "self.advance() if self.watermarks[channel] >= self.last"
    )


@wrong("VALVE-5", "VALVE-4", "VALVE-9")
class Valve256ChannelsCount(Valve):
    """The minimum runs over the first 256 aligned channels: one more holds nothing back."""

    advance = changed(Valve.advance, "if aligned]", "if aligned][:256]")


@wrong("VALVE-5", "VALVE-4", "VALVE-8", "VALVE-9", "VALVE-10")
class Valve257ChannelsToldApart(Valve):
    """A table has 257 places: the watermark of one channel more is taken for that of the first."""

    def step(self, event: wire.Json) -> wire.Observations:
        channel = wire.get_integer(event, "channel")
        return super().step({**event, "channel": channel % 257 if channel < self.channels else channel})
