"""The barrier handler: `SingleCheckpointBarrierHandler` and `CheckpointBarrierTracker`.

The adapter is their surroundings: channels that can be blocked, a task that is triggered, a clock that only events
advance, and a timer on that clock. A channel that has ended delivers nothing, and after a close nothing is read:
both are refused here. A timer that a close cancels still fires, as if it had been in flight. The handler keeps
channels in hash maps; those that it resumes or lets overtake together are shown in ascending order.
"""

from functools import cache
from itertools import groupby
from typing import Any

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.flink.adapters.buffer_parts import NETWORK, events_of
from tidegate.conformance.engines.flink.jvm import Jvm

CHECKPOINTING = "org.apache.flink.streaming.runtime.io.checkpointing."
HANDLER = f"{CHECKPOINTING}SingleCheckpointBarrierHandler"
TRACKER = f"{CHECKPOINTING}CheckpointBarrierTracker"
TIMER = f"{CHECKPOINTING}BarrierAlignmentUtil$DelayableTimer"
KINDS = ("aligned", "at_least_once", "unaligned", "alternating")
REASONS = {
    "CHECKPOINT_DECLINED_SUBSUMED": "subsumed",
    "CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER": "cancelled",
    "CHECKPOINT_DECLINED_INPUT_END_OF_STREAM": "end_of_partition",
}
EXTENSIONS = ("late_timers", "measures", "closing")
NANOS = 1_000_000
SETS = ("resume", "prioritize")


def declare(jvm: Jvm) -> wire.Json | None:
    """The handler has had its three modes since 1.14."""
    return {"extensions": list(EXTENSIONS)} if jvm.has(HANDLER, "alternating") and jvm.has(TIMER) else None


def make(jvm: Jvm, config: wire.Json) -> "Handler":
    kind = wire.get_choice(config, "kind", KINDS)
    extension = wire.get_extension(config, EXTENSIONS)
    timeout = wire.get_at_least(config, "timeout", 1) if kind == "alternating" else None
    handler = Handler(
        jvm, kind, wire.get_at_least(config, "channels", 1), wire.get_boolean(config, "finished_channels"), timeout
    )
    handler.may_close = extension == "closing"
    return handler


class Surroundings:
    """The task, the input and the timer of a handler, which record its calls."""

    def __init__(self, jvm: Jvm, channels: int) -> None:
        self.jvm = jvm
        self.seen: wire.Observations = []
        self.now = 0
        self.closed = False
        self.metrics: Any = None
        #: calls by their time
        self.timers: dict[int, tuple[int, Any]] = {}
        info = jvm.cls("org.apache.flink.runtime.checkpoint.channel.InputChannelInfo")
        self.channels = [info(0, index) for index in range(channels)]

    def note(self, kind: str, **details: Any) -> None:
        self.seen.append({"type": kind, **details})

    def task(self) -> Any:
        handlers = {
            "triggerCheckpointOnBarrier": self.trigger,
            "abortCheckpointOnBarrier": lambda checkpoint, cause: self.note(
                "abort", checkpoint=str(checkpoint), reason=REASONS[str(cause.getCheckpointFailureReason().name())]
            ),
        }
        return self.jvm.jpype.JProxy("org.apache.flink.runtime.jobgraph.tasks.CheckpointableTask", dict=handlers)

    def trigger(self, meta: Any, options: Any, metrics: Any) -> None:
        self.metrics = metrics
        self.note("trigger", checkpoint=str(meta.getCheckpointId()), aligned=not options.isUnalignedCheckpoint())

    def known_metrics(self) -> wire.Json:
        """The metrics known so far of the checkpoint that was triggered last."""
        if self.metrics is None:
            return {}
        duration, processed = self.metrics.getAlignmentDurationNanos(), self.metrics.getBytesProcessedDuringAlignment()
        known: wire.Json = {}
        if duration.isDone():
            known["duration"] = int(duration.get().longValue()) // NANOS
        if processed.isDone():
            known["bytes"] = int(processed.get().longValue())
        return known

    def input(self) -> Any:
        infos = self.jvm.cls("java.util.ArrayList")(self.channels)
        handlers = {
            "blockConsumption": lambda info: self.note("block", channel=int(info.getInputChannelIdx())),
            "resumeConsumption": lambda info: self.note("resume", channel=int(info.getInputChannelIdx())),
            "getChannelInfos": lambda: infos,
            "getNumberOfInputChannels": lambda: len(self.channels),
            "getInputGateIndex": lambda: 0,
            "checkpointStarted": lambda barrier: self.note("start_persisting", checkpoint=str(barrier.getId())),
            "checkpointStopped": lambda checkpoint: self.note("stop_persisting", checkpoint=str(checkpoint)),
            "convertToPriorityEvent": lambda channel, sequence: self.note(
                "prioritize", channel=int(channel), sequence=int(sequence)
            ),
        }
        return self.jvm.jpype.JProxy(f"{NETWORK}partition.consumer.CheckpointableInput", dict=handlers)

    def timer(self) -> Any:
        return self.jvm.jpype.JProxy(TIMER, dict={"registerTask": self.register})

    def register(self, callback: Any, delay: Any) -> Any:
        number = max(self.timers, default=0) + 1
        self.timers[number] = (self.now + int(delay.toMillis()), callback)

        def cancel() -> None:
            if self.closed:
                return
            self.timers.pop(number, None)

        return self.jvm.jpype.JProxy(f"{CHECKPOINTING}BarrierAlignmentUtil$Cancellable", dict={"cancel": cancel})

    def fire(self) -> None:
        for number, (due, callback) in list(self.timers.items()):
            if due <= self.now and number in self.timers:
                del self.timers[number]
                callback.call()

    def take_seen(self) -> wire.Observations:
        """What was recorded since; sets in ascending order."""
        seen, self.seen = self.seen, []
        grouped: wire.Observations = []
        for kind, group in groupby(seen, key=lambda one: one["type"]):
            grouped += sorted(group, key=lambda one: one["channel"] if kind in SETS else 0)
        return grouped


