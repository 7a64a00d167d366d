"""What the task does: where it starts, and what each event leads to."""

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import MAX, Watermark
from tidegate.reference.model import InvalidInputError, Outcome, rejected
from tidegate.reference.task import final_checkpoint, values
from tidegate.reference.task.execution_states import TERMINAL, TaskState, compute_followers
from tidegate.reference.task.values import (
    CLEAN_UP,
    FINAL,
    INVOKABLE,
    STEPS,
    Config,
    Event,
    Observation,
    Reason,
    Reply,
    State,
)

#: Steps that are taken whatever has become of the task: nobody looks before them.
UNCHECKED = ("load_code", "copy_files", "instantiate", CLEAN_UP)
RUNS = (TaskState.INITIALIZING, TaskState.RUNNING)
ENTERED = {"restore": TaskState.INITIALIZING, "invoke": TaskState.RUNNING}

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Created; its thread has not started."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------

Outcomes = tuple[Outcome[State, Observation], ...]


def steps_of(config: Config) -> tuple[str, ...]:
    """Code that has returned cleans up before its partitions are finished."""
    return (*STEPS[:-1], CLEAN_UP, STEPS[-1]) if config.extension == INVOKABLE else STEPS


def step(state: State, event: Event) -> Outcomes:
    if isinstance(event, values.OfInvokable):
        if state.config.extension != INVOKABLE:
            raise InvalidInputError(f"{event.type} belongs to the extension {INVOKABLE}")
        return (on_trigger(state, event) if isinstance(event, values.TriggerCheckpoint) else on_room(state, event),)
    if isinstance(event, values.OfFinal):
        if state.config.extension != FINAL:
            raise InvalidInputError(f"{event.type} belongs to the extension {FINAL}")
        return on_checkpoint(state, event)
    if isinstance(event, values.Cancel):
        return on_interference(state, event.seen, TaskState.CANCELING)
    if isinstance(event, values.FailExternally):
        return on_interference(state, event.seen, TaskState.FAILED)
    if isinstance(event, values.Start):
        return on_start(state)
    if state.steps is None or state.over:
        return rejected(state, "TASK-3")
    if isinstance(event, values.Throw | values.Proceed) and state.cleaning:
        return (finish_cleaning(state, has_failed=isinstance(event, values.Throw)),)
    doing = steps_of(state.config)[state.steps - 1 : state.steps]
    if isinstance(event, values.Throw):
        cleans = doing in (("restore",), ("invoke",))
        return (end_thread(state, cancelled=event.cancelled, cleans=cleans, completed=state.steps - 1),)
    if isinstance(event, values.Proceed):
        return on_proceed(state, state.steps)
    if doing != ("invoke",) or state.cleaning:
        return rejected(state, "TASK-7")
    return (
        on_end_of_data(state, event.drain)
        if isinstance(event, values.EndOfData)
        else on_acknowledge(state, event.output)
    )


def on_start(state: State) -> Outcomes:
    if state.steps is not None or state.over:
        return rejected(state, "TASK-3")
    if state.state is TaskState.CREATED:
        begun = attrs.evolve(state, state=TaskState.DEPLOYING, steps=0)
        return (Outcome(begun, (values.Changed(TaskState.DEPLOYING),), ("TASK-3", "TASK-1")),)
    if state.state is TaskState.FAILED:
        return (Outcome(attrs.evolve(state, over=True), (values.Reported(TaskState.FAILED),), ("TASK-3",)),)
    over = attrs.evolve(state, state=TaskState.CANCELED, over=True)
    return (Outcome(over, (values.Changed(TaskState.CANCELED), values.Reported(TaskState.CANCELED)), ("TASK-3",)),)


def on_trigger(state: State, event: values.TriggerCheckpoint) -> Outcome[State, Observation]:
    if state.state is not TaskState.RUNNING:
        return Outcome(state, (values.CheckpointDeclined(Reason.NOT_READY),), ("TASK-9",))
    if event.reply is Reply.TAKEN:
        return Outcome(state, (), ("TASK-9",))
    reason = Reason.CLOSING if event.reply is Reply.CLOSING else Reason.FAILURE
    return Outcome(state, (values.CheckpointDeclined(reason),), ("TASK-9",))


