"""How many buffers a partition or a gate asks for: what it requires, and the most that it can use.

A writer needs a buffer for each subpartition, and one more to go on with; a reader needs one, and is faster with some
for each channel. Where a gate has very many channels, what it requires is limited, and channels have fewer of theirs.

Choices. NettyShuffleUtils and InputGateSpecUtils of Flink 2.3, without sort-merge and hybrid results.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import MOST_CONSUMERS, Counted, Position, between
from tidegate.reference.model import Component, Outcome

#: As good as no limit.
UNLIMITED = 2**31 - 1
#: What a gate of a batch job may require, if nothing else is said.
BATCH_LIMIT = 1000
#: Larger numbers of buffers for a single channel or gate serve nobody.
MOST_BUFFERS = 32768

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many buffers a channel is to have for itself, how many a gate or partition is to have besides, and the most
    that a gate may require, if that is limited.
    """

    per_channel: Annotated[int, "How many buffers a channel is to have for itself."] = attrs.field(
        validator=between(0, MOST_BUFFERS)
    )
    floating: Annotated[int, "How many buffers a gate or partition is to have besides.", Counted.BUFFERS] = attrs.field(
        validator=between(1, MOST_BUFFERS)
    )
    limit: Annotated[int | None, "The most that a gate may require.", Counted.BUFFERS] = attrs.field(
        default=None, validator=attrs.validators.optional(between(1, UNLIMITED))
    )


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """Nothing is remembered."""

    config: Config


# --- events ---------------------------------------------------------------------------------------------------


class Result(StrEnum):
    PIPELINED = "pipelined"
    PIPELINED_BOUNDED = "pipelined_bounded"
    BLOCKING = "blocking"


@attrs.frozen
class AskForPartition:
    """A partition is set up."""

    type: ClassVar[str] = "partition"
    result: Annotated[Result, "The type of the result."]
    subpartitions: Annotated[int, "How many subpartitions it has."] = attrs.field(validator=between(1, MOST_CONSUMERS))


@attrs.frozen
class AskForGate:
    """A gate that reads such results is set up."""

    type: ClassVar[str] = "gate"
    result: Annotated[Result, "The type of the results that the gate reads."]
    channels: Annotated[int, "How many channels it has."] = attrs.field(validator=between(1, MOST_CONSUMERS))


Event = AskForPartition | AskForGate

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class PartitionNeeds:
    """The buffers that a partition requires, and the most that it can use."""

    type: ClassVar[str] = "partition"
    required: Position
    most: Position


@attrs.frozen
class GateNeeds:
    """The buffers that each channel has for itself, those that the gate requires besides, and the most it can use."""

    type: ClassVar[str] = "gate"
    exclusive: Position
    required: Position
    most: Position


Observation = PartitionNeeds | GateNeeds

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    config = state.config
    if isinstance(event, AskForPartition):
        required = event.subpartitions + 1
        bounded = event.subpartitions * config.per_channel + config.floating
        is_bounded = event.result is Result.PIPELINED_BOUNDED
        most = max(required, bounded) if is_bounded else UNLIMITED
        return (Outcome(state, (PartitionNeeds(required, most),), ("NEED-1",)),)
    is_batch = event.result is Result.BLOCKING
    limit = config.limit or (BATCH_LIMIT if is_batch else UNLIMITED)
    wanted = event.channels * config.per_channel
    required = min(limit, wanted + 1)
    exclusive = min(config.per_channel, (required - 1) // event.channels)
    taken = exclusive * event.channels
    needs = GateNeeds(exclusive, required - taken, wanted + config.floating - taken)
    return (Outcome(state, (needs,), ("NEED-2",) if exclusive == config.per_channel else ("NEED-3", "NEED-2")),)


# --- claims ---------------------------------------------------------------------------------------------------


@always("NEED-1", "NEED-2")
def nobody_can_use_less_than_it_requires(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is required is there to be used, and is at least one buffer."""
    needs = [seen for seen in outcome.observations if isinstance(seen, PartitionNeeds | GateNeeds)]
    return all(1 <= seen.required <= seen.most for seen in needs)


@always("NEED-3")
def the_limit_is_kept(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A gate never requires more than its limit."""
    if not isinstance(event, AskForGate) or before.config.limit is None:
        return True
    gates = [seen for seen in outcome.observations if isinstance(seen, GateNeeds)]
    return all(seen.exclusive * event.channels + seen.required <= before.config.limit for seen in gates)


@sometimes("NEED-3")
def channels_have_fewer_of_their_own(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A limit may leave channels with fewer buffers than was said."""
    gates = [seen for seen in outcome.observations if isinstance(seen, GateNeeds)]
    return any(seen.exclusive < before.config.per_channel for seen in gates)


COMPONENT = Component.of(__name__, title="How many buffers are needed")
