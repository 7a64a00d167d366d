"""Scopes of the edge of a source."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope, counted, dated
from tidegate.properties.cases.timestamps import order_preserving, small_timestamps
from tidegate.reference.elements import Long, Status
from tidegate.reference.watermarks import source_output
from tidegate.reference.watermarks.multiplexer import Mode


def make_alphabet(splits: int, timestamps: int, *, lean: bool) -> tuple[source_output.Event, ...]:
    """Every event by every output. Lean: splits speak by the immediate door only, and nobody releases them."""
    ids, values = range(splits), small_timestamps(timestamps)
    doors: list[tuple[Mode, int | None]] = [
        *product((Mode.IMMEDIATE,) if lean else Mode, ids),
        (Mode.IMMEDIATE if lean else Mode.DEFERRED, None),
    ]
    return (
        *(source_output.AddSplit(one) for one in ids),
        *(() if lean else (source_output.ReleaseSplit(one) for one in ids)),
        *(source_output.EmitWatermark(mode, value, one) for (mode, one), value in product(doors, values)),
        *(source_output.EmitStatus(mode, status, one) for (mode, one), status in product(doors, Status)),
        *(source_output.EmitRecord(Long(1), one, value) for one, value in product((None, *ids), (None, values[-1]))),
        source_output.PeriodicEmit(),
    )


def make_scope(splits: int, timestamps: int, semantics: str, every: int, *, lean: bool = False) -> Scope:
    events = make_alphabet(splits, timestamps, lean=lean)
    doors = "splits by the immediate door" if lean else "splits by both doors, released or not"
    return Scope(
        name=f"{splits}x{timestamps}{'-lean' if lean else ''}{dated(semantics, source_output.SEMANTICS)}",
        component="source_output",
        configs=(source_output.Config(semantics),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(splits, 'split')} and the main output, {counted(timestamps, 'timestamp')}, {semantics}; "
            f"{doors}, records, periodic emits; refused: splits without an output"
        ),
        concretions=order_preserving(timestamps, every),
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    latest, before = source_output.SEMANTICS
    yield make_scope(1, 1, latest, every=97)
    yield make_scope(1, 2, latest, every=97, lean=True)
    yield make_scope(1, 1, before, every=97)


def thorough() -> Iterator[Scope]:
    for semantics in source_output.SEMANTICS:
        yield make_scope(1, 2, semantics, every=29)
        yield make_scope(2, 1, semantics, every=29, lean=True)
