"""The network input: `StreamOneInputProcessor` over `StreamTaskNetworkInput`, gate, deserializers and valve included.

The operator and the user's serializer are the adapter's: the value of a record is whatever fills its payload.
Everything else on the wire is read by Flink's `StreamElementSerializer`.
"""

import tempfile
from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.barriers import Handler
from tidegate.conformance.engines.flink.adapters.buffer_parts import events_of
from tidegate.conformance.engines.flink.adapters.input_parts import Endings, Gate, can_make_gates
from tidegate.conformance.engines.flink.jvm import Jvm

STREAMING = "org.apache.flink.streaming.runtime."
INPUT = f"{STREAMING}io.StreamTaskNetworkInput"
BATCH = f"{STREAMING}tasks.StreamTask$CanEmitBatchOfRecordsChecker"
ATTRIBUTES = f"{STREAMING}streamrecord.RecordAttributes"
SEMANTICS = "flink-1.17"
#: With and without a timestamp.
RECORD_TAGS = (0, 1)
TIMESTAMP_SIZE = 8


def declare(jvm: Jvm) -> wire.Json | None:
    """Batches came in 1.17, record attributes in 1.19."""
    known = jvm.has(BATCH) and jvm.has(ATTRIBUTES) and can_make_gates(jvm)
    return {"semantics": [SEMANTICS]} if known else None


def make(jvm: Jvm, config: wire.Json) -> "NetworkInput":
    wire.get_semantics(config, (SEMANTICS,))
    return NetworkInput(jvm, wire.get_at_least(config, "channels", 1))


@cache
def spill_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="tidegate-flink-", ignore_cleanup_errors=True)


@cache
def io_manager(jvm: Jvm) -> Any:
    return jvm.cls("org.apache.flink.runtime.io.disk.iomanager.IOManagerAsync")(spill_folder().name)


@cache
def element_serializer(jvm: Jvm) -> Any:
    values = jvm.cls("org.apache.flink.api.common.typeutils.base.StringSerializer").INSTANCE
    return jvm.cls(f"{STREAMING}streamrecord.StreamElementSerializer")(values)


class ElementReader:
    """A `DeserializationDelegate` for records whose value is the rest of the payload, kept as hexadecimal text."""

    def __init__(self, jvm: Jvm) -> None:
        self.jvm = jvm
        self.serializer = element_serializer(jvm)
        self.record = jvm.cls(f"{STREAMING}streamrecord.StreamRecord")
        self.bytes = jvm.jpype.JArray(jvm.jpype.JByte)
        self.view_of = jvm.cls("org.apache.flink.core.memory.DataInputDeserializer")
        self.instance: Any = None

    def setInstance(self, instance: Any) -> None:  # noqa: N802 - Java's names
        self.instance = instance

    def getInstance(self) -> Any:  # noqa: N802
        return self.instance

    def read(self, view: Any) -> None:
        out = self.bytes(self.find_length(view))
        view.readFully(out)
        payload = bytes(out)
        if payload[0] not in RECORD_TAGS:
            self.instance = self.serializer.deserialize(self.view_of(out))
            return
        start = 1 if payload[0] else 1 + TIMESTAMP_SIZE
        value = self.jvm.jpype.JString(payload[start:].hex())
        time = () if payload[0] else (int.from_bytes(payload[1:start], "big", signed=True),)
        self.instance = self.record(value, *time)

    def find_length(self, view: Any) -> int:
        """A spanning record is alone in its view; one within a buffer has its length in front of it."""
        if isinstance(view, self.view_of):
            return int(view.available())
        position = int(self.jvm.field(view, "position"))
        return int(self.jvm.field(view, "segment").getIntBigEndian(position - 4))


