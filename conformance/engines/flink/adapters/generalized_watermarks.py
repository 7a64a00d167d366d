"""Generalized watermarks: `LongWatermarkCombiner`, `BoolWatermarkCombiner` and `AlignedWatermarkCombiner`.

Unknown channels are refused here. Releases before 2.0 have no such watermarks, and declare nothing.
"""

from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_API = "org.apache.flink.api.common.watermark."
_RUNTIME = "org.apache.flink.streaming.runtime.watermark."
_ALIGNED = f"{_RUNTIME}AlignedWatermarkCombiner"
_COMBINATIONS = ("min", "max", "and", "or", "aligned")


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if jvm.has(_ALIGNED) else None


class Parts:
    """Shared by all combiners of a version."""

    def __init__(self, jvm: Jvm) -> None:
        functions = f"{_API}WatermarkCombinationFunction$"
        numbers = jvm.cls(f"{functions}NumericWatermarkCombinationFunction")
        truths = jvm.cls(f"{functions}BoolWatermarkCombinationFunction")
        long, boolean = jvm.cls(f"{_RUNTIME}LongWatermarkCombiner"), jvm.cls(f"{_RUNTIME}BoolWatermarkCombiner")
        #: "or" and "and" are keywords of Python, so JPype renames them
        self.combiners = {
            "min": (long, numbers.valueOf("MIN")),
            "max": (long, numbers.valueOf("MAX")),
            "and": (boolean, truths.valueOf("AND")),
            "or": (boolean, truths.valueOf("OR")),
        }
        self.policy = jvm.cls(f"{_API}WatermarkCombinationPolicy")
        self.aligned = jvm.cls(_ALIGNED)
        self.number, self.truth = jvm.cls(f"{_API}LongWatermark"), jvm.cls(f"{_API}BoolWatermark")
        self.name = jvm.cls("java.lang.String")("declared")
        self.refusal = jvm.cls("java.lang.IllegalStateException")


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class Generalized:
    def __init__(self, jvm: Jvm, channels: int, combination: str, *, wait: bool) -> None:
        self._parts = parts = parts_of(jvm)
        self._channels = channels
        self._shown: wire.Observations = []
        self._emit = jvm.implement("java.util.function.Consumer", {"accept": self._on_watermark})
        if combination == "aligned":
            self._combiner = parts.aligned(channels, jvm.implement("java.lang.Runnable", {"run": self._on_resume}))
        else:
            kind, function = parts.combiners[combination]
            self._combiner = kind(parts.policy(function, wait), channels)

    def step(self, event: wire.Json) -> wire.Observations:
        kind, channel = event.get("type"), wire.get_integer(event, "channel")
        if kind == "number":
            watermark = self._parts.number(wire.get_long(event, "value"), self._parts.name)
        elif kind == "truth":
            watermark = self._parts.truth(wire.get_boolean(event, "value"), self._parts.name)
        else:
            raise wire.unknown_type(event)
        if not 0 <= channel < self._channels:
            return wire.rejected()
        self._shown = []
        try:
            self._combiner.combineWatermark(watermark, channel, self._emit)
        except self._parts.refusal:
            return wire.rejected()
        return self._shown

    def _on_watermark(self, watermark: Any) -> None:
        if isinstance(watermark, self._parts.number):
            self._shown.append({"type": "number", "value": str(watermark.getValue())})
        else:
            self._shown.append({"type": "truth", "value": bool(watermark.getValue())})

    def _on_resume(self) -> None:
        self._shown.append({"type": "resume"})


def make(jvm: Jvm, config: wire.Json) -> Generalized:
    combination = wire.get_choice(config, "combination", _COMBINATIONS)
    wait = wire.get_boolean(config, "wait") if "wait" in config else False
    return Generalized(jvm, wire.get_at_least(config, "channels", 1), combination, wait=wait)
