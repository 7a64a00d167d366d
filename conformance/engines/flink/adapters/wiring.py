"""The wiring of an edge: `VertexInputInfoComputationUtils`, which since 1.17 says what each consumer reads."""

from typing import Any

from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import Json, Observations, get_at_least, get_choice, unknown_type

_UTILITIES = "org.apache.flink.runtime.executiongraph.VertexInputInfoComputationUtils"
_PATTERNS = ("pointwise", "all_to_all")


def declare(jvm: Jvm) -> Json | None:
    return {} if jvm.has(_UTILITIES, "computeVertexInputInfoForPointwise") else None


class Wiring:
    def __init__(self, jvm: Jvm, pattern: str, producers: int, consumers: int) -> None:
        self._jvm = jvm
        self._pattern = pattern
        self._producers = producers
        self._consumers = consumers

    def step(self, event: Json) -> Observations:
        if event.get("type") != "wire":
            raise unknown_type(event)
        infos = self._compute().getExecutionVertexInputInfos()
        reads = sorted(pair for info in infos for pair in read_pairs(info))
        return [
            {"type": "reads", "consumer": consumer, "producer": producer, "subpartition": subpartition}
            for consumer, producer, subpartition in reads
        ]

    def _compute(self) -> Any:
        jvm = self._jvm
        if self._pattern == "pointwise":
            # As many subpartitions as the producer has consumers; only a dynamic graph would ask for the number.
            method, subpartitions = "computeVertexInputInfoForPointwise", 1
        else:
            method, subpartitions = "computeVertexInputInfoForAllToAll", self._consumers
        number = jvm.integer(subpartitions)
        counting = jvm.implement("java.util.function.Function", {"apply": lambda _producer: number})
        flags = [jvm.boolean(False)] * (self._count_parameters(method) - 3)
        every = (jvm.integer(self._producers), jvm.integer(self._consumers))
        return jvm.call(jvm.cls(_UTILITIES), method, *every, counting, *flags)

    def _count_parameters(self, method: str) -> int:
        methods = self._jvm.cls(_UTILITIES).class_.getDeclaredMethods()
        return next(int(one.getParameterCount()) for one in methods if str(one.getName()) == method)


def read_pairs(info: Any) -> list[tuple[int, int, int]]:
    """One consumer, with each producer and subpartition that it reads."""
    consumer = int(info.getSubtaskIndex())
    return [
        (consumer, producer, subpartition)
        for producers, subpartitions in ranges_of(info)
        for producer in in_range(producers)
        for subpartition in in_range(subpartitions)
    ]


def ranges_of(info: Any) -> list[tuple[Any, Any]]:
    """Until 1.19 a consumer read one run of producers; since then it may read several."""
    if hasattr(info, "getConsumedSubpartitionGroups"):
        return [(one.getKey(), one.getValue()) for one in info.getConsumedSubpartitionGroups().entrySet()]
    return [(info.getPartitionIndexRange(), info.getSubpartitionIndexRange())]


def in_range(indices: Any) -> range:
    return range(int(indices.getStartIndex()), int(indices.getEndIndex()) + 1)


def make(jvm: Jvm, config: Json) -> Wiring:
    pattern = get_choice(config, "pattern", _PATTERNS)
    return Wiring(jvm, pattern, get_at_least(config, "producers", 1), get_at_least(config, "consumers", 1))
