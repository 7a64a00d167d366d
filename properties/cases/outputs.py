"""Cases for the outputs of an operator: mixes of all kinds, tags, shared values, idle and failing ones."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import attrs

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import COUNTS, among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference import elements
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.outputs import values as outputs
from tidegate.reference.outputs import values as outputs_values
from tidegate.reference.outputs.step import start, step

#: The same id with another type is the same tag; one that differs in case, or by a blank, is not.
TAGS = (
    outputs_values.Tag("late", "string"),
    outputs_values.Tag("late", "int"),
    outputs_values.Tag("Late", "string"),
    outputs_values.Tag("late ", "string"),
    outputs_values.Tag("other", "string"),
)
NAMES = ("a", "b", "c", "A", "a ")
SIMPLE: dict[str, outputs_values.Event] = {
    "latency_marker": elements.LatencyMarker(),
    "end_of_data": outputs_values.EndOfData(),
    "read_metrics": outputs_values.ReadMetrics(),
}


def draw(
    random: Random, config: outputs_values.Config | None = None
) -> tuple[outputs_values.Config, tuple[outputs_values.Event, ...]]:
    config = config or draw_config(random)
    pool = draw_longs(random)
    weights = swarm(
        random,
        record=6,
        side_record=2,
        watermark=3,
        status=2,
        latency_marker=0.5,
        record_attributes=0.4,
        barrier=0.7,
        end_of_data=0.2,
        fault=0.5,
        read_metrics=1.5,
        refused=0.15,
    )
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.rounds():
        own, kind = draw_kind()
        event = draw_event(own, kind, walk.state, pool)
        walk.play_one(event)
        if isinstance(event, outputs_values.Fault) and event.hops and own.random() < 0.6:
            # Mostly emit to an output that was just broken.
            walk.play_one(draw_event(own, own.choice(("record", "watermark", "status")), walk.state, pool))
    walk.play_one(outputs_values.ReadMetrics())
    return config, walk.events


def draw_config(random: Random) -> outputs_values.Config:
    old = stream(random, "semantics").random() < 0.25
    selectors = stream(random, "selectors").random() < 0.6 if old else None
    own = stream(random, "outputs")
    # Every order of the chosen ones is allowed, so limit their number.
    outputs = own.choice((1, 2, 2, 3, 4) if selectors else (0, 1, 1, 2, 2, 3, 3, 4, 6))
    tagged = own.choice((0, 0.3, 0.6))
    chained = own.choice((0, 0.5, 0.7, 1))
    made = tuple(draw_output(own, old, bool(selectors), tagged, chained) for _ in range(outputs))
    reuse = stream(random, "object_reuse").random() < 0.6
    return outputs_values.Config(made, reuse, selectors, "flink-1.5") if old else outputs_values.Config(made, reuse)


def can_widen(config: outputs_values.Config) -> bool:
    """Selected outputs may be served in any order: of many there are too many orders."""
    return config.selectors is None


def draw_output(random: Random, old: bool, selectors: bool, tagged: float, chained: float) -> outputs_values.Output:  # noqa: FBT001
    tag = random.choice(TAGS) if random.random() < tagged else None
    names = tuple(random.sample(NAMES, random.choice((0, 1, 1, 2)))) if selectors else None
    if random.random() < chained:
        return outputs_values.Chained(random.random() < 0.5, random.choice(list(outputs_values.Change)), tag, names)
    unknown = random.choice((None, None, None, 1, 2, 3)) if not old else None
    return outputs_values.Network(not old and random.random() < 0.5, tag, unknown, names)


def draw_event(random: Random, kind: str, state: outputs_values.State, pool: list[Long]) -> outputs_values.Event:
    config = state.config
    if kind in SIMPLE:
        return SIMPLE[kind]
    if kind == "watermark":
        return Watermark(draw_timestamp(random, state, pool))
    if kind == "status":
        return StatusChange(draw_status(random, state))
    if kind == "record_attributes" and (config.semantics != "flink-1.5" or random.random() < 0.3):
        return outputs_values.RecordAttributes()
    if kind == "barrier":
        return outputs_values.Barrier(random.random() < 0.6)
    if kind == "fault" and config.outputs:
        return draw_fault(random, state)
    if kind == "refused":
        return outputs_values.Fault(
            random.choice((-1, len(config.outputs), len(config.outputs) + 3)), random.choice((0, 1))
        )
    side = kind == "side_record" and (not config.selectors or random.random() < 0.2)
    content = random.choice((0, 1, 2, 5, 9, outputs_values.LARGEST_CONTENT))
    selected = tuple(random.choices((*NAMES, "x"), k=random.choice((0, 1, 2, 3)))) if config.selectors else None
    return outputs_values.Record(content, random.choice(TAGS) if side else None, selected)


def draw_timestamp(random: Random, state: outputs_values.State, pool: list[Long]) -> Long:
    """Any value, the same again, or a lower one."""
    return clamp(random.choice((random.choice(pool), state.watermark, state.watermark - 1, state.watermark + 1)))


def draw_status(random: Random, state: outputs_values.State) -> Status:
    """Mostly news."""
    active = all(port.active for port in state.ports)
    if random.random() < 0.3:
        active = not active
    return Status.IDLE if active else Status.ACTIVE


def draw_fault(random: Random, state: outputs_values.State) -> outputs_values.Fault:
    broken = [index for index, port in enumerate(state.ports) if port.hops]
    if broken and random.random() < 0.6:
        return outputs_values.Fault(random.choice(broken), 0)
    index = random.randrange(len(state.ports))
    return outputs_values.Fault(
        index, random.choice((1, 1, 2, 3)) if isinstance(state.config.outputs[index], outputs_values.Chained) else 1
    )


def draw_last_fails(random: Random, outputs: int) -> tuple[outputs_values.Config, tuple[outputs_values.Event, ...]]:
    """The last of many outputs fails, and later the first one, when the last is repaired."""
    made = tuple(outputs_values.Network(random.random() < 0.5, None, None, None) for _ in range(outputs))
    record = outputs_values.Record(random.choice((1, 5)), None, None)
    first, last = ([outputs_values.Fault(one, hops) for hops in (1, 0)] for one in (0, outputs - 1))
    return outputs_values.Config(made, random.random() < 0.5), (
        last[0], record, last[1], record, first[0], record, first[1], Watermark(Long(7)), outputs_values.ReadMetrics(),
    )  # fmt: skip


ONCE = tuple(partial(draw_last_fails, outputs=outputs) for outputs in COUNTS)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, can_widen=can_widen)


# --- scopes ---------------------------------------------------------------------------------------------------


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
#: Outputs for which object reuse makes no difference: only a side output; two of one kind.
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
    """One watermark is enough to see whether a gauge has changed."""
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
