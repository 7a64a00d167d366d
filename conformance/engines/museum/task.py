"""A task and its thread, TASK-1 … TASK-5, TASK-7 … TASK-14.

The thread works off `plan`, a list of what is still to do; whoever interferes only changes `state`, and the thread
finds out when it comes for the next entry.
"""

from tidegate.conformance.engines import wire
from tidegate.conformance.engines.museum.wrong import changed, wrong

_NOT_OURS = ("scheduled", "reconciling")
EXTENSIONS = ("invokable", "final_checkpoint")
_REPLIES = ("taken", "refused", "failed", "closing")
_UNCHECKED = ("load_code", "copy_files", "instantiate", "clean_up")


class Task:
    preparation = ("load_code", "register_network", "copy_files", "build_environment", "instantiate")

    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.operators = wire.get_at_least(config, "operators", 1)
        self.outputs = wire.get_at_least(config, "outputs", 0)
        extension = wire.get_extension(config, EXTENSIONS)
        self.has_code, self.waits = extension == "invokable", extension == "final_checkpoint"
        #: The checkpoint behind the end of the data, the savepoint that stops the job, the last that is complete.
        self.behind: int | None = None
        self.stop: int | None = None
        self.latest = -1
        self.is_safe = False
        self.cleaning = self.untold = self.has_instance = False
        self.state = "created"
        cleaning = ["clean_up"] if self.has_code else []
        self.plan = [*self.preparation, "restore", "invoke", *cleaning, "finish_partitions"]
        self.doing = ""
        self.started = False
        self.over = False
        self.data_ended = False
        #: The outputs that were acknowledged, each as often as it was.
        self.acknowledged: list[int] = []

    def step(self, event: wire.Json) -> wire.Observations:
        match event.get("type"):
            case "cancel":
                return self.on_interference(wire.get_choice(event, "seen", wire.TASK_STATES), "canceling")
            case "fail":
                return self.on_interference(wire.get_choice(event, "seen", wire.TASK_STATES), "failed")
            case "start":
                return self.on_start()
            case "proceed":
                return self.on_proceed() if self.is_alive() else wire.rejected()
            case "throw":
                cancelled = wire.get_boolean(event, "cancelled")
                if self.is_alive() and self.cleaning:
                    return self.end_cleaning(failed=True)
                return self.end(cancelled=cancelled, code=self.doing) if self.is_alive() else wire.rejected()
            case "end_of_data":
                drain = wire.get_boolean(event, "drain")
                return self.on_end_of_data(drain=drain) if self.is_invoked() else wire.rejected()
            case "acknowledge":
                output = wire.get_integer(event, "output")
                return self.on_acknowledge(output) if self.is_invoked() else wire.rejected()
            case "trigger" if self.has_code:
                return self.on_trigger(wire.get_choice(event, "reply", _REPLIES))
            case "ask_for_room" if self.has_code:
                has_room = wire.get_boolean(event, "has_room")
                runs = self.state in {"initializing", "running"}
                return [{"type": "back_pressured", "value": runs and self.outputs > 0 and not has_room}]
            case "begin_checkpoint" if self.waits:
                number, stops = wire.get_long(event, "checkpoint"), wire.get_boolean(event, "stops")
                return self.begin(number, stops=stops) if self.takes_part() else wire.rejected()
            case "complete_checkpoint" if self.waits:
                number = wire.get_long(event, "checkpoint")
                return self.complete(number) if self.takes_part() else wire.rejected()
            case "abort_checkpoint" if self.waits:
                number, latest = wire.get_long(event, "checkpoint"), wire.get_long(event, "completed")
                return self.give_up(number, latest) if self.takes_part() else wire.rejected()
        raise wire.unknown_type(event)

    def takes_part(self) -> bool:
        return self.is_invoked() and self.state == "running"

    def begin(self, number: int, *, stops: bool) -> wire.Observations:
        if stops:
            if self.stop not in {None, number}:
                return wire.rejected()
            self.stop = number
        if self.data_ended and self.behind is None:
            self.behind = number
        return []

    def complete(self, number: int) -> wire.Observations:
        if number <= self.latest:
            return []
        self.latest = number
        if self.stop is not None:
            safe = number == self.stop
        elif self.behind is None:
            safe = False
        else:
            safe = number >= self.behind
        self.is_safe = self.is_safe or safe
        return []

    def give_up(self, number: int, latest: int) -> wire.Observations:
        if latest > 0:
            self.complete(latest)
        if number == self.stop:
            return self.end(cancelled=False, code=self.doing)
        return []

    def on_trigger(self, reply: str) -> wire.Observations:
        if self.state != "running":
            return [{"type": "declined", "reason": "not_ready"}]
        if reply == "taken":
            return []
        return [{"type": "declined", "reason": "closing" if reply == "closing" else "failure"}]

    def is_alive(self) -> bool:
        return self.started and not self.over

    def is_invoked(self) -> bool:
        return self.is_alive() and self.doing == "invoke" and not self.cleaning

    def on_start(self) -> wire.Observations:
        if self.over or self.started:
            return wire.rejected()
        if self.state == "created":
            self.started = True
            return self.change("deploying")
        self.over = True
        if self.state == "failed":
            return [{"type": "final", "state": "failed"}]
        return [*self.change("canceled"), {"type": "final", "state": "canceled"}]

    def change(self, state: str) -> wire.Observations:
        self.state = state
        return [{"type": "state", "state": state}]

    def end_cleaning(self, *, failed: bool) -> wire.Observations:
        self.cleaning, self.over = False, True
        done: wire.Observations = [] if failed else [{"type": "step", "name": "clean_up"}]
        return [*done, *self.tell(), *self.release(), {"type": "final", "state": self.state}]

    def tell(self) -> wire.Observations:
        """Code that met an exception is told to stop in the end, unless it was told before."""
        untold, self.untold = self.untold, False
        return [{"type": "cancel_invokable"}] if untold else []

    def release(self) -> wire.Observations:
        closed: wire.Observations = [{"type": "writer_closed"}] if self.has_code and self.has_instance else []
        return [*closed, {"type": "released"}]

    def on_proceed(self) -> wire.Observations:
        if self.cleaning:
            return self.end_cleaning(failed=False)
        self.has_instance = self.has_instance or self.doing == "instantiate"
        if self.state in {"canceling", "failed"} and (not self.plan or self.plan[0] not in _UNCHECKED):
            return self.end(cancelled=True, code=self.plan[0] if self.plan else "")
        if not self.plan:
            return self.finish()
        leaves = self.plan[0] == "clean_up" and self.state == "running"
        if (self.plan[0] == "finish_partitions" or leaves) and not self.may_end_partitions():
            return wire.rejected()
        self.doing = self.plan.pop(0)
        out: wire.Observations = []
        if self.doing == "restore":
            out = self.change("initializing")
        elif self.doing == "invoke":
            out = self.change("running")
        out.append({"type": "step", "name": self.doing})
        if self.doing == "finish_partitions":
            out += [{"type": "end_of_partition", "output": output} for output in range(self.outputs)]
        return out

    def may_end_partitions(self) -> bool:
        is_safe = self.is_safe or not self.waits
        return is_safe and self.data_ended and len(self.acknowledged) >= self.outputs

    def finish(self) -> wire.Observations:
        self.over = True
        return [*self.change("finished"), *self.release(), {"type": "final", "state": "finished"}]

    def end(self, *, cancelled: bool, code: str) -> wire.Observations:
        """The thread ends before its time, by an exception or because the task is not wanted any more.

        Code that is to restore or to be invoked, or is about it, cleans up.
        """
        before = self.state
        self.untold = before in {"initializing", "running"}
        self.cleaning = self.has_code and code in {"restore", "invoke"}
        self.over = not self.cleaning
        target = "canceled" if before == "canceling" or (cancelled and before != "failed") else "failed"
        out = [] if target == before else self.change(target)
        if self.cleaning:
            return out
        return [*out, *self.tell(), *self.release(), {"type": "final", "state": target}]

    def on_interference(self, seen: str, target: str) -> wire.Observations:
        if seen in _NOT_OURS:
            return wire.rejected()
        settled = {"canceling", "finished", "canceled", "failed"}
        if seen in settled:
            return []
        lost: wire.Observations = [] if seen == self.state else [{"type": "lost", "state": self.state}]
        if self.state in settled:
            return lost
        told: wire.Observations = [{"type": "cancel_invokable"}] if self.state in {"initializing", "running"} else []
        return [*lost, *self.change(target), *told]

    def on_end_of_data(self, *, drain: bool) -> wire.Observations:
        if self.data_ended:
            return wire.rejected()
        self.data_ended = True
        watermark: wire.Observations = [{"type": "watermark", "timestamp": str(wire.HIGHEST)}]
        finished: wire.Observations = [{"type": "finish", "operator": operator} for operator in range(self.operators)]
        ends: wire.Observations = [
            {"type": "end_of_data", "output": output, "drain": drain}
            for output in range(self.outputs)
            if self.state == "running"
        ]
        return [*watermark, *finished, *ends] if drain else ends

    def on_acknowledge(self, output: int) -> wire.Observations:
        if not self.data_ended or not 0 <= output < self.outputs or output in self.acknowledged:
            return wire.rejected()
        self.acknowledged.append(output)
        return []


