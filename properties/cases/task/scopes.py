"""Scopes of the task: its states are few, so that every one of them is covered."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.task import values as task
from tidegate.reference.task.execution_states import TaskState


def play(config: task.Config, _state: task.State) -> Iterator[task.Event]:
    yield from (task.Start(), task.Proceed(), task.Throw(cancelled=True), task.Throw(cancelled=False))
    yield from (task.EndOfData(drain=True), task.EndOfData(drain=False))
    yield from (task.Acknowledge(output) for output in range(-1, config.outputs + 1))
    for seen in TaskState:
        yield from (task.Cancel(seen), task.FailExternally(seen))


def make_scope(operators: int, outputs: int) -> Scope:
    return Scope(
        name=f"{operators}x{outputs}",
        component="task",
        configs=(task.Config(operators, outputs),),
        alphabet=play,
        covers=(
            f"{counted(operators, 'operator')} and {counted(outputs, 'output')}; start, proceed, both exceptions, both "
            "ends of data, acknowledgements, cancel and fail by one who saw any of the states; refused: steps before "
            "the start and after the end, what is out of turn, outputs out of range"
        ),
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 0)
    yield make_scope(2, 1)
    yield make_scope(1, 2)


def thorough() -> Iterator[Scope]:
    yield from small()
    yield make_scope(3, 3)
