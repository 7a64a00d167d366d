"""Observed operators of a chain: they record each call of Flink, and fail on demand."""

from typing import Any

OPERATORS = "org.apache.flink.streaming.api.operators."
#: Prefix of the message of every error that the adapter makes; the number of the operator follows.
FAILURE = "operator "


class Operator:
    """An operator, its timer service, and its keyed state: three parties that a chain calls.

    The head ends its inputs one by one, so it is a `BoundedMultiInput`; the others have one input.
    """

    def __init__(self, chain: Any, index: int, *, lingers: bool) -> None:
        self.chain, self.index, self.lingers = chain, index, lingers
        self.jvm = chain.jvm
        bounded = "BoundedMultiInput" if index == 0 else "BoundedOneInput"
        interfaces = [f"{OPERATORS}OneInputStreamOperator", OPERATORS + bounded]
        self.operator = self.jvm.jpype.JProxy(interfaces, inst=self)
        self.id = self.jvm.cls("org.apache.flink.runtime.jobgraph.OperatorID")()

    def note(self, call: str, **details: Any) -> None:
        self.chain.seen.append({"type": "call", "operator": self.index, "call": call, **details})
        if (self.index, call) in self.chain.faults:
            raise self.jvm.cls("java.lang.RuntimeException")(f"{FAILURE}{self.index}")

    def getMetricGroup(self) -> Any:  # noqa: N802 - Java's names
        groups = self.jvm.cls("org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups")
        return groups.createUnregisteredOperatorMetricGroup()

    def getOperatorID(self) -> Any:  # noqa: N802
        return self.id

    def initializeState(self, _initializer: Any) -> None:  # noqa: N802
        self.note("init")

    def open(self) -> None:
        self.note("open")

    def endInput(self, *number: Any) -> None:  # noqa: N802
        """Flink counts the inputs of an operator with several from 1."""
        self.note("end_input", input=int(number[0]) - 1 if number else 0)

    def finish(self) -> None:
        self.note("finish")
        if self.lingers:
            self.chain.put_mail(self.index)

    def prepareSnapshotPreBarrier(self, _checkpoint: Any) -> None:  # noqa: N802
        self.note("prepare")

    def snapshotState(self, *_arguments: Any) -> Any:  # noqa: N802
        self.note("snapshot")
        return self.jvm.cls(f"{OPERATORS}OperatorSnapshotFutures")()

    def notifyCheckpointComplete(self, _checkpoint: Any) -> None:  # noqa: N802
        self.note("complete")

    def notifyCheckpointAborted(self, _checkpoint: Any) -> None:  # noqa: N802
        self.note("abort")

    def close(self) -> None:
        self.note("close")

    # The timer service

    def timers(self) -> Any:
        service = "org.apache.flink.streaming.runtime.tasks.ProcessingTimeService"
        return self.jvm.jpype.JProxy(service, dict={"quiesce": self.quiesce})

    def quiesce(self) -> Any:
        self.note("quiesce")
        return self.jvm.cls("java.util.concurrent.CompletableFuture").completedFuture(None)

    # The keyed state, the only party that hears of subsumed checkpoints

    def stateful(self) -> Any:
        """A real operator with the keyed state of this one: Flink looks for it in no other kind of operator."""
        backend = self.jvm.jpype.JProxy(
            [
                "org.apache.flink.runtime.state.CheckpointableKeyedStateBackend",
                "org.apache.flink.api.common.state.InternalCheckpointListener",
            ],
            dict={"notifyCheckpointSubsumed": lambda _checkpoint: self.note("subsume")},
        )
        function = self.jvm.jpype.JProxy("org.apache.flink.api.common.functions.MapFunction", dict={})
        operator = self.jvm.cls(f"{OPERATORS}StreamMap")(function)
        self.jvm.set_field(operator, "stateHandler", self.make_state_handler(backend))
        return operator

    def make_state_handler(self, backend: Any) -> Any:
        names = {
            str(one.getName()) for one in self.jvm.cls(f"{OPERATORS}StreamOperatorStateContext").class_.getMethods()
        }
        handlers: dict[str, Any] = {name: lambda *_arguments: None for name in names}
        context = self.jvm.jpype.JProxy(f"{OPERATORS}StreamOperatorStateContext", dict=handlers)
        registry = self.jvm.cls("org.apache.flink.core.fs.CloseableRegistry")()
        config = self.jvm.cls("org.apache.flink.api.common.ExecutionConfig")()
        handler = self.jvm.cls(f"{OPERATORS}StreamOperatorStateHandler")(context, config, registry)
        self.jvm.set_field(handler, "keyedStateBackend", backend)
        return handler


def failure_of(error: Any) -> tuple[int, list[int]] | None:
    """The operator behind an error, and those whose errors are attached to it."""
    while error is not None:
        index = operator_in(error)
        if index is not None:
            attached = [operator_in(one) for one in error.getSuppressed()]
            return index, [one for one in attached if one is not None]
        error = error.getCause()
    return None


def operator_in(error: Any) -> int | None:
    message = str(error.getMessage())
    number = message.removeprefix(FAILURE)
    return int(number) if message != number and number.isdigit() else None
