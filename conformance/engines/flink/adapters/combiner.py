"""The watermark combiner: what `AbstractStreamOperator` does with the watermarks and statuses of its inputs.

The operator is a real one without setup: it gets an output that shows what it emits, and a combination of as
many inputs as the config wants; the operator itself would make it for one or two. Releases before 2.2 follow
`flink-18934`; those before 1.14 have no status of an input, and declare nothing.
"""

from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_COMBINED = "org.apache.flink.api.common.eventtime.IndexedCombinedWatermarkStatus"
_OPERATOR = "org.apache.flink.streaming.api.operators.AbstractStreamOperator"
_FIRST_TO_FLUSH = (2, 2)


def declare(jvm: Jvm) -> wire.Json | None:
    if not (jvm.has(_COMBINED, "updateStatus") and jvm.has(_OPERATOR, "processWatermarkStatus")):
        return None
    return {"semantics": ["flink-38454" if jvm.release >= _FIRST_TO_FLUSH else "flink-18934"]}


class Parts:
    """Shared by all combiners of a version."""

    def __init__(self, jvm: Jvm) -> None:
        statuses = jvm.cls("org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus")
        self.statuses = {"idle": statuses.IDLE, "active": statuses.ACTIVE}
        self.watermark = jvm.cls("org.apache.flink.streaming.api.watermark.Watermark")
        self.combined = jvm.cls(_COMBINED)
        self.operator = jvm.cls("org.apache.flink.streaming.api.operators.StreamMap")
        self.function = jvm.implement("org.apache.flink.api.common.functions.MapFunction", {})


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class Combiner:
    def __init__(self, jvm: Jvm, inputs: int) -> None:
        parts = parts_of(jvm)
        self._jvm = jvm
        self._inputs = inputs
        self._watermark = parts.watermark
        self._statuses = parts.statuses
        self._shown: wire.Observations = []
        handlers = {"emitWatermark": self._on_watermark, "emitWatermarkStatus": self._on_status}
        output = jvm.implement("org.apache.flink.streaming.api.operators.Output", handlers)
        self._operator = parts.operator(parts.function)
        jvm.set_field(self._operator, "combinedWatermark", parts.combined.forInputsCount(inputs))
        jvm.set_field(self._operator, "output", output)
        #: the first two inputs have public methods
        self._enter = {
            ("watermark", 0): self._operator.processWatermark1,
            ("watermark", 1): self._operator.processWatermark2,
            ("status", 0): self._operator.processWatermarkStatus1,
            ("status", 1): self._operator.processWatermarkStatus2,
        }

    def step(self, event: wire.Json) -> wire.Observations:
        kind, index = event.get("type"), wire.get_integer(event, "input")
        if kind == "watermark":
            method, element = "processWatermark", self._watermark(wire.get_long(event, "timestamp"))
        elif kind == "status":
            method, element = (
                "processWatermarkStatus",
                self._statuses[wire.get_choice(event, "status", ("idle", "active"))],
            )
        else:
            raise wire.unknown_type(event)
        if not 0 <= index < self._inputs:
            return wire.rejected()
        self._shown = []
        if index < 2:
            self._enter[kind, index](element)
        else:
            self._jvm.call(self._operator, method, element, self._jvm.integer(index))
        return self._shown

    def _on_watermark(self, watermark: Any) -> None:
        self._shown.append({"type": "watermark", "timestamp": str(watermark.getTimestamp())})

    def _on_status(self, status: Any) -> None:
        self._shown.append({"type": "status", "status": "idle" if status.isIdle() else "active"})


def make(jvm: Jvm, config: wire.Json) -> Combiner:
    return Combiner(jvm, wire.get_at_least(config, "inputs", 1))
