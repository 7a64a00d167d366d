"""The idleness timer: `WatermarksWithIdleness` around `BoundedOutOfOrdernessWatermarks`, on a `PausableRelativeClock`.

The clock underneath is Flink's own for tests, with nanoseconds as ticks. Releases before 1.20 have no clock that can
be paused (FLINK-35886), and declare nothing.
"""

from functools import cache, partial
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_EVENT_TIME = "org.apache.flink.api.common.eventtime."
_PAUSABLE = "org.apache.flink.streaming.api.operators.util.PausableRelativeClock"


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if jvm.has(_PAUSABLE) else None


class Parts:
    """Shared by all timers of a version."""

    def __init__(self, jvm: Jvm) -> None:
        self.duration = jvm.cls("java.time.Duration")
        self.nanoseconds = jvm.cls("java.util.concurrent.TimeUnit").NANOSECONDS
        self.manual = jvm.cls("org.apache.flink.util.clock.ManualClock")
        self.pausable = jvm.cls(_PAUSABLE)
        self.bounded = jvm.cls(f"{_EVENT_TIME}BoundedOutOfOrdernessWatermarks")
        self.idle = jvm.cls(f"{_EVENT_TIME}WatermarksWithIdleness")
        self.refusal = jvm.cls("java.lang.IllegalStateException")
        self.record = jvm.cls("java.lang.Object")()


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class Idleness:
    def __init__(self, jvm: Jvm, timeout: int, delay: int, clock: int) -> None:
        self._parts = parts = parts_of(jvm)
        self._shown: wire.Observations = []
        self._wall = parts.manual(clock)
        self._clock = parts.pausable(self._wall)
        inner = parts.bounded(parts.duration.ofMillis(delay))
        self._generator = parts.idle(inner, parts.duration.ofNanos(timeout), self._clock)
        handlers = {"emitWatermark": self._on_watermark, "markIdle": partial(self._on_status, "idle")}
        self._output = jvm.implement(f"{_EVENT_TIME}WatermarkOutput", handlers)

    def step(self, event: wire.Json) -> wire.Observations:
        self._shown = []
        kind = event.get("type")
        if kind == "record":
            self._generator.onEvent(self._parts.record, wire.get_long(event, "timestamp"), self._output)
        elif kind == "periodic_emit":
            self._generator.onPeriodicEmit(self._output)
        elif kind == "advance":
            self._wall.advanceTime(wire.get_at_least(event, "ticks", 0), self._parts.nanoseconds)
        elif kind == "pause":
            self._clock.pause()
        elif kind == "resume":
            try:
                self._clock.unPause()
            except self._parts.refusal:
                return wire.rejected()
        else:
            raise wire.unknown_type(event)
        return self._shown

    def _on_watermark(self, watermark: Any) -> None:
        self._shown.append({"type": "watermark", "timestamp": str(watermark.getTimestamp())})

    def _on_status(self, status: str) -> None:
        self._shown.append({"type": "status", "status": status})


def make(jvm: Jvm, config: wire.Json) -> Idleness:
    timeout = wire.get_at_least(config, "timeout", 1)
    delay = wire.get_at_least(config, "delay", 0) if "delay" in config else 0
    clock = wire.get_integer(config, "clock") if "clock" in config else 0
    return Idleness(jvm, timeout, delay, clock)
