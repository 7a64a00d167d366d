"""Cases for the outputs of an operator: mixes of all kinds, tags, shared values, idle and failing ones."""

from functools import partial
from random import Random

from tidegate.properties.cases.values import COUNTS, among, clamp, draw_longs, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference import elements
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
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
        event = draw_event(random, draw_kind(), walk.state, pool)
        walk.play_one(event)
        if isinstance(event, outputs_values.Fault) and event.hops and random.random() < 0.6:
            # Mostly something is emitted to an output that was just broken.
            walk.play_one(draw_event(random, random.choice(("record", "watermark", "status")), walk.state, pool))
    walk.play_one(outputs_values.ReadMetrics())
    return config, walk.events


def draw_config(random: Random) -> outputs_values.Config:
    old = random.random() < 0.25
    selectors = random.random() < 0.6 if old else None
    outputs = random.choice((0, 1, 1, 2, 2, 3, 3, 4, 6))
    if selectors:
        # Every order of the chosen ones is allowed: not too many of them.
        outputs = random.choice((1, 2, 2, 3, 4))
    tagged = random.choice((0, 0.3, 0.6))
    chained = random.choice((0, 0.5, 0.7, 1))
    made = tuple(draw_output(random, old, bool(selectors), tagged, chained) for _ in range(outputs))
    reuse = random.random() < 0.6
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
    """Any, the same once more, or one that goes back."""
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
    """Of many outputs the last one fails, and the first one later, when the last is whole again."""
    made = tuple(outputs_values.Network(random.random() < 0.5, None, None, None) for _ in range(outputs))
    record = outputs_values.Record(random.choice((1, 5)), None, None)
    first, last = ([outputs_values.Fault(one, hops) for hops in (1, 0)] for one in (0, outputs - 1))
    return outputs_values.Config(made, random.random() < 0.5), (
        last[0], record, last[1], record, first[0], record, first[1], Watermark(Long(7)), outputs_values.ReadMetrics(),
    )  # fmt: skip


ONCE = tuple(partial(draw_last_fails, outputs=outputs) for outputs in COUNTS)
