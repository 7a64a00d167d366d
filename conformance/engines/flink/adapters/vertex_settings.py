"""The settings of a vertex: a `StreamExecutionEnvironment`, its `StreamGraph`, and the resulting job vertex.

A chain is a source followed by operators, or an operator of several inputs with its sources. Flink recognises a
selecting operator by its class, before the graph exists; without checkpoints it does not check.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.graphs import get_most, read_members

_GRAPHS = "org.apache.flink.streaming.api.graph."
_OPERATORS = "org.apache.flink.streaming.api.operators."
_MULTIPLE = "org.apache.flink.streaming.api.transformations.MultipleInputTransformation"


def declare(jvm: Jvm) -> wire.Json | None:
    """Whether a parallelism was set explicitly is known since 1.17."""
    known = jvm.has(f"{_GRAPHS}StreamNode", "isParallelismConfigured")
    return {} if known and jvm.has(f"{_GRAPHS}StreamGraph", "setDynamic") else None


class VertexSettings:
    def __init__(self, jvm: Jvm, config: wire.Json) -> None:
        self._jvm = jvm
        self._parallelism = wire.get_at_least(config, "parallelism", 1)
        self._most = get_most({"max_parallelism": wire.get_integer(config, "max_parallelism")})
        self._dynamic = wire.get_boolean(config, "dynamic")
        self._checkpoints = wire.get_boolean(config, "checkpoints")
        self._text = jvm.cls("org.apache.flink.api.common.typeinfo.BasicTypeInfo").LONG_TYPE_INFO
        options = jvm.cls("org.apache.flink.configuration.PipelineOptions")
        self._options = jvm.cls("org.apache.flink.configuration.Configuration")()
        modes = jvm.cls("org.apache.flink.configuration.PipelineOptions$VertexDescriptionMode")
        self._options.set(options.VERTEX_DESCRIPTION_MODE, modes.CASCADING)

    def step(self, event: wire.Json) -> wire.Observations:
        if event.get("type") != "make":
            raise wire.unknown_type(event)
        operators, sources = read_members(event, "operators"), read_members(event, "sources")
        most = get_most(event)
        if not operators:
            raise wire.BadRequestError("operators must not be empty")
        for place, operator in enumerate(operators[1:], start=1):
            if operator["above"] >= place:
                raise wire.BadRequestError(f"operator {place} is chained to one that does not precede it")
        env = self._make_environment()
        made = self._build(env, operators, sources, most)
        graph = env.getStreamGraph()
        graph.setDynamic(self._dynamic)
        for number, member in made.items():
            graph.setSupportsConcurrentExecutionAttempts(self._jvm.integer(number), member["concurrent"])
        if self._checkpoints:
            self._mark_selecting(graph, made)
        try:
            job = self._jvm.cls(f"{_GRAPHS}StreamingJobGraphGenerator").createJobGraph(graph)
        except self._jvm.jpype.JException as error:
            if str(error.getClass().getSimpleName()) == "UnsupportedOperationException":
                return wire.rejected()
            raise
        return [self._describe(vertex) for vertex in job.getVertices()]

    def _make_environment(self) -> Any:
        env = self._jvm.cls("org.apache.flink.streaming.api.environment.StreamExecutionEnvironment")
        made = env.getExecutionEnvironment(self._options)
        made.setParallelism(self._parallelism)
        if self._most != -1:
            made.setMaxParallelism(self._most)
        if self._checkpoints:
            made.enableCheckpointing(60_000)
        return made

    def _build(self, env: Any, operators: list[wire.Json], sources: list[wire.Json], most: int) -> dict[int, wire.Json]:
        """The program; its operators by Flink's ids."""
        made: dict[int, wire.Json] = {}
        inputs = []
        for source in sources:
            stream = self._make_source(env, source, most)
            inputs.append(stream.getTransformation())
            made[int(inputs[-1].getId())] = source
        if sources:
            streams = [self._make_host(env, operators[0], inputs, most)]
        else:
            streams = [self._make_source(env, operators[0], most)]
            env.addOperator(streams[0].getTransformation())
        for operator in operators[1:]:
            name = operator["description"]
            following = streams[operator["above"]].transform(name, self._text, self._make_map())
            streams.append(self._set(following, operator, most))
        for stream, operator in zip(streams, operators, strict=True):
            made[int(stream.getId())] = operator
        return made

    def _make_source(self, env: Any, member: wire.Json, most: int) -> Any:
        jvm = self._jvm
        numbers = jvm.cls("org.apache.flink.api.connector.source.lib.NumberSequenceSource")(0, 1)
        strategy = jvm.cls("org.apache.flink.api.common.eventtime.WatermarkStrategy").noWatermarks()
        return self._set(env.fromSource(numbers, strategy, member["description"]), member, most)

    def _make_map(self) -> Any:
        function = self._jvm.cls("org.apache.flink.runtime.operators.udf.RemoveRangeIndex")()
        return self._jvm.cls(f"{_OPERATORS}StreamMap")(function)

    def _make_host(self, env: Any, member: wire.Json, inputs: list[Any], most: int) -> Any:
        jvm = self._jvm
        factory = jvm.cls(f"{_OPERATORS}SimpleOperatorFactory").of(self._make_map())
        host = jvm.cls(_MULTIPLE)(member["description"], factory, self._text, self._parallelism, False)
        for one in inputs:
            host.addInput(one)
        host.setChainingStrategy(jvm.cls(f"{_OPERATORS}ChainingStrategy").HEAD_WITH_SOURCES)
        env.addOperator(host)
        stream = jvm.cls("org.apache.flink.streaming.api.datastream.MultipleConnectedStreams")(env).transform(host)
        return self._set(stream, member, most)

    def _set(self, stream: Any, member: wire.Json, most: int) -> Any:
        if member["configured"]:
            stream.setParallelism(self._parallelism)
        if most != -1:
            stream.setMaxParallelism(most)
        stream.setDescription(member["description"])
        return stream

    def _mark_selecting(self, graph: Any, made: dict[int, wire.Json]) -> None:
        selectable = self._jvm.cls(f"{_OPERATORS}InputSelectable").class_
        strategy = self._jvm.cls(f"{_OPERATORS}ChainingStrategy").ALWAYS
        handlers = {"getStreamOperatorClass": lambda _loader: selectable, "getChainingStrategy": lambda: strategy}
        for number, member in made.items():
            if member["selects"]:
                factory = self._jvm.implement(f"{_OPERATORS}StreamOperatorFactory", handlers)
                self._jvm.set_field(graph.getStreamNode(self._jvm.integer(number)), "operatorFactory", factory)

    def _describe(self, vertex: Any) -> wire.Json:
        return {
            "type": "vertex",
            "description": str(vertex.getOperatorPrettyName()),
            "parallelism": int(vertex.getParallelism()),
            "configured": bool(vertex.isParallelismConfigured()),
            "max_parallelism": int(vertex.getMaxParallelism()),
            "concurrent": bool(vertex.isSupportsConcurrentExecutionAttempts()),
            "coordinators": len(vertex.getOperatorCoordinators()),
        }


def make(jvm: Jvm, config: wire.Json) -> VertexSettings:
    return VertexSettings(jvm, config)
