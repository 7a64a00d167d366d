"""Chaining: a `StreamGraph` built operator by operator, and the job vertices that Flink makes of it.

Choices
-------
Flink refuses to build a forward edge between operators of different parallelism. But a case asks whether it would
chain it, so every operator has parallelism 1 while the edges are made, and gets its own only afterwards.
Similarly, an empty name, which Flink 2 refuses, is a placeholder in the graph, and is removed from vertex names.
The functions in the operators are ready-made ones of Flink: a job graph holds them in serialized form, which is
more than a function of Python can do.
"""

from typing import Any

from tidegate.conformance.engines.flink.adapters.partitioner import CLASSES, PARTITIONERS
from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.graphs import Node, get_objects, read_graph
from tidegate.conformance.engines.wire import Json, Observations, get_boolean, unknown_type

_GRAPHS = "org.apache.flink.streaming.api.graph."
_OPERATORS = "org.apache.flink.streaming.api.operators."
_FUNCTIONS = "org.apache.flink.streaming.api.functions.source."
_MAX_PARALLELISM = "isChainingOfOperatorsWithDifferentMaxParallelismEnabled"
#: Stands for an empty name: a character that no text contains.
_NAMELESS = "\ufdd0"


def declare(jvm: Jvm) -> Json | None:
    """Since 1.18, chaining operators of different max parallelism is optional."""
    known = jvm.has(_GRAPHS + "StreamGraph", _MAX_PARALLELISM)
    return {} if known and jvm.has(_GRAPHS + "StreamingJobGraphGenerator", "createJobGraph") else None


class Chaining:
    def __init__(self, jvm: Jvm, config: Json) -> None:
        self._jvm = jvm
        options = jvm.cls("org.apache.flink.configuration.PipelineOptions")
        different = options.OPERATOR_CHAINING_CHAIN_OPERATORS_WITH_DIFFERENT_MAX_PARALLELISM
        self._config = jvm.cls("org.apache.flink.configuration.Configuration")()
        self._config.set(options.OPERATOR_CHAINING, jvm.boolean(get_boolean(config, "chaining")))
        self._config.set(different, jvm.boolean(get_boolean(config, "chain_different_max_parallelism")))

    def step(self, event: Json) -> Observations:
        if event.get("type") != "graph":
            raise unknown_type(event)
        nodes = {node.id: node for node in read_graph(event)}
        builder = Builder(self._jvm, self._config)
        for operator in get_objects(event, "operators"):
            builder.add_operator(nodes[operator["id"]])
        for edge in get_objects(event, "edges"):
            builder.add_edge(edge)
        for node in nodes.values():
            builder.graph.setParallelism(self._jvm.integer(node.id), node.parallelism)
        generator = self._jvm.cls(_GRAPHS + "StreamingJobGraphGenerator")
        vertices = [self._describe(vertex) for vertex in generator.createJobGraph(builder.graph).getVertices()]
        return sorted(vertices, key=lambda vertex: vertex["head"])

    def _describe(self, vertex: Any) -> Json:
        config = self._jvm.cls(_GRAPHS + "StreamConfig")(vertex.getConfiguration())
        head = int(config.getVertexID())
        loader = self._jvm.cls("java.lang.ClassLoader").getSystemClassLoader()
        chained = config.getTransitiveChainedTaskConfigs(loader).keySet()
        operators = sorted({head, *(int(one) for one in chained)})
        return {
            "type": "vertex",
            "head": head,
            "operators": operators,
            "name": str(vertex.getName()).replace(_NAMELESS, ""),
        }