make = Task

# --- wrong engines --------------------------------------------------------------------------------------------


@wrong("TASK-1", "TASK-2")
class TaskScheduledHere(Task):
    """The task manager's copy takes a caller seriously who saw it scheduled, a state that it never has."""

    on_interference = changed(Task.on_interference, "seen in _NOT_OURS", "False")


@wrong("TASK-2", "TASK-1")
class TaskFinishedMayFail(Task):
    """A finished task can still be failed from outside."""

    on_interference = changed(
        Task.on_interference, '"finished", "canceled"', '"finished" if target == "canceling" else "failed", "canceled"'
    )


@wrong("TASK-2", "TASK-1")
class TaskFailsWhileCanceling(Task):
    """A failure from outside replaces a cancellation that is under way."""

    on_interference = changed(Task.on_interference, '{"canceling", ', "{target, ")


@wrong("TASK-2", "TASK-1")
class TaskLoserGivesUp(Task):
    """Whoever loses the race for the state does not look again: a cancel that raced with the start is lost."""

    on_interference = changed(Task.on_interference, "self.state in settled", "lost or self.state in settled")


@wrong("TASK-2", "TASK-1")
class TaskChangesWithoutComparing(Task):
    """The state is set without comparing it with what was seen, so nobody notices a lost race."""

    on_interference = changed(
        Task.on_interference, '[] if seen == self.state else [{"type": "lost", "state": self.state}]', "[]"
    )


