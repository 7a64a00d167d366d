"""A local channel that was handed recovered data: whose turn it is, what counts as in use, and a notice that is wrong.

With checkpoints during recovery a channel goes live before its recovered data was read. The data is read first, but for
a barrier, of which the channel is told: then it asks the producer, and must find the barrier there.

Choices. LocalInputChannel of Flink 2.3. What recovered data is, and how it is saved, is `recovered_channel`.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import Nothing, Position, at_least
from tidegate.reference.model import Component, Outcome, rejected

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many recovered buffers the channel was handed."""

    recovered: Annotated[Position, "How many recovered buffers the channel was handed."] = attrs.field(
        validator=at_least(0)
    )


# --- state ----------------------------------------------------------------------------------------------------


class Missing(StrEnum):
    """What a reader that was told of a barrier does not find: the partition, anything, a barrier."""

    PARTITION = "partition"
    ITEM = "item"
    BARRIER = "barrier"


@attrs.frozen
class State:
    """`told`: of a barrier that overtakes. `failed`: the reader was told wrongly."""

    config: Config
    recovered: int
    data: int = 0
    barriers: int = 0
    requested: bool = False
    told: bool = False
    failed: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class RequestPartition:
    """The channel asks for its partition."""

    type: ClassVar[str] = "request"


@attrs.frozen
class WriteData:
    """The producer writes a buffer."""

    type: ClassVar[str] = "data"


@attrs.frozen
class WriteBarrier:
    """The producer writes a barrier that overtakes; the channel is told of it."""

    type: ClassVar[str] = "barrier"


@attrs.frozen
class TellOfBarrier:
    """The channel is told of a barrier, whether there is one or not."""

    type: ClassVar[str] = "tell"


@attrs.frozen
class PollItem:
    """The next item is taken."""

    type: ClassVar[str] = "poll"


@attrs.frozen
class CountBuffers:
    """Somebody asks how many buffers are in use."""

    type: ClassVar[str] = "count"


Event = RequestPartition | WriteData | WriteBarrier | TellOfBarrier | PollItem | CountBuffers

# --- observations ---------------------------------------------------------------------------------------------


class Kind(StrEnum):
    RECOVERED = "recovered"
    DATA = "data"
    BARRIER = "barrier"


@attrs.frozen
class Polled:
    """What was taken."""

    type: ClassVar[str] = "polled"
    kind: Annotated[Kind, "Recovered data, data of the producer, or a barrier."]


@attrs.frozen
class Failed:
    """The channel was told of a barrier that is not there."""

    type: ClassVar[str] = "failed"
    missing: Annotated[Missing, "What is missing: the partition, anything to read, or a barrier."]


@attrs.frozen
class InUse:
    """Buffers that wait to be read, with the channel and with its producer."""

    type: ClassVar[str] = "in_use"
    count: Annotated[Position, "How many."]


Observation = Polled | Failed | InUse | Nothing
Seen = Outcome[State, Observation]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """The channel has its recovered data, and has not asked for its partition."""
    return (State(config, config.recovered),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Seen, ...]:
    if state.failed:
        return rejected(state, "HAND-2")
    match event:
        case RequestPartition():
            if state.requested:
                return rejected(state, "HAND-1")
            return (Outcome(attrs.evolve(state, requested=True), (), ("HAND-1",)),)
        case WriteData():
            return (Outcome(attrs.evolve(state, data=state.data + 1), (), ("HAND-1",)),)
        case WriteBarrier():
            if not state.requested:
                return rejected(state, "HAND-1")
            return (Outcome(attrs.evolve(state, barriers=state.barriers + 1, told=True), (), ("HAND-1",)),)
        case TellOfBarrier():
            return (Outcome(attrs.evolve(state, told=True), (), ("HAND-2",)),)
        case CountBuffers():
            there = state.data + state.barriers if state.requested else 0
            return (Outcome(state, (InUse(state.recovered + there),), ("HAND-3",)),)
        case PollItem():
            return poll(state)


def poll(state: State) -> tuple[Seen, ...]:
    if state.recovered and state.told:
        return (poll_barrier(state),)
    if state.recovered:
        return (Outcome(attrs.evolve(state, recovered=state.recovered - 1), (Polled(Kind.RECOVERED),), ("HAND-1",)),)
    if not state.requested:
        return rejected(state, "HAND-1")
    if state.barriers:
        return (Outcome(attrs.evolve(state, barriers=state.barriers - 1), (Polled(Kind.BARRIER),), ("HAND-1",)),)
    if state.data:
        return (Outcome(attrs.evolve(state, data=state.data - 1), (Polled(Kind.DATA),), ("HAND-1",)),)
    return (Outcome(state, (Nothing(),), ("HAND-1",)),)


def poll_barrier(state: State) -> Seen:
    """HAND-2: recovered data waits, and the producer is asked all the same."""
    if state.barriers:
        left = state.barriers - 1
        return Outcome(attrs.evolve(state, barriers=left, told=left > 0), (Polled(Kind.BARRIER),), ("HAND-1", "HAND-2"))
    missing = Missing.BARRIER if state.data else Missing.ITEM
    missing = missing if state.requested else Missing.PARTITION
    return Outcome(attrs.evolve(state, failed=True), (Failed(missing),), ("HAND-2",))


# --- claims ---------------------------------------------------------------------------------------------------


@always("HAND-1")
def recovered_data_is_read_first(_before: State, event: Event, outcome: Seen) -> bool:
    """What the producer wrote is read when no recovered data is left."""
    sent = isinstance(event, PollItem) and Polled(Kind.DATA) in outcome.observations
    return not sent or not outcome.state.recovered


@sometimes("HAND-1")
def a_barrier_overtakes_recovered_data(_before: State, event: Event, outcome: Seen) -> bool:
    """A barrier is read although recovered data waits."""
    return isinstance(event, PollItem) and Polled(Kind.BARRIER) in outcome.observations and outcome.state.recovered > 0


@sometimes("HAND-2")
def data_where_a_barrier_should_be(_before: State, _event: Event, outcome: Seen) -> bool:
    """The reader was told of a barrier, and finds data."""
    return Failed(Missing.BARRIER) in outcome.observations


COMPONENT = Component.of(__name__, title="A local channel with recovered data")