def on_room(state: State, event: values.AskForRoom) -> Outcome[State, Observation]:
    held_up = state.state in RUNS and state.config.outputs > 0 and not event.has_room
    return Outcome(state, (values.BackPressured(held_up),), ("TASK-10",))


def on_checkpoint(state: State, event: values.OfFinal) -> Outcomes:
    """TASK-13, TASK-14: only a task that is running, and whose code is invoked, takes part in checkpoints."""
    if (
        state.steps is None
        or STEPS[state.steps - 1 : state.steps] != ("invoke",)
        or state.state is not TaskState.RUNNING
    ):
        return rejected(state, "TASK-13")
    known = state.checkpoints
    rule = "TASK-13" if known.savepoint is None else "TASK-14"
    match event:
        case values.BeginCheckpoint():
            begun = final_checkpoint.begin(known, event, data_ended=state.data_ended)
            if begun is None:
                return rejected(state, "TASK-14")
            return (Outcome(attrs.evolve(state, checkpoints=begun), (), ("TASK-14" if event.stops else rule,)),)
        case values.CompleteCheckpoint(checkpoint):
            told = attrs.evolve(state, checkpoints=final_checkpoint.complete(known, checkpoint))
        case values.AbortCheckpoint(checkpoint):
            told = attrs.evolve(state, checkpoints=final_checkpoint.abort(known, event))
            if checkpoint == known.savepoint:
                return (end_thread(told, cancelled=False, cleans=True, completed=state.steps - 1, rules=("TASK-14",)),)
    return (Outcome(told, (), (rule,)),)


def on_proceed(state: State, steps: int) -> Outcomes:
    plan = steps_of(state.config)
    upcoming = plan[steps] if steps < len(plan) else ""
    if state.state in (TaskState.CANCELING, TaskState.FAILED) and upcoming not in UNCHECKED:
        cleans = upcoming in ("restore", "invoke")
        return (end_thread(state, cancelled=True, cleans=cleans, completed=steps, rules=("TASK-4",)),)
    if steps == len(plan):
        finished = attrs.evolve(state, state=TaskState.FINISHED, over=True)
        released = release(state.config, steps)
        seen = (values.Changed(TaskState.FINISHED), *released, values.Reported(TaskState.FINISHED))
        return (Outcome(finished, seen, ("TASK-4", "TASK-1", *rules_of_ends(released))),)
    name = plan[steps]
    if name == CLEAN_UP and not is_acknowledged(state) and state.state is TaskState.RUNNING:
        return rejected(state, "TASK-8")
    taken = attrs.evolve(state, steps=steps + 1, state=ENTERED.get(name, state.state))
    if name == "finish_partitions":
        if not is_acknowledged(state):
            return rejected(state, "TASK-8")
        if not final_checkpoint.is_final(state):
            return rejected(state, "TASK-13")
        ends = tuple(values.PartitionEnded(output) for output in range(state.config.outputs))
        return (Outcome(taken, (values.StepTaken(name), *ends), ("TASK-4", "TASK-7")),)
    if name in ENTERED:
        return (Outcome(taken, (values.Changed(ENTERED[name]), values.StepTaken(name)), ("TASK-4", "TASK-1")),)
    return (Outcome(taken, (values.StepTaken(name),), ("TASK-11", "TASK-4") if name == CLEAN_UP else ("TASK-4",)),)


def is_acknowledged(state: State) -> bool:
    return state.data_ended and len(state.acknowledged) == state.config.outputs


def release(config: Config, completed: int) -> tuple[Observation, ...]:
    """TASK-12: a task whose code was instantiated closes the writer of channel state, however it ends."""
    closes = completed > STEPS.index("instantiate") and config.extension == INVOKABLE
    return (values.WriterClosed(), values.Released()) if closes else (values.Released(),)


def rules_of_ends(released: tuple[Observation, ...]) -> tuple[str, ...]:
    return ("TASK-12",) if values.WriterClosed() in released else ()


def finish_cleaning(state: State, *, has_failed: bool) -> Outcome[State, Observation]:
    """TASK-11: nothing that happens while the code cleans up changes the end of its task."""
    cleaned = () if has_failed else (values.StepTaken(CLEAN_UP),)
    told = (values.InvokableCancelled(),) if state.untold else ()
    over = attrs.evolve(state, cleaning=False, untold=False, over=True)
    seen = (*cleaned, *told, *release(state.config, len(STEPS)), values.Reported(state.state))
    return Outcome(over, seen, ("TASK-11", "TASK-5", "TASK-12"))


