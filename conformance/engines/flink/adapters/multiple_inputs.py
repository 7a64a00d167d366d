"""Several inputs of one task: `StreamMultipleInputProcessor` over network inputs, for an operator that selects all."""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import network_input
from tidegate.conformance.engines.flink.adapters.network_input import STREAMING, Batch, Input, Operator
from tidegate.conformance.engines.flink.jvm import Jvm

PROCESSOR = f"{STREAMING}io.StreamMultipleInputProcessor"
SELECTION = f"{STREAMING}io.MultipleInputSelectionHandler"


def declare(jvm: Jvm) -> wire.Json | None:
    known = network_input.declare(jvm) is not None and jvm.has(PROCESSOR) and jvm.has(SELECTION)
    return {} if known else None


def make(jvm: Jvm, config: wire.Json) -> "MultipleInputs":
    return MultipleInputs(jvm, wire.get_counts(config, "inputs", 2))


class MultipleInputs:
    def __init__(self, jvm: Jvm, channels: list[int]) -> None:
        self.jvm, self.operator, self.batch = jvm, Operator(), Batch()
        self.inputs = [Input(jvm, count, self.operator, self.batch) for count in channels]
        processors = [self.watched(index, one) for index, one in enumerate(self.inputs)]
        array = jvm.jpype.JArray(jvm.cls(f"{STREAMING}io.StreamOneInputProcessor"))(processors)
        self.processor = jvm.cls(PROCESSOR)(jvm.new(SELECTION, None, jvm.integer(len(channels))), array)

    def watched(self, index: int, one: Input) -> Any:
        """The processor of an input, which notes when it is asked for an element."""
        real, interface = one.input, f"{STREAMING}io.StreamTaskInput"

        def emit_next(output: Any) -> Any:
            if not any(seen["type"] == "reads" for seen in self.operator.seen):
                self.operator.note("reads", input=index)
            return real.emitNext(output)

        names = {str(method.getName()) for method in self.jvm.cls(interface).class_.getMethods()}
        handlers = {name: getattr(real, name) for name in names if hasattr(real, name)} | {"emitNext": emit_next}
        self.jvm.set_field(one.processor, "input", self.jvm.jpype.JProxy(interface, dict=handlers))
        return one.processor

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind in ("buffer", "event"):
            index = wire.get_integer(event, "input")
            known = 0 <= index < len(self.inputs)
            return [] if known and self.inputs[index].arrive(event) else wire.rejected()
        if kind != "process":
            raise wire.unknown_type(event)
        self.batch.goes_on = wire.get_boolean(event, "batch")
        self.operator.seen = []
        status = str(self.processor.processInput().name()).lower()
        returned = {"type": "returned", "status": status, "available": bool(self.processor.isAvailable())}
        return [*self.operator.seen, returned]

    def close(self) -> None:
        for one in self.inputs:
            one.close()
