"""Scopes of the valve."""

from collections.abc import Iterator

from properties.cover import EACH_CLASS, Selection
from properties.scopes.scope import Scope
from properties.scopes.timestamps import order_preserving, small_timestamps
from reference import valve
from reference.elements import Status


def make_alphabet(channels: int, timestamps: int) -> tuple[valve.Event, ...]:
    """Every event on every channel, and one of each kind on a channel that does not exist."""
    values = small_timestamps(timestamps)
    return (
        *(valve.ChannelWatermark(channel, value) for channel in range(channels) for value in values),
        *(valve.ChannelStatus(channel, status) for channel in range(channels) for status in Status),
        valve.ChannelWatermark(channels, values[-1]),
        valve.ChannelStatus(-1, Status.IDLE),
    )


def make_scope(channels: int, timestamps: int, semantics: str, every: int, selection: Selection = EACH_CLASS) -> Scope:
    events = make_alphabet(channels, timestamps)
    dated = "" if semantics == valve.SEMANTICS[0] else f"-{semantics}"
    return Scope(
        name=f"{channels}x{timestamps}{dated}",
        component="valve",
        configs=(valve.Config(channels, semantics),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{channels} channels, {timestamps} timestamps, {semantics}; every watermark and status on every channel, "
            "a watermark and a status on channels out of range"
        ),
        concretions=order_preserving(timestamps, every),
        selection=selection,
    )


def small() -> Iterator[Scope]:
    for semantics in valve.SEMANTICS:
        yield make_scope(3, 2, semantics, every=29)


def thorough() -> Iterator[Scope]:
    for semantics in valve.SEMANTICS:
        yield make_scope(3, 2, semantics, every=1)
        yield make_scope(3, 3, semantics, every=29)
        yield make_scope(4, 2, semantics, every=97)
