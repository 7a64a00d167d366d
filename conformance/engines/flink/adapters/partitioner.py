"""A network output with its partitioner: `RecordWriterOutput` on a real writer, and a partition that shows the channel.

Random choices are reproducible: rebalance begins where its seed says, shuffle and the channel of a latency
marker come from a seeded generator.

Choices
-------
Until 1.13 the announced status belonged to the whole chain, so there the real `OperatorChain` holds it. The chain is
made without its constructor, which would need a task: only its outputs and its status matter.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.valve import status_name
from tidegate.conformance.engines.flink.jvm import Jvm

PARTITIONERS = "org.apache.flink.streaming.runtime.partitioner."
_OUTPUT = "org.apache.flink.streaming.runtime.io.RecordWriterOutput"
_BUILDER = "org.apache.flink.runtime.io.network.api.writer.RecordWriterBuilder"
_PARTITION = "org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter"
_CHAIN = "org.apache.flink.streaming.runtime.tasks.OperatorChain"
_SEED = 20_130_501
_MOST_KEY_GROUPS = 2**15
CLASSES = {
    "forward": "ForwardPartitioner",
    "rebalance": "RebalancePartitioner",
    "rescale": "RescalePartitioner",
    "shuffle": "ShufflePartitioner",
    "global": "GlobalPartitioner",
    "broadcast": "BroadcastPartitioner",
    "hash": "KeyGroupStreamPartitioner",
}


def declare(jvm: Jvm) -> wire.Json | None:
    if not (jvm.has(_OUTPUT) and jvm.has(_BUILDER) and jvm.has(_PARTITION, "broadcastRecord")):
        return None
    kinds = [kind for kind, name in CLASSES.items() if jvm.has(PARTITIONERS + name)]
    return {"kinds": kinds} if kinds else None


class Partitioner:
    def __init__(self, jvm: Jvm, kind: str, channels: int, max_parallelism: int) -> None:
        self._jvm = jvm
        self._kind = kind
        self._channels = channels
        self._key: Any = None
        self._sent: list[int] = []
        self._record = jvm.cls("org.apache.flink.streaming.runtime.streamrecord.StreamRecord")("")
        self._watermark = jvm.cls("org.apache.flink.streaming.api.watermark.Watermark")
        self._marker = jvm.cls("org.apache.flink.streaming.runtime.streamrecord.LatencyMarker")
        self._operator = jvm.cls("org.apache.flink.runtime.jobgraph.OperatorID")()
        writer = self._make_writer(self._make_partitioner(max_parallelism))
        self._output, self._announce = make_output(jvm, writer)
        name = str(status_name(jvm))
        statuses = jvm.cls(f"org.apache.flink.streaming.runtime.{name.lower()}.{name}")
        self._statuses = {"idle": statuses.IDLE, "active": statuses.ACTIVE}

    def _make_partitioner(self, max_parallelism: int) -> Any:
        partitioner = self._jvm.cls(PARTITIONERS + CLASSES[self._kind])
        if self._kind != "hash":
            return partitioner()
        selector = self._jvm.implement(
            "org.apache.flink.api.java.functions.KeySelector", {"getKey": lambda _record: self._key}
        )
        return partitioner(selector, max_parallelism)

    def _make_writer(self, partitioner: Any) -> Any:
        everywhere = list(range(self._channels))
        handlers = {
            "getNumberOfSubpartitions": lambda: self._channels,
            "emitRecord": lambda _bytes, channel: self._sent.append(int(channel)),
            "broadcastRecord": lambda _bytes: self._sent.extend(everywhere),
        }
        partition = self._jvm.implement(_PARTITION, handlers)
        writer = self._jvm.cls(_BUILDER)().setChannelSelector(partitioner).setTimeout(-1).build(partition)
        random = self._jvm.cls("java.util.Random")
        self._jvm.set_field(writer, "rng", random(_SEED))
        if self._kind == "rebalance":
            self._jvm.set_field(partitioner, "nextChannelToSendTo", self._jvm.integer(_SEED % self._channels))
        elif self._kind == "shuffle":
            self._jvm.set_field(partitioner, "random", random(_SEED))
        return writer

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        self._sent = []
        if kind == "record":
            self._key = self._read_key(event)
            self._output.collect(self._record)
        elif kind == "watermark":
            self._output.emitWatermark(self._watermark(wire.get_long(event, "timestamp")))
        elif kind == "status":
            self._announce(self._statuses[wire.get_choice(event, "status", ("idle", "active"))])
        elif kind == "latency_marker":
            self._output.emitLatencyMarker(self._marker(0, self._operator, 0))
        else:
            raise wire.unknown_type(event)
        return [{"type": "send", "channel": channel} for channel in self._sent]

    def _read_key(self, event: wire.Json) -> Any:
        key = event.get("key")
        if self._kind != "hash" or not isinstance(key, dict):
            if (key is None) == (self._kind == "hash"):
                raise wire.BadRequestError("a record has a key where the kind is hash, and only there")
            return None
        kind = wire.get_choice(key, "type", ("string", "int", "long"))
        if kind == "string":
            return self._jvm.cls("java.lang.String")(wire.get_string(key, "value"))
        if kind == "long":
            return self._jvm.cls("java.lang.Long").valueOf(self._jvm.jpype.JLong(wire.get_long(key, "value")))
        value = wire.get_integer(key, "value")
        if not -(2**31) <= value < 2**31:
            raise wire.BadRequestError(f"value does not fit 32 bits: {value}")
        return self._jvm.integer(value)


def make_output(jvm: Jvm, writer: Any) -> tuple[Any, Any]:
    """The network output, and what to call with a status."""
    serializer = jvm.cls("org.apache.flink.api.common.typeutils.base.StringSerializer").INSTANCE
    if jvm.has(_OUTPUT, "emitWatermarkStatus"):
        output = jvm.cls(_OUTPUT)(writer, serializer, None, jvm.jpype.JBoolean(True))
        return output, output.emitWatermarkStatus
    chain = jvm.bare(_CHAIN)
    output = jvm.assemble(
        _OUTPUT,
        {
            "RecordWriter": [writer],
            "TypeSerializer": [serializer],
            "StreamStatusProvider": [chain],
            "boolean": [jvm.boolean(True)],
        },
    )
    jvm.set_field(chain, "streamOutputs", jvm.jpype.JArray(jvm.cls(_OUTPUT))([output]))
    statuses = jvm.cls("org.apache.flink.streaming.runtime.streamstatus.StreamStatus")
    jvm.set_field(chain, "streamStatus", statuses.ACTIVE)
    return output, lambda status: jvm.call(chain, "toggleStreamStatus", status)


def make(jvm: Jvm, config: wire.Json) -> Partitioner:
    kind = wire.get_choice(config, "kind", tuple(CLASSES))
    channels = wire.get_at_least(config, "channels", 1)
    max_parallelism = wire.get_between(config, "max_parallelism", 1, _MOST_KEY_GROUPS) if kind == "hash" else 1
    return Partitioner(jvm, kind, channels, max_parallelism)
