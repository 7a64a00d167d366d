"""Scopes of partitions that were not found."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.input import missing_partitions as missing
from tidegate.reference.task.execution_states import TaskState


def make_scope(channels: int) -> Scope:
    events: tuple[missing.Event, ...] = (
        *(missing.NotFound(channel) for channel in range(-1, channels + 1)),
        *(missing.Answer(channel, producer) for channel in range(channels + 1) for producer in missing.Producer),
        *(missing.TaskBecomes(state) for state in TaskState),
    )
    return Scope(
        name=f"{channels}-channels",
        component="missing_partitions",
        configs=(missing.Config(channels),),
        alphabet=lambda _config, _state: events,
        covers=f"{counted(channels, 'channel')}, every state of producer and consumer; refused: what nobody waits for",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1)
    yield make_scope(2)


def thorough() -> Iterator[Scope]:
    yield make_scope(3)
