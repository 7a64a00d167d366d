"""Behind the outputs of an operator: chained operators, and partitions for the writers."""

from functools import cache
from typing import Any

from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK
from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import Json

STREAMING = "org.apache.flink.streaming."
RECORDS = f"{STREAMING}runtime.streamrecord."
WRITER = f"{NETWORK}api.writer.ResultPartitionWriter"
CHAINED_ERROR = f"{STREAMING}runtime.tasks.ExceptionInChainedOperatorException"
#: Prefix of the message of every error that the adapter makes; the number of the output follows.
FAILURE = "output "


class Kit:
    """Classes that every case needs."""

    def __init__(self, jvm: Jvm) -> None:
        self.jvm = jvm
        self.values = jvm.cls("org.apache.flink.api.common.typeutils.base.array.IntPrimitiveArraySerializer").INSTANCE
        self.elements = jvm.cls(f"{RECORDS}StreamElementSerializer")(self.values)
        self.input_view = jvm.cls("org.apache.flink.core.memory.DataInputDeserializer")
        self.int_array = jvm.jpype.JArray(jvm.jpype.JInt)
        self.byte_array = jvm.jpype.JArray(jvm.jpype.JByte)
        self.identity = jvm.cls("java.lang.System").identityHashCode
        self.io_error = jvm.cls("java.io.IOException")
        self.state_error = jvm.cls("java.lang.IllegalStateException")
        self.barrier = jvm.cls(f"{NETWORK}api.CheckpointBarrier")
        self.from_buffer = jvm.cls(f"{NETWORK}api.serialization.EventSerializer").fromBuffer
        self.class_loader = jvm.cls("java.lang.ClassLoader").getSystemClassLoader()

    def read_element(self, frame: bytes, output: int) -> Json:
        """What a writer wrote, without the length in front."""
        element = self.elements.deserialize(self.input_view(self.byte_array(frame)))
        if element.isRecord():
            return {"type": "write", "output": output, "content": int(element.asRecord().getValue()[0])}
        if element.isWatermark():
            watermark = element.asWatermark()
            subpartition = getattr(watermark, "getSubpartitionIndex", None)
            only = {} if subpartition is None else {"subpartition": int(subpartition())}
            return {"type": "watermark", "output": output, "timestamp": str(watermark.getTimestamp()), **only}
        if element.isWatermarkStatus():
            idle = element.asWatermarkStatus().isIdle()
            return {"type": "status", "output": output, "status": "idle" if idle else "active"}
        kind = "latency_marker" if element.isLatencyMarker() else "record_attributes"
        return {"type": kind, "output": output}

    def read_event(self, event: Any, output: int, *, priority: bool) -> Json:
        if isinstance(event, self.barrier):
            unaligned = bool(event.getCheckpointOptions().isUnalignedCheckpoint())
            return {"type": "barrier", "output": output, "unaligned": unaligned, "priority": priority}
        return {"type": "end_of_data", "output": output}


@cache
def kit_of(jvm: Jvm) -> Kit:
    return Kit(jvm)


class Numbers:
    """Numbers of objects, in the order in which they were first seen."""

    def __init__(self, kit: Kit, first: Any) -> None:
        self.kit = kit
        self.known = [first]

    def of(self, thing: Any) -> int:
        number = int(self.kit.identity(thing))
        for index, one in enumerate(self.known):
            if int(self.kit.identity(one)) == number:
                return index
        self.known.append(thing)
        return len(self.known) - 1


