"""Groups of sources: a `SourceCoordinator` for each, never started, that share one `CoordinatorStoreImpl`.

Our thread is the thread of the coordinators, so their messages arrive at once. Each has a gateway per subtask that
shows its messages; a failed one has none. Unknown sources and subtasks, and reports of the lowest timestamp, are
refused here.
"""

from functools import cache, partial
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

_COORDINATION = "org.apache.flink.runtime.operators.coordination."
_PACKAGE = "org.apache.flink.runtime.source.coordinator."
_COORDINATOR = f"{_PACKAGE}SourceCoordinator"
_CONTEXT = f"{_PACKAGE}SourceCoordinatorContext"


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if jvm.has(_CONTEXT, "sendEventToSourceOperatorIfTaskReady") else None


class Parts:
    """Shared by all groups of a version."""

    def __init__(self, jvm: Jvm) -> None:
        self.string, self.thread = jvm.cls("java.lang.String"), jvm.cls("java.lang.Thread")
        self.watermark = jvm.cls("org.apache.flink.api.common.eventtime.Watermark")
        self.parameters = jvm.cls("org.apache.flink.api.common.eventtime.WatermarkAlignmentParams")


@cache
def parts_of(jvm: Jvm) -> Parts:
    return Parts(jvm)


class Groups:
    def __init__(self, jvm: Jvm, sources: list[tuple[int, int]], subtasks: int) -> None:
        self._jvm = jvm
        self._parts = parts = parts_of(jvm)
        self._subtasks = subtasks
        self._shown: list[tuple[int, int]] = []
        self._store = jvm.new(f"{_COORDINATION}CoordinatorStoreImpl")
        threads = jvm.bare(f"{_PACKAGE}SourceCoordinatorProvider$CoordinatorExecutorThreadFactory")
        jvm.set_field(threads, "t", parts.thread.currentThread())
        below = jvm.implement(f"{_COORDINATION}OperatorCoordinator$Context", {"currentParallelism": lambda: subtasks})
        self._below, self._threads = below, threads
        self._gateways: list[list[Any]] = []
        self._coordinators = [self._make(number, group, drift) for number, (group, drift) in enumerate(sources)]

    def _make(self, number: int, group: int, drift: int) -> Any:
        jvm, parts = self._jvm, self._parts
        name = parts.string(str(group))
        self._store.putIfAbsent(name, jvm.new(f"{_COORDINATOR}$WatermarkAggregator"))
        gateways = jvm.new(f"{_CONTEXT}$SubtaskGateways", jvm.integer(self._subtasks))
        context = jvm.bare(_CONTEXT)
        jvm.set_field(context, "subtaskGateways", gateways)
        jvm.set_field(context, "operatorCoordinatorContext", self._below)
        jvm.set_field(context, "coordinatorThreadFactory", self._threads)
        self._gateways.append(list(jvm.field(gateways, "gateways")))
        for subtask in range(self._subtasks):
            self._make_ready(number, subtask)
        coordinator = jvm.bare(_COORDINATOR)
        fields = {
            "combinedWatermark": jvm.new(f"{_COORDINATOR}$WatermarkAggregator"),
            "watermarkAlignmentParams": parts.parameters(drift, name, 1),
            "operatorName": parts.string(f"source {number}"),
            "context": context,
            "coordinatorStore": self._store,
        }
        for field, value in fields.items():
            jvm.set_field(coordinator, field, value)
        return coordinator

    def _make_ready(self, source: int, subtask: int) -> None:
        gateway = self._jvm.implement(
            f"{_COORDINATION}OperatorCoordinator$SubtaskGateway", {"sendEvent": partial(self._on_event, subtask)}
        )
        self._gateways[source][subtask].put(self._jvm.integer(0), gateway)

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type")
        if kind not in ("announce", "report", "task_failed", "task_ready"):
            raise wire.unknown_type(event)
        source = wire.get_integer(event, "source")
        subtask = 0 if kind == "announce" else wire.get_integer(event, "subtask")
        timestamp = wire.get_long(event, "timestamp") if kind == "report" else 0
        known = 0 <= source < len(self._coordinators) and 0 <= subtask < self._subtasks
        if not known or timestamp == wire.LOWEST:
            return wire.rejected()
        self._shown = []
        coordinator = self._coordinators[source]
        if kind == "announce":
            self._jvm.call(coordinator, "announceCombinedWatermark")
        elif kind == "report":
            watermark = self._parts.watermark(timestamp)
            self._jvm.call(coordinator, "handleReportedWatermark", self._jvm.integer(subtask), watermark)
        elif kind == "task_failed":
            self._gateways[source][subtask].clear()
        else:
            self._make_ready(source, subtask)
        return [{"type": "limit", "subtask": one, "timestamp": str(limit)} for one, limit in sorted(self._shown)]

    def _on_event(self, subtask: int, event: Any) -> None:
        self._shown.append((subtask, int(event.getMaxWatermark())))


def make(jvm: Jvm, config: wire.Json) -> Groups:
    sources = [read_source(one) for one in wire.get_objects(config, "sources")]
    if not sources:
        raise wire.BadRequestError("sources must not be empty")
    return Groups(jvm, sources, wire.get_at_least(config, "subtasks", 1))


def read_source(source: wire.Json) -> tuple[int, int]:
    drift = wire.get_long(source, "drift")
    if not 0 <= drift < wire.HIGHEST:
        raise wire.BadRequestError(f"drift must be from 0 to {wire.HIGHEST - 1}")
    return wire.get_integer(source, "group"), drift
