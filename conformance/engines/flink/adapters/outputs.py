"""The outputs of an operator: `ChainingOutput`, `RecordWriterOutput`, the collectors that go to several, the counters.

They are put together as the operator chain does it: network outputs first, a collector unless there is exactly one,
and a counter of its own where no chained output counts. What they hand on is noted by those behind them.
"""

from typing import Any

from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, events_of
from tidegate.conformance.engines.flink.adapters.output_partition import UnknownConsumers
from tidegate.conformance.engines.flink.adapters.output_parts import (
    RECORDS,
    STREAMING,
    KnownConsumers,
    Numbers,
    Receiver,
    failure_of,
    kit_of,
)
from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import (
    BadRequestError,
    Json,
    Observations,
    get_at_least,
    get_boolean,
    get_choice,
    get_integer,
    get_long,
    get_semantics,
    get_string,
    rejected,
    unknown_type,
)

TASKS = f"{STREAMING}runtime.tasks."
SEMANTICS = "flink-2.3"
LARGEST_CONTENT = 1_000_000


def declare(jvm: Jvm) -> Json | None:
    """The collectors that ask whether an output is chained came in 1.18, record attributes in 1.19."""
    needed = (f"{TASKS}OutputWithChainingCheck", f"{RECORDS}RecordAttributes")
    known = all(map(jvm.has, needed)) and jvm.has(f"{NETWORK}api.writer.RecordWriter", "isSubpartitionDerivable")
    return {"semantics": [SEMANTICS]} if known else None


def make(jvm: Jvm, config: Json) -> "Outputs":
    get_semantics(config, (SEMANTICS,))
    outputs = config.get("outputs")
    if not isinstance(outputs, list):
        raise BadRequestError("outputs must be a list")
    return Outputs(jvm, outputs, reuse=get_boolean(config, "object_reuse"))


