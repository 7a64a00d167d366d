"""The life cycle of a chain: `RegularOperatorChain` and its `StreamOperatorWrapper`s over a real mailbox.

The adapter is the task: it requests each phase once, ends only open inputs, and on a failed chain calls only what
ends it. It makes the chain with the constructor that takes its operators in the order of their
creation. So that order is the adapter's own, and `create` is the only event that no class of Flink answers.

If all operators had finished before the restore, it is a `FinishedOperatorChain` with its `FinishedOnRestoreInput`,
which counts watermarks without checking their input: the adapter ensures that an input says once that event time is
over, and nothing after its end. Chained sources and heads without inputs end with
`advanceToEndOfEventTime` of the real tasks.
"""

from functools import cache
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import output_parts
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK
from tidegate.conformance.engines.flink.adapters.chain_parts import OPERATORS, Operator, failure_of
from tidegate.conformance.engines.flink.jvm import Jvm

TASKS = "org.apache.flink.streaming.runtime.tasks."
WRAPPER = f"{TASKS}StreamOperatorWrapper"
SEMANTICS = "flink-2.3"
EXTENSIONS = ("finished",)
PAST = f"{TASKS}FinishedOperatorChain"
KINDS = {
    "record": ("processElement", "org.apache.flink.streaming.runtime.streamrecord.StreamRecord"),
    "status": ("processWatermarkStatus", "org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus"),
    "latency_marker": ("processLatencyMarker", "org.apache.flink.streaming.runtime.streamrecord.LatencyMarker"),
}
FALLIBLE = (
    "init", "open", "end_input", "finish", "prepare", "snapshot", "complete", "abort", "subsume", "close", "dispose",
)  # fmt: skip
STEPS = ("prepare", "snapshot", "complete", "abort", "subsume")


def declare(jvm: Jvm) -> wire.Json | None:
    """The order is that of 1.14 and later; subsumed checkpoints reach chains a little later."""
    known = jvm.has(f"{TASKS}RegularOperatorChain", "notifyCheckpointSubsumed") and jvm.has(f"{NETWORK}api.StopMode")
    if not known or not jvm.has(WRAPPER, "notifyCheckpointSubsumed"):
        return None
    newer = {"extensions": list(EXTENSIONS)} if jvm.has(PAST) and jvm.has(KINDS["status"][1]) else {}
    return {"semantics": [SEMANTICS], **newer}


def make(jvm: Jvm, config: wire.Json) -> "Chain":
    wire.get_semantics(config, (SEMANTICS,))
    operators = config.get("operators")
    if not isinstance(operators, list) or not operators:
        raise wire.BadRequestError("operators must be a list, the head first")
    for index, operator in enumerate(operators[1:], start=1):
        if not 0 <= wire.get_integer(operator, "parent") < index:
            raise wire.BadRequestError(f"the parent of operator {index} must be one before it")
    kind = Chain if wire.get_extension(config, EXTENSIONS) is None else Finished
    return kind(jvm, operators, wire.get_at_least(config, "sources", 0), wire.get_at_least(config, "inputs", 0))


@cache
def last_output(jvm: Jvm) -> Any:
    """The output of the operators is ignored here."""
    groups = jvm.cls("org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups")
    nobody = jvm.jpype.JProxy(f"{OPERATORS}Input", dict={})
    return jvm.new(f"{TASKS}ChainingOutput", nobody, None, groups.createUnregisteredOperatorMetricGroup(), None)