@wrong("TASK-3")
class TaskThreadStartsTwice(Task):
    """A second start of the thread is accepted, and does nothing."""

    def on_start(self) -> wire.Observations:
        return [] if self.is_alive() else super().on_start()


@wrong("TASK-3")
class TaskCanceledTaskIsStarted(Task):
    """A task that was cancelled before its thread started is deployed all the same."""

    on_start = changed(Task.on_start, 'self.state == "created"', 'self.state in {"created", "canceling"}')


@wrong("TASK-3", "TASK-5")
class TaskCanceledBeforeStartUnreported(Task):
    """The end of a task that was cancelled before its thread started is reported to nobody."""

    on_start = changed(Task.on_start, ', {"type": "final", "state": "canceled"}', "")


@wrong("TASK-3", "TASK-5")
class TaskThreadOutlivesItsEnd(Task):
    """The thread of a task that is over can be made to take another step."""

    def is_alive(self) -> bool:
        return self.started


@wrong("TASK-4")
class TaskRegistersOutputsLast(Task):
    """Outputs are registered with the network after the code was instantiated, right before restoring."""

    preparation = ("load_code", "copy_files", "build_environment", "instantiate", "register_network")


@wrong("TASK-4")
class TaskCodeBeforeEnvironment(Task):
    """The code is instantiated before its environment is built."""

    preparation = ("load_code", "register_network", "copy_files", "instantiate", "build_environment")


