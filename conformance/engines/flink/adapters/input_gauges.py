"""The gauges of inputs: `WatermarkGauge`, `MinWatermarkGauge`, and an `AbstractStreamOperator` without setup.

The adapter passes watermarks to the gauge of their input and to the operator, as the network input of a task does. An
operator has methods for two inputs; attributes of more are merged by `RecordAttributesBuilder`, as operators of
several inputs do. Records reach the operator as in a task of several inputs: from the network through
`StreamTaskNetworkOutput`, from a source in the task through a `ChainingOutput`; the receiving operator is empty.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_METRICS = "org.apache.flink.streaming.runtime.metrics."
_OPERATORS = "org.apache.flink.streaming.api.operators."
_BUILDER = "org.apache.flink.streaming.runtime.streamrecord.RecordAttributesBuilder"
_NETWORK = "org.apache.flink.streaming.runtime.io.StreamMultipleInputProcessorFactory$StreamTaskNetworkOutput"
_CHAINING = "org.apache.flink.streaming.runtime.tasks.ChainingOutput"
EXTENSIONS = ("records",)
_COMBINED = "org.apache.flink.api.common.eventtime.IndexedCombinedWatermarkStatus"


def declare(jvm: Jvm) -> wire.Json | None:
    if not jvm.has(_BUILDER) or not jvm.has(f"{_OPERATORS}AbstractStreamOperator", "processRecordAttributes1"):
        return None
    # The constructors of 1.20 and later.
    known = [len(one) for name in (_NETWORK, _CHAINING) if jvm.has(name) for one in jvm.parameters(name)]
    return {"extensions": [*EXTENSIONS]} if known == [4, 4] else {}


class Counted:
    """The inputs of an operator, as far as they count records."""

    def __init__(self, jvm: Jvm, kinds: list[str]) -> None:
        group = jvm.cls("org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups")
        operator = group.createUnregisteredOperatorMetricGroup()
        self._records = operator.getIOMetricGroup().getNumRecordsInCounter()
        self._of_task = jvm.cls("org.apache.flink.metrics.SimpleCounter")()
        self._element = jvm.cls("org.apache.flink.streaming.runtime.streamrecord.StreamRecord")
        nobody = jvm.implement(f"{_OPERATORS}Input", {})
        gauge = jvm.cls(f"{_METRICS}WatermarkGauge")
        self._doors = [
            jvm.new(_CHAINING, nobody, None, operator, None).collect
            if kind == "source"
            else jvm.new(_NETWORK, nobody, gauge(), self._records, self._of_task).emitRecord
            for kind in kinds
        ]

    def put(self, number: int) -> None:
        self._doors[number](self._element(None))

    def show(self) -> wire.Json:
        return {"records": int(self._records.getCount()), "task_records": int(self._of_task.getCount())}


class InputGauges:
    def __init__(self, jvm: Jvm, inputs: int, counted: Counted | None) -> None:
        self._jvm, self._counted = jvm, counted
        self._shown: wire.Observations = []
        handlers = {"emitWatermark": self._on_watermark, "emitRecordAttributes": self._on_attributes}
        output = jvm.implement(f"{_OPERATORS}Output", handlers)
        gauge = jvm.cls(f"{_METRICS}WatermarkGauge")
        self._gauges = [gauge() for _ in range(inputs)]
        self._lowest = jvm.cls(f"{_METRICS}MinWatermarkGauge")(jvm.jpype.JArray(gauge)(self._gauges))
        function = jvm.implement("org.apache.flink.api.common.functions.MapFunction", {})
        self._operator = jvm.cls(f"{_OPERATORS}StreamMap")(function)
        jvm.set_field(self._operator, "combinedWatermark", jvm.cls(_COMBINED).forInputsCount(inputs))
        jvm.set_field(self._operator, "output", output)
        unsaid = jvm.cls("org.apache.flink.streaming.runtime.streamrecord.RecordAttributes").EMPTY_RECORD_ATTRIBUTES
        for name in ("lastRecordAttributes1", "lastRecordAttributes2"):
            jvm.set_field(self._operator, name, unsaid)
        self._watermark = jvm.cls("org.apache.flink.streaming.api.watermark.Watermark")
        self._last: dict[int, Any] = {}

    def _on_watermark(self, watermark: Any) -> None:
        self._shown.append({"type": "emitted", "timestamp": str(watermark.getTimestamp())})

    def _on_attributes(self, attributes: Any) -> None:
        self._shown.append({"type": "attributes", "backlog": bool(attributes.isBacklog())})

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind == "measure":
            inputs = [str(gauge.getValue()) for gauge in self._gauges]
            records = {} if self._counted is None else self._counted.show()
            return [{"type": "gauges", "inputs": inputs, "input": str(self._lowest.getValue()), **records}]
        if kind not in ("watermark", "attributes") and (kind != "record" or self._counted is None):
            raise wire.unknown_type(event)
        number = wire.get_integer(event, "input")
        timestamp = wire.get_long(event, "timestamp") if kind == "watermark" else 0
        backlog = wire.get_boolean(event, "backlog") if kind == "attributes" else False
        if not 0 <= number < len(self._gauges):
            return wire.rejected()
        self._shown = []
        if kind == "record" and self._counted is not None:
            self._counted.put(number)
        elif kind == "watermark":
            self._gauges[number].setCurrentWatermark(timestamp)
            self._jvm.call(self._operator, "processWatermark", self._watermark(timestamp), self._jvm.integer(number))
        else:
            self._tell(number, backlog=backlog)
        return self._shown

    def _tell(self, number: int, *, backlog: bool) -> None:
        lists = self._jvm.cls("java.util.ArrayList")
        attributes = self._jvm.cls(_BUILDER)(lists()).setBacklog(backlog).build()
        if len(self._gauges) == 1:
            self._operator.processRecordAttributes(attributes)
        elif len(self._gauges) == 2:
            (self._operator.processRecordAttributes2 if number else self._operator.processRecordAttributes1)(attributes)
        else:
            self._last[number] = attributes
            together = self._jvm.cls(_BUILDER)(lists(list(self._last.values()))).build()
            self._on_attributes(together)


def make(jvm: Jvm, config: wire.Json) -> InputGauges:
    kinds = config.get("inputs")
    if not isinstance(kinds, list) or not kinds or any(kind not in ("network", "source") for kind in kinds):
        raise wire.BadRequestError("inputs must be a list of kinds")
    counts = wire.get_extension(config, EXTENSIONS) is not None
    return InputGauges(jvm, len(kinds), Counted(jvm, kinds) if counts else None)
