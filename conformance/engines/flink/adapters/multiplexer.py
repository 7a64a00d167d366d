"""The watermark multiplexer: `WatermarkOutputMultiplexer`, with an output below it that records its calls.

Each event asks for its output anew, as a source may do, so that Flink itself refuses unregistered ones.
Releases from 1.15 to 2.0 need a listener with each registration, others do without one. Those before
1.14 have no active status, and those before 2.2 lose watermarks (FLINK-38454).
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_EVENT_TIME = "org.apache.flink.api.common.eventtime."
_MULTIPLEXER = f"{_EVENT_TIME}WatermarkOutputMultiplexer"
_OUTPUT = f"{_EVENT_TIME}WatermarkOutput"
_LISTENER = f"{_MULTIPLEXER}$WatermarkUpdateListener"
_FIRST_TO_FLUSH = (2, 2)
_MODES = ("immediate", "deferred")
_STATUSES = ("idle", "active")


def declare(jvm: Jvm) -> wire.Json | None:
    if not jvm.has(_MULTIPLEXER, "unregisterOutput"):
        return None
    return {"semantics": [semantics_of(jvm)]}


def semantics_of(jvm: Jvm) -> str:
    if not jvm.has(_OUTPUT, "markActive"):
        return "flink-17653"
    return "flink-38454" if jvm.release >= _FIRST_TO_FLUSH else "flink-18934"


class Parts:
    """Shared by all multiplexers of a version."""

    def __init__(self, jvm: Jvm) -> None:
        self.multiplexer = jvm.cls(_MULTIPLEXER)
        self.watermark = jvm.cls(f"{_EVENT_TIME}Watermark")
        self.string = jvm.cls("java.lang.String")
        self.refusals = (jvm.cls("java.lang.IllegalStateException"), jvm.cls("java.lang.IllegalArgumentException"))
        self.has_active = jvm.has(_OUTPUT, "markActive")
        registering = [one for one in self.multiplexer.class_.getMethods() if one.getName().equals("registerNewOutput")]
        self.wants_listener = all(one.getParameterCount() > 1 for one in registering)


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class Multiplexer:
    def __init__(self, jvm: Jvm) -> None:
        self._parts = parts = parts_of(jvm)
        self._shown: wire.Observations = []
        handlers = {
            "emitWatermark": self._on_watermark,
            "markIdle": partial(self._on_status, "idle"),
            "markActive": partial(self._on_status, "active"),
        }
        self._multiplexer = parts.multiplexer(jvm.implement(_OUTPUT, handlers))
        self._listener = [jvm.implement(_LISTENER, {})] if parts.wants_listener else []
        self._doors = {
            "immediate": self._multiplexer.getImmediateOutput,
            "deferred": self._multiplexer.getDeferredOutput,
        }

    def step(self, event: wire.Json) -> wire.Observations:
        call = self._read(event)
        self._shown = []
        try:
            call()
        except self._parts.refusals as refusal:
            return [{"type": "rejected", "reason": str(refusal.getMessage())}]
        return self._shown

    def _read(self, event: wire.Json) -> Callable[[], Any]:
        """The call for the event; reading it may show that it is not an event at all."""
        kind = event.get("type")
        if kind == "periodic_emit":
            emit: Callable[[], Any] = self._multiplexer.onPeriodicEmit
            return emit
        name = self._parts.string(str(wire.get_integer(event, "output")))
        if kind == "register":
            return lambda: self._multiplexer.registerNewOutput(name, *self._listener)
        if kind == "unregister":
            return lambda: self._multiplexer.unregisterOutput(name)
        door = self._doors[wire.get_choice(event, "mode", _MODES)]
        if kind == "watermark":
            watermark = self._parts.watermark(wire.get_long(event, "timestamp"))
            return lambda: door(name).emitWatermark(watermark)
        if kind != "status":
            raise wire.unknown_type(event)
        if wire.get_choice(event, "status", _STATUSES) == "idle":
            return lambda: door(name).markIdle()
        return lambda: self._mark_active(door(name))

    def _mark_active(self, output: Any) -> None:
        if self._parts.has_active:
            output.markActive()
        else:
            self._shown = wire.rejected()

    def _on_watermark(self, watermark: Any) -> None:
        self._shown.append({"type": "watermark", "timestamp": str(watermark.getTimestamp())})

    def _on_status(self, status: str) -> None:
        self._shown.append({"type": "status", "status": status})


def make(jvm: Jvm, _config: wire.Json) -> Multiplexer:
    return Multiplexer(jvm)
