"""Cases for the combiner: inputs that become active by a watermark, all idle in any order, equal values."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted, dated
from tidegate.properties.drawing.timestamps import order_preserving, signals
from tidegate.properties.drawing.values import COUNTS, among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long, Status
from tidegate.reference.watermarks import combiner

SEMANTICS = ("flink-38454", "flink-38454", "flink-18934")
INPUTS = (1, 2, 2, 2, 3, 3, 3, 4, 6)
#: Where masks of bits end.
MANY = (9, 17, 33, 65)


def draw(random: Random, config: combiner.Config | None = None) -> tuple[combiner.Config, tuple[combiner.Event, ...]]:
    config = config or draw_config(random)
    pool = draw_longs(random)
    weights = swarm(random, watermark=5, idle=3, active=2, all_idle=0.3, refused=0.2)
    draw_kind = among(random, weights)
    walk = Walk(random, combiner.start(config), combiner.step)
    if config.inputs > MANY[-1]:
        walk.play(leave_it_to_the_ends(random, config.inputs, clamp(max(pool) + 5)))
    for _ in walk.rounds():
        walk.play(draw_events(*draw_kind(), walk.state, pool))
    return config, walk.events


def draw_config(random: Random) -> combiner.Config:
    own = stream(random, "inputs")
    inputs = own.choice(INPUTS if own.random() < 0.98 else MANY)
    return combiner.Config(inputs, stream(random, "semantics").choice(SEMANTICS))


def leave_it_to_the_ends(random: Random, inputs: int, high: Long) -> list[combiner.Event]:
    """Of very many inputs only the first and the last ones decide: the others are idle, or far ahead."""
    between, idle = range(2, inputs - 2), random.choice((0, 0.5, 1))
    return [
        combiner.InputStatus(index, Status.IDLE) if random.random() < idle else combiner.InputWatermark(index, high)
        for index in between
    ]


def draw_events(random: Random, kind: str, state: combiner.State, pool: list[Long]) -> list[combiner.Event]:
    inputs = list(range(state.config.inputs))
    index = random.choice(inputs)
    if kind == "idle":
        return [combiner.InputStatus(index, Status.IDLE)]
    if kind == "active":
        return [combiner.InputStatus(index, Status.ACTIVE)]
    if kind == "all_idle":
        random.shuffle(inputs)
        return [combiner.InputStatus(one, Status.IDLE) for one in inputs]
    if kind == "refused":
        outside = random.choice((-1, state.config.inputs, state.config.inputs + 7))
        if random.random() < 0.5:
            return [combiner.InputStatus(outside, random.choice(list(Status)))]
        return [combiner.InputWatermark(outside, random.choice(pool))]
    near = random.choice(
        (
            state.combined,
            state.inputs[index].watermark,
            random.choice(state.inputs).watermark,
            random.choice(pool),
            random.choice(pool),
        )
    )
    return [combiner.InputWatermark(index, clamp(near + random.choice((-1, 0, 0, 0, 1, 1, 2))))]


def draw_last_decides(random: Random, inputs: int) -> tuple[combiner.Config, tuple[combiner.Event, ...]]:
    """The last of many inputs holds the others back, is ahead of them when all turn idle, and goes on alone."""
    *others, last = range(inputs)
    idlers = random.sample(others, len(others))
    return combiner.Config(inputs, random.choice(SEMANTICS)), (
        *(combiner.InputWatermark(index, Long(10)) for index in others),
        *(combiner.InputWatermark(last, Long(timestamp)) for timestamp in (5, 7, 20)),
        *(combiner.InputStatus(index, Status.IDLE) for index in (last, *idlers)),
        combiner.InputWatermark(last, Long(25)),
        combiner.InputWatermark(0, Long(30)),
        combiner.InputWatermark(last, Long(40)),
    )


ONCE = tuple(partial(draw_last_decides, inputs=inputs) for inputs in COUNTS for _ in range(2))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


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
