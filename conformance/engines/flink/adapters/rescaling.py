"""Rescaling with data in flight: `StateAssignmentOperation` on two vertices, and its assignments to their subtasks.

The vertices of the execution graph are made without their constructors, which would need a scheduler: the operation
reads only their numbers of subtasks, their operators, and each other.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.partitioner import CLASSES, PARTITIONERS
from tidegate.conformance.engines.flink.jvm import Jvm

_CHECKPOINT = "org.apache.flink.runtime.checkpoint."
_OPERATION = _CHECKPOINT + "StateAssignmentOperation"
_STATE = "org.apache.flink.runtime.state."
_GRAPH = "org.apache.flink.runtime.executiongraph."
_JOB = "org.apache.flink.runtime.jobgraph."
_MOST = 128
_GROUPS = 32768
_ALL = {**CLASSES, "custom": "CustomPartitionerWrapper"}


def declare(jvm: Jvm) -> wire.Json | None:
    """As in 2.3: earlier releases have no data in flight per exchange."""
    is_there = jvm.has(_OPERATION, "buildStateAssignments") and jvm.has(
        _CHECKPOINT + "TaskStateAssignment", "hasInFlightDataForInputGate"
    )
    return {} if is_there else None


def get_pair(config: wire.Json, key: str) -> tuple[int, int]:
    value = config.get(key)
    if not isinstance(value, dict):
        raise wire.BadRequestError(f"{key} must be an object")
    pair = wire.get_at_least(value, "before", 1), wire.get_at_least(value, "after", 1)
    if max(pair) > _MOST:
        raise wire.BadRequestError(f"{key}: at most {_MOST}")
    return pair


class Rescaling:
    def __init__(self, jvm: Jvm, config: wire.Json) -> None:
        self._jvm = jvm
        self._kind = wire.get_choice(config, "partitioner", tuple(_ALL))
        self._producers, self._consumers = get_pair(config, "producers"), get_pair(config, "consumers")
        self._partitioner = self._make_partitioner()
        self._vertices = self._make_vertices()
        self._told: Any = None

    # --- input of Flink ---

    def _make_partitioner(self) -> Any:
        jvm = self._jvm
        partitioner = jvm.cls(PARTITIONERS + _ALL[self._kind])
        selector = jvm.implement("org.apache.flink.api.java.functions.KeySelector", {})
        if self._kind == "hash":
            return partitioner(selector, _GROUPS)
        if self._kind == "custom":
            return partitioner(jvm.implement("org.apache.flink.api.common.functions.Partitioner", {}), selector)
        return partitioner()

    def _make_vertices(self) -> tuple[Any, Any]:
        """A producer and a consumer, and the result between them."""
        jvm = self._jvm
        job = jvm.cls(_JOB + "JobVertex")
        upper, lower = job("producer"), job("consumer")
        edge = jvm.call(
            lower,
            "connectNewDataSetAsInput",
            upper,
            jvm.cls(_JOB + "DistributionPattern").ALL_TO_ALL,
            jvm.cls("org.apache.flink.runtime.io.network.partition.ResultPartitionType").PIPELINED_BOUNDED,
            jvm.cls(_JOB + "IntermediateDataSetID")(),
            jvm.boolean(False),
            jvm.boolean(False),
        )
        edge.setUpstreamSubtaskStateMapper(self._partitioner.getUpstreamSubtaskStateMapper())
        edge.setDownstreamSubtaskStateMapper(self._partitioner.getDownstreamSubtaskStateMapper())
        producer, consumer = self._make_vertex(upper, self._producers[1]), self._make_vertex(lower, self._consumers[1])
        result = jvm.bare(_GRAPH + "IntermediateResult")
        jvm.set_field(result, "id", edge.getSource().getId())
        jvm.set_field(result, "producer", producer)
        results = jvm.jpype.JArray(jvm.cls(_GRAPH + "IntermediateResult"))
        arrays = jvm.cls("java.util.Arrays")
        jvm.set_field(producer, "producedDataSets", results([result]))
        jvm.set_field(producer, "inputs", arrays.asList(results([])))
        jvm.set_field(consumer, "producedDataSets", results([]))
        jvm.set_field(consumer, "inputs", arrays.asList(results([result])))
        return producer, consumer

    def _make_vertex(self, vertex: Any, parallelism: int) -> Any:
        jvm = self._jvm
        numbers = {
            "getParallelism": lambda: parallelism,
            "getMaxParallelism": lambda: _GROUPS,
            "canRescaleMaxParallelism": lambda _wanted: False,
        }
        made = jvm.bare(_GRAPH + "ExecutionJobVertex")
        jvm.set_field(made, "jobVertex", vertex)
        jvm.set_field(
            made,
            "parallelismInfo",
            jvm.implement("org.apache.flink.runtime.scheduler.VertexParallelismInformation", numbers),
        )
        jvm.set_field(made, "taskVertices", jvm.jpype.JArray(jvm.cls(_GRAPH + "ExecutionVertex"))([]))
        return made

    def _assign(self, side: str, producer: int, consumer: int) -> dict[str, Any]:
        """With data saved there: the assignments of both vertices."""
        jvm = self._jvm
        states = jvm.cls("java.util.HashMap")()
        saved = {"output": producer, "input": consumer}
        for vertex, before, own in zip(
            self._vertices, (self._producers[0], self._consumers[0]), ("output", "input"), strict=True
        ):
            operator = vertex.getOperatorIDs().get(0).getGeneratedOperatorID()
            state = jvm.new(
                _CHECKPOINT + "OperatorState", None, None, operator, jvm.integer(before), jvm.integer(_GROUPS)
            )
            if own == side:
                state.putState(saved[own], self._make_state(side, producer, consumer))
            states.put(operator, state)
        tasks = jvm.cls("java.util.LinkedHashSet")(jvm.cls("java.util.Arrays").asList(self._vertices))
        operation = jvm.cls(_OPERATION)(jvm.jpype.JLong(1), tasks, states, False, False)
        jvm.call(operation, "buildStateAssignments")
        jvm.call(operation, "repartitionState")
        assignments = jvm.field(operation, "vertexAssignments")
        names = ("producer", "consumer")
        return {name: assignments.get(vertex) for name, vertex in zip(names, self._vertices, strict=True)}

    def _make_state(self, side: str, producer: int, consumer: int) -> Any:
        jvm = self._jvm
        content = jvm.cls(_STATE + "memory.ByteStreamStateHandle")("saved", jvm.jpype.JArray(jvm.jpype.JByte)([1]))
        offsets = jvm.cls("java.util.Collections").singletonList(jvm.cls("java.lang.Long").valueOf(jvm.jpype.JLong(0)))
        channels = _CHECKPOINT + "channel."
        is_input = side == "input"
        info = jvm.cls(channels + ("InputChannelInfo" if is_input else "ResultSubpartitionInfo"))
        handle = jvm.cls(_STATE + ("InputChannelStateHandle" if is_input else "ResultSubpartitionStateHandle"))
        mine, other = (consumer, producer) if is_input else (producer, consumer)
        kept = handle(mine, info(0, other), content, offsets, jvm.jpype.JLong(1))
        collection = jvm.cls(_CHECKPOINT + "StateObjectCollection").singleton(kept)
        builder = jvm.cls(_CHECKPOINT + "OperatorSubtaskState").builder()
        put = builder.setInputChannelState if is_input else builder.setResultSubpartitionState
        return put(collection).build()

    # --- events ---

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        try:
            if kind == "saved":
                return self._find_heirs(event)
            if kind in ("producer", "consumer"):
                return self._ask(kind, wire.get_integer(event, "subtask"))
        except self._jvm.cls("java.lang.UnsupportedOperationException"):
            return wire.rejected()
        raise wire.unknown_type(event)

    def _ask(self, kind: str, subtask: int) -> wire.Observations:
        (own, others) = (self._producers, self._consumers) if kind == "producer" else (self._consumers, self._producers)
        if not 0 <= subtask < own[1]:
            return wire.rejected()
        if self._told is None:
            self._told = self._assign("input", 0, 0)
        descriptor = self._describe(self._told[kind], kind, subtask)
        if type(descriptor).class_.getSimpleName() == "NoRescalingDescriptor":
            return [{"type": "unchanged"}]
        one = self._jvm.field(descriptor, "gateOrPartitionDescriptors")[0]
        mapping = one.getRescaleMappings()
        return [
            {
                "type": "restores",
                "subtasks": [int(old) for old in one.getOldSubtaskInstances()],
                "channels": [[int(old) for old in mapping.getMappedIndexes(new)] for new in range(others[1])],
                "filtered": sorted(int(old) for old in self._jvm.field(one, "ambiguousSubtaskIndexes")),
            }
        ]

    def _describe(self, assignment: Any, kind: str, subtask: int) -> Any:
        jvm = self._jvm
        operator = jvm.field(assignment, "outputOperatorID")
        instance = jvm.cls(_JOB + "OperatorInstanceID")(subtask, operator)
        state = jvm.call(assignment, "getSubtaskState", instance)
        return state.getOutputRescalingDescriptor() if kind == "producer" else state.getInputRescalingDescriptor()

    def _find_heirs(self, event: wire.Json) -> wire.Observations:
        side = wire.get_choice(event, "side", ("output", "input"))
        producer, consumer = wire.get_integer(event, "producer"), wire.get_integer(event, "consumer")
        is_known = 0 <= producer < self._producers[0] and 0 <= consumer < self._consumers[0]
        is_idle = self._kind == "global" and consumer > 0
        is_aligned = self._partitioner.isPointwise() or self._partitioner.isBroadcast()
        if not is_known or is_idle or is_aligned:
            return wire.rejected()
        kind, old = ("consumer", producer) if side == "input" else ("producer", consumer)
        assignment = self._assign(side, producer, consumer)[kind]
        name = "inputChannelStates" if side == "input" else "resultSubpartitionStates"
        pairs = []
        for entry in self._jvm.field(assignment, name).entrySet():
            if not entry.getValue().isEmpty():
                heir = int(entry.getKey().getSubtaskId())
                mapping = self._describe(assignment, kind, heir).getChannelMapping(0)
                others = [int(one) for one in mapping.invert().getMappedIndexes(old)]
                pairs += [(one, heir) if side == "input" else (heir, one) for one in others]
        return [{"type": "goes", "producer": one, "consumer": other} for one, other in sorted(pairs)]


def make(jvm: Jvm, config: wire.Json) -> Rescaling:
    return Rescaling(jvm, config)
