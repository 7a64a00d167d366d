"""The end of an input: deserializers are released, channel by channel, even where that fails.

A deserializer holds buffers of its channel. It is released when the channel ends, or with the input. If the connection
of a channel broke, its buffers may be gone, and that is no news; anything else that fails is told.

Choices. AbstractStreamTaskNetworkInput.close and StreamTaskNetworkInput.prepareSnapshot of Flink 2.3.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import Index, Length, Parts, Position, at_least
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.tuples import replace

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many channels the input has, each with a deserializer."""

    channels: Annotated[Parts, "How many channels the input has, each with a deserializer."] = attrs.field(
        validator=at_least(1)
    )


# --- state ----------------------------------------------------------------------------------------------------


class Cause(StrEnum):
    """Why a release fails: the connection is broken, or anything else."""

    TRANSPORT = "transport"
    OTHER = "other"


@attrs.frozen
class Channel:
    """`held`: its deserializer is not released. `broken`: to release it fails. `error`: the channel met an error."""

    held: bool = True
    broken: Cause | None = None
    error: bool = False


@attrs.frozen
class State:
    config: Config
    channels: tuple[Channel, ...]


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class ChannelFails:
    """A channel meets an error: its connection breaks."""

    type: ClassVar[str] = "error"
    channel: Index


@attrs.frozen
class Break:
    """From now on the deserializer of a channel cannot be released."""

    type: ClassVar[str] = "break"
    channel: Index
    cause: Annotated[Cause, "A broken connection, or anything else."]


@attrs.frozen
class ChannelEnds:
    """The partition of a channel is over."""

    type: ClassVar[str] = "end"
    channel: Index


@attrs.frozen
class CloseInput:
    """The input is closed."""

    type: ClassVar[str] = "close"


@attrs.frozen
class SnapshotInput:
    """A checkpoint saves what deserializers hold."""

    type: ClassVar[str] = "snapshot"


Event = ChannelFails | Break | ChannelEnds | CloseInput | SnapshotInput

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class DeserializerReleased:
    """A deserializer is released. Several in one step are a set, shown in ascending order."""

    type: ClassVar[str] = "released"
    channel: Position


@attrs.frozen
class Failed:
    """It fails, for these reasons; they are a set, shown in ascending order."""

    type: ClassVar[str] = "failed"
    causes: Annotated[tuple[Cause, ...], "The failures, the first one first.", Length(1)]


@attrs.frozen
class Snapshotted:
    """What the deserializers of these channels hold is saved."""

    type: ClassVar[str] = "snapshotted"
    channels: Annotated[tuple[Position, ...], "The channels of which something is saved."]


Observation = DeserializerReleased | Failed | Snapshotted

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Every deserializer is there, and nothing has failed."""
    return (State(config, (Channel(),) * config.channels),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, CloseInput):
        return (close(state),)
    if isinstance(event, SnapshotInput):
        held = tuple(number for number, one in enumerate(state.channels) if one.held)
        return (Outcome(state, (Snapshotted(held),), ("CLOSE-4",)),)
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "CLOSE-1")
    channel = state.channels[event.channel]
    if isinstance(event, ChannelFails):
        return (Outcome(put(state, event.channel, attrs.evolve(channel, error=True)), (), ("CLOSE-2",)),)
    if isinstance(event, Break):
        return (Outcome(put(state, event.channel, attrs.evolve(channel, broken=event.cause)), (), ("CLOSE-2",)),)
    if not channel.held:
        return (Outcome(state, (), ("CLOSE-1",)),)
    if channel.broken is not None:
        return (Outcome(state, (Failed((channel.broken,)),), ("CLOSE-3",)),)
    released = put(state, event.channel, attrs.evolve(channel, held=False))
    return (Outcome(released, (DeserializerReleased(event.channel),), ("CLOSE-1",)),)


def close(state: State) -> Outcome[State, Observation]:
    """All that can be released is, whatever fails on the way."""
    failed: list[Cause] = []
    released: list[Observation] = []
    for number, channel in enumerate(state.channels):
        if not channel.held:
            continue
        if channel.broken is None:
            state = put(state, number, attrs.evolve(channel, held=False))
            released.append(DeserializerReleased(number))
        elif not (channel.error and channel.broken is Cause.TRANSPORT):
            failed.append(channel.broken)
    told = (Failed(tuple(sorted(failed))),) if failed else ()
    return Outcome(state, (*released, *told), ("CLOSE-2", "CLOSE-1") if failed else ("CLOSE-1", "CLOSE-2"))


def put(state: State, number: int, channel: Channel) -> State:
    return attrs.evolve(state, channels=replace(state.channels, number, channel))


# --- claims ---------------------------------------------------------------------------------------------------


@always("CLOSE-2")
def one_failure_keeps_nobody(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """After an input was closed, only what cannot be released is held."""
    return not isinstance(event, CloseInput) or all(
        channel.broken is not None for channel in outcome.state.channels if channel.held
    )


@sometimes("CLOSE-2")
def a_failure_is_no_news(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A release fails whose channel had failed before, and nobody is told."""
    silent = not any(isinstance(seen, Failed) for seen in outcome.observations)
    return isinstance(event, CloseInput) and silent and any(one.held and one.broken for one in before.channels)


COMPONENT = Component.of(__name__, title="The end of an input")
