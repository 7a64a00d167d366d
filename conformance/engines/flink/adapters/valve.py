"""The watermark valve: `StatusWatermarkValve`, with the package and the statuses of the version.

Every release up to 2.3 follows `flink-7728`, the default; none has the corrected valve of FLINK-40475.
"""

from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_OUTPUT = "org.apache.flink.streaming.runtime.io.PushingAsyncDataInput$DataOutput"
_WATERMARK = "org.apache.flink.streaming.api.watermark.Watermark"
#: Until 1.13 a status was called a stream status.
_NAMES = ("WatermarkStatus", "StreamStatus")


def _package(name: str) -> str:
    return f"org.apache.flink.streaming.runtime.{name.lower()}."


def status_name(jvm: Jvm) -> str | None:
    """The name of a status in this version."""
    return next((name for name in _NAMES if jvm.has(_package(name) + name)), None)


def declare(jvm: Jvm) -> wire.Json | None:
    name = status_name(jvm)
    if name is None or not jvm.has(_package(name) + "StatusWatermarkValve", "input" + name):
        return None
    return {} if ["int"] in jvm.parameters(_package(name) + "StatusWatermarkValve") else None


class Parts:
    """Shared by all valves of a version."""

    def __init__(self, jvm: Jvm) -> None:
        name = status_name(jvm)
        assert name is not None
        statuses = jvm.cls(_package(name) + name)
        self.error = jvm.JavaError
        self.watermark = jvm.cls(_WATERMARK)
        self.statuses = {"idle": statuses.IDLE, "active": statuses.ACTIVE}
        self.valve = jvm.cls(_package(name) + "StatusWatermarkValve")
        self.name_of_input, self.name_of_output = f"input{name}", f"emit{name}"


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class Valve:
    def __init__(self, jvm: Jvm, channels: int) -> None:
        parts = parts_of(jvm)
        self._channels = channels
        self._error = parts.error
        self._watermark = parts.watermark
        self._statuses = parts.statuses
        self._shown: wire.Observations = []
        handlers = {"emitWatermark": self._on_watermark, parts.name_of_output: self._on_status}
        self._output = jvm.implement(_OUTPUT, handlers)
        valve = parts.valve(channels)
        self._input_watermark = valve.inputWatermark
        self._input_status = getattr(valve, parts.name_of_input)

    def step(self, event: wire.Json) -> wire.Observations:
        kind, channel = event.get("type"), wire.get_integer(event, "channel")
        if kind == "watermark":
            enter, element = self._input_watermark, self._watermark(wire.get_long(event, "timestamp"))
        elif kind == "status":
            enter, element = self._input_status, self._statuses[wire.get_choice(event, "status", ("idle", "active"))]
        else:
            raise wire.unknown_type(event)
        if not 0 <= channel < self._channels:
            return wire.rejected()  # the valve does not check this: whether it fails depends on its arrays
        self._shown = []
        try:
            enter(element, channel, self._output)
        except self._error as error:
            return [{"type": "rejected", "reason": str(error)}]
        return self._shown

    def _on_watermark(self, watermark: Any) -> None:
        self._shown.append({"type": "watermark", "timestamp": str(watermark.getTimestamp())})

    def _on_status(self, status: Any) -> None:
        self._shown.append({"type": "status", "status": "idle" if status.isIdle() else "active"})


def make(jvm: Jvm, config: wire.Json) -> Valve:
    return Valve(jvm, wire.get_at_least(config, "channels", 1))