class Outputs:
    def __init__(self, jvm: Jvm, outputs: list[Json], *, reuse: bool) -> None:
        self.jvm, self.kit, self.events = jvm, kit_of(jvm), events_of(jvm)
        self.seen: Observations = []
        self.operator_counter = jvm.cls("org.apache.flink.metrics.SimpleCounter")()
        self.task_counter = jvm.cls("org.apache.flink.metrics.SimpleCounter")()
        self.behind: list[Any] = [self.make_behind(index, one) for index, one in enumerate(outputs)]
        self.outputs: list[Any] = [None] * len(outputs)
        self.network = [index for index, one in enumerate(outputs) if one["type"] == "network"]
        self.chained = [index for index, one in enumerate(outputs) if one["type"] == "chained"]
        for index in self.network:
            self.outputs[index] = self.make_network(self.behind[index], outputs[index])
        for index in self.chained:
            counter = self.operator_counter if index == self.chained[0] else None
            self.outputs[index] = self.make_chained(self.behind[index], outputs[index], counter, reuse=reuse)
        self.output = self.put_together(reuse=reuse)
        self.handlers = {
            "record": self.on_record,
            "watermark": self.on_watermark,
            "status": self.on_status,
            "latency_marker": self.on_latency_marker,
            "record_attributes": self.on_record_attributes,
            "barrier": self.on_barrier,
            "end_of_data": self.on_end_of_data,
            "read_metrics": self.on_read_metrics,
        }

    # What it is made of

    def make_behind(self, index: int, output: Json) -> Any:
        if get_choice(output, "type", ("network", "chained")) == "chained":
            changes = get_choice(output, "changes", ("nothing", "value", "record"))
            return Receiver(self, index, keyed=get_boolean(output, "keyed"), changes=changes)
        if "subpartitions" in output:
            return UnknownConsumers(self, index, get_at_least(output, "subpartitions", 1))
        return KnownConsumers(self, index)

    def make_network(self, behind: Any, output: Json) -> Any:
        builder = self.jvm.cls(f"{NETWORK}api.writer.RecordWriterBuilder")()
        builder.setChannelSelector(self.jvm.cls(f"{STREAMING}runtime.partitioner.GlobalPartitioner")())
        # Flushed at once, so that a reader is told of every element.
        writer = builder.setTimeout(0).build(behind.java())
        behind.use(writer)
        made = self.jvm.cls(f"{STREAMING}runtime.io.RecordWriterOutput")
        return made(writer, self.kit.values, self.make_tag(output), get_boolean(output, "unaligned"))

    def make_chained(self, behind: Any, output: Json, counter: Any, *, reuse: bool) -> Any:
        groups = self.jvm.cls("org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups")
        kind = "ChainingOutput" if reuse else "CopyingChainingOutput"
        serializer = () if reuse else (self.kit.values,)
        group = groups.createUnregisteredOperatorMetricGroup()
        return self.jvm.new(TASKS + kind, behind.java(), *serializer, counter, group, self.make_tag(output))

    def make_tag(self, holder: Json) -> Any:
        tag = holder.get("tag")
        if tag is None:
            return None
        types = self.jvm.cls("org.apache.flink.api.common.typeinfo.BasicTypeInfo")
        of = types.STRING_TYPE_INFO if get_string(tag, "of") == "string" else types.INT_TYPE_INFO
        return self.jvm.cls("org.apache.flink.util.OutputTag")(get_string(tag, "id"), of)

    def put_together(self, *, reuse: bool) -> Any:
        made = [self.outputs[index] for index in (*self.network, *self.chained)]
        if len(made) == 1:
            result = made[0]
            if self.network:
                result.setNumRecordsOut(self.task_counter)
        else:
            several = self.jvm.jpype.JArray(self.jvm.cls(f"{TASKS}OutputWithChainingCheck"))(made)
            kind = "CopyingBroadcastingOutputCollector" if reuse else "BroadcastingOutputCollector"
            result = self.jvm.new(TASKS + kind, several, self.task_counter)
        if self.chained:
            return result
        return self.jvm.cls(f"{STREAMING}api.operators.CountingOutput")(result, self.operator_counter)

    def close(self) -> None:
        for one in self.behind:
            if isinstance(one, UnknownConsumers):
                one.close()

    # What happens

    def step(self, event: Json) -> Observations:
        self.seen = []
        if event.get("type") == "fault":
            return self.on_fault(event)
        handler = self.handlers.get(event.get("type", ""))
        if handler is None:
            raise unknown_type(event)
        try:
            handler(event)
        except self.jvm.JavaError as error:
            failed = failure_of(error)
            if failed is None:
                raise
            self.seen.append(failed)
        return self.seen

    def on_fault(self, event: Json) -> Observations:
        index, hops = get_integer(event, "output"), get_at_least(event, "hops", 0)
        if not 0 <= index < len(self.behind) or (hops > 1 and index in self.network):
            return rejected()
        self.behind[index].fail(hops)
        return []

    def on_record(self, event: Json) -> None:
        content = get_at_least(event, "content", 0)
        if content > LARGEST_CONTENT:
            raise BadRequestError(f"content must be in 0..{LARGEST_CONTENT}, not {content}")
        if "selected" in event:
            raise BadRequestError("selected belongs to an operator with selectors")
        record = self.jvm.cls(f"{RECORDS}StreamRecord")(self.kit.int_array([content]))
        self.records, self.values = Numbers(self.kit, record), Numbers(self.kit, record.getValue())
        tag = self.make_tag(event)
        self.output.collect(*(() if tag is None else (tag,)), record)

    def on_watermark(self, event: Json) -> None:
        self.output.emitWatermark(self.jvm.cls(f"{STREAMING}api.watermark.Watermark")(get_long(event, "timestamp")))

    def on_status(self, event: Json) -> None:
        statuses = self.jvm.cls(f"{STREAMING}runtime.watermarkstatus.WatermarkStatus")
        idle = get_choice(event, "status", ("active", "idle")) == "idle"
        self.output.emitWatermarkStatus(statuses.IDLE if idle else statuses.ACTIVE)

    def on_latency_marker(self, _event: Json) -> None:
        operator = self.jvm.cls("org.apache.flink.runtime.jobgraph.OperatorID")()
        self.output.emitLatencyMarker(self.jvm.cls(f"{RECORDS}LatencyMarker")(1, operator, 0))

    def on_record_attributes(self, _event: Json) -> None:
        self.output.emitRecordAttributes(self.jvm.cls(f"{RECORDS}RecordAttributes")(True))

    def on_barrier(self, event: Json) -> None:
        unaligned = get_boolean(event, "unaligned")
        self.broadcast(self.events.barrier(unaligned=unaligned), priority=unaligned)

    def on_end_of_data(self, _event: Json) -> None:
        self.broadcast(self.events.end_of_data, priority=False)

    def broadcast(self, event: Any, *, priority: bool) -> None:
        """As the task does it: to all network outputs, one after the other."""
        for index in self.network:
            self.behind[index].broadcast(self.outputs[index], event, priority=priority)

    def on_read_metrics(self, _event: Json) -> None:
        gauges = [str(one.getWatermarkGauge().getValue()) for one in self.outputs]
        self.seen.append(
            {
                "type": "metrics",
                "records_out": int(self.operator_counter.getCount()),
                "task_records_out": int(self.task_counter.getCount()),
                "watermark": str(self.output.getWatermarkGauge().getValue()),
                "output_watermarks": gauges,
            }
        )