def end_thread(
    state: State, *, cancelled: bool, cleans: bool, completed: int, rules: tuple[str, ...] = ()
) -> Outcome[State, Observation]:
    """TASK-5: what an exception makes of the task. Code that has begun is told to stop, unless it was told before."""
    if state.state is TaskState.FAILED:
        target = TaskState.FAILED
    elif state.state is TaskState.CANCELING or cancelled:
        target = TaskState.CANCELED
    else:
        target = TaskState.FAILED
    changed = () if target is state.state else (values.Changed(target),)
    untold = state.state in RUNS
    if cleans and state.config.extension == INVOKABLE:
        cleaning = attrs.evolve(state, state=target, cleaning=True, untold=untold)
        return Outcome(cleaning, changed, ("TASK-11", "TASK-5", *rules))
    told = (values.InvokableCancelled(),) if untold else ()
    released = release(state.config, completed)
    over = attrs.evolve(state, state=target, over=True)
    return Outcome(
        over, (*changed, *told, *released, values.Reported(target)), ("TASK-5", *rules, *rules_of_ends(released))
    )


def on_interference(state: State, seen: TaskState, target: TaskState) -> Outcomes:
    """TASK-2: who loses looks again. Nothing is left to do once the task is over, or being cancelled."""
    if seen in (TaskState.SCHEDULED, TaskState.RECONCILING):
        return rejected(state, "TASK-1")
    if is_settled(seen):
        return (Outcome(state, (), ("TASK-2", "TASK-1")),)
    lost = () if seen is state.state else (values.Lost(state.state),)
    if is_settled(state.state):
        return (Outcome(state, lost, ("TASK-2", "TASK-1")),)
    changed = attrs.evolve(state, state=target)
    rules = ("TASK-2", "TASK-1") if lost else ("TASK-1",)
    if state.state in RUNS:
        return (Outcome(changed, (*lost, values.Changed(target), values.InvokableCancelled()), (*rules, "TASK-5")),)
    return (Outcome(changed, (*lost, values.Changed(target)), rules),)


def is_settled(state: TaskState) -> bool:
    return state in TERMINAL or state is TaskState.CANCELING


def on_end_of_data(state: State, drain: bool) -> Outcomes:  # noqa: FBT001 - as the event says
    if state.data_ended:
        return rejected(state, "TASK-7")
    operators = tuple(values.OperatorFinished(operator) for operator in range(state.config.operators))
    computed: tuple[Observation, ...] = (Watermark(MAX), *operators) if drain else ()
    # The outputs of a task that was cancelled or has failed while it ran are gone.
    outputs = state.config.outputs if state.state is TaskState.RUNNING else 0
    ends = tuple(values.DataEnded(output, drain) for output in range(outputs))
    return (Outcome(attrs.evolve(state, data_ended=True), computed + ends, ("TASK-7",)),)


def on_acknowledge(state: State, output: int) -> Outcomes:
    if not state.data_ended or not 0 <= output < state.config.outputs or output in state.acknowledged:
        return rejected(state, "TASK-8")
    return (Outcome(attrs.evolve(state, acknowledged=state.acknowledged | {output}), (), ("TASK-8",)),)


# --- claims ---------------------------------------------------------------------------------------------------

Seen = Outcome[State, Observation]


@always("TASK-1")
def changes_follow_the_table(before: State, _event: Event, outcome: Seen) -> bool:
    """Every change of state is one that may follow."""
    state = before.state
    for seen in outcome.observations:
        if isinstance(seen, values.Changed):
            if seen.state not in compute_followers(state):
                return False
            state = seen.state
    return state is outcome.state.state


@always("TASK-2")
def terminal_is_final(before: State, _event: Event, outcome: Seen) -> bool:
    """A terminal state never changes."""
    return before.state not in TERMINAL or outcome.state.state is before.state


@always("TASK-5")
def reported_once(before: State, _event: Event, outcome: Seen) -> bool:
    """The final state is reported once, when the thread ends."""
    reports = [seen.state for seen in outcome.observations if isinstance(seen, values.Reported)]
    ends = outcome.state.over and not before.over
    return reports == ([outcome.state.state] if ends else []) and (not ends or outcome.state.state in TERMINAL)