class Chain:
    def __init__(self, jvm: Jvm, operators: list[wire.Json], sources: int, inputs: int) -> None:
        self.jvm, self.parents, self.inputs = jvm, [one.get("parent") for one in operators], inputs
        self.seen: wire.Observations = []
        self.faults: set[tuple[int, str]] = set()
        lingering = [wire.get_boolean(one, "lingers") for one in operators] + [False] * sources
        self.operators = [Operator(self, index, lingers=lingers) for index, lingers in enumerate(lingering)]
        self.mailbox = jvm.cls(f"{TASKS}mailbox.TaskMailboxImpl")()
        self.executors = [self.make_executor(index) for index in range(len(self.operators))]
        self.chain: Any = None
        self.opened = self.finished = self.failed = False
        self.ended: set[int] = set()
        self.handlers = {
            "fault": self.on_fault,
            "create": self.on_create,
            "open": self.on_open,
            "end_input": self.on_end_input,
            "mail": self.on_mail,
            "finish": self.on_finish,
            "checkpoint": self.on_checkpoint,
            "close": self.on_close,
        }

    @property
    def immediately(self) -> Any:
        return self.jvm.cls(f"{TASKS}StreamTaskActionExecutor").IMMEDIATE

    @property
    def is_running(self) -> bool:
        return self.opened and not self.finished and not self.failed and not self.chain.isClosed()

    def make_executor(self, index: int) -> Any:
        """Deeper in the chain means a higher priority; chained sources are above the head."""
        depth, above = 0, index if index < len(self.parents) else None
        while above is not None:
            depth, above = depth + 1, self.parents[above]
        return self.jvm.cls(f"{TASKS}mailbox.MailboxExecutorImpl")(self.mailbox, depth, self.immediately)

    def creation_order(self) -> list[int]:
        """An operator is created after the operators that receive from it, subtree by subtree."""

        def subtree(root: int) -> list[int]:
            children = [index for index, parent in enumerate(self.parents) if parent == root]
            return [index for child in children for index in subtree(child)] + [root]

        return subtree(0) + list(range(len(self.parents), len(self.operators)))

    def step(self, event: wire.Json) -> wire.Observations:
        handler = self.handlers.get(event.get("type", ""))
        if handler is None:
            raise wire.unknown_type(event)
        self.seen = []
        return self.seen if handler(event) else wire.rejected()

    def attempt(self, call: Any, *arguments: Any) -> bool:
        """Call the chain; an error of an operator shows that it failed."""
        try:
            call(*arguments)
        except self.jvm.JavaError as error:
            failure = failure_of(error)
            if failure is None:
                raise
            self.seen.append({"type": "failed", "operator": failure[0], "suppressed": failure[1]})
            return False
        return True

    # Events: each returns whether it was accepted

    def on_fault(self, event: wire.Json) -> bool:
        index, call = wire.get_integer(event, "operator"), wire.get_choice(event, "call", FALLIBLE)
        change = self.faults.add if wire.get_boolean(event, "failing") else self.faults.discard
        if not 0 <= index < len(self.operators):
            return False
        change((index, call))
        return True

    def on_create(self, _event: wire.Json) -> bool:
        if self.chain is not None:
            return False
        optional, boolean = self.jvm.cls("java.util.Optional"), self.jvm.cls("java.lang.Boolean")
        wrappers: dict[int, Any] = {}
        for index in self.creation_order():
            one = self.operators[index]
            is_head = boolean(index == 0 or index >= len(self.parents))
            timers, executor = optional.of(one.timers()), self.executors[index]
            wrappers[index] = self.jvm.new(WRAPPER, one.operator, timers, executor, is_head)
            self.seen.append({"type": "call", "operator": index, "call": "create"})
        self.wrappers = wrappers
        self.chain = self.make_chain()
        return True

    def make_chain(self) -> Any:
        listed = self.jvm.cls("java.util.ArrayList")(list(self.wrappers.values()))
        none = self.jvm.jpype.JArray(self.jvm.cls("org.apache.flink.streaming.runtime.io.RecordWriterOutput"))(0)
        return self.jvm.new(f"{TASKS}RegularOperatorChain", listed, none, last_output(self.jvm), self.wrappers[0])

    def on_open(self, _event: wire.Json) -> bool:
        if self.chain is None or self.opened or self.failed or self.chain.isClosed():
            return False
        self.opened = self.attempt(self.chain.initializeStateAndOpenOperators, None)
        self.failed = not self.opened
        return True

    def on_end_input(self, event: wire.Json) -> bool:
        index = wire.get_integer(event, "input")
        if not self.is_running or index in self.ended or not 0 <= index < self.inputs:
            return False
        self.ended.add(index)
        self.failed = not self.attempt(self.chain.endInput, index + 1)
        return True

    def on_mail(self, event: wire.Json) -> bool:
        index = wire.get_integer(event, "operator")
        if not self.is_running or not 0 <= index < len(self.operators):
            return False
        self.put_mail(index)
        return True

    def put_mail(self, index: int) -> None:
        command = self.jvm.jpype.JProxy(
            "org.apache.flink.util.function.ThrowingRunnable", dict={"run": lambda: self.operators[index].note("mail")}
        )
        self.executors[index].execute(command, "mail")

    def on_finish(self, event: wire.Json) -> bool:
        drain = wire.get_boolean(event, "drain")
        if not self.is_running or (drain and len(self.ended) < self.inputs):
            return False
        modes = self.jvm.cls(f"{NETWORK}api.StopMode")
        mode = modes.DRAIN if drain else modes.NO_DRAIN
        self.finished = self.attempt(self.chain.finishOperators, self.immediately, mode)
        self.failed = not self.finished
        return True

    def on_checkpoint(self, event: wire.Json) -> bool:
        step = wire.get_choice(event, "step", STEPS)
        if not self.opened:
            return False
        calls = {
            "prepare": lambda: self.chain.prepareSnapshotPreBarrier(1),
            "snapshot": self.snapshot,
            "complete": lambda: self.chain.notifyCheckpointComplete(1),
            "abort": lambda: self.chain.notifyCheckpointAborted(1),
            "subsume": self.subsume,
        }
        self.attempt(calls[step])
        return True

    def snapshot(self) -> None:
        jvm, checkpoint = self.jvm, "org.apache.flink.runtime.checkpoint."
        running = jvm.jpype.JProxy(
            "java.util.function.Supplier", dict={"get": lambda: jvm.cls("java.lang.Boolean").TRUE}
        )
        self.chain.snapshotState(
            jvm.cls("java.util.HashMap")(),
            jvm.cls(f"{checkpoint}CheckpointMetaData")(1, 1),
            jvm.cls(f"{checkpoint}CheckpointOptions").forCheckpointWithDefaultLocation(),
            running,
            jvm.cls(f"{checkpoint}channel.ChannelStateWriter$ChannelStateWriteResult").EMPTY,
            None,
        )

    def subsume(self) -> None:
        """For this call the wrappers hold operators with keyed state; only these receive it."""
        for index, wrapper in self.wrappers.items():
            self.jvm.set_field(wrapper, "wrapped", self.operators[index].stateful())
        try:
            self.chain.notifyCheckpointSubsumed(1)
        finally:
            for index, wrapper in self.wrappers.items():
                self.jvm.set_field(wrapper, "wrapped", self.operators[index].operator)

    def on_close(self, _event: wire.Json) -> bool:
        if self.chain is None:
            return False
        if not self.chain.isClosed():
            self.attempt(self.chain.closeAllOperators)
        return True


