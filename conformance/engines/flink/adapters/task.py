"""A task: `Task` with its own thread, which is held at each step until the case says how the step ends.

A step is visible, and held, where the task makes a call: the loader of code, an extra last output, the cache
of files, the class loader, the code itself, which is a small class of ours, compiled against the jars. Outputs are
`PipelinedResultPartition`s. What another thread saw is a comparison with the real state of the task; it compares
again through `cancelExecution` or `failExternally`. The end of data is `SourceStreamTask.endData` on a real chain, and
acknowledgements go to the partitions; the adapter makes code wait for them, and refuses calls out of order.
`performCheckpoint` and the notifications of that `SourceStreamTask` decide which checkpoint is the last; the
adapter makes the task wait for it, and notifies only running code.
"""

import queue
import shutil
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters import chain_lifecycle
from tidegate.conformance.engines.flink.adapters.partitions import PARTITION, Partition, has_partitions
from tidegate.conformance.engines.flink.cache import cache_folder
from tidegate.conformance.engines.flink.jobs.compiling import compile_into, digest_of
from tidegate.conformance.engines.flink.jvm import Jvm

RUNTIME = "org.apache.flink.runtime."
TASK = RUNTIME + "taskmanager.Task"
SOURCE = "org.apache.flink.streaming.runtime.tasks.SourceStreamTask"
STATES = RUNTIME + "execution.ExecutionState"
CONFIGURATION = "org.apache.flink.configuration.Configuration"
CODE = "tidegate.ScriptedTask"
EXTENSIONS = ("invokable", "final_checkpoint")
REPLIES = ("taken", "refused", "failed", "closing")
#: States that the task manager's copy never has.
ELSEWHERE = ("scheduled", "reconciling")
SEGMENT = 64
#: Seconds for a thread to reach its next step: it has nothing to wait for.
PATIENCE = 60
REASONS = {
    "CHECKPOINT_DECLINED_TASK_NOT_READY": "not_ready",
    "CHECKPOINT_DECLINED_TASK_CLOSING": "closing",
    "TASK_FAILURE": "failure",
}


def declare(jvm: Jvm) -> wire.Json | None:
    """Since 2.3 the task closes the writer of channel state; and the code of a task must be compiled."""
    known = has_partitions(jvm) and "channelStateWriter" in {str(one.getName()) for one in fields_of(jvm)}
    return {"extensions": [*EXTENSIONS]} if known and shutil.which("javac") else None


def make_invoked(jvm: Jvm, environment: Any) -> Any:
    """A `SourceStreamTask` in this thread, for its data and its checkpoints."""
    source = jvm.bare(SOURCE)
    config = jvm.cls("org.apache.flink.streaming.api.graph.StreamConfig")(jvm.cls(CONFIGURATION)())
    coordinator = "org.apache.flink.streaming.runtime.tasks.SubtaskCheckpointCoordinator"
    mailbox = "org.apache.flink.streaming.runtime.tasks.mailbox.Mailbox"
    idle = jvm.implement(f"{mailbox}DefaultAction", {})
    for name, value in (
        ("environment", environment),
        ("configuration", config),
        ("actionExecutor", jvm.cls("org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor").IMMEDIATE),
        ("subtaskCheckpointCoordinator", jvm.implement(coordinator, {})),
        ("finalCheckpointCompleted", jvm.cls("java.util.concurrent.CompletableFuture")()),
        ("mailboxProcessor", jvm.cls(f"{mailbox}Processor")(idle)),
        ("isRunning", jvm.boolean(True)),
        ("latestReportCheckpointId", jvm.cls("java.lang.Long").valueOf(jvm.jpype.JLong(-1))),
    ):
        jvm.set_field(source, name, value)
    return source


def fields_of(jvm: Jvm) -> Any:
    return jvm.cls(TASK).class_.getDeclaredFields() if jvm.has(TASK) else ()


