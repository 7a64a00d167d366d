"""When a source makes latency markers: a `SourceOperator` without setup, and its `LatencyMarkerEmitter`.

The operator has everything that it reads the interval from: an environment with the settings of job and cluster. The
adapter is the clock and its timers.
"""

from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.jvm import Jvm

OPERATORS = "org.apache.flink.streaming.api.operators."
OPERATOR = f"{OPERATORS}SourceOperator"
TASK = "org.apache.flink.streaming.runtime.tasks.SourceOperatorStreamTask"
RUNTIME = "org.apache.flink.runtime."
INFO = "org.apache.flink.api.common.TaskInfo"
MOST = 1000


def declare(jvm: Jvm) -> wire.Json | None:
    return {} if jvm.has(OPERATOR, "initializeLatencyMarkerEmitter") else None


class LatencyMarkers:
    def __init__(self, jvm: Jvm, cluster: int, job: int | None) -> None:
        self.jvm = jvm
        self.seen: wire.Observations = []
        self.now = 0
        self.timer: Any = None
        self.due = self.interval = 0
        self.is_open = False
        self.operator = jvm.bare(OPERATOR)
        times = {"getCurrentProcessingTime": self.read_clock, "scheduleWithFixedDelay": self.schedule}
        fields = {
            "container": self.make_task(cluster, job),
            "processingTimeService": jvm.implement(
                "org.apache.flink.streaming.runtime.tasks.ProcessingTimeService", times
            ),
            "runtimeContext": self.make_context(),
            "config": self.make_config(),
        }
        for name, value in fields.items():
            jvm.set_field(self.operator, name, value)
        self.output = jvm.implement(
            "org.apache.flink.streaming.runtime.io.PushingAsyncDataInput$DataOutput",
            {"emitLatencyMarker": self.emit},
        )

    def make_task(self, cluster: int, job: int | None) -> Any:
        jvm = self.jvm
        settings = jvm.cls("org.apache.flink.api.common.ExecutionConfig")()
        if job is not None:
            settings.setLatencyTrackingInterval(jvm.jpype.JLong(job))
        config = jvm.cls("org.apache.flink.configuration.Configuration")()
        # Every version reads a text as milliseconds: the option was a number first, then a duration.
        config.setString("metrics.latency.interval", str(cluster))
        manager = jvm.implement(f"{RUNTIME}taskmanager.TaskManagerRuntimeInfo", {"getConfiguration": lambda: config})
        given = {"getExecutionConfig": lambda: settings, "getTaskManagerInfo": lambda: manager}
        task = jvm.bare(TASK)
        jvm.set_field(task, "environment", jvm.implement(f"{RUNTIME}execution.Environment", given))
        return task

    def make_context(self) -> Any:
        # Since 1.19 this is an interface; an object without setup belongs to the first subtask.
        is_interface = self.jvm.cls(INFO).class_.isInterface()
        info = self.jvm.implement(INFO, {"getIndexOfThisSubtask": lambda: 0}) if is_interface else self.jvm.bare(INFO)
        context = self.jvm.bare(f"{OPERATORS}StreamingRuntimeContext")
        self.jvm.set_field(context, "taskInfo", info)
        return context

    def make_config(self) -> Any:
        jvm = self.jvm
        config = jvm.cls("org.apache.flink.streaming.api.graph.StreamConfig")(
            jvm.cls("org.apache.flink.configuration.Configuration")()
        )
        config.setOperatorID(jvm.cls(f"{RUNTIME}jobgraph.OperatorID")())
        return config

    def step(self, event: wire.Json) -> wire.Observations:
        self.seen = []
        kind = event.get("type")
        if kind == "open":
            if self.is_open:
                return wire.rejected()
            self.is_open = True
            self.jvm.call(self.operator, "initializeLatencyMarkerEmitter", self.output)
        elif kind == "close":
            if not self.is_open:
                return wire.rejected()
            emitter = self.jvm.field(self.operator, "latencyMarkerEmitter")
            if emitter is not None:
                emitter.close()
        elif kind == "elapse":
            passed = wire.get_at_least(event, "milliseconds", 0)
            if self.now + passed > MOST:
                return wire.rejected()
            self.pass_time(self.now + passed)
        else:
            raise wire.unknown_type(event)
        self.pass_time(self.now)
        return self.seen

    # The clock

    def read_clock(self) -> Any:
        return self.jvm.jpype.JLong(self.now)

    def schedule(self, callback: Any, delay: int, period: int) -> Any:
        self.timer, self.due, self.interval = callback, self.now + int(delay), int(period)
        return self.jvm.implement("java.util.concurrent.ScheduledFuture", {"cancel": self.cancel})

    def cancel(self, *_how: Any) -> bool:
        self.timer = None
        return True

    def pass_time(self, until: int) -> None:
        while self.timer is not None and self.due <= until:
            self.now = self.due
            self.timer.onProcessingTime(self.jvm.jpype.JLong(self.due))
            self.due += self.interval
        self.now = until

    def emit(self, marker: Any) -> None:
        self.seen.append({"type": "marker", "timestamp": int(marker.getMarkedTime())})


def make(jvm: Jvm, config: wire.Json) -> LatencyMarkers:
    cluster = wire.get_at_least(config, "cluster", 0)
    return LatencyMarkers(jvm, cluster, wire.get_at_least(config, "job", 0) if "job" in config else None)
