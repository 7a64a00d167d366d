"""Scopes of the valve."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted, dated
from tidegate.properties.cases.timestamps import order_preserving, signals
from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection, up_to_numbers
from tidegate.reference.watermarks import valve


def make_alphabet(channels: int, timestamps: int, *, refused: bool) -> tuple[valve.Event, ...]:
    return signals(channels, timestamps, valve.ChannelWatermark, valve.ChannelStatus, refused=refused)


UP_TO_NAMES = up_to_numbers(valve.SYMMETRY)


def make_scope(
    channels: int,
    timestamps: int,
    semantics: str,
    every: int,
    selection: Selection = EACH_CLASS,
    *,
    refused: bool = True,
) -> Scope:
    events = make_alphabet(channels, timestamps, refused=refused)
    out_of_range = ", a watermark and a status on channels out of range" if refused else ""
    return Scope(
        name=f"{channels}x{timestamps}{dated(semantics, valve.SEMANTICS)}",
        component="valve",
        configs=(valve.Config(channels, semantics),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(channels, 'channel')}, {counted(timestamps, 'timestamp')}, {semantics}; "
            f"every watermark and status on every channel{out_of_range}"
        ),
        concretions=order_preserving(timestamps, every),
        selection=selection,
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    for semantics in valve.SEMANTICS:
        yield make_scope(3, 2, semantics, every=29)
    # Some bugs take three timestamps to show. One state of each class would take half a million events.
    yield make_scope(3, 3, valve.SEMANTICS[0], every=97, selection=UP_TO_NAMES, refused=False)
    # And some take four channels: one that is left behind, one that carries the last output, and two above it.
    yield make_scope(4, 2, valve.SEMANTICS[0], every=997, selection=UP_TO_NAMES, refused=False)


def thorough() -> Iterator[Scope]:
    for semantics in valve.SEMANTICS:
        yield make_scope(3, 2, semantics, every=1, selection=EACH_STATE)
        yield make_scope(3, 3, semantics, every=29, selection=EACH_STATE)
        yield make_scope(4, 2, semantics, every=97)
