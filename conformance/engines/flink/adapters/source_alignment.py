"""Watermark alignment in a source: a `SourceOperator` without setup, with a reader that shows which splits are paused.

The operator gets the fields that alignment reads, as its constructor and its first call would set them, and hears of
watermarks and statuses as from its outputs. Splits paused or resumed together are shown in the order of
their ids. A status of an unknown split is refused here. Releases before 2.3 keep no samples (FLINK-37399).
"""

from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_OPERATORS = "org.apache.flink.streaming.api.operators."
_OPERATOR = f"{_OPERATORS}SourceOperator"
_SAMPLER = f"{_OPERATORS}source.WatermarkSampler"
_METRICS = "org.apache.flink.runtime.metrics.groups."
_STATUSES = ("idle", "active")


def declare(jvm: Jvm) -> wire.Json | None:
    return {"semantics": ["flink-39073"]} if jvm.has(_SAMPLER) and jvm.has(_OPERATOR, "maybePauseSplit") else None


class Parts:
    """Shared by all subtasks of a version."""

    def __init__(self, jvm: Jvm) -> None:
        self.string = jvm.cls("java.lang.String")
        self.long = jvm.cls("java.lang.Long")
        self.announcement = jvm.cls("org.apache.flink.runtime.source.event.WatermarkAlignmentEvent")
        self.sampler = jvm.cls(_SAMPLER)
        self.map, self.set = jvm.cls("java.util.HashMap"), jvm.cls("java.util.HashSet")
        self.future = jvm.cls("java.util.concurrent.CompletableFuture")
        self.null_pointer = jvm.cls("java.lang.NullPointerException")
        modes = jvm.cls(f"{_OPERATOR}$OperatingMode")
        self.modes = {name: jvm.field(modes, name) for name in ("READING", "WAITING_FOR_ALIGNMENT", "DATA_FINISHED")}
        groups = jvm.cls(f"{_METRICS}UnregisteredMetricGroups")
        self.metrics = groups.createUnregisteredOperatorMetricGroup()
        self.source_metrics = jvm.cls(f"{_METRICS}InternalSourceReaderMetricGroup").wrap(self.metrics)
        self.clock = jvm.cls(f"{_OPERATORS}util.PausableRelativeClock")
        self.wall = jvm.cls("org.apache.flink.util.clock.SystemClock").getInstance()
        parameters = jvm.cls("org.apache.flink.api.common.eventtime.WatermarkAlignmentParams")
        self.parameters = parameters(1, self.string("group"), 1)
        self.output = jvm.implement("org.apache.flink.api.connector.source.ReaderOutput", {})


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class Alignment:
    def __init__(self, jvm: Jvm, samples: int) -> None:
        self._jvm = jvm
        self._parts = parts = parts_of(jvm)
        self._shown: wire.Observations = []
        self._splits: set[int] = set()
        reader = jvm.implement(
            "org.apache.flink.api.connector.source.SourceReader", {"pauseOrResumeSplits": self._on_splits}
        )
        logic = jvm.implement(f"{_OPERATORS}source.TimestampsAndWatermarks", {})
        gateway = jvm.implement(
            "org.apache.flink.runtime.operators.coordination.OperatorEventGateway",
            {"sendEventToCoordinator": self._on_report},
        )
        times = jvm.implement(
            "org.apache.flink.streaming.runtime.tasks.ProcessingTimeService", {"getClock": lambda: parts.wall}
        )
        self._operator = jvm.bare(_OPERATOR)
        fields = {
            "sampledSplitWatermarks": parts.map(),
            "splitMetricGroups": parts.map(),
            "currentlyPausedSplits": parts.set(),
            "currentlyIdleSplits": parts.set(),
            "sampledLatestWatermark": parts.sampler(samples),
            "watermarkBufferSize": jvm.integer(samples),
            "currentMaxDesiredWatermark": parts.long(wire.HIGHEST),
            "waitingForAlignmentFuture": parts.future.completedFuture(None),
            "mainInputActivityClock": parts.clock(parts.wall),
            "operatingMode": parts.modes["READING"],
            "sourceReader": reader,
            "eventTimeLogic": logic,
            "operatorEventGateway": gateway,
            "processingTimeService": times,
            "watermarkAlignmentParams": parts.parameters,
            "currentMainOutput": parts.output,
            "metrics": parts.metrics,
            "sourceMetricGroup": parts.source_metrics,
        }
        for name, value in fields.items():
            jvm.set_field(self._operator, name, value)

    def step(self, event: wire.Json) -> wire.Observations:
        self._shown = []
        was_waiting = self._is_waiting()
        kind = event.get("type")
        if kind in ("add_split", "finish_split", "split_watermark", "split_status"):
            return self._on_split(kind, wire.get_integer(event, "split"), event)
        operator = self._operator
        if kind == "watermark":
            operator.updateCurrentEffectiveWatermark(wire.get_long(event, "timestamp"))
        elif kind == "status":
            operator.updateIdle(wire.get_choice(event, "status", _STATUSES) == "idle")
        elif kind == "sample":
            self._jvm.call(operator, "sampleAndEmitLatestWatermark")
        elif kind == "announce":
            operator.handleOperatorEvent(self._parts.announcement(wire.get_long(event, "timestamp")))
        elif kind == "end":
            self._jvm.set_field(operator, "operatingMode", self._parts.modes["DATA_FINISHED"])
            operator.emitNext(None)
            return self._shown
        else:
            raise wire.unknown_type(event)
        if self._is_waiting() == was_waiting:
            return self._shown
        # The subtask comes first, and shows only its mode.
        return [{"type": "go_on" if was_waiting else "wait"}, *self._shown]

    def _is_waiting(self) -> bool:
        return bool(self._jvm.field(self._operator, "operatingMode") == self._parts.modes["WAITING_FOR_ALIGNMENT"])

    def _on_split(self, kind: str, split: int, event: wire.Json) -> wire.Observations:
        name = self._parts.string(str(split))
        if kind == "add_split":
            self._splits.add(split)
            self._jvm.call(self._operator, "getOrCreateSplitMetricGroup", name)
        elif kind == "finish_split":
            self._splits.discard(split)
            self._operator.splitFinished(name)
        elif kind == "split_watermark":
            try:
                self._operator.updateCurrentSplitWatermark(name, wire.get_long(event, "timestamp"))
            except self._parts.null_pointer:
                return wire.rejected()
        else:
            idle = wire.get_choice(event, "status", _STATUSES) == "idle"
            if split not in self._splits:
                return wire.rejected()
            self._operator.updateCurrentSplitIdle(name, idle)
        return self._shown

    def _on_splits(self, pausing: Any, resuming: Any) -> None:
        self._shown += [{"type": "pause", "split": split} for split in sorted(int(str(one)) for one in pausing)]
        self._shown += [{"type": "resume", "split": split} for split in sorted(int(str(one)) for one in resuming)]

    def _on_report(self, event: Any) -> None:
        self._shown.append({"type": "report", "timestamp": str(event.getWatermark())})


def make(jvm: Jvm, config: wire.Json) -> Alignment:
    return Alignment(jvm, wire.get_at_least(config, "samples", 0) if "samples" in config else 3)