@cache
def coordinator_of(jvm: Jvm) -> Any:
    """The coordinator hears where channel state begins; what it does then is beyond the handler."""
    interface = "org.apache.flink.streaming.runtime.tasks.SubtaskCheckpointCoordinator"
    names = {str(one.getName()) for one in jvm.cls(interface).class_.getMethods()}

    def nothing(*_arguments: Any) -> None:
        return None

    return jvm.jpype.JProxy(interface, dict=dict.fromkeys(names, nothing))


class Handler:
    def __init__(self, jvm: Jvm, kind: str, channels: int, finished_channels: bool, timeout: int | None) -> None:  # noqa: FBT001
        self.jvm, self.kind, self.events = jvm, kind, events_of(jvm)
        self.around = Surroundings(jvm, channels)
        self.ended: set[int] = set()
        self.may_close = False
        self.clock = jvm.cls("org.apache.flink.util.clock.ManualClock")(0)
        self.duration = jvm.cls("java.time.Duration").ofMillis
        options = jvm.cls("org.apache.flink.runtime.checkpoint.CheckpointOptions")
        self.options = {
            "aligned": self.events.aligned,
            "unaligned": self.events.unaligned,
            "timeout": options.alignedWithTimeout(self.events.checkpoint, self.events.location, timeout or 1),
        }
        task = self.around.task()
        if kind == "at_least_once":
            self.handler = jvm.cls(TRACKER)(channels, task, self.clock, finished_channels)
        else:
            inputs = jvm.jpype.JArray(jvm.cls(f"{NETWORK}partition.consumer.CheckpointableInput"))(
                [self.around.input()]
            )
            coordinator = () if kind == "aligned" else (coordinator_of(jvm),)
            self.handler = getattr(jvm.cls(HANDLER), kind)(
                "task", task, *coordinator, self.clock, channels, self.around.timer(), finished_channels, inputs
            )
        self.handlers = {
            "barrier": self.on_barrier,
            "announcement": self.on_announcement,
            "cancel": self.on_cancel,
            "end_of_partition": self.on_end_of_partition,
        }

    def step(self, event: wire.Json) -> wire.Observations:
        kind = event.get("type", "")
        if kind == "close" and self.may_close:
            self.around.closed = True
            self.handler.close()
            return self.around.take_seen()
        if kind in ("advance", "delay"):
            milliseconds = wire.get_at_least(event, "milliseconds", 0)
            self.clock.advanceTime(self.duration(milliseconds))
            self.around.now += milliseconds
            if kind == "advance":
                self.around.fire()
            return self.around.take_seen()
        if kind == "processed":
            self.handler.addProcessedBytes(wire.get_at_least(event, "bytes", 0))
            return []
        if kind == "measure":
            alignment = int(self.handler.getAlignmentDurationNanos()) // NANOS
            delay = int(self.handler.getCheckpointStartDelayNanos()) // NANOS
            told = {"type": "measured", "alignment": alignment, "start_delay": str(delay)}
            return [told | self.around.known_metrics()]
        handler = self.handlers.get(kind)
        if handler is None:
            raise wire.unknown_type(event)
        channel = wire.get_integer(event, "channel")
        delivers = 0 <= channel < len(self.around.channels) and channel not in self.ended and not self.around.closed
        handler(event, self.around.channels[channel] if delivers else None)
        return self.around.take_seen() if delivers else wire.rejected()

    def on_barrier(self, event: wire.Json, channel: Any) -> None:
        mode = wire.get_choice(event, "mode", tuple(self.options))
        if mode == "unaligned" and self.kind in ("aligned", "at_least_once"):
            raise wire.BadRequestError(f"a handler of kind {self.kind} gets no unaligned barriers")
        barrier = self.events.barrier_class(get_checkpoint(event), wire.get_long(event, "created"), self.options[mode])
        if channel is not None:
            self.handler.processBarrier(barrier, channel, False)

    def on_announcement(self, event: wire.Json, channel: Any) -> None:
        made = self.options["timeout"]
        barrier = self.events.barrier_class(get_checkpoint(event), wire.get_long(event, "created"), made)
        sequence = wire.get_integer(event, "sequence")
        if channel is not None:
            self.handler.processBarrierAnnouncement(barrier, sequence, channel)

    def on_cancel(self, event: wire.Json, channel: Any) -> None:
        marker = self.events.cancel_class(get_checkpoint(event))
        if channel is not None:
            self.handler.processCancellationBarrier(marker, channel)

    def on_end_of_partition(self, event: wire.Json, channel: Any) -> None:
        if channel is not None:
            self.ended.add(wire.get_integer(event, "channel"))
            self.handler.processEndOfPartition(channel)


def get_checkpoint(event: wire.Json) -> int:
    checkpoint = wire.get_long(event, "checkpoint")
    if checkpoint < 0:
        raise wire.BadRequestError(f"checkpoint must not be negative: {checkpoint}")
    return checkpoint
