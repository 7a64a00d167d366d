"""Several inputs of one task: `StreamMultipleInputProcessor` over network inputs.

`MultipleInputStreamTask` decides whether a call may go on after an element, whatever the event says. A selecting
operator answers with the last selection that it got.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import network_input
from tidegate.conformance.engines.flink.adapters.network_input import STREAMING, Batch, Input, Operator
from tidegate.conformance.engines.flink.jvm import Jvm

PROCESSOR = f"{STREAMING}io.StreamMultipleInputProcessor"
SELECTION = f"{STREAMING}io.MultipleInputSelectionHandler"
MOST_INPUTS = 63
TASK = f"{STREAMING}tasks.MultipleInputStreamTask"
SELECTABLE = "org.apache.flink.streaming.api.operators.InputSelectable"


def declare(jvm: Jvm) -> wire.Json | None:
    known = network_input.declare(jvm) is not None and jvm.has(PROCESSOR) and jvm.has(SELECTION)
    return {"extensions": ["selection"]} if known else None


def make(jvm: Jvm, config: wire.Json) -> "MultipleInputs":
    selects = wire.get_extension(config, ("selection",)) is not None
    channels = wire.get_counts(config, "inputs", 2)
    if len(channels) > MOST_INPUTS:
        raise wire.BadRequestError(f"at most {MOST_INPUTS} inputs, not {len(channels)}")
    return MultipleInputs(jvm, channels, selects=selects)


class MultipleInputs:
    def __init__(self, jvm: Jvm, channels: list[int], *, selects: bool) -> None:
        self.jvm, self.operator, self.batch = jvm, Operator(), Batch()
        if jvm.has(TASK, "getCanEmitBatchOfRecords"):
            self.batch.goes_on = bool(jvm.bare(TASK).getCanEmitBatchOfRecords().check())
        self.selects, self.selection = selects, list(range(len(channels)))
        selectable = jvm.implement(SELECTABLE, {"nextSelection": self.next_selection}) if selects else None
        self.inputs = [Input(jvm, count, self.operator, self.batch) for count in channels]
        processors = [self.watched(index, one) for index, one in enumerate(self.inputs)]
        array = jvm.jpype.JArray(jvm.cls(f"{STREAMING}io.StreamOneInputProcessor"))(processors)
        self.processor = jvm.cls(PROCESSOR)(jvm.new(SELECTION, selectable, jvm.integer(len(channels))), array)

    def next_selection(self) -> Any:
        selected = self.jvm.cls("org.apache.flink.streaming.api.operators.InputSelection$Builder")()
        for index in self.selection:
            selected.select(index + 1)
        return selected.build()

    def watched(self, index: int, one: Input) -> Any:
        """The processor of an input, which records requests for an element."""
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
        if kind == "select" and self.selects:
            selection = wire.get_integers(event, "inputs")
            if not all(0 <= index < len(self.inputs) for index in selection):
                return wire.rejected()
            self.selection = selection
            return []
        if kind != "process":
            raise wire.unknown_type(event)
        wire.get_boolean(event, "batch")
        self.operator.seen = []
        try:
            status = str(self.processor.processInput().name()).lower()
        except self.jvm.cls("java.io.IOException") as failure:
            if "Can not make a progress" not in str(failure.getMessage()):
                raise
            return [*self.operator.seen, {"type": "no_progress"}]
        returned = {"type": "returned", "status": status, "available": bool(self.processor.isAvailable())}
        return [*self.operator.seen, returned]

    def close(self) -> None:
        for one in self.inputs:
            one.close()
