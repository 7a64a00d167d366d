"""Scopes of watermark alignment: the subtask without splits, and splits without the subtask."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope, counted, dated
from tidegate.properties.cases.timestamps import order_preserving, small_timestamps
from tidegate.reference.elements import Status
from tidegate.reference.watermarks import source_alignment as alignment


def make_source_scope(samples: tuple[int, ...], timestamps: int, every: int) -> Scope:
    values = small_timestamps(timestamps)
    events: tuple[alignment.Event, ...] = (
        *(alignment.SourceWatermark(value) for value in values),
        *(alignment.SourceStatus(status) for status in Status),
        *(alignment.Announce(value) for value in values),
        alignment.Sample(),
        alignment.End(),
    )
    return Scope(
        name=f"source-{timestamps}",
        component="source_alignment",
        configs=tuple(alignment.Config(count) for count in samples),
        alphabet=lambda _config, _state: events,
        covers=(
            f"a subtask without splits, {' or '.join(map(str, samples))} samples, {counted(timestamps, 'timestamp')}; "
            "idle or not, and its end"
        ),
        concretions=order_preserving(timestamps, every),
    )


def make_split_scope(splits: int, samples: int, timestamps: int, semantics: str, every: int) -> Scope:
    ids, values = range(splits), small_timestamps(timestamps)
    events: tuple[alignment.Event, ...] = (
        *(alignment.AddSplit(one) for one in ids),
        *(alignment.FinishSplit(one) for one in ids[:1]),
        *(alignment.SplitWatermark(one, value) for one, value in product(ids, values)),
        *(alignment.SplitStatus(one, status) for one, status in product(ids, Status)),
        *(alignment.Announce(value) for value in values),
        alignment.Sample(),
    )
    return Scope(
        name=f"{splits}x{samples}x{timestamps}{dated(semantics, alignment.SEMANTICS)}",
        component="source_alignment",
        configs=(alignment.Config(samples, semantics),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(splits, 'split')}, {counted(samples, 'sample')}, {counted(timestamps, 'timestamp')}, "
            f"{semantics}; idle or not, done and back; refused: splits that were not added"
        ),
        cap="watermarks of the source",
        concretions=order_preserving(timestamps, every),
    )


def small() -> Iterator[Scope]:
    latest, corrected = alignment.SEMANTICS
    yield make_source_scope((0, 2), 2, every=97)
    yield make_split_scope(1, 1, 2, latest, every=97)
    yield make_split_scope(1, 0, 2, corrected, every=97)


def thorough() -> Iterator[Scope]:
    yield make_source_scope((0, 1, 2), 3, every=29)
    for semantics in alignment.SEMANTICS:
        yield make_split_scope(2, 0, 2, semantics, every=29)
        yield make_split_scope(1, 2, 2, semantics, every=29)