@always("TASK-5", "TASK-4")
def released_always(before: State, _event: Event, outcome: Seen) -> bool:
    """However the thread ends, what it held is released."""
    ends = outcome.state.over and not before.over and before.steps is not None
    return (values.Released() in outcome.observations) == ends


@always("TASK-7", "TASK-8")
def output_ends_in_order(before: State, _event: Event, outcome: Seen) -> bool:
    """A partition ends after its data, and after its consumers have acknowledged that."""
    ended = any(isinstance(seen, values.PartitionEnded) for seen in outcome.observations)
    return not ended or (before.data_ended and len(before.acknowledged) == before.config.outputs)


@always("TASK-13", "TASK-14")
def the_last_checkpoint_is_complete(before: State, _event: Event, outcome: Seen) -> bool:
    """A task that waits for its last checkpoint ends its partitions when that is complete, and not before."""
    ends = values.StepTaken("finish_partitions") in outcome.observations and before.config.extension == FINAL
    return not ends or before.checkpoints.is_final


@always("TASK-13", "TASK-14")
def what_came_before_the_end_is_not_enough(before: State, _event: Event, outcome: Seen) -> bool:
    """The last checkpoint was begun behind the end of the data, or is the savepoint with which the job stops."""
    known, was_final = outcome.state.checkpoints, before.checkpoints.is_final
    if known.is_final == was_final:
        return True
    if known.savepoint is not None:
        return known.is_final and known.completed == known.savepoint
    return known.is_final and before.data_ended and known.first is not None and known.first <= known.completed


@sometimes("TASK-13")
def an_earlier_checkpoint_is_not_enough(before: State, event: Event, outcome: Seen) -> bool:
    """A task whose data has ended hears of a checkpoint that was begun before, and still waits."""
    is_told = isinstance(event, values.CompleteCheckpoint) and outcome.state != before
    first = before.checkpoints.first
    return is_told and before.data_ended and first is not None and not outcome.state.checkpoints.is_final


@sometimes("TASK-14")
def a_stop_fails(before: State, event: Event, outcome: Seen) -> bool:
    """A savepoint with which the job was to stop is given up, and the task fails."""
    return isinstance(event, values.AbortCheckpoint) and outcome.state.state is not before.state


@always("TASK-7")
def only_drain_ends_time(_before: State, event: Event, outcome: Seen) -> bool:
    """Only an end of data with drain ends event time and finishes operators."""
    drained = isinstance(event, values.EndOfData) and event.drain
    shown = [seen for seen in outcome.observations if isinstance(seen, Watermark | values.OperatorFinished)]
    return drained or not shown


@always("TASK-12")
def the_writer_is_closed_once(before: State, _event: Event, outcome: Seen) -> bool:
    """Whoever closes the writer of channel state is over then, and had not been before."""
    closed = outcome.observations.count(values.WriterClosed())
    return closed == 0 or (closed == 1 and outcome.state.over and not before.over)


@sometimes("TASK-11")
def somebody_interferes_while_the_code_cleans_up(before: State, event: Event, outcome: Seen) -> bool:
    """A task that failed is cancelled while it cleans up, and stays failed."""
    return before.cleaning and isinstance(event, values.Cancel) and outcome.state.state is TaskState.FAILED


@sometimes("TASK-9")
def a_checkpoint_is_declined(_before: State, _event: Event, outcome: Seen) -> bool:
    """A checkpoint is asked for too early or too late."""
    return any(isinstance(seen, values.CheckpointDeclined) for seen in outcome.observations)


@sometimes("TASK-2")
def a_race_is_lost(_before: State, _event: Event, outcome: Seen) -> bool:
    """Whoever wants to change the state saw one that is no longer so."""
    return any(isinstance(seen, values.Lost) for seen in outcome.observations)


@sometimes("TASK-7", "TASK-8")
def a_task_with_outputs_finishes(before: State, _event: Event, outcome: Seen) -> bool:
    """A task whose outputs were acknowledged reports that it has finished."""
    return before.config.outputs > 0 and values.Reported(TaskState.FINISHED) in outcome.observations
