"""Scopes of the outputs of an operator.

The output of a latency marker is free, and with selectors the order in which the outputs of a record are called. The
choice changes nothing that comes after it, so that any allowed one counts as the same answer.
"""

from collections.abc import Callable, Iterator

import attrs

from tidegate.properties.cases.scope import Scope
from tidegate.reference import elements
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.outputs import values as outputs

NETWORK, UNALIGNED = outputs.Network(unaligned=False), outputs.Network(unaligned=True)
UNKNOWN = outputs.Network(unaligned=False, subpartitions=2)
PLAIN, KEYED = (
    outputs.Chained(keyed=False, changes=outputs.Change.NOTHING),
    outputs.Chained(keyed=True, changes=outputs.Change.NOTHING),
)
COUNTING, REFILLING = (
    outputs.Chained(keyed=False, changes=change) for change in (outputs.Change.VALUE, outputs.Change.RECORD)
)
LATE, ALSO_LATE, LATER = outputs.Tag("late", "string"), outputs.Tag("late", "int"), outputs.Tag("later", "string")

SHAPES: tuple[tuple[outputs.Output, ...], ...] = (
    (),
    (UNALIGNED,),
    (KEYED,),
    (COUNTING, NETWORK),
    (REFILLING, PLAIN),
    (UNKNOWN, attrs.evolve(PLAIN, tag=LATE)),
)
#: Those for which it makes no difference whether objects are reused: nothing but a side output; two of one kind.
OTHERS: tuple[tuple[outputs.Output, ...], ...] = ((attrs.evolve(PLAIN, tag=LATE),), (NETWORK, NETWORK))
MORE_SHAPES: tuple[tuple[outputs.Output, ...], ...] = (
    *SHAPES,
    (COUNTING, REFILLING, NETWORK),
    (attrs.evolve(NETWORK, tag=LATE), attrs.evolve(COUNTING, tag=ALSO_LATE), KEYED),
)
OLD: tuple[tuple[outputs.Output, ...], ...] = ((), (NETWORK,), (KEYED,), (COUNTING, NETWORK))
SELECTED: tuple[tuple[outputs.Output, ...], ...] = (
    (attrs.evolve(NETWORK, names=("a",)),),
    (attrs.evolve(COUNTING, names=("a", "b")), attrs.evolve(NETWORK, names=("b",)), attrs.evolve(PLAIN, names=())),
)

FREE = "what is left free counts as the same answer whichever it is, and is taken to change nothing"
ELEMENTS: tuple[outputs.Event, ...] = (
    Watermark(Long(1)),
    Watermark(Long(2)),
    StatusChange(Status.IDLE),
    StatusChange(Status.ACTIVE),
    elements.LatencyMarker(),
    outputs.RecordAttributes(),
    outputs.Barrier(unaligned=True),
    outputs.Barrier(unaligned=False),
    outputs.EndOfData(),
    outputs.ReadMetrics(),
)
REFUSED: tuple[outputs.Event, ...] = (outputs.Fault(-1, 1), outputs.Fault(9, 0))


def play(config: outputs.Config, _state: outputs.State) -> Iterator[outputs.Event]:
    yield from ELEMENTS
    yield from records_of(config)
    yield from REFUSED


def play_failures(config: outputs.Config, _state: outputs.State) -> Iterator[outputs.Event]:
    """One watermark is enough to see whether a gauge has moved."""
    yield from (one for one in ELEMENTS if one not in (Watermark(Long(2)), outputs.Barrier(unaligned=False)))
    yield next(records_of(config))
    for index, output in enumerate(config.outputs):
        yield from (outputs.Fault(index, hops) for hops in (0, 1 if isinstance(output, outputs.Network) else 2))
    yield from REFUSED


def records_of(config: outputs.Config) -> Iterator[outputs.Event]:
    if config.selectors:
        yield from (outputs.Record(1, selected=names) for names in (("b", "a"), (), ("a",), ("x",)))
        yield outputs.Record(1, LATE, ())
    else:
        yield from (outputs.Record(1), *(outputs.Record(2, tag) for tag in (LATE, ALSO_LATE, LATER)))


def count_failures(config: outputs.Config, _state: outputs.State) -> Iterator[outputs.Event]:
    yield from (outputs.ReadMetrics(), next(records_of(config)))
    yield from (outputs.Fault(index, hops) for index in range(len(config.outputs)) for hops in (0, 1))


def make_counting_scope(name: str, configs: tuple[outputs.Config, ...], most_records: int) -> Scope:
    return Scope(
        name=name,
        component="outputs",
        configs=configs,
        alphabet=count_failures,
        covers=f"{len(configs)} operators of {configs[0].semantics}; records, each output may fail, counts are read",
        cap=f"no more than {most_records + 1} records counted",
        expand=make_cap(most_records),
    )


def make_cap(most_records: int) -> Callable[[outputs.State], bool]:
    return lambda state: max(state.records_out, state.task_records_out) <= most_records


def make_scope(name: str, configs: tuple[outputs.Config, ...], most_records: int, *, failing: bool = False) -> Scope:
    return Scope(
        name=name,
        component="outputs",
        configs=configs,
        alphabet=play_failures if failing else play,
        covers=(
            f"{len(configs)} operators of {configs[0].semantics}; main and side records, watermarks, both statuses, "
            f"latency markers, record attributes, barriers and end of data; {'each output may fail; ' * failing}{FREE}"
        ),
        cap=f"no more than {most_records + 1} records counted",
        expand=make_cap(most_records),
    )


def make_old(shape: tuple[outputs.Output, ...], *, reuse: bool, selectors: bool) -> outputs.Config:
    return outputs.Config(shape, reuse, selectors, "flink-1.5")


def make_scopes(shapes: tuple[tuple[outputs.Output, ...], ...], failing: int, most_records: int) -> Iterator[Scope]:
    new = tuple(outputs.Config(shape, object_reuse=reuse) for shape in shapes for reuse in (False, True))
    new += tuple(outputs.Config(shape, object_reuse=True) for shape in OTHERS)
    yield make_scope("flink-2.3", new, most_records)
    yield make_scope(
        "flink-2.3-failing",
        tuple(outputs.Config(shape, object_reuse=True) for shape in shapes[:failing]),
        0,
        failing=True,
    )
    old = tuple(make_old(shape, reuse=reuse, selectors=False) for shape in OLD for reuse in (False, True))
    old += tuple(make_old(shape, reuse=True, selectors=True) for shape in SELECTED)
    yield make_scope("flink-1.5", old, most_records)
    yield make_scope("flink-1.5-failing", old[:-1:2], 0, failing=True)
    counted = tuple(outputs.Config(shape, object_reuse=True) for shape in shapes[3:5])
    yield make_counting_scope("flink-2.3-counting", counted, most_records)


def small() -> Iterator[Scope]:
    return make_scopes(SHAPES, 4, 1)


def thorough() -> Iterator[Scope]:
    return make_scopes(MORE_SHAPES, len(MORE_SHAPES), 2)
