"""The outputs of an operator: `ChainingOutput`, `RecordWriterOutput`, the collectors that go to several, the counters.

They are assembled as in the operator chain: network outputs first, a collector unless there is exactly one,
and a counter of its own if no chained output counts. The receivers record what they emit.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import output_parts
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, events_of
from tidegate.conformance.engines.flink.adapters.output_partition import UnknownConsumers
from tidegate.conformance.engines.flink.jvm import Jvm

TASKS = f"{output_parts.STREAMING}runtime.tasks."
SEMANTICS = "flink-2.3"
LARGEST_CONTENT = 1_000_000


def declare(jvm: Jvm) -> wire.Json | None:
    """The collectors that check whether an output is chained came in 1.18, record attributes in 1.19."""
    needed = (f"{TASKS}OutputWithChainingCheck", f"{output_parts.RECORDS}RecordAttributes")
    known = all(map(jvm.has, needed)) and jvm.has(f"{NETWORK}api.writer.RecordWriter", "isSubpartitionDerivable")
    return {"semantics": [SEMANTICS]} if known else None


def make(jvm: Jvm, config: wire.Json) -> "Outputs":
    wire.get_semantics(config, (SEMANTICS,))
    outputs = config.get("outputs")
    if not isinstance(outputs, list):
        raise wire.BadRequestError("outputs must be a list")
    return Outputs(jvm, outputs, reuse=wire.get_boolean(config, "object_reuse"))


class Outputs:
    def __init__(self, jvm: Jvm, outputs: list[wire.Json], *, reuse: bool) -> None:
        self.jvm, self.kit, self.events = jvm, output_parts.kit_of(jvm), events_of(jvm)
        self.seen: wire.Observations = []
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

    # Its parts

    def make_behind(self, index: int, output: wire.Json) -> Any:
        if wire.get_choice(output, "type", ("network", "chained")) == "chained":
            changes = wire.get_choice(output, "changes", ("nothing", "value", "record"))
            return output_parts.Receiver(self, index, keyed=wire.get_boolean(output, "keyed"), changes=changes)
        if "subpartitions" in output:
            return UnknownConsumers(self, index, wire.get_at_least(output, "subpartitions", 1))
        return output_parts.KnownConsumers(self, index)

    def make_network(self, behind: Any, output: wire.Json) -> Any:
        builder = self.jvm.cls(f"{NETWORK}api.writer.RecordWriterBuilder")()
        builder.setChannelSelector(self.jvm.cls(f"{output_parts.STREAMING}runtime.partitioner.GlobalPartitioner")())
        # Flushed at once, so that a reader hears of every element.
        writer = builder.setTimeout(0).build(behind.java())
        behind.use(writer)
        made = self.jvm.cls(f"{output_parts.STREAMING}runtime.io.RecordWriterOutput")
        return made(writer, self.kit.values, self.make_tag(output), wire.get_boolean(output, "unaligned"))

    def make_chained(self, behind: Any, output: wire.Json, counter: Any, *, reuse: bool) -> Any:
        groups = self.jvm.cls("org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups")
        kind = "ChainingOutput" if reuse else "CopyingChainingOutput"
        serializer = () if reuse else (self.kit.values,)
        group = groups.createUnregisteredOperatorMetricGroup()
        return self.jvm.new(TASKS + kind, behind.java(), *serializer, counter, group, self.make_tag(output))

    def make_tag(self, holder: wire.Json) -> Any:
        tag = holder.get("tag")
        if tag is None:
            return None
        types = self.jvm.cls("org.apache.flink.api.common.typeinfo.BasicTypeInfo")
        of = types.STRING_TYPE_INFO if wire.get_string(tag, "of") == "string" else types.INT_TYPE_INFO
        return self.jvm.cls("org.apache.flink.util.OutputTag")(wire.get_string(tag, "id"), of)

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
        return self.jvm.cls(f"{output_parts.STREAMING}api.operators.CountingOutput")(result, self.operator_counter)

    def close(self) -> None:
        for one in self.behind:
            if isinstance(one, UnknownConsumers):
                one.close()

    # Events

    def step(self, event: wire.Json) -> wire.Observations:
        self.seen = []
        if event.get("type") == "fault":
            return self.on_fault(event)
        handler = self.handlers.get(event.get("type", ""))
        if handler is None:
            raise wire.unknown_type(event)
        try:
            handler(event)
        except self.jvm.JavaError as error:
            failed = output_parts.failure_of(error)
            if failed is None:
                raise
            self.seen.append(failed)
        return self.seen

    def on_fault(self, event: wire.Json) -> wire.Observations:
        index, hops = wire.get_integer(event, "output"), wire.get_at_least(event, "hops", 0)
        if not 0 <= index < len(self.behind) or (hops > 1 and index in self.network):
            return wire.rejected()
        self.behind[index].fail(hops)
        return []

    def on_record(self, event: wire.Json) -> None:
        content = wire.get_at_least(event, "content", 0)
        if content > LARGEST_CONTENT:
            raise wire.BadRequestError(f"content must be in 0..{LARGEST_CONTENT}, not {content}")
        if "selected" in event:
            raise wire.BadRequestError("selected belongs to an operator with selectors")
        record = self.jvm.cls(f"{output_parts.RECORDS}StreamRecord")(self.kit.int_array([content]))
        self.records, self.values = (
            output_parts.Numbers(self.kit, record),
            output_parts.Numbers(self.kit, record.getValue()),
        )
        tag = self.make_tag(event)
        self.output.collect(*(() if tag is None else (tag,)), record)

    def on_watermark(self, event: wire.Json) -> None:
        self.output.emitWatermark(
            self.jvm.cls(f"{output_parts.STREAMING}api.watermark.Watermark")(wire.get_long(event, "timestamp"))
        )

    def on_status(self, event: wire.Json) -> None:
        statuses = self.jvm.cls(f"{output_parts.STREAMING}runtime.watermarkstatus.WatermarkStatus")
        idle = wire.get_choice(event, "status", ("active", "idle")) == "idle"
        self.output.emitWatermarkStatus(statuses.IDLE if idle else statuses.ACTIVE)

    def on_latency_marker(self, _event: wire.Json) -> None:
        operator = self.jvm.cls("org.apache.flink.runtime.jobgraph.OperatorID")()
        self.output.emitLatencyMarker(self.jvm.cls(f"{output_parts.RECORDS}LatencyMarker")(1, operator, 0))

    def on_record_attributes(self, _event: wire.Json) -> None:
        self.output.emitRecordAttributes(self.jvm.cls(f"{output_parts.RECORDS}RecordAttributes")(True))

    def on_barrier(self, event: wire.Json) -> None:
        unaligned = wire.get_boolean(event, "unaligned")
        self.broadcast(self.events.barrier(unaligned=unaligned), priority=unaligned)

    def on_end_of_data(self, _event: wire.Json) -> None:
        self.broadcast(self.events.end_of_data, priority=False)

    def broadcast(self, event: Any, *, priority: bool) -> None:
        """As the task does it: to all network outputs, one after the other."""
        for index in self.network:
            self.behind[index].broadcast(self.outputs[index], event, priority=priority)

    def on_read_metrics(self, _event: wire.Json) -> None:
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
