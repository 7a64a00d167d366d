"""How many buffers are needed: `NettyShuffleUtils` and `InputGateSpecUtils`, without sort-merge."""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_UTILS = "org.apache.flink.runtime.shuffle.NettyShuffleUtils"
_SPECS = "org.apache.flink.runtime.io.network.partition.consumer.InputGateSpecUtils"
_TYPES = "org.apache.flink.runtime.io.network.partition.ResultPartitionType"
_PARTITION = "getMinMaxNetworkBuffersPerResultPartition"
_RESULTS = ("pipelined", "pipelined_bounded", "blocking")
_HIGHEST = 2**31 - 1
_MOST = 32768


def declare(jvm: Jvm) -> wire.Json | None:
    """Both have their present parameters since 2.0."""
    if not (jvm.has(_SPECS, "createGateBuffersSpec") and jvm.has(_UTILS, _PARTITION)):
        return None
    methods = [one for name in (_SPECS, _UTILS) for one in jvm.cls(name).class_.getMethods()]
    counts = {str(one.getName()): int(one.getParameterCount()) for one in methods}
    return {} if (counts.get("createGateBuffersSpec"), counts.get(_PARTITION)) == (6, 8) else None


class BufferNeeds:
    def __init__(self, jvm: Jvm, config: wire.Json) -> None:
        self._jvm = jvm
        self._own = wire.get_between(config, "per_channel", 0, _MOST)
        self._floating = wire.get_between(config, "floating", 1, _MOST)
        optional = jvm.cls("java.util.Optional")
        limit = wire.get_between(config, "limit", 1, _HIGHEST) if "limit" in config else None
        self._limit = optional.empty() if limit is None else optional.of(jvm.integer(limit))
        self._utils, self._specs, self._types = jvm.cls(_UTILS), jvm.cls(_SPECS), jvm.cls(_TYPES)

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in ("partition", "gate"):
            raise wire.unknown_type(event)
        result = self._types.valueOf(wire.get_choice(event, "result", _RESULTS).upper())
        if kind == "partition":
            count = wire.get_between(event, "subpartitions", 1, _MOST)
            pair = self._utils.getMinMaxNetworkBuffersPerResultPartition(
                self._own, self._floating, _HIGHEST, 1, count, False, 0, result
            )
            return [{"type": "partition", "required": int(pair.getLeft()), "most": int(pair.getRight())}]
        count = wire.get_between(event, "channels", 1, _MOST)
        spec = self._specs.createGateBuffersSpec(self._limit, self._own, self._floating, result, count, False)
        return [
            {
                "type": "gate",
                "exclusive": int(self._jvm.call(spec, "getEffectiveExclusiveBuffersPerChannel")),
                "required": int(self._jvm.call(spec, "getRequiredFloatingBuffers")),
                "most": int(self._jvm.call(spec, "getTotalFloatingBuffers")),
            }
        ]


def make(jvm: Jvm, config: wire.Json) -> BufferNeeds:
    return BufferNeeds(jvm, config)