class Behind(output_parts.KnownConsumers):
    """The one output of a finished chain: it shows only watermarks."""

    def take(self, observation: wire.Json) -> None:
        self.rig.seen.append({"type": observation["type"], "timestamp": observation["timestamp"]})


class Finished(Chain):
    """A chain whose operators had finished before the restore."""

    def __init__(self, jvm: Jvm, operators: list[wire.Json], sources: int, inputs: int) -> None:
        super().__init__(jvm, operators, sources, inputs)
        self.kit, self.own_inputs = output_parts.kit_of(jvm), inputs - sources
        self.over: set[int] = set()
        self.handlers |= {"watermark": self.on_watermark, "element": self.on_element, "mail": lambda _event: False}

    def make_chain(self) -> Any:
        jvm, regular = self.jvm, super().make_chain()
        chain = jvm.bare(PAST)
        for name in ("mainOperatorWrapper", "firstOperatorWrapper", "tailOperatorWrapper", "numOperators"):
            jvm.set_field(chain, name, jvm.field(regular, name))
        builder = jvm.cls(f"{NETWORK}api.writer.RecordWriterBuilder")()
        builder.setChannelSelector(jvm.cls(f"{output_parts.STREAMING}runtime.partitioner.GlobalPartitioner")())
        output = jvm.cls(f"{output_parts.STREAMING}runtime.io.RecordWriterOutput")
        writer = builder.setTimeout(0).build(Behind(self, 0).java())
        outputs = jvm.jpype.JArray(output)([output(writer, self.kit.values, None, False)])
        self.input = jvm.cls(f"{TASKS}FinishedOnRestoreInput")(outputs, self.inputs)
        jvm.set_field(chain, "streamOutputs", outputs)
        jvm.set_field(chain, "finishedOnRestoreInput", self.input)
        jvm.set_field(chain, "chainedSources", self.make_sources())
        return chain

    def make_sources(self) -> Any:
        """Under arbitrary keys: nothing looks a source up."""
        groups = self.jvm.cls("org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups")
        sources = self.jvm.cls("java.util.LinkedHashMap")()
        for _source in range(self.inputs - self.own_inputs):
            group = groups.createUnregisteredOperatorMetricGroup()
            output = self.jvm.new(f"{TASKS}ChainingOutput", self.input, None, group, None)
            source = self.jvm.cls(f"{TASKS}OperatorChain$ChainedSource")(output, None)
            sources.put(self.jvm.cls("java.lang.Object")(), source)
        return sources

    def has_input(self, index: int) -> bool:
        return self.is_running and 0 <= index < self.own_inputs and index not in self.ended

    def take(self, call: Any, *arguments: Any) -> bool:
        try:
            call(*arguments)
        except self.kit.state_error:
            return False
        return True

    def on_watermark(self, event: wire.Json) -> bool:
        index, timestamp = wire.get_integer(event, "input"), wire.get_long(event, "timestamp")
        if not self.has_input(index) or index in self.over:
            return False
        mark = self.jvm.cls(f"{output_parts.STREAMING}api.watermark.Watermark")(timestamp)
        if not self.take(self.input.processWatermark, mark):
            return False
        self.over.add(index)
        return True

    def on_element(self, event: wire.Json) -> bool:
        index, kind = wire.get_integer(event, "input"), wire.get_choice(event, "kind", tuple(KINDS))
        method, element = KINDS[kind]
        return self.has_input(index) and self.take(getattr(self.input, method), self.jvm.bare(element))

    def on_finish(self, event: wire.Json) -> bool:
        """As `StreamTask.endData` does."""
        drain = wire.get_boolean(event, "drain")
        if self.is_running and drain and len(self.ended) == self.inputs:
            kind = "MultipleInputStreamTask" if self.inputs > self.own_inputs else "OneInputStreamTask"
            task = self.jvm.bare(TASKS + (kind if self.inputs else "SourceStreamTask"))
            self.jvm.set_field(task, "operatorChain", self.chain)
            self.jvm.call(task, "advanceToEndOfEventTime")
        return super().on_finish(event)

    def snapshot(self) -> None:
        """The futures of the channel state are still open, which identifies them in the snapshot."""
        jvm, checkpoint = self.jvm, "org.apache.flink.runtime.checkpoint."
        future, parts = jvm.cls("java.util.concurrent.CompletableFuture"), jvm.cls("java.util.LinkedHashMap")()
        self.chain.snapshotState(
            parts,
            jvm.cls(f"{checkpoint}CheckpointMetaData")(1, 1),
            jvm.cls(f"{checkpoint}CheckpointOptions").forCheckpointWithDefaultLocation(),
            None,
            jvm.new(f"{checkpoint}channel.ChannelStateWriter$ChannelStateWriteResult", future(), future()),
            None,
        )
        for operator, part in parts.items():
            (index,) = [one.index for one in self.operators if one.id.equals(operator)]
            sides = {"inputs": part.getInputChannelStateFuture(), "outputs": part.getResultSubpartitionStateFuture()}
            for side, saved in sides.items():
                if not saved.isDone():
                    self.seen.append({"type": "channel_state", "operator": index, "side": side})