@cache
def load_code(jvm: Jvm) -> tuple[Any, Any]:
    """The loader of the class that is the code of tasks, and the class; compiled once per version."""
    java = resources.files("tidegate.conformance.engines.flink.adapters").joinpath("java")
    sources = {"ScriptedTask.java": java.joinpath("ScriptedTask.java").read_text(encoding="utf-8")}
    classes = cache_folder() / "flink-adapters" / f"{jvm.version}-{digest_of(sources)}"
    if not classes.is_dir():
        compile_into(classes, sources, sorted(jvm.folder.glob("*.jar")))
    url = jvm.cls("java.io.File")(f"{Path(classes)}/").toURI().toURL()
    urls = jvm.jpype.JArray(jvm.cls("java.net.URL"))([url])
    parent = jvm.cls(TASK).class_.getClassLoader()
    loader = jvm.cls("java.net.URLClassLoader")(urls, parent)
    return loader, jvm.cls("java.lang.Class").forName(CODE, True, loader)


class Held:
    """The thread of the task, held at its steps: it reports its step, and receives how that ends."""

    def __init__(self) -> None:
        self._reached: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._endings: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.is_free = False

    def reach(self, step: str) -> None:
        """On the thread of the task."""
        if self.is_free:
            return
        self._reached.put(step)
        error = self._endings.get()
        if error is not None:
            raise error

    def end(self) -> None:
        self._reached.put("")

    def wait(self) -> str:
        """The current step; empty if the thread has ended."""
        return self._reached.get(timeout=PATIENCE)

    def go_on(self, error: Any = None) -> str:
        self._endings.put(error)
        return self.wait()

    def free(self) -> None:
        self.is_free = True
        self._endings.put(None)


