"""The combination of the splits of one source, MUX."""

from tidegate.conformance.engines import wire

SEMANTICS = ("flink-38454", "flink-18934", "flink-17653")
_MODES = ("immediate", "deferred")
_STATUSES = ("idle", "active")
_KINDS = ("register", "unregister", "watermark", "status")


class Multiplexer:
    """Watermarks by id, and the ids of those that are idle."""

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.semantics = wire.get_semantics(config, SEMANTICS)
        self.bug = host.bug
        self.watermarks: dict[int, int] = {}
        self.idle: set[int] = set()
        self.combined = wire.LOWEST
        self.found_idle = self.bug == "multiplexer-no-split-is-idle"
        self.told_idle = False
        #: of ids that went, for the bug that remembers them
        self.past: dict[int, int] = {}

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
            return (
                self.on_watermark(output, timestamp, at_once=at_once) if output in self.watermarks else wire.rejected()
            )
        status = wire.get_choice(event, "status", _STATUSES)
        return self.on_status(output, status, at_once=at_once) if output in self.watermarks else wire.rejected()

    def on_emit(self) -> wire.Observations:
        if self.bug == "multiplexer-emit-repeats":
            seen = self.derive()
            again = {"type": "watermark", "timestamp": str(self.combined)}
            return seen if seen or self.combined == wire.LOWEST else [again]
        if self.bug == "multiplexer-emit-only-when-awake" and self.watermarks.keys() <= self.idle:
            return []
        return self.derive()

    def on_register(self, output: int) -> wire.Observations:
        bug = self.bug
        if output in self.watermarks and bug != "multiplexer-registered-twice":
            return wire.rejected()
        self.watermarks[output] = wire.LOWEST
        self.idle.discard(output)
        if bug == "multiplexer-new-split-starts-idle":
            self.idle.add(output)
        elif bug == "multiplexer-remembers-old-splits":
            self.watermarks[output] = self.past.get(output, wire.LOWEST)
        elif bug == "multiplexer-new-split-says-active" and self.found_idle:
            self.found_idle = False
            return [{"type": "status", "status": "active"}]
        return []

    def on_unregister(self, output: int) -> wire.Observations:
        bug = self.bug
        if output not in self.watermarks:
            return wire.rejected() if bug == "multiplexer-unknown-split-refused" else []
        self.past[output] = self.watermarks[output]
        if bug != "multiplexer-gone-split-holds":
            del self.watermarks[output]
            self.idle.discard(output)
        if bug == "multiplexer-gone-split-shows-at-once":
            return self.derive()
        if bug == "multiplexer-last-to-go-resets" and not self.watermarks:
            self.combined = wire.LOWEST
        if bug == "multiplexer-last-to-go-is-forgotten" and not self.watermarks:
            self.found_idle = False
        return []

    def on_watermark(self, output: int, timestamp: int, *, at_once: bool) -> wire.Observations:
        bug = self.bug
        if bug == "multiplexer-timestamps-32-bit":
            timestamp = wire.to_int32(timestamp)
        before = self.watermarks[output]
        if output in self.idle and bug == "multiplexer-idle-split-unheard":
            return []
        advances = timestamp > before
        wakes = advances or bug != "multiplexer-only-an-advance-wakes"
        if wakes and bug != "multiplexer-watermark-leaves-idle":
            self.idle.discard(output)
        if advances or bug == "multiplexer-regression-overwrites":
            self.watermarks[output] = timestamp
        if bug == "multiplexer-deferred-at-once":
            at_once = True
        elif bug == "multiplexer-immediate-waits":
            at_once = False
        if not at_once:
            return []
        higher = advances and timestamp > self.combined
        derives = bug == "multiplexer-every-watermark-derives" or (
            advances and bug == "multiplexer-every-advance-derives"
        )
        if higher or derives:
            return self.derive()
        return []

    def on_status(self, output: int, status: str, *, at_once: bool) -> wire.Observations:
        bug = self.bug
        if status == "active":
            if self.semantics == "flink-17653" and bug != "multiplexer-old-hears-active":
                return wire.rejected()
            news = output in self.idle
            self.idle.discard(output)
        else:
            news = output not in self.idle
            self.idle.add(output)
            if bug == "multiplexer-idle-forgets-watermark":
                self.watermarks[output] = wire.LOWEST
        if bug == "multiplexer-deferred-status-at-once":
            at_once = True
        elif bug == "multiplexer-active-waits" and status == "active":
            at_once = False
        elif bug == "multiplexer-old-news-derives-nothing":
            at_once = at_once and news
        return self.derive() if at_once else []

    def derive(self) -> wire.Observations:
        bug = self.bug
        if not self.watermarks:
            return [{"type": "status", "status": "idle"}] if self.found_idle else []
        awake = [value for output, value in self.watermarks.items() if output not in self.idle]
        was_idle = self.found_idle
        idle = not awake or (bug == "multiplexer-any-idle-is-idle" and bool(self.idle))
        self.found_idle = idle and self.semantics != "flink-17653"
        if bug == "multiplexer-old-remembers-idleness":
            self.found_idle = idle
        seen: wire.Observations = []
        value = self.combine(awake[:8] if bug == "multiplexer-eight-decide" else awake)
        if value > self.combined or (bug == "multiplexer-goes-back" and wire.LOWEST < value < self.combined):
            self.combined = value
            seen = [{"type": "watermark", "timestamp": str(value)}]
        if bug == "multiplexer-says-active" and was_idle and not idle:
            seen.insert(0, {"type": "status", "status": "active"})
        if idle and not (bug == "multiplexer-idle-once" and self.told_idle):
            seen.insert(0 if bug == "multiplexer-idle-first" else len(seen), {"type": "status", "status": "idle"})
        self.told_idle = idle
        return seen

    def combine(self, awake: list[int]) -> int:
        bug = self.bug
        if bug == "multiplexer-idle-split-holds":
            return min(self.watermarks.values())
        if awake:
            return max(awake) if bug == "multiplexer-maximum-for-minimum" else min(awake)
        flushes = self.semantics == "flink-38454"
        if bug == "multiplexer-noted-is-lost":
            flushes = False
        elif bug == "multiplexer-old-flushes-too":
            flushes = True
        if not flushes:
            return self.combined
        if bug == "multiplexer-flushes-minimum":
            return min(self.watermarks.values())
        return max(self.watermarks.values())


make = Multiplexer