@wrong("TASK-4", "TASK-1", origin="Flink 1.5 to 1.12")
class TaskNeverInitializing(Task):
    """State is restored while the task still counts as deploying, as before there was a state for it."""

    on_proceed = changed(Task.on_proceed, 'out = self.change("initializing")', "pass")


@wrong("TASK-4", "TASK-1")
class TaskRunningAfterInvocation(Task):
    """A state is entered after the step that it stands for has begun."""

    on_proceed = changed(Task.on_proceed, "out.append(", "out.insert(0, ")


@wrong("TASK-4", "TASK-5")
class TaskCanceledThreadGoesOn(Task):
    """Only the invocation looks whether the task was cancelled; every other step is taken."""

    on_proceed = changed(
        Task.on_proceed,
        '{"canceling", "failed"}',
        '{"canceling" if self.plan[:1] == ["invoke"] else "failed", "failed"}',
    )


@wrong("TASK-4", "TASK-5")
class TaskFailedThreadGoesOn(Task):
    """A failure from outside does not keep the thread from its next step."""

    on_proceed = changed(Task.on_proceed, '{"canceling", "failed"}', '{"canceling"}')


@wrong("TASK-5")
class TaskErrorWhileCancelingFails(Task):
    """An error that is but the echo of a cancellation makes the task fail."""

    end = changed(Task.end, 'before == "canceling" or ', "")


@wrong("TASK-5")
class TaskCancellationExceptionFails(Task):
    """An exception that says that the task was cancelled counts as a failure unless a cancel was seen before."""

    end = changed(Task.end, ' or (cancelled and before != "failed")', "")


@wrong("TASK-5", "TASK-4")
class TaskFailedBecomesCanceled(Task):
    """A task that was failed from outside ends as canceled."""

    end = changed(Task.end, ' and before != "failed"', "")


@wrong("TASK-5", "TASK-4")
class TaskFailedStateSaidAgain(Task):
    """The end of the thread enters failed a second time."""

    end = changed(Task.end, "[] if target == before else ", "")


@wrong("TASK-5")
class TaskFailureKeepsResources(Task):
    """A task that fails does not give back what it held."""

    end = changed(Task.end, "*self.release()", '*([] if target == "failed" else self.release())')


@wrong("TASK-4", "TASK-5", "TASK-1")
class TaskFinalBeforeRelease(Task):
    """The final state of a finished task is reported before its resources are given back."""

    def finish(self) -> wire.Observations:
        finished, *others = super().finish()
        return [finished, *others[::-1]]


@wrong("TASK-5", "TASK-1")
class TaskRestoringCodeNotTold(Task):
    """Code that is still restoring its state is not told to stop, so a cancel waits for the whole restore."""

    on_interference = changed(Task.on_interference, '{"initializing", "running"}', '{"running"}')


@wrong("TASK-5", "TASK-1")
class TaskFailedCodeNotTold(Task):
    """Only a cancel tells the code to stop; a failure from outside leaves it running."""

    on_interference = changed(
        Task.on_interference, "if self.state in {", 'if target == "canceling" and self.state in {'
    )


@wrong("TASK-7", origin="FLINK-21132")
class TaskStopFinishesOperators(Task):
    """A stop with savepoint finishes the operators as if the input had ended: sinks commit results that are not
    final.
    """

    on_end_of_data = changed(Task.on_end_of_data, "else ends", "else [*finished, *ends]")


@wrong("TASK-7")
class TaskStopSaysDrain(Task):
    """The end of data that goes out without drain says that it is drained."""

    on_end_of_data = changed(Task.on_end_of_data, '"drain": drain', '"drain": True')


@wrong("TASK-7")
class TaskFinishesTailFirst(Task):
    """Operators finish from the tail of the chain to its head."""

    on_end_of_data = changed(Task.on_end_of_data, "range(self.operators)", "reversed(range(self.operators))")