class Task:
    def __init__(self, jvm: Jvm, operators: int, outputs: int, extension: str | None) -> None:
        self._jvm, self._operators = jvm, operators
        self._has_code, self._waits = extension == "invokable", extension == "final_checkpoint"
        #: The invoked code, once it exists.
        self._invoked: Any = None
        self._shown: wire.Observations = []
        self._held = Held()
        self._loads = 0
        self._reply = ""
        self._environment: Any = None
        self._views: list[Any] = []
        self._partitions = [Partition(jvm, SEGMENT, is_set_up=False) for _ in range(outputs)]
        self._loader, self._code = load_code(jvm)
        self._states = jvm.cls(STATES)
        self._task = self._make_task()
        self._state = self._read_state()
        self._doing: str | None = None
        self._started = self._over = self._cleaning = False
        self._data_ended = False
        self._acknowledged: set[int] = set()

    # --- the task and its dependencies

    def _make_task(self) -> Any:
        jvm = self._jvm
        job = jvm.cls("org.apache.flink.api.common.JobID")()
        settings = jvm.cls(CONFIGURATION)()
        timeout = jvm.cls("org.apache.flink.configuration.TaskManagerOptions").TASK_CANCELLATION_TIMEOUT
        settings.set(timeout, jvm.cls("java.time.Duration").ZERO)
        attempt = jvm.cls(RUNTIME + "executiongraph.ExecutionAttemptID").randomId()
        no_list = jvm.cls("java.util.Collections").emptyList()
        kv_registry = jvm.cls(RUNTIME + "query.KvStateRegistry")()
        metrics = jvm.cls(RUNTIME + "metrics.groups.UnregisteredMetricGroups").createUnregisteredTaskMetricGroup()
        outputs = jvm.cls("java.util.ArrayList")([*(one.partition for one in self._partitions), self._make_output()])
        handlers: dict[str, dict[str, Any]] = {
            "shuffle.ShuffleEnvironment": {
                "createResultPartitionWriters": lambda *_arguments: outputs,
                "createInputGates": lambda *_arguments: no_list,
            },
            "externalresource.ExternalResourceInfoProvider": {},
            "state.TaskStateManager": {"close": lambda: self._show("released")},
            "taskmanager.TaskManagerActions": {"updateTaskExecutionState": self._report},
            "jobgraph.tasks.InputSplitProvider": {},
            "taskmanager.CheckpointResponder": {"declineCheckpoint": self._decline},
            "jobgraph.tasks.TaskOperatorEventGateway": {},
            "taskexecutor.GlobalAggregateManager": {},
            "execution.librarycache.LibraryCacheManager$ClassLoaderHandle": {"getOrResolveClassLoader": self._load},
            "taskmanager.TaskManagerRuntimeInfo": {"getConfiguration": lambda: settings},
            "taskexecutor.PartitionProducerStateChecker": {},
        }
        supplies = {
            name.rpartition(".")[2].rpartition("$")[2]: [jvm.implement(RUNTIME + name, given)]
            for name, given in handlers.items()
        }
        supplies |= {
            "JobInformation": [self._make_job(job)],
            "TaskInformation": [
                jvm.cls(RUNTIME + "executiongraph.TaskInformation")(
                    jvm.cls(RUNTIME + "jobgraph.JobVertexID")(), "task", 1, 1, CODE, self._configure()
                )
            ],
            "ExecutionAttemptID": [attempt],
            "AllocationID": [jvm.cls(RUNTIME + "clusterframework.types.AllocationID")()],
            "List": [no_list, no_list],
            "MemoryManager": [jvm.cls(RUNTIME + "memory.MemoryManager").create(0, 4096)],
            "SharedResources": [jvm.cls(RUNTIME + "memory.SharedResources")()],
            "IOManager": [jvm.bare(RUNTIME + "io.disk.iomanager.IOManagerAsync")],
            "KvStateService": [jvm.cls(RUNTIME + "taskexecutor.KvStateService")(kv_registry, None, None)],
            "BroadcastVariableManager": [jvm.cls(RUNTIME + "broadcast.BroadcastVariableManager")()],
            "TaskEventDispatcher": [jvm.cls(RUNTIME + "io.network.TaskEventDispatcher")()],
            "FileCache": [self._make_files()],
            "TaskMetricGroup": [metrics],
            "Executor": [jvm.implement("java.util.concurrent.Executor", {})],
            "ChannelStateWriteRequestExecutorFactory": [
                jvm.cls(RUNTIME + "checkpoint.channel.ChannelStateWriteRequestExecutorFactory")(job)
            ],
        }
        return jvm.assemble(TASK, supplies)

    def _configure(self) -> Any:
        return self._jvm.cls(CONFIGURATION)()

    def _make_job(self, job: Any) -> Any:
        """With a file to copy, so that this step is visible; and with checkpoints."""
        jvm, settings = self._jvm, self._configure()
        interval = jvm.cls("org.apache.flink.configuration.CheckpointingOptions").CHECKPOINTING_INTERVAL
        settings.set(interval, jvm.cls("java.time.Duration").ofSeconds(1))
        files = jvm.cls("org.apache.flink.api.common.cache.DistributedCache")
        entry = jvm.cls("org.apache.flink.api.common.cache.DistributedCache$DistributedCacheEntry")
        files.writeFileInfoToConfig("file", entry("file:///nowhere", False), settings)
        config = jvm.cls("org.apache.flink.util.SerializedValue")(
            jvm.cls("org.apache.flink.api.common.ExecutionConfig")()
        )
        nothing = jvm.cls("java.util.Collections").emptyList()
        streaming = jvm.cls(RUNTIME + "jobgraph.JobType").STREAMING
        return jvm.cls(RUNTIME + "executiongraph.JobInformation")(
            job, streaming, "job", config, settings, nothing, nothing
        )

    def _make_files(self) -> Any:
        jvm = self._jvm
        files = jvm.bare(RUNTIME + "filecache.FileCache")
        folders = jvm.jpype.JArray(jvm.cls("java.io.File"))([jvm.cls("java.io.File")("nowhere")])
        copying = {"submit": lambda *_task: self._held.reach("copy_files")}
        for name, value in (
            ("lock", jvm.cls("java.lang.Object")()),
            ("entries", jvm.cls("java.util.HashMap")()),
            ("jobRefHolders", jvm.cls("java.util.HashMap")()),
            ("storageDirectories", folders),
            ("executorService", jvm.implement("java.util.concurrent.ScheduledExecutorService", copying)),
        ):
            jvm.set_field(files, name, value)
        return files

    def _make_output(self) -> Any:
        """An extra output after all others: when it is reached, they have been."""
        identity = self._jvm.cls(PARTITION + "ResultPartitionID")()
        available = self._jvm.cls(RUNTIME + "io.AvailabilityProvider").AVAILABLE
        handlers = {
            "getPartitionId": lambda: identity,
            "getAvailableFuture": lambda: available,
            "setup": lambda: self._held.reach("register_network"),
            "finish": lambda: self._held.reach("finish_partitions"),
        }
        return self._jvm.implement(RUNTIME + "io.network.api.writer.ResultPartitionWriter", handlers)

    # --- calls of the task

    def _show(self, kind: str, **details: Any) -> None:
        self._shown.append({"type": kind, **details})

    def _load(self, *_jars: Any) -> Any:
        self._held.reach("load_code")
        return self._jvm.implement("org.apache.flink.util.UserCodeClassLoader", {"asClassLoader": self._give_loader})

    def _give_loader(self) -> Any:
        """At the second call the environment has just been built."""
        self._loads += 1
        if self._loads == 2:
            self._held.reach("build_environment")
        return self._loader

    def _run_code(self, call: Any, given: Any) -> Any:
        name = str(call)
        if name == "cancel":
            self._show("cancel_invokable")
        elif name == "trigger":
            return self._take_checkpoint()
        elif name == "instantiate":
            self._environment = given
            self._held.reach(name)
            writer = {"close": lambda: self._show("writer_closed")}
            given.setChannelStateWriter(self._jvm.implement(RUNTIME + "checkpoint.channel.ChannelStateWriter", writer))
        elif name != "clean_up":
            self._held.reach(name)
        elif self._has_code:
            self._held.reach(name if given is None else "cleaning")
        return None

    def _take_checkpoint(self) -> Any:
        jvm = self._jvm
        futures = jvm.cls("java.util.concurrent.CompletableFuture")
        if self._reply == "closing":
            raise jvm.cls("java.util.concurrent.RejectedExecutionException")("nobody listens any more")
        if self._reply == "failed":
            future = futures()
            future.completeExceptionally(jvm.cls("java.lang.RuntimeException")("as the case says"))
            return future
        return futures.completedFuture(jvm.boolean(self._reply == "taken"))

    def _decline(self, *arguments: Any) -> None:
        self._show("declined", reason=REASONS[str(arguments[3].getCheckpointFailureReason().name())])

    def _report(self, report: Any) -> None:
        state = report.getExecutionState()
        if state.isTerminal():
            self._show("final", state=str(state.name()).lower())

    # --- steps

    def step(self, event: wire.Json) -> wire.Observations:
        self._shown = []
        match event.get("type"):
            case "cancel" | "fail" as kind:
                return self._interfere(kind, wire.get_choice(event, "seen", wire.TASK_STATES))
            case "start":
                return self._start()
            case "proceed":
                return self._proceed() if self._is_alive() else wire.rejected()
            case "throw":
                error = self._make_error(cancelled=wire.get_boolean(event, "cancelled"))
                return self._go_on(error) if self._is_alive() else wire.rejected()
            case "end_of_data":
                return self._end_data(drain=wire.get_boolean(event, "drain"))
            case "acknowledge":
                return self._acknowledge(wire.get_integer(event, "output"))
            case "trigger" if self._has_code:
                self._reply = wire.get_choice(event, "reply", REPLIES)
                options = self._jvm.cls(RUNTIME + "checkpoint.CheckpointOptions").forCheckpointWithDefaultLocation()
                self._task.triggerCheckpointBarrier(1, 1, options)
                return self._see()
            case "ask_for_room" if self._has_code:
                has_room = wire.get_boolean(event, "has_room")
                for partition in self._partitions:
                    partition.has_buffers = has_room
                return [{"type": "back_pressured", "value": bool(self._task.isBackPressured())}]
            case "begin_checkpoint" if self._waits:
                number, stops = wire.get_long(event, "checkpoint"), wire.get_boolean(event, "stops")
                return self._begin_checkpoint(number, stops=stops) if self._takes_part() else wire.rejected()
            case "complete_checkpoint" if self._waits:
                number = wire.get_long(event, "checkpoint")
                return self._tell("notifyCheckpointCompleteAsync", number) if self._takes_part() else wire.rejected()
            case "abort_checkpoint" if self._waits:
                numbers = wire.get_long(event, "checkpoint"), wire.get_long(event, "completed")
                return self._tell("notifyCheckpointAbortAsync", *numbers) if self._takes_part() else wire.rejected()
        raise wire.unknown_type(event)

    def _takes_part(self) -> bool:
        return self._is_invoked() and self._state == "running"

    def _give_invoked(self) -> Any:
        if self._invoked is None:
            self._invoked = make_invoked(self._jvm, self._environment)
        return self._invoked

    def _begin_checkpoint(self, number: int, *, stops: bool) -> wire.Observations:
        jvm, checkpoint = self._jvm, RUNTIME + "checkpoint."
        formats = jvm.cls("org.apache.flink.core.execution.SavepointFormatType")
        kind = jvm.cls(checkpoint + "CheckpointType").CHECKPOINT
        if stops:
            kind = jvm.cls(checkpoint + "SavepointType").terminate(formats.CANONICAL)
        location = jvm.cls(RUNTIME + "state.CheckpointStorageLocationReference").getDefault()
        try:
            jvm.call(
                self._give_invoked(),
                "performCheckpoint",
                jvm.cls(checkpoint + "CheckpointMetaData")(number, 1),
                jvm.cls(checkpoint + "CheckpointOptions")(kind, location),
                jvm.cls(checkpoint + "CheckpointMetricsBuilder")(),
            )
        except jvm.cls("java.lang.IllegalStateException"):
            return wire.rejected()
        return []

    def _tell(self, method: str, *numbers: int) -> wire.Observations:
        """A failure in the mailbox fails the invoked code."""
        invoked = self._give_invoked()
        getattr(invoked, method)(*numbers)
        try:
            self._jvm.field(invoked, "mailboxProcessor").drain()
        except self._jvm.JavaError as error:
            return self._go_on(error)
        return []

    def _is_final(self) -> bool:
        return not self._waits or bool(self._jvm.field(self._give_invoked(), "finalCheckpointCompleted").isDone())

    def _is_alive(self) -> bool:
        return self._started and not self._over

    def _is_invoked(self) -> bool:
        return self._is_alive() and self._doing == "invoke" and not self._cleaning

    def _read_state(self) -> str:
        return str(self._task.getExecutionState().name()).lower()

    def _see(self, *more: wire.Json) -> wire.Observations:
        """The state, if it changed; then the rest that is known; then the calls of the task."""
        state, before = self._read_state(), self._state
        self._state = state
        hidden = () if self._has_code else ("writer_closed",)
        called = [one for one in self._shown if one["type"] not in hidden]
        return [*([{"type": "state", "state": state}] if state != before else []), *more, *called]

    def _start(self) -> wire.Observations:
        if self._started:
            return wire.rejected()
        self._started = True
        jvm = self._jvm
        jvm.set_field(
            jvm.jpype.JClass(self._code),
            "script",
            jvm.implement("java.util.function.BiFunction", {"apply": self._run_code}),
        )
        ended = jvm.implement("java.util.function.Consumer", {"accept": lambda _state: self._held.end()})
        self._task.getTerminationFuture().thenAccept(ended)
        self._task.startTaskThread()
        self._over = self._held.wait() == ""
        return self._see()

    def _proceed(self) -> wire.Observations:
        if self._doing is None:
            self._doing = "load_code"
            return self._see({"type": "step", "name": self._doing})
        leaves = self._doing == "invoke" and self._state == "running" and not self._cleaning
        if leaves and not (self._is_acknowledged() and self._is_final()):
            return wire.rejected()
        return self._go_on()

    def _go_on(self, error: Any = None) -> wire.Observations:
        was_cleaning, self._cleaning = self._cleaning, False
        reached = self._held.go_on(error)
        if not reached:
            self._over = True
            cleaned = was_cleaning and error is None
            return self._see(*([{"type": "step", "name": "clean_up"}] if cleaned else []))
        if reached == "cleaning":
            self._cleaning = True
            return self._see()
        self._doing = reached
        if reached == "register_network":
            self._views = [self._open_view(one) for one in self._partitions]
        taken = {"type": "step", "name": reached}
        return self._see(taken, *(self._read_events() if reached == "finish_partitions" else []))

    def _make_error(self, *, cancelled: bool) -> Any:
        name = RUNTIME + "execution.CancelTaskException" if cancelled else "java.lang.RuntimeException"
        return self._jvm.cls(name)("as the case says")

    def _interfere(self, kind: str, seen: str) -> wire.Observations:
        if seen in ELSEWHERE:
            return wire.rejected()
        jvm, saw = self._jvm, self._states.valueOf(seen.upper())
        target = self._states.CANCELING if kind == "cancel" else self._states.FAILED
        if saw.isTerminal() or saw == self._states.CANCELING:
            return []
        lost: wire.Observations = []
        if seen != self._state:
            if jvm.call(self._task, "transitionState", saw, target):
                raise RuntimeError(f"a task that is {self._state} was taken for {seen}")
            lost = [{"type": "lost", "state": self._state}]
        if kind == "cancel":
            self._task.cancelExecution()
        else:
            self._task.failExternally(self._make_error(cancelled=False))
        self._join_cancelers()
        return [*lost, *self._see()]

    def _join_cancelers(self) -> None:
        """Code is cancelled in a thread of its own, which is joined."""
        jvm, group = self._jvm, self._jvm.field(self._jvm.cls(TASK), "TASK_THREADS_GROUP")
        threads = jvm.jpype.JArray(jvm.cls("java.lang.Thread"))(group.activeCount() + 8)
        mine = str(self._task.getExecutionId())
        count = group.enumerate(threads)
        for thread in list(threads)[:count]:
            name = str(thread.getName())
            if name.startswith("Canceler for") and mine in name:
                thread.join()

    # --- the end of the data

    def _open_view(self, partition: Partition) -> Any:
        listener = self._jvm.implement(PARTITION + "BufferAvailabilityListener", {})
        return partition.subpartition.createReadView(listener)

    def _read_events(self) -> wire.Observations:
        """The events sent on each output."""
        jvm = self._jvm
        serializer = jvm.cls(RUNTIME + "io.network.api.serialization.EventSerializer")
        loader = jvm.cls(TASK).class_.getClassLoader()
        drained = jvm.cls(RUNTIME + "io.network.api.StopMode").DRAIN
        found: wire.Observations = []
        for output, view in enumerate(self._views):
            while (item := view.getNextBuffer()) is not None:
                event = serializer.fromBuffer(item.buffer(), loader)
                item.buffer().recycleBuffer()
                if str(event.getClass().getSimpleName()) == "EndOfData":
                    found.append(
                        {"type": "end_of_data", "output": output, "drain": bool(event.getStopMode() == drained)}
                    )
                else:
                    found.append({"type": "end_of_partition", "output": output})
        return found

    def _end_data(self, *, drain: bool) -> wire.Observations:
        if not self._is_invoked() or self._data_ended:
            return wire.rejected()
        self._data_ended = True
        jvm = self._jvm
        first = {"lingers": False}
        chain = chain_lifecycle.Chain(
            jvm, [first, *({"lingers": False, "parent": parent} for parent in range(self._operators - 1))], 0, 0
        )
        chain.step({"type": "create"})
        chain.step({"type": "open"})
        seen: wire.Observations = []
        output = {
            "emitWatermark": lambda mark: seen.append({"type": "watermark", "timestamp": str(mark.getTimestamp())})
        }
        tasks = "org.apache.flink.streaming.runtime.tasks."
        jvm.set_field(chain.chain, "mainOperatorOutput", jvm.implement(f"{tasks}WatermarkGaugeExposingOutput", output))
        source = self._give_invoked()
        jvm.set_field(source, "operatorChain", chain.chain)
        modes = jvm.cls(RUNTIME + "io.network.api.StopMode")
        chain.seen = []
        jvm.call(source, "endData", modes.DRAIN if drain else modes.NO_DRAIN)
        finished = [{"type": "finish", "operator": one["operator"]} for one in chain.seen if one["call"] == "finish"]
        return [*seen, *finished, *self._read_events()]

    def _acknowledge(self, output: int) -> wire.Observations:
        known = 0 <= output < len(self._partitions) and output not in self._acknowledged
        if not self._is_invoked() or not self._data_ended or not known:
            return wire.rejected()
        self._acknowledged.add(output)
        self._views[output].acknowledgeAllDataProcessed()
        return []

    def _is_acknowledged(self) -> bool:
        return self._data_ended and all(one.partition.getAllDataProcessedFuture().isDone() for one in self._partitions)

    def close(self) -> None:
        if self._is_alive():
            self._held.free()
            self._task.cancelExecution()
            self._task.getExecutingThread().join()


def make(jvm: Jvm, config: wire.Json) -> Task:
    extension = wire.get_extension(config, EXTENSIONS)
    outputs = wire.get_at_least(config, "outputs", 0)
    return Task(jvm, wire.get_at_least(config, "operators", 1), outputs, extension)