class Receiver:
    """A chained operator, as an `Input` and a `KeyContextHandler`: it records elements, and may change them."""

    def __init__(self, rig: Any, index: int, *, keyed: bool, changes: str) -> None:
        self.rig, self.index, self.keyed, self.changes = rig, index, keyed, changes
        self.hops = 0

    def java(self) -> Any:
        interfaces = [f"{STREAMING}api.operators.Input", f"{STREAMING}api.operators.KeyContextHandler"]
        return self.rig.jvm.jpype.JProxy(interfaces, inst=self)

    def fail(self, hops: int) -> None:
        self.hops = hops

    def note(self, kind: str, **details: Any) -> None:
        self.rig.seen.append({"type": kind, "output": self.index, **details})

    def answer(self) -> None:
        """An operator several hops away fails, and each hop on the way here wraps its error."""
        if not self.hops:
            return
        jvm, kit = self.rig.jvm, self.rig.kit
        error = kit.state_error(f"{FAILURE}{self.index}")
        for _hop in range(self.hops - 1):
            error = jvm.new(CHAINED_ERROR, error)
        raise error

    def hasKeyContext(self) -> bool:  # noqa: N802 - Java's names
        return self.keyed

    def hasKeyContext1(self) -> bool:  # noqa: N802
        return self.keyed

    def hasKeyContext2(self) -> bool:  # noqa: N802
        return False

    def setKeyContextElement(self, _record: Any) -> None:  # noqa: N802
        self.note("key_context")

    def processElement(self, record: Any) -> None:  # noqa: N802
        value = record.getValue()
        content = int(value[0])
        numbers = self.rig.records.of(record), self.rig.values.of(value)
        self.note("process", record=numbers[0], value=numbers[1], content=content)
        self.answer()
        if self.changes == "value":
            value[0] = content + 1
        elif self.changes == "record":
            record.replace(self.rig.kit.int_array([content + 1]))

    def processWatermark(self, watermark: Any) -> None:  # noqa: N802
        self.note("watermark", timestamp=str(watermark.getTimestamp()))
        self.answer()

    def processWatermarkStatus(self, status: Any) -> None:  # noqa: N802
        self.note("status", status="idle" if status.isIdle() else "active")
        self.answer()

    def processLatencyMarker(self, _marker: Any) -> None:  # noqa: N802
        self.note("latency_marker")
        self.answer()

    def processRecordAttributes(self, _attributes: Any) -> None:  # noqa: N802
        self.note("record_attributes")
        self.answer()


class KnownConsumers:
    """A partition of one subpartition, which on demand fails before it takes anything."""

    def __init__(self, rig: Any, index: int) -> None:
        self.rig, self.index = rig, index
        self.failing = False

    def java(self) -> Any:
        return self.rig.jvm.jpype.JProxy(WRITER, inst=self)

    def use(self, writer: Any) -> None:
        """The writer finds this partition only by calling it."""

    def fail(self, hops: int) -> None:
        self.failing = bool(hops)

    def broadcast(self, output: Any, event: Any, *, priority: bool) -> None:
        output.broadcastEvent(event, priority)

    def take(self, observation: Json) -> None:
        if self.failing:
            raise self.rig.kit.io_error(f"{FAILURE}{self.index}")
        self.rig.seen.append(observation)

    def take_element(self, data: Any) -> None:
        frame = self.rig.kit.byte_array(int(data.remaining()))
        data.get(data.position(), frame)
        self.take(self.rig.kit.read_element(bytes(frame)[4:], self.index))

    def getNumberOfSubpartitions(self) -> int:  # noqa: N802 - Java's names
        return 1

    def isFinished(self) -> bool:  # noqa: N802
        return False

    def setMaxOverdraftBuffersPerGate(self, _count: int) -> None:  # noqa: N802
        """No pool."""

    def flush(self, _subpartition: int) -> None:
        """Nothing is held back."""

    def flushAll(self) -> None:  # noqa: N802
        """Nothing is held back."""

    def emitRecord(self, data: Any, _subpartition: int) -> None:  # noqa: N802
        self.take_element(data)

    def broadcastRecord(self, data: Any) -> None:  # noqa: N802
        self.take_element(data)

    def broadcastEvent(self, event: Any, priority: bool) -> None:  # noqa: N802, FBT001
        self.take(self.rig.kit.read_event(event, self.index, priority=bool(priority)))


def failure_of(error: Any) -> Json | None:
    """An error of the adapter as an operator sees it; None for any other error."""
    names, index = [], ""
    while error is not None:
        names.append(str(error.getClass().getSimpleName()))
        message = str(error.getMessage())
        index = message.removeprefix(FAILURE) if message.startswith(FAILURE) else index
        error = error.getCause()
    if not index.isdigit():
        return None
    chained, io = names.count("ExceptionInChainedOperatorException"), names.count("UncheckedIOException")
    return {"type": "failed", "output": int(index), "error": "chained" if chained else "io", "wrapped": chained or io}
