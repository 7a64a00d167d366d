"""Partitions that were not found: the state of their producer decides whether to ask again, to give up, or to fail.

A producer may not have begun, or may be gone for good. Whoever asked for its partition in vain asks how the producer
is, and goes by the answer, unless it is not interested any more.

Choices. SingleInputGate.triggerPartitionStateCheck and RemoteChannelStateChecker of Flink 2.3. How long to wait before
the next request, and how often, is GATE-22. A channel is told once that its partition was not found, until the answer.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import Index, Parts, at_least
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.task.execution_states import TaskState

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many channels the gate has. Its task is being deployed."""

    channels: Annotated[Parts, "How many channels the gate has."] = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """The state of the consuming task, and the channels that wait for an answer."""

    config: Config
    task: TaskState = TaskState.DEPLOYING
    waiting: frozenset[int] = frozenset()


# --- events ---------------------------------------------------------------------------------------------------


class Producer(StrEnum):
    """What is said of a producer: its state; that nobody answered in time, that it is gone, that asking failed."""

    CREATED = "created"
    SCHEDULED = "scheduled"
    DEPLOYING = "deploying"
    INITIALIZING = "initializing"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELING = "canceling"
    CANCELED = "canceled"
    FAILED = "failed"
    RECONCILING = "reconciling"
    TIMEOUT = "timeout"
    DISPOSED = "disposed"
    ERROR = "error"


@attrs.frozen
class NotFound:
    """The producer's machine says that it does not know the partition of a channel."""

    type: ClassVar[str] = "not_found"
    channel: Index


@attrs.frozen
class Answer:
    """How the producer of a channel's partition is."""

    type: ClassVar[str] = "answer"
    channel: Index
    producer: Annotated[
        Producer,
        "The state of the producer; or that nobody answered in time, that it is gone, that asking failed.",
    ]


@attrs.frozen
class TaskBecomes:
    """The consuming task is in another state now."""

    type: ClassVar[str] = "task"
    state: Annotated[TaskState, "The state of the consuming task."]


Event = NotFound | Answer | TaskBecomes

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Ask:
    """Somebody is asked how the producer is."""

    type: ClassVar[str] = "ask"
    channel: Index


@attrs.frozen
class Retry:
    """The partition is requested again."""

    type: ClassVar[str] = "retry"
    channel: Index


@attrs.frozen
class CancelTask:
    """The consuming task is cancelled."""

    type: ClassVar[str] = "cancel"


@attrs.frozen
class FailTask:
    """The consuming task fails."""

    type: ClassVar[str] = "fail"


Observation = Ask | Retry | CancelTask | FailTask

# --- start ----------------------------------------------------------------------------------------------------

#: The states in which a task may still read.
INTERESTED = (TaskState.DEPLOYING, TaskState.INITIALIZING, TaskState.RUNNING)
READY = (
    Producer.SCHEDULED,
    Producer.DEPLOYING,
    Producer.INITIALIZING,
    Producer.RUNNING,
    Producer.FINISHED,
    Producer.TIMEOUT,
)
GONE = (Producer.CANCELING, Producer.CANCELED, Producer.FAILED, Producer.DISPOSED)


def start(config: Config) -> tuple[State, ...]:
    """Every channel has asked for its partition."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, TaskBecomes):
        return (Outcome(attrs.evolve(state, task=event.state), (), ("PROD-4",)),)
    known = 0 <= event.channel < state.config.channels
    if not known or (event.channel in state.waiting) != isinstance(event, Answer):
        return rejected(state, "PROD-1")
    if isinstance(event, NotFound):
        waiting = state.waiting | {event.channel}
        return (Outcome(attrs.evolve(state, waiting=waiting), (Ask(event.channel),), ("PROD-1",)),)
    return (on_answer(attrs.evolve(state, waiting=state.waiting - {event.channel}), event),)


def on_answer(state: State, event: Answer) -> Outcome[State, Observation]:
    if state.task not in INTERESTED:
        return Outcome(state, (), ("PROD-4",))
    if event.producer in READY:
        return Outcome(state, (Retry(event.channel),), ("PROD-2",))
    if event.producer in GONE:
        return Outcome(attrs.evolve(state, task=TaskState.CANCELING), (CancelTask(),), ("PROD-3",))
    return Outcome(attrs.evolve(state, task=TaskState.FAILED), (FailTask(),), ("PROD-5",))


# --- claims ---------------------------------------------------------------------------------------------------


@always("PROD-2", "PROD-3", "PROD-5")
def an_answer_is_the_end_of_waiting(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A channel that was answered does not wait any more, and hears one thing at most."""
    if not isinstance(event, Answer) or event.channel not in before.waiting:
        return True
    return event.channel not in outcome.state.waiting and len(outcome.observations) <= 1


@always("PROD-4")
def who_is_not_interested_does_nothing(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A task that does not read any more is neither cancelled nor failed by an answer."""
    return before.task in INTERESTED or isinstance(event, TaskBecomes) or outcome.state.task is before.task


@sometimes("PROD-3")
def a_task_is_cancelled(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A producer that is gone has its consumer cancelled."""
    return CancelTask() in outcome.observations


@sometimes("PROD-2")
def a_request_is_repeated(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Nobody answered in time, and the partition is requested again."""
    if not isinstance(event, Answer) or event.producer is not Producer.TIMEOUT:
        return False
    return Retry(event.channel) in outcome.observations


COMPONENT = Component.of(__name__, title="Partitions that were not found")