@wrong("TASK-7")
class TaskDrainsWithoutLastWatermark(Task):
    """A drained task does not emit the largest watermark, so windows that are still open never fire."""

    on_end_of_data = changed(Task.on_end_of_data, "*watermark, ", "")


@wrong("TASK-7")
class TaskLastWatermarkAfterFinish(Task):
    """The largest watermark comes after the operators have finished."""

    on_end_of_data = changed(Task.on_end_of_data, "*watermark, *finished", "*finished, *watermark")


@wrong("TASK-7", origin="FLINK-14230")
class TaskEndsDataBeforeFinish(Task):
    """Those behind are told that the data has ended before the operators have emitted what is left."""

    on_end_of_data = changed(Task.on_end_of_data, "*watermark, *finished, *ends", "*ends, *watermark, *finished")


@wrong("TASK-7")
class TaskDataEndsTwice(Task):
    """A second end of data finishes the operators again."""

    on_end_of_data = changed(Task.on_end_of_data, "if self.data_ended:", "if False:")


@wrong("TASK-7")
class TaskDataEndsBeforeInvocation(Task):
    """Data may end while the state is being restored."""

    def is_invoked(self) -> bool:
        return self.is_alive() and self.doing in {"restore", "invoke"}


@wrong("TASK-8", "TASK-7", "TASK-4")
class TaskEndsWithoutEndOfData(Task):
    """A task without outputs is left before its data has ended, for there is nobody to wait for."""

    may_end_partitions = changed(Task.may_end_partitions, "self.data_ended", "(self.data_ended or not self.outputs)")


@wrong("TASK-8", "TASK-7", "TASK-4")
class TaskEndsUnacknowledged(Task):
    """Partitions end without waiting for the consumers, as a release before the last checkpoint of all tasks
    would.
    """

    may_end_partitions = changed(Task.may_end_partitions, " and len(self.acknowledged) >= self.outputs", "")


@wrong("TASK-8", "TASK-7", "TASK-4")
class TaskFirstAcknowledgementIsEnough(Task):
    """Partitions end as soon as the consumers of one output have acknowledged."""

    may_end_partitions = changed(
        Task.may_end_partitions,
        "len(self.acknowledged) >= self.outputs",
        "len(self.acknowledged) >= min(self.outputs, 1)",
    )


@wrong("TASK-8", "TASK-7", "TASK-4")
class TaskAcknowledgementsCounted(Task):
    """Acknowledgements are counted without looking whose they are, so one output may stand for two."""

    on_acknowledge = changed(Task.on_acknowledge, " or output in self.acknowledged", "")


@wrong("TASK-8")
class TaskAcknowledgedInAdvance(Task):
    """An output may be acknowledged before its data has ended."""

    on_acknowledge = changed(Task.on_acknowledge, "not self.data_ended or ", "")


@wrong("TASK-9")
class TaskTakesCheckpointsEarly(Task):
    """A task takes checkpoints before it runs."""

    on_trigger = changed(Task.on_trigger, 'self.state != "running"', "False")


@wrong("TASK-9")
class TaskRefusalUnsaid(Task):
    """A checkpoint that the code refuses is not declined, and everybody waits for it."""

    on_trigger = changed(Task.on_trigger, 'reply == "taken"', 'reply in {"taken", "refused"}')


@wrong("TASK-10")
class TaskHeldUpBeforeItRuns(Task):
    """A task without room is held up before it runs."""

    step = changed(Task.step, 'self.state in {"initializing", "running"}', "True")


@wrong("TASK-11")
class TaskFailedCodeNotCleaned(Task):
    """Code that has failed is not cleaned up."""

    end = changed(Task.end, 'self.has_code and code in {"restore", "invoke"}', "False")


@wrong("TASK-11")
class TaskCleaningFailureCounts(Task):
    """A failure while cleaning up after a cancellation fails the task."""

    def end_cleaning(self, *, failed: bool) -> wire.Observations:
        if failed:
            self.state = "failed"
        return super().end_cleaning(failed=failed)