class Operator:
    """The output of the input: a `DataOutput` and the end of the input, as observations."""

    def __init__(self) -> None:
        self.seen: wire.Observations = []

    def note(self, kind: str, **details: Any) -> None:
        self.seen.append({"type": kind, **details})

    def emitRecord(self, record: Any) -> None:  # noqa: N802 - Java's names
        time = {"timestamp": str(record.getTimestamp())} if record.hasTimestamp() else {}
        self.note("record", value=str(record.getValue()), **time)

    def emitWatermark(self, watermark: Any) -> None:  # noqa: N802
        self.note("watermark", timestamp=str(watermark.getTimestamp()))

    def emitWatermarkStatus(self, status: Any) -> None:  # noqa: N802
        self.note("status", status="idle" if status.isIdle() else "active")

    def emitLatencyMarker(self, marker: Any) -> None:  # noqa: N802
        operator = marker.getOperatorId()
        self.note(
            "latency_marker",
            marked=str(marker.getMarkedTime()),
            lower=str(operator.getLowerPart()),
            upper=str(operator.getUpperPart()),
            subtask=int(marker.getSubtaskIndex()),
        )

    def emitRecordAttributes(self, attributes: Any) -> None:  # noqa: N802
        self.note("record_attributes", backlog=bool(attributes.isBacklog()))

    def endInput(self, _input: Any) -> None:  # noqa: N802
        self.note("end_input")


class Batch:
    """Whether a call may go on after an element."""

    def __init__(self) -> None:
        self.goes_on = False

    def check(self) -> bool:
        return self.goes_on


class Input:
    """One input of a task: a gate, and a processor that reads it for the operator."""

    def __init__(self, jvm: Jvm, channels: int, operator: Operator, batch: Batch) -> None:
        self.gate, self.endings, self.events = Gate(jvm, channels), Endings(channels), events_of(jvm)
        self.handler = Handler(jvm, "aligned", channels, True, None)
        self.checkpoints = 0
        proxy = jvm.jpype.JProxy
        mails = jvm.cls(f"{STREAMING}tasks.mailbox.MailboxProcessor")().getMainMailboxExecutor()
        gate = jvm.cls(f"{STREAMING}io.checkpointing.CheckpointedInputGate")(
            self.gate.gate, self.handler.handler, mails
        )
        valve = jvm.cls(f"{STREAMING}watermarkstatus.StatusWatermarkValve")(channels)
        values = jvm.cls("org.apache.flink.api.common.typeutils.base.StringSerializer").INSTANCE
        self.input = jvm.cls(INPUT)(gate, values, io_manager(jvm), valve, 0, proxy(BATCH, inst=batch))
        delegate = proxy("org.apache.flink.runtime.plugable.DeserializationDelegate", inst=ElementReader(jvm))
        jvm.set_field(self.input, "deserializationDelegate", delegate)
        output = proxy(f"{STREAMING}io.PushingAsyncDataInput$DataOutput", inst=operator)
        ends = proxy("org.apache.flink.streaming.api.operators.BoundedMultiInput", inst=operator)
        self.processor = jvm.cls(f"{STREAMING}io.StreamOneInputProcessor")(self.input, output, ends)

    def arrive(self, event: wire.Json) -> bool:
        """Whether the event was accepted."""
        channel = wire.get_integer(event, "channel")
        if event["type"] == "buffer":
            data = bytes.fromhex(wire.get_hex(event, "data"))
            if not self.endings.accepts(channel):
                return False
            self.gate.arrive(channel, data)
            return True
        kind = wire.get_choice(event, "kind", ("barrier", "end_of_data", "stop", "end_of_partition"))
        if not self.endings.accepts(channel, kind):
            return False
        self.gate.arrive_event(channel, self.make_event(kind))
        return True

    def make_event(self, kind: str) -> Any:
        if kind == "barrier":
            self.checkpoints += 1
            return self.events.barrier(self.checkpoints)
        return getattr(self.events, kind)

    def close(self) -> None:
        self.processor.close()
        self.gate.close()


class NetworkInput:
    def __init__(self, jvm: Jvm, channels: int) -> None:
        self.operator, self.batch = Operator(), Batch()
        self.input = Input(jvm, channels, self.operator, self.batch)
        self.processor = self.input.processor

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in ("buffer", "event"):
            before = bool(self.processor.isAvailable())
            if not self.input.arrive(event):
                return wire.rejected()
            return [{"type": "available"}] if not before and self.processor.isAvailable() else []
        if kind != "process":
            raise wire.unknown_type(event)
        self.batch.goes_on = wire.get_boolean(event, "batch")
        self.operator.seen = []
        return [*self.call(), self.returned]

    def call(self) -> wire.Observations:
        status = str(self.processor.processInput().name()).lower()
        self.returned = {"type": "returned", "status": status, "available": bool(self.processor.isAvailable())}
        return self.operator.seen

    def close(self) -> None:
        self.input.close()
