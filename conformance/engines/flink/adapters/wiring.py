"""The wiring of an edge: since 1.17 `VertexInputInfoComputationUtils` says what each consumer reads."""

from typing import Any

from tidegate.conformance.engines.flink.jvm import Jvm
from tidegate.conformance.engines.wire import (
    Json,
    Observations,
    get_at_least,
    get_choice,
    get_extension,
    rejected,
    unknown_type,
)

_UTILITIES = "org.apache.flink.runtime.executiongraph.VertexInputInfoComputationUtils"
_POINTWISE, _ALL_TO_ALL = "computeVertexInputInfoForPointwise", "computeVertexInputInfoForAllToAll"
_PATTERNS = ("pointwise", "all_to_all")
_BROADCASTS = ("no", "early", "late")
#: Since 2.0 a broadcast that is decided late is a separate case; the method has one more parameter.
_KNOWS_LATE_BROADCASTS = 6


def declare(jvm: Jvm) -> Json | None:
    if not jvm.has(_UTILITIES, "computeVertexInputInfoForPointwise"):
        return None
    return {"extensions": ["dynamic"]} if count_parameters(jvm, _ALL_TO_ALL) == _KNOWS_LATE_BROADCASTS else {}


class Wiring:
    def __init__(self, jvm: Jvm, pattern: str, producers: int, consumers: int, *, is_dynamic: bool) -> None:
        self._jvm = jvm
        self._pattern = pattern
        self._producers = producers
        self._consumers = consumers
        self._is_dynamic = is_dynamic

    def step(self, event: Json) -> Observations:
        if event.get("type") == "wire_dynamic" and self._is_dynamic:
            count, broadcast = get_at_least(event, "subpartitions", 1), get_choice(event, "broadcast", _BROADCASTS)
            try:
                return self._show(self._compute(count, [True, broadcast != "no", broadcast == "early"]))
            except self._jvm.cls("java.lang.IllegalArgumentException"):
                return rejected()
        if event.get("type") != "wire":
            raise unknown_type(event)
        # As many subpartitions as a producer has consumers; only a dynamic graph would query the number.
        return self._show(self._compute(1 if self._pattern == "pointwise" else self._consumers, [False] * 3))

    def _show(self, computed: Any) -> Observations:
        infos = computed.getExecutionVertexInputInfos()
        reads = sorted(pair for info in infos for pair in read_pairs(info))
        return [
            {"type": "reads", "consumer": consumer, "producer": producer, "subpartition": subpartition}
            for consumer, producer, subpartition in reads
        ]

    def _compute(self, subpartitions: int, switches: list[bool]) -> Any:
        """The switches: whether the graph is dynamic, the edge a broadcast, and one subpartition holds everything."""
        jvm = self._jvm
        method = _POINTWISE if self._pattern == "pointwise" else _ALL_TO_ALL
        number = jvm.integer(subpartitions)
        counting = jvm.implement("java.util.function.Function", {"apply": lambda _producer: number})
        flags = [jvm.boolean(switch) for switch in switches[: count_parameters(jvm, method) - 3]]
        every = (jvm.integer(self._producers), jvm.integer(self._consumers))
        return jvm.call(jvm.cls(_UTILITIES), method, *every, counting, *flags)


def count_parameters(jvm: Jvm, method: str) -> int:
    methods = jvm.cls(_UTILITIES).class_.getDeclaredMethods()
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
    """Until 1.19 a consumer read one range of producers; since then it may read several."""
    if hasattr(info, "getConsumedSubpartitionGroups"):
        return [(one.getKey(), one.getValue()) for one in info.getConsumedSubpartitionGroups().entrySet()]
    return [(info.getPartitionIndexRange(), info.getSubpartitionIndexRange())]


def in_range(indices: Any) -> range:
    return range(int(indices.getStartIndex()), int(indices.getEndIndex()) + 1)


def make(jvm: Jvm, config: Json) -> Wiring:
    pattern = get_choice(config, "pattern", _PATTERNS)
    numbers = get_at_least(config, "producers", 1), get_at_least(config, "consumers", 1)
    return Wiring(jvm, pattern, *numbers, is_dynamic=get_extension(config, ("dynamic",)) is not None)