class Builder:
    """A Flink graph under construction."""

    def __init__(self, jvm: Jvm, config: Any) -> None:
        self._jvm = jvm
        self._virtual = 2**30
        self._strategies = jvm.cls(_OPERATORS + "ChainingStrategy")
        self._text = jvm.cls("org.apache.flink.api.common.typeinfo.BasicTypeInfo").STRING_TYPE_INFO
        self.graph = jvm.assemble(
            _GRAPHS + "StreamGraph",
            {
                "Configuration": [config],
                "ExecutionConfig": [self._make_execution_config(config)],
                "CheckpointConfig": [jvm.cls("org.apache.flink.streaming.api.environment.CheckpointConfig")()],
                "SavepointRestoreSettings": [
                    jvm.cls("org.apache.flink.runtime.jobgraph.SavepointRestoreSettings").none()
                ],
            },
        )
        modes = jvm.cls(_GRAPHS + "GlobalStreamExchangeMode")
        self.graph.setGlobalStreamExchangeMode(modes.ALL_EDGES_PIPELINED)
        if jvm.has(_GRAPHS + "StreamGraph", "setTimeCharacteristic"):
            times = jvm.cls("org.apache.flink.streaming.api.TimeCharacteristic")
            self.graph.setTimeCharacteristic(times.EventTime)
        if jvm.has(_GRAPHS + "StreamGraph", "setChaining"):
            options = jvm.cls("org.apache.flink.configuration.PipelineOptions")
            self.graph.setChaining(config.get(options.OPERATOR_CHAINING).booleanValue())

    def _make_execution_config(self, config: Any) -> Any:
        made = self._jvm.cls("org.apache.flink.api.common.ExecutionConfig")()
        made.configure(config, self._jvm.cls("java.lang.ClassLoader").getSystemClassLoader())
        return made

    def add_operator(self, node: Node) -> None:
        factory = self._make_factory(node)
        factory.setChainingStrategy(self._strategies.valueOf(node.strategy.upper()))
        number = self._jvm.integer(node.id)
        add = {
            "source": self.graph.addSource,
            "legacy_source": self.graph.addLegacySource,
            "operator": self.graph.addOperator,
        }[node.kind]
        inputs = self._text if node.kind == "operator" else None
        add(number, node.slot_group, None, factory, inputs, self._text, node.name or _NAMELESS)
        self.graph.setParallelism(number, 1)
        self.graph.setMaxParallelism(node.id, node.max_parallelism)
        self.graph.setBufferTimeout(number, -1)

    def _make_factory(self, node: Node) -> Any:
        jvm = self._jvm
        if node.kind == "source":
            numbers = jvm.cls("org.apache.flink.api.connector.source.lib.NumberSequenceSource")(0, 1)
            strategies = jvm.cls("org.apache.flink.api.common.eventtime.WatermarkStrategy")
            return jvm.cls(_OPERATORS + "SourceOperatorFactory")(numbers, strategies.noWatermarks())
        if node.yielding:
            modes = jvm.cls("org.apache.flink.streaming.api.datastream.AsyncDataStream$OutputMode")
            return jvm.cls(_OPERATORS + "async.AsyncWaitOperatorFactory")(None, 1000, 1, modes.ORDERED)
        if node.kind == "legacy_source":
            name = next(
                one for one in ("legacy.FromElementsFunction", "FromElementsFunction") if jvm.has(_FUNCTIONS + one)
            )
            elements = jvm.cls("java.util.Arrays").asList("a")
            operator = jvm.cls(_OPERATORS + "StreamSource")(jvm.cls(_FUNCTIONS + name)(elements))
        else:
            function = jvm.cls("org.apache.flink.runtime.operators.udf.RemoveRangeIndex")()
            operator = jvm.cls(_OPERATORS + "StreamMap")(function)
        return jvm.cls(_OPERATORS + "SimpleOperatorFactory").of(operator)

    def add_edge(self, edge: Json) -> None:
        self._virtual += 1
        modes = self._jvm.cls("org.apache.flink.streaming.api.transformations.StreamExchangeMode")
        source, through, target = (
            self._jvm.integer(number) for number in (edge["source"], self._virtual, edge["target"])
        )
        exchange = modes.valueOf(edge["exchange"].upper())
        self.graph.addVirtualPartitionNode(source, through, self._make_partitioner(edge["partitioner"]), exchange)
        self.graph.addEdge(through, target, 0)

    def _make_partitioner(self, kind: str) -> Any:
        partitioner = self._jvm.cls(PARTITIONERS + CLASSES[kind])
        if kind != "hash":
            return partitioner()
        return partitioner(self._jvm.cls("org.apache.flink.api.java.functions.NullByteKeySelector")(), 128)


def make(jvm: Jvm, config: Json) -> Chaining:
    return Chaining(jvm, config)
