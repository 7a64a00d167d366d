"""Scopes of the combiner."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted, dated
from tidegate.properties.cases.timestamps import order_preserving, signals
from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection
from tidegate.reference.watermarks import combiner


def make_alphabet(inputs: int, timestamps: int, *, refused: bool) -> tuple[combiner.Event, ...]:
    return signals(inputs, timestamps, combiner.InputWatermark, combiner.InputStatus, refused=refused)


def make_scope(inputs: int, timestamps: int, semantics: str, every: int, selection: Selection = EACH_CLASS) -> Scope:
    events = make_alphabet(inputs, timestamps, refused=True)
    return Scope(
        name=f"{inputs}x{timestamps}{dated(semantics, combiner.SEMANTICS)}",
        component="combiner",
        configs=(combiner.Config(inputs, semantics),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(inputs, 'input')}, {counted(timestamps, 'timestamp')}, {semantics}; "
            "every watermark and status on every input, a watermark and a status on inputs out of range"
        ),
        concretions=order_preserving(timestamps, every),
        selection=selection,
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    for semantics in combiner.SEMANTICS:
        yield make_scope(2, 2, semantics, every=5, selection=EACH_STATE)
        yield make_scope(3, 2, semantics, every=29)


def thorough() -> Iterator[Scope]:
    for semantics in combiner.SEMANTICS:
        yield make_scope(3, 2, semantics, every=1, selection=EACH_STATE)
        yield make_scope(3, 3, semantics, every=29, selection=EACH_STATE)
        yield make_scope(4, 2, semantics, every=97)
