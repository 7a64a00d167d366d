"""Scopes of the end of an input."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.input import input_close as closing


def make_scope(channels: int) -> Scope:
    numbers = range(channels + 1)
    events: tuple[closing.Event, ...] = (
        closing.CloseInput(),
        closing.SnapshotInput(),
        *(closing.ChannelFails(channel) for channel in numbers),
        *(closing.ChannelEnds(channel) for channel in numbers),
        *(closing.Break(channel, cause) for channel in numbers for cause in closing.Cause),
    )
    return Scope(
        name=f"{channels}-channels",
        component="input_close",
        configs=(closing.Config(channels),),
        alphabet=lambda _config, _state: events,
        covers=f"{counted(channels, 'channel')}, all that may fail; refused: a channel that does not exist",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1)
    yield make_scope(2)


def thorough() -> Iterator[Scope]:
    yield make_scope(3)
