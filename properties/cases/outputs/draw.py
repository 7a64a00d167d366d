"""Cases for the outputs of an operator: mixes of all kinds, tags, shared values, idle and failing ones."""

from random import Random

from tidegate.properties.cases.values import among, clamp, draw_longs, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.outputs.step import start, step
from tidegate.reference.outputs.values import (
    LARGEST_CONTENT,
    Barrier,
    Chained,
    Change,
    Config,
    EndOfData,
    Event,
    Fault,
    LatencyMarker,
    Network,
    Output,
    ReadMetrics,
    Record,
    RecordAttributes,
    State,
    Tag,
)

#: The same id with another type is the same tag; one that differs in case is not.
TAGS = (Tag("late", "string"), Tag("late", "int"), Tag("Late", "string"), Tag("other", "string"))
NAMES = ("a", "b", "c")
SIMPLE: dict[str, Event] = {
    "latency_marker": LatencyMarker(),
    "end_of_data": EndOfData(),
    "read_metrics": ReadMetrics(),
}


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
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
        if isinstance(event, Fault) and event.hops and random.random() < 0.6:
            # Mostly something is emitted to an output that was just broken.
            walk.play_one(draw_event(random, random.choice(("record", "watermark", "status")), walk.state, pool))
    walk.play_one(ReadMetrics())
    return config, walk.events


def draw_config(random: Random) -> Config:
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
    return Config(made, reuse, selectors, "flink-1.5") if old else Config(made, reuse)


def draw_output(random: Random, old: bool, selectors: bool, tagged: float, chained: float) -> Output:  # noqa: FBT001
    tag = random.choice(TAGS) if random.random() < tagged else None
    names = tuple(random.sample(NAMES, random.choice((0, 1, 1, 2)))) if selectors else None
    if random.random() < chained:
        return Chained(random.random() < 0.5, random.choice(list(Change)), tag, names)
    unknown = random.choice((None, None, None, 1, 2, 3)) if not old else None
    return Network(not old and random.random() < 0.5, tag, unknown, names)


def draw_event(random: Random, kind: str, state: State, pool: list[Long]) -> Event:
    config = state.config
    simple: dict[str, Event] = {
        "latency_marker": LatencyMarker(),
        "end_of_data": EndOfData(),
        "read_metrics": ReadMetrics(),
    }
    if kind in simple:
        return simple[kind]
    if kind == "watermark":
        return Watermark(draw_timestamp(random, state, pool))
    if kind == "status":
        return StatusChange(draw_status(random, state))
    if kind == "record_attributes" and (config.semantics != "flink-1.5" or random.random() < 0.3):
        return RecordAttributes()
    if kind == "barrier":
        return Barrier(random.random() < 0.6)
    if kind == "fault" and config.outputs:
        return draw_fault(random, state)
    if kind == "refused":
        return Fault(random.choice((-1, len(config.outputs), len(config.outputs) + 3)), random.choice((0, 1)))
    side = kind == "side_record" and (not config.selectors or random.random() < 0.2)
    content = random.choice((0, 1, 2, 5, 9, LARGEST_CONTENT))
    selected = tuple(random.choices((*NAMES, "x"), k=random.choice((0, 1, 2, 3)))) if config.selectors else None
    return Record(content, random.choice(TAGS) if side else None, selected)


def draw_timestamp(random: Random, state: State, pool: list[Long]) -> Long:
    """Any, the same once more, or one that goes back."""
    return clamp(random.choice((random.choice(pool), state.watermark, state.watermark - 1, state.watermark + 1)))


def draw_status(random: Random, state: State) -> Status:
    """Mostly news."""
    active = all(port.active for port in state.ports)
    if random.random() < 0.3:
        active = not active
    return Status.IDLE if active else Status.ACTIVE


def draw_fault(random: Random, state: State) -> Fault:
    broken = [index for index, port in enumerate(state.ports) if port.hops]
    if broken and random.random() < 0.6:
        return Fault(random.choice(broken), 0)
    index = random.randrange(len(state.ports))
    return Fault(index, random.choice((1, 1, 2, 3)) if isinstance(state.config.outputs[index], Chained) else 1)