@wrong("TASK-12")
class TaskWriterStaysOpen(Task):
    """The writer of channel state is only closed when the task has finished."""

    release = changed(Task.release, "self.has_instance", 'self.has_instance and self.state == "finished"')


@wrong("TASK-4", "TASK-5")
class TaskLooksBeforeEachStep(Task):
    """A task that was cancelled or has failed takes no further step, also where nobody looks."""

    on_proceed = changed(Task.on_proceed, "_UNCHECKED", '("clean_up",)')


@wrong("TASK-5", "TASK-11")
class TaskThrownCodeNotTold(Task):
    """Code that met an exception is not told to stop."""

    def tell(self) -> wire.Observations:
        return []


@wrong("TASK-12", "TASK-5")
class TaskWriterClosedWithoutCode(Task):
    """The writer of channel state is closed as soon as there is an environment, although nobody has got it yet."""

    release = changed(Task.release, "self.has_instance", '"build_environment" not in self.plan')


@wrong("TASK-7")
class TaskSendsOnOutputsThatAreGone(Task):
    """A task that was cancelled while it ran still ends its data on its outputs."""

    on_end_of_data = changed(Task.on_end_of_data, 'self.state == "running"', "True")


@wrong("TASK-13")
class TaskLastCheckpointNotAwaited(Task):
    """A task ends when its data was processed, and what its sink prepared in the end is never committed."""

    may_end_partitions = changed(Task.may_end_partitions, "is_safe and ", "")


@wrong("TASK-13")
class TaskAnyCompleteCheckpointIsEnough(Task):
    """A checkpoint that was begun before the end of the data is taken for the last."""

    complete = changed(Task.complete, "self.is_safe or safe", "self.is_safe or self.data_ended")


@wrong("TASK-13")
class TaskCheckpointBeforeTheEndCounts(Task):
    """The first checkpoint of all is awaited, and not the first behind the end."""

    begin = changed(Task.begin, "self.data_ended and ", "")


@wrong("TASK-13")
class TaskNewestCheckpointAwaited(Task):
    """With each checkpoint that begins, the task waits for that one."""

    begin = changed(Task.begin, " and self.behind is None", "")


@wrong("TASK-13")
class TaskLaterCheckpointNotEnough(Task):
    """Only the first checkpoint behind the end counts; if it was given up, the task waits for ever."""

    complete = changed(Task.complete, "number >= self.behind", "number == self.behind")


@wrong("TASK-13")
class TaskOldNewsHeard(Task):
    """A word that came late is taken for news."""

    complete = changed(Task.complete, "number <= self.latest", "False")


@wrong("TASK-13")
class TaskLateCheckpointsTaken(Task):
    """A task that is being cancelled takes part in checkpoints."""

    def takes_part(self) -> bool:
        return self.is_invoked()


@wrong("TASK-14")
class TaskAnyCheckpointStops(Task):
    """A job that is to stop with a savepoint stops with any checkpoint."""

    complete = changed(Task.complete, "self.stop is not None", "False")


@wrong("TASK-14")
class TaskLaterCheckpointStops(Task):
    """A job that is to stop with a savepoint stops with a later checkpoint."""

    complete = changed(Task.complete, "number == self.stop", "number >= self.stop")


@wrong("TASK-14")
class TaskStopsTwice(Task):
    """A second savepoint takes the place of the first."""

    begin = changed(Task.begin, "self.stop not in {None, number}", "False")


@wrong("TASK-14")
class TaskFailedStopGoesOn(Task):
    """A savepoint with which the job was to stop is given up, and the task waits for ever."""

    give_up = changed(Task.give_up, "number == self.stop", "False")


@wrong("TASK-14")
class TaskFailedStopCancels(Task):
    """A task whose savepoint was given up is taken for cancelled."""

    give_up = changed(Task.give_up, "cancelled=False", "cancelled=True")


@wrong("TASK-13")
class TaskLostWordStaysLost(Task):
    """Nobody listens to which checkpoint was complete when another is given up."""

    give_up = changed(Task.give_up, "latest > 0", "False")
