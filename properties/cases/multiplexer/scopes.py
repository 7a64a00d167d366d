"""Scopes of the multiplexer."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope, counted, dated
from tidegate.properties.cases.timestamps import order_preserving, small_timestamps
from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection
from tidegate.reference.elements import Status
from tidegate.reference.watermarks import multiplexer


def make_alphabet(outputs: int, timestamps: int, *, lean: bool) -> tuple[multiplexer.Event, ...]:
    """Every event on every output; most are refused while the output is not registered.

    Lean: watermarks by the deferred door, idle by the immediate one, no other statuses.
    """
    ids, values = range(outputs), small_timestamps(timestamps)
    statuses = [(multiplexer.Mode.IMMEDIATE, Status.IDLE)] if lean else list(product(multiplexer.Mode, Status))
    return (
        *(multiplexer.Register(one) for one in ids),
        *(multiplexer.Unregister(one) for one in ids),
        *(
            multiplexer.OutputWatermark(one, mode, value)
            for one, mode, value in product(ids, (multiplexer.Mode.DEFERRED,) if lean else multiplexer.Mode, values)
        ),
        *(multiplexer.OutputStatus(one, mode, status) for one, (mode, status) in product(ids, statuses)),
        multiplexer.PeriodicEmit(),
    )


def make_scope(
    outputs: int, timestamps: int, semantics: str, every: int, selection: Selection = EACH_CLASS, *, lean: bool = False
) -> Scope:
    events = make_alphabet(outputs, timestamps, lean=lean)
    doors = "watermarks by the deferred door, idle by the other" if lean else "watermarks and statuses by both doors"
    return Scope(
        name=f"{outputs}x{timestamps}{'-lean' if lean else ''}{dated(semantics, multiplexer.SEMANTICS)}",
        component="multiplexer",
        configs=(multiplexer.Config(semantics),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(outputs, 'output')}, {counted(timestamps, 'timestamp')}, {semantics}; outputs that come and go, "
            f"{doors}, periodic emits; refused: outputs that are not registered, or are already"
        ),
        concretions=order_preserving(timestamps, every),
        selection=selection,
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    latest, before, oldest = multiplexer.SEMANTICS
    yield make_scope(1, 1, latest, every=97)
    yield make_scope(1, 2, latest, every=97, selection=EACH_STATE, lean=True)
    yield make_scope(2, 1, latest, every=97, lean=True)
    yield make_scope(1, 1, before, every=97, lean=True)
    yield make_scope(1, 1, oldest, every=97, selection=EACH_STATE)


def thorough() -> Iterator[Scope]:
    for semantics in multiplexer.SEMANTICS:
        yield make_scope(1, 3, semantics, every=5, selection=EACH_STATE)
        yield make_scope(2, 1, semantics, every=5, selection=EACH_STATE)
        yield make_scope(2, 2, semantics, every=29)
        yield make_scope(3, 1, semantics, every=97, lean=True)
