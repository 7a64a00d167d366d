"""A task and its thread, TASK-1 … TASK-5, TASK-7 … TASK-14.

The thread works off `plan`, a list of what is still to do; whoever interferes only changes `state`, and the thread
finds out when it comes for the next entry.
"""

from tidegate.conformance.engines import wire

_NOT_OURS = ("scheduled", "reconciling")
_TERMINAL = ("finished", "canceled", "failed")
EXTENSIONS = ("invokable", "final_checkpoint")
_REPLIES = ("taken", "refused", "failed", "closing")
_PREPARATION = ("load_code", "register_network", "copy_files", "build_environment", "instantiate")
_UNCHECKED = ("load_code", "copy_files", "instantiate", "clean_up")


class Task:
    def __init__(self, config: wire.Json, host: wire.Host) -> None:
        self.bug = host.bug
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
        self.plan = self.make_plan()
        self.doing = ""
        self.started = False
        self.over = False
        self.data_ended = False
        #: The outputs that were acknowledged, each as often as it was.
        self.acknowledged: list[int] = []

    def make_plan(self) -> list[str]:
        preparation = list(_PREPARATION)
        if self.bug == "task-registers-outputs-last":
            preparation.append(preparation.pop(1))
        elif self.bug == "task-code-before-environment":
            preparation[3:] = preparation[:2:-1]
        cleaning = ["clean_up"] if self.has_code else []
        return [*preparation, "restore", "invoke", *cleaning, "finish_partitions"]

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
                runs = self.state in {"initializing", "running"} or self.bug == "task-held-up-before-it-runs"
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
        return self.is_invoked() and (self.state == "running" or self.bug == "task-late-checkpoints-taken")

    def begin(self, number: int, *, stops: bool) -> wire.Observations:
        bug = self.bug
        if stops:
            if self.stop not in {None, number} and bug != "task-stops-twice":
                return wire.rejected()
            self.stop = number
        is_behind = self.data_ended or bug == "task-checkpoint-before-the-end-counts"
        if is_behind and (self.behind is None or bug == "task-newest-checkpoint-awaited"):
            self.behind = number
        return []

    def complete(self, number: int) -> wire.Observations:
        bug = self.bug
        if number <= self.latest and bug != "task-old-news-heard":
            return []
        self.latest = number
        if self.stop is not None and bug != "task-any-checkpoint-stops":
            safe = number >= self.stop if bug == "task-later-checkpoint-stops" else number == self.stop
        elif self.behind is None:
            safe = False
        else:
            safe = number == self.behind if bug == "task-later-checkpoint-not-enough" else number >= self.behind
        if bug == "task-any-complete-checkpoint-is-enough":
            safe = self.data_ended
        self.is_safe = self.is_safe or safe
        return []

    def give_up(self, number: int, latest: int) -> wire.Observations:
        if latest > 0 and self.bug != "task-lost-word-stays-lost":
            self.complete(latest)
        if number == self.stop and self.bug != "task-failed-stop-goes-on":
            return self.end(cancelled=self.bug == "task-failed-stop-cancels", code=self.doing)
        return []

    def on_trigger(self, reply: str) -> wire.Observations:
        if self.state != "running" and self.bug != "task-takes-checkpoints-early":
            return [{"type": "declined", "reason": "not_ready"}]
        if reply == "taken" or (reply == "refused" and self.bug == "task-refusal-unsaid"):
            return []
        return [{"type": "declined", "reason": "closing" if reply == "closing" else "failure"}]

    def is_alive(self) -> bool:
        return self.started and (not self.over or self.bug == "task-thread-outlives-its-end")

    def is_invoked(self) -> bool:
        if self.bug == "task-data-ends-before-invocation":
            return self.is_alive() and self.doing in {"restore", "invoke"}
        return self.is_alive() and self.doing == "invoke" and not self.cleaning

    def on_start(self) -> wire.Observations:
        bug = self.bug
        if self.over or (self.started and bug != "task-thread-starts-twice"):
            return wire.rejected()
        if self.state == "created" or (self.state == "canceling" and bug == "task-canceled-task-is-started"):
            self.started = True
            return self.change("deploying")
        if self.started:
            return []
        self.over = True
        if self.state == "failed":
            return [{"type": "final", "state": "failed"}]
        out = self.change("canceled")
        if bug == "task-canceled-before-start-unreported":
            return out
        return [*out, {"type": "final", "state": "canceled"}]

    def change(self, state: str) -> wire.Observations:
        self.state = state
        return [{"type": "state", "state": state}]

    def end_cleaning(self, *, failed: bool) -> wire.Observations:
        self.cleaning, self.over = False, True
        if failed and self.bug == "task-cleaning-failure-counts":
            self.state = "failed"
        done: wire.Observations = [] if failed else [{"type": "step", "name": "clean_up"}]
        return [*done, *self.tell(), *self.release(), {"type": "final", "state": self.state}]

    def tell(self) -> wire.Observations:
        """Code that met an exception is told to stop in the end, unless it was told before."""
        untold, self.untold = self.untold, False
        return [{"type": "cancel_invokable"}] if untold and self.bug != "task-thrown-code-not-told" else []

    def release(self) -> wire.Observations:
        built = self.has_code and self.has_instance
        if self.bug == "task-writer-closed-without-code":
            built = self.has_code and "build_environment" not in self.plan
        if self.bug == "task-writer-stays-open" and self.state != "finished":
            built = False
        return [{"type": "writer_closed"}, {"type": "released"}] if built else [{"type": "released"}]

    def on_proceed(self) -> wire.Observations:
        bug = self.bug
        if self.cleaning:
            return self.end_cleaning(failed=False)
        self.has_instance = self.has_instance or self.doing == "instantiate"
        unwanted = {"canceling", "failed"}
        if bug == "task-failed-thread-goes-on":
            unwanted.discard("failed")
        elif bug == "task-canceled-thread-goes-on" and self.plan[:1] != ["invoke"]:
            unwanted.discard("canceling")
        unchecked = ("clean_up",) if bug == "task-looks-before-each-step" else _UNCHECKED
        if self.state in unwanted and (not self.plan or self.plan[0] not in unchecked):
            return self.end(cancelled=True, code=self.plan[0] if self.plan else "")
        if not self.plan:
            return self.finish()
        leaves = self.plan[0] == "clean_up" and self.state == "running"
        if (self.plan[0] == "finish_partitions" or leaves) and not self.may_end_partitions():
            return wire.rejected()
        self.doing = self.plan.pop(0)
        out: wire.Observations = []
        if self.doing == "restore" and bug != "task-never-initializing":
            out = self.change("initializing")
        elif self.doing == "invoke":
            out = self.change("running")
        out.append({"type": "step", "name": self.doing})
        if bug == "task-running-after-invocation" and len(out) > 1:
            out.reverse()
        if self.doing == "finish_partitions":
            out += [{"type": "end_of_partition", "output": output} for output in range(self.outputs)]
        return out

    def may_end_partitions(self) -> bool:
        bug = self.bug
        if self.waits and not self.is_safe and bug != "task-last-checkpoint-not-awaited":
            return False
        if not self.data_ended:
            return bug == "task-ends-without-end-of-data" and not self.outputs
        if bug == "task-ends-unacknowledged":
            return True
        if bug == "task-first-acknowledgement-is-enough":
            return bool(self.acknowledged) or not self.outputs
        return len(self.acknowledged) >= self.outputs

    def finish(self) -> wire.Observations:
        self.over = True
        out = [*self.change("finished"), *self.release(), {"type": "final", "state": "finished"}]
        if self.bug == "task-final-before-release":
            out[1:] = out[:0:-1]
        return out

    def end(self, *, cancelled: bool, code: str) -> wire.Observations:
        """The thread ends before its time, by an exception or because the task is not wanted any more.

        Code that is to restore or to be invoked, or is about it, cleans up.
        """
        bug, before = self.bug, self.state
        self.untold = before in {"initializing", "running"}
        self.cleaning = self.has_code and code in {"restore", "invoke"} and bug != "task-failed-code-not-cleaned"
        self.over = not self.cleaning
        target = "failed"
        if before == "canceling":
            target = "canceled" if cancelled or bug != "task-error-while-canceling-fails" else "failed"
        elif before == "failed":
            target = "canceled" if cancelled and bug == "task-failed-becomes-canceled" else "failed"
        elif cancelled and bug != "task-cancellation-exception-fails":
            target = "canceled"
        out = [] if target == before else self.change(target)
        if bug == "task-failed-state-said-again" and target == before:
            out = self.change(target)
        if self.cleaning:
            return out
        out += self.tell()
        if bug != "task-failure-keeps-resources" or target != "failed":
            out += self.release()
        return [*out, {"type": "final", "state": target}]

    def is_settled(self, state: str, target: str) -> bool:
        if state == "canceling":
            return self.bug != "task-fails-while-canceling" or target != "failed"
        if state == "finished":
            return self.bug != "task-finished-may-fail" or target != "failed"
        return state in _TERMINAL

    def on_interference(self, seen: str, target: str) -> wire.Observations:
        bug = self.bug
        if seen in _NOT_OURS and bug != "task-scheduled-here":
            return wire.rejected()
        if self.is_settled(seen, target):
            return []
        lost: wire.Observations = [] if seen == self.state else [{"type": "lost", "state": self.state}]
        if bug == "task-changes-without-comparing":
            lost = []
        if self.is_settled(self.state, target) or (lost and bug == "task-loser-gives-up"):
            return lost
        told = {"initializing", "running"}
        if bug == "task-restoring-code-not-told":
            told.remove("initializing")
        elif bug == "task-failed-code-not-told" and target == "failed":
            told.clear()
        before = self.state
        out = [*lost, *self.change(target)]
        return [*out, {"type": "cancel_invokable"}] if before in told else out

    def on_end_of_data(self, *, drain: bool) -> wire.Observations:
        bug = self.bug
        if self.data_ended and bug != "task-data-ends-twice":
            return wire.rejected()
        self.data_ended = True
        finished: wire.Observations = []
        if drain or bug == "task-stop-finishes-operators":
            finished = [{"type": "finish", "operator": operator} for operator in range(self.operators)]
            if bug == "task-finishes-tail-first":
                finished.reverse()
            if drain and bug != "task-drains-without-last-watermark":
                place = len(finished) if bug == "task-last-watermark-after-finish" else 0
                finished.insert(place, {"type": "watermark", "timestamp": str(wire.HIGHEST)})
        ends: wire.Observations = [
            {"type": "end_of_data", "output": output, "drain": drain or bug == "task-stop-says-drain"}
            for output in range(self.outputs)
            if self.state == "running" or bug == "task-sends-on-outputs-that-are-gone"
        ]
        return ends + finished if bug == "task-ends-data-before-finish" else finished + ends

    def on_acknowledge(self, output: int) -> wire.Observations:
        bug = self.bug
        if not self.data_ended and bug != "task-acknowledged-in-advance":
            return wire.rejected()
        if not 0 <= output < self.outputs:
            return wire.rejected()
        if output in self.acknowledged and bug != "task-acknowledgements-counted":
            return wire.rejected()
        self.acknowledged.append(output)
        return []


make = Task
