"""Scopes of the task: its states are few, so that every one of them is covered."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.elements import Long
from tidegate.reference.task import values as task
from tidegate.reference.task.execution_states import TaskState


def play(config: task.Config, _state: task.State) -> Iterator[task.Event]:
    if config.extension is not None:
        yield from (task.TriggerCheckpoint(reply) for reply in task.Reply)
        yield from (task.AskForRoom(has_room=True), task.AskForRoom(has_room=False))
    yield from (task.Start(), task.Proceed(), task.Throw(cancelled=True), task.Throw(cancelled=False))
    yield from (task.EndOfData(drain=True), task.EndOfData(drain=False))
    yield from (task.Acknowledge(output) for output in range(-1, config.outputs + 1))
    for seen in TaskState:
        yield from (task.Cancel(seen), task.FailExternally(seen))


def make_scope(operators: int, outputs: int, extension: str | None = None) -> Scope:
    return Scope(
        name=f"{operators}x{outputs}{'' if extension is None else f'-{extension}'}",
        component="task",
        configs=(task.Config(operators, outputs, extension),),
        alphabet=play,
        covers=(
            f"{counted(operators, 'operator')} and {counted(outputs, 'output')}; start, proceed, both exceptions, "
            f"both ends of data, {'' if extension is None else 'checkpoints, room, '}acknowledgements, cancel and fail "
            "by one who saw any of the states; refused: steps before the start and after the end, what is out of turn, "
            "outputs out of range"
        ),
    )


def play_checkpoints(config: task.Config, _state: task.State) -> Iterator[task.Event]:
    """What a task that runs may hear of two checkpoints; and little else, which is the same without them."""
    yield from (task.Start(), task.Proceed(), task.EndOfData(drain=True), task.Cancel(TaskState.RUNNING))
    yield from (task.Acknowledge(output) for output in range(config.outputs))
    for number in (Long(1), Long(2)):
        yield from (task.BeginCheckpoint(number, stops) for stops in (False, True))
        yield task.CompleteCheckpoint(number)
        yield from (task.AbortCheckpoint(number, Long(completed)) for completed in (0, 1))


def make_final(outputs: int) -> Scope:
    return Scope(
        name=f"1x{outputs}-{task.FINAL}",
        component="task",
        configs=(task.Config(1, outputs, task.FINAL),),
        alphabet=play_checkpoints,
        covers=(
            f"1 operator and {counted(outputs, 'output')}; start, proceed, end of data with drain, acknowledgements, "
            "cancel; two checkpoints, each of them also as a savepoint with which the job stops, completed, and given "
            "up with the first of them complete or none; refused: what is out of turn"
        ),
    )


def small() -> Iterator[Scope]:
    yield make_final(0)
    yield make_scope(1, 0)
    yield make_scope(2, 1)
    yield make_scope(1, 2)
    yield make_scope(1, 1, task.INVOKABLE)


def thorough() -> Iterator[Scope]:
    yield from small()
    yield make_scope(3, 3)
    yield make_final(1)
