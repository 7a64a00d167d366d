"""The output edge of a source: `ProgressiveTimestampsAndWatermarks` and its outputs, with a recording output below.

Each output has a generator that emits what the event says, at a record or periodically. A split's
deferred output comes from its generator alone; a periodic emit calls all, which then have nothing to emit. A split
without an output takes nothing, which is shown as `rejected`; its release fails in releases that have a
clock for each split. Releases before 2.2 lose watermarks of splits that are all idle (FLINK-38454).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_EVENT_TIME = "org.apache.flink.api.common.eventtime."
_OPERATORS = "org.apache.flink.streaming.api.operators."
_LOGIC = f"{_OPERATORS}source.ProgressiveTimestampsAndWatermarks"
_LISTENER = f"{_OPERATORS}source.TimestampsAndWatermarks$WatermarkUpdateListener"
_FIRST_TO_FLUSH = (2, 2)
_MODES = ("immediate", "deferred")
_STATUSES = ("idle", "active")

Word = Callable[[Any], None]


def declare(jvm: Jvm) -> wire.Json | None:
    if not (jvm.has(f"{_LOGIC}$IdlenessManager") and jvm.has(f"{_EVENT_TIME}WatermarkOutput", "markActive")):
        return None
    return {"semantics": ["flink-38454" if jvm.release >= _FIRST_TO_FLUSH else "flink-18934"]}


class Parts:
    """Shared by all sources of a version."""

    def __init__(self, jvm: Jvm) -> None:
        self.watermark = jvm.cls(f"{_EVENT_TIME}Watermark")
        self.string = jvm.cls("java.lang.String")
        self.null_pointer = jvm.cls("java.lang.NullPointerException")
        self.record = jvm.cls("java.lang.Object")()
        self.assigner = jvm.implement(
            f"{_EVENT_TIME}TimestampAssigner", {"extractTimestamp": lambda _element, timestamp: timestamp}
        )
        self.now = jvm.cls("java.lang.Long")(0)
        self.emit = "emitImmediateWatermark" if jvm.has(_LOGIC, "emitImmediateWatermark") else "triggerPeriodicEmit"
        groups = jvm.cls("org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups")
        self.metrics = groups.createUnregisteredTaskMetricGroup().getIOMetricGroup()
        self.supplies = {
            "TimestampAssigner": [self.assigner],
            "Duration": [jvm.cls("java.time.Duration").ofMillis(1)],
            "TaskIOMetricGroup": [self.metrics],
        }
        self.has_clocks = jvm.has("org.apache.flink.util.clock.RelativeClock")
        if self.has_clocks:
            clock = jvm.cls("org.apache.flink.util.clock.SystemClock").getInstance()
            provider = f"{_OPERATORS}source.TimestampsAndWatermarks$TimestampsAndWatermarksContextProvider"
            self.supplies |= {
                "RelativeClock": [clock],
                "Clock": [clock],
                "TimestampsAndWatermarksContextProvider": [jvm.new(provider, self.metrics)],
            }


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class SourceOutput:
    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self._parts = parts = parts_of(jvm)
        self._shown: wire.Observations = []
        self._words: list[Word] = []
        generator = jvm.implement(
            f"{_EVENT_TIME}WatermarkGenerator",
            {"onEvent": lambda _event, _timestamp, output: self._speak(output), "onPeriodicEmit": self._speak},
        )
        supplier = jvm.implement(
            f"{_EVENT_TIME}WatermarkGeneratorSupplier", {"createWatermarkGenerator": lambda _context: generator}
        )
        self._logic = jvm.assemble(_LOGIC, {**parts.supplies, "WatermarkGeneratorSupplier": [supplier]})
        handlers = {
            "emitRecord": self._on_record,
            "emitWatermark": self._on_watermark,
            "emitWatermarkStatus": self._on_status,
        }
        output = jvm.implement("org.apache.flink.streaming.runtime.io.PushingAsyncDataInput$DataOutput", handlers)
        self._main = self._logic.createMainOutput(output, jvm.implement(_LISTENER, {}))
        self._splits: dict[int, Any] = {}

    def step(self, event: wire.Json) -> wire.Observations:
        self._shown, self._words = [], []
        kind = event.get("type")
        if kind == "periodic_emit":
            self._jvm.call(self._logic, self._parts.emit, self._parts.now)
            return self._shown
        if kind in ("add_split", "release_split"):
            return self._come_or_go(kind, wire.get_integer(event, "split"))
        split = wire.get_integer(event, "split") if "split" in event else None
        call = self._read(kind, event)
        output = self._main if split is None else self._splits.get(split)
        if output is None:
            return wire.rejected()
        call(output)
        return self._shown

    def _come_or_go(self, kind: str, split: int) -> wire.Observations:
        name = self._parts.string(str(split))
        if kind == "add_split":
            self._splits[split] = self._main.createOutputForSplit(name)
            return self._shown
        if split not in self._splits and not self._parts.has_clocks:
            return wire.rejected()
        try:
            self._main.releaseOutputForSplit(name)
        except self._parts.null_pointer:
            return wire.rejected()
        del self._splits[split]
        return self._shown

    def _read(self, kind: Any, event: wire.Json) -> Word:
        """The call on an output; reading it may show that it is not an event at all."""
        if kind == "record":
            timestamp = wire.get_long(event, "timestamp")
            made = [self._watermark(wire.get_long(event, "watermark"))] if "watermark" in event else []
            return lambda output: self._collect(output, timestamp, made)
        deferred = wire.get_choice(event, "mode", _MODES) == "deferred"
        if kind == "watermark":
            word = self._watermark(wire.get_long(event, "timestamp"))
        elif kind != "status":
            raise wire.unknown_type(event)
        elif wire.get_choice(event, "status", _STATUSES) == "idle":
            word = _mark_idle
        else:
            word = _mark_active
        return (lambda output: self._ask(output, word)) if deferred else word

    def _watermark(self, timestamp: int) -> Word:
        watermark = self._parts.watermark(timestamp)
        return lambda output: output.emitWatermark(watermark)

    def _collect(self, output: Any, timestamp: int, made: list[Word]) -> None:
        self._words = made
        output.collect(self._parts.record, timestamp)

    def _ask(self, output: Any, word: Word) -> None:
        self._words = [word]
        output.emitPeriodicWatermark()

    def _speak(self, output: Any) -> None:
        for word in self._words:
            word(output)

    def _on_record(self, record: Any) -> None:
        self._shown.append({"type": "record", "timestamp": str(record.getTimestamp())})

    def _on_watermark(self, watermark: Any) -> None:
        self._shown.append({"type": "watermark", "timestamp": str(watermark.getTimestamp())})

    def _on_status(self, status: Any) -> None:
        self._shown.append({"type": "status", "status": "idle" if status.isIdle() else "active"})


def _mark_idle(output: Any) -> None:
    output.markIdle()


def _mark_active(output: Any) -> None:
    output.markActive()


def make(jvm: Jvm, _config: wire.Json) -> SourceOutput:
    return SourceOutput(jvm)
