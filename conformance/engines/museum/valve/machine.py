"""The watermark valve of one input, VALVE.

Kept close to how engines write it: three parallel lists over channels, scanned at each step. Flink 1.17 replaced the
scan by a heap; its bug is structural, so `HeapValve` keeps the aligned channels in a collection of their own.
"""

from tidegate.conformance.engines import wire

SEMANTICS = ("flink-7728", "flink-40475")
_STATUSES = ("idle", "active")


class Valve:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        channels = wire.get_at_least(config, "channels", 1)
        self.dated = wire.get_semantics(config, SEMANTICS) == "flink-7728"
        self.bug = host.bug
        if self.bug == "valve-corrected-by-default":
            self.dated = config.get("semantics") == "flink-7728"
        self.channels = channels
        self.watermarks = [wire.LOWEST] * channels
        self.active = [True] * channels
        self.aligned = [True] * channels
        self.last = wire.LOWEST
        self.out_active = True
        self.closed = False
        self.memory = host.memory
        if self.bug == "valve-last-survives-case":
            self.last = host.memory.get("last", wire.LOWEST)
        elif self.bug == "valve-starts-unaligned":
            self.aligned = [channel == 0 for channel in range(channels)]

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        channel = wire.get_integer(event, "channel")
        if kind == "watermark":
            timestamp = wire.get_long(event, "timestamp")
            if not 0 <= channel < self.channels and not self.is_wrapped(channel):
                return wire.rejected()
            return self.on_watermark(self.find_slot(channel), timestamp)
        if kind == "status":
            status = wire.get_choice(event, "status", _STATUSES)
            if not 0 <= channel < self.channels and not self.is_wrapped(channel):
                return wire.rejected()
            if self.bug == "valve-max-closes" and self.closed:
                return []
            slot = self.find_slot(channel)
            return self.on_idle(slot) if status == "idle" else self.on_active(slot)
        raise wire.unknown_type(event)

    def is_wrapped(self, channel: int) -> bool:
        return self.bug == "valve-negative-channel-wraps" and -self.channels <= channel < 0

    def find_slot(self, channel: int) -> int:
        return channel % 257 if self.bug == "valve-257-channels-told-apart" else channel

    def on_watermark(self, channel: int, timestamp: int) -> wire.Observations:
        bug = self.bug
        if bug == "valve-timestamps-32-bit":
            timestamp = wire.to_int32(timestamp)
        elif bug == "valve-timestamps-as-doubles":
            timestamp = min(int(float(timestamp)), wire.HIGHEST)
        woken: wire.Observations = []
        if not self.active[channel]:
            if bug == "valve-watermark-wakes-channel":
                woken = self.on_active(channel)
            elif bug != "valve-idle-channel-heard":
                return []
        if timestamp <= self.watermarks[channel]:
            if bug == "valve-regression-overwrites":
                self.watermarks[channel] = timestamp
                return woken
            if bug != "valve-equal-watermark-counts" or timestamp < self.watermarks[channel]:
                return woken
        self.watermarks[channel] = timestamp
        if not self.aligned[channel] and self.catches_up(channel, timestamp):
            self.aligned[channel] = True
        if bug == "valve-unaligned-watermark-unchecked" and not self.aligned[channel]:
            return woken
        return woken + self.advance()

    def catches_up(self, channel: int, timestamp: int) -> bool:
        bug = self.bug
        if bug == "valve-catch-up-strict":
            return timestamp > self.last
        if bug == "valve-any-watermark-aligns":
            return True
        if bug == "valve-idle-channel-heard":
            return self.active[channel] and timestamp >= self.last
        return timestamp >= self.last and bug != "valve-never-realigns"

    def on_idle(self, channel: int) -> wire.Observations:
        bug = self.bug
        if not self.active[channel]:
            if bug == "valve-repeated-idle-announced" and not self.out_active:
                return [{"type": "status", "status": "idle"}]
            return []
        self.active[channel] = False
        if bug != "valve-idle-stays-aligned":
            self.aligned[channel] = False
        was_last = self.watermarks[channel] == self.last
        is_above = self.watermarks[channel] > self.last
        if bug == "valve-idle-forgets-watermark":
            self.watermarks[channel] = wire.LOWEST
        seen = self.active[:4] if bug == "valve-four-channel-mask" else self.active
        if any(seen):
            rechecks = was_last or (is_above and bug == "valve-idle-above-rechecks")
            if (rechecks or bug == "valve-idle-always-rechecks") and bug != "valve-idle-never-rechecks":
                return self.advance()
            return []
        flushes = was_last or not self.dated
        if bug == "valve-never-flushes":
            flushes = False
        elif bug == "valve-always-flushes":
            flushes = True
        elif bug == "valve-repair-forgets-flush":
            flushes = was_last
        idle = [{"type": "status", "status": "idle"}]
        self.out_active = False
        if not flushes:
            return idle
        flushed = self.flush()
        return idle + flushed if bug == "valve-idle-before-flush" else flushed + idle

    def flush(self) -> wire.Observations:
        highest = max(self.watermarks)
        if self.bug == "valve-flush-in-four-lanes":
            highest = max(self.watermarks[:4])
        if highest > self.last or (self.bug == "valve-flush-repeats" and highest == self.last):
            return self.emit(highest)
        return []

    def on_active(self, channel: int) -> wire.Observations:
        bug = self.bug
        if self.active[channel]:
            if bug == "valve-repeated-active-announced":
                return [{"type": "status", "status": "active"}]
            return []
        self.active[channel] = True
        if bug == "valve-rejoins-at-current" and self.watermarks[channel] < self.last:
            self.watermarks[channel] = self.last
        watermark = self.watermarks[channel]
        self.aligned[channel] = watermark >= self.last
        if bug == "valve-rejoin-strict":
            self.aligned[channel] = watermark > self.last
        elif bug == "valve-rejoin-never-aligned":
            self.aligned[channel] = False
        out: wire.Observations = []
        if not self.out_active:
            self.out_active = True
            if bug != "valve-active-not-announced":
                out.append({"type": "status", "status": "active"})
        if (not self.dated and bug != "valve-repair-forgets-recheck") or bug == "valve-rejoin-rechecks":
            out += self.advance()
        return out

    def advance(self) -> wire.Observations:
        """The aligned-minimum check."""
        bug = self.bug
        if bug == "valve-minimum-over-active":
            flags = self.active
        elif bug == "valve-minimum-over-all":
            flags = [True] * self.channels
        else:
            flags = self.aligned
        counted = [watermark for flag, watermark in zip(flags, self.watermarks, strict=True) if flag]
        if bug == "valve-256-channels-count":
            counted = counted[:256]
        if counted:
            lowest = min(counted)
        elif bug == "valve-empty-minimum-emitted":
            lowest = wire.HIGHEST
        else:
            return []
        if bug == "valve-maximum-for-minimum":
            lowest = max(counted)
        elif bug == "valve-first-channel-decides":
            lowest = counted[0]
        elif bug == "valve-max-is-sentinel" and lowest == wire.HIGHEST:
            return []
        if lowest > self.last or (bug == "valve-repeats-minimum" and lowest == self.last):
            return self.emit(lowest)
        return []

    def emit(self, watermark: int) -> wire.Observations:
        self.last = watermark
        self.closed = watermark == wire.HIGHEST
        if self.bug == "valve-last-survives-case":
            self.memory["last"] = watermark
        return [{"type": "watermark", "timestamp": str(watermark)}]


class HeapValve(Valve):
    """Flink 1.17.0: aligned channels are kept apart, and a channel that goes idle is removed from there unasked."""

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


def make(config: wire.Json, host: wire.Host) -> Valve:
    return HeapValve(config, host) if host.bug == "valve-heap-removal-unchecked" else Valve(config, host)
