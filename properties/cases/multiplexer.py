"""Cases for the multiplexer: splits that come and go, immediate and deferred outputs, all idle, emits."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection
from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted, dated
from tidegate.properties.drawing.timestamps import order_preserving, small_timestamps
from tidegate.properties.drawing.values import among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long, Status
from tidegate.reference.watermarks import multiplexer

#: The default, which newer releases follow, more often than the others.
OF_RELEASES = (multiplexer.SEMANTICS[0], *multiplexer.SEMANTICS)
#: Initial number of outputs; one more id comes and goes.
OUTPUTS = (0, 1, 1, 2, 2, 2, 3, 3, 4, 7)
#: Limits of bit masks and bytes.
MANY = (9, 17, 33, 65, 129, 257, 1025)


def draw(
    random: Random, config: multiplexer.Config | None = None
) -> tuple[multiplexer.Config, tuple[multiplexer.Event, ...]]:
    return draw_outputs(random, random.choice(OUTPUTS), config)


def draw_outputs(
    random: Random, count: int, config: multiplexer.Config | None = None
) -> tuple[multiplexer.Config, tuple[multiplexer.Event, ...]]:
    config = config or draw_config(random)
    ids = [random.choice((1, 1, -1, 1000)) * index for index in range(count + 1)]
    pool = draw_longs(random)
    weights = swarm(random, watermark=5, idle=2, active=1, emit=1.5, register=0.5, unregister=0.3, all_idle=0.4)
    weights["refused"] = pick(random, "share of refused", (0, 0, 0.3))
    deferred = random.choice((0, 0.3, 0.5, 0.8, 1))
    draw_kind = among(random, weights)
    walk = Walk(random, multiplexer.start(config), multiplexer.step)
    opening: list[multiplexer.Event] = [multiplexer.Register(one) for one in ids[:-1]]
    if count >= MANY[0]:
        # Only the first and the last ones decide: the others are far ahead.
        high = clamp(max(pool) + 5)
        opening += [multiplexer.OutputWatermark(one, multiplexer.Mode.DEFERRED, high) for one in ids[2:-3]]
    for number in walk.rounds():
        own, kind = draw_kind()
        walk.play(draw_events(own, kind, walk.state, ids, pool, deferred) if number else opening)
    return config, walk.events


def draw_config(random: Random) -> multiplexer.Config:
    return multiplexer.Config(stream(random, "semantics").choice(OF_RELEASES))


def draw_events(
    random: Random, kind: str, state: multiplexer.State, ids: list[int], pool: list[Long], deferred: float
) -> list[multiplexer.Event]:
    mode = multiplexer.Mode.DEFERRED if random.random() < deferred else multiplexer.Mode.IMMEDIATE
    registered = [one.id for one in state.outputs]
    free = [one for one in ids if one not in registered]
    if kind == "refused":
        return [draw_refused(random, registered, free or [max(ids) + 1], mode, pool)]
    if kind == "emit":
        return [multiplexer.PeriodicEmit()] * random.choice((1, 1, 1, 2))
    if kind == "register" or not registered:
        return [multiplexer.Register(random.choice(free))] if free else [multiplexer.PeriodicEmit()]
    output = random.choice(registered if len(registered) < MANY[0] else [*registered[:2], *registered[-2:]])
    if kind == "unregister":
        # A removal shows at the next derivation, and hardly if it was the last output.
        gone = registered if random.random() < 0.2 else [output]
        return [
            *(multiplexer.Unregister(one) for one in gone),
            *([multiplexer.PeriodicEmit()] if random.random() < 0.5 else []),
        ]
    if kind == "all_idle":
        random.shuffle(registered)
        return [multiplexer.OutputStatus(one, mode, Status.IDLE) for one in registered]
    if kind != "watermark":
        return [multiplexer.OutputStatus(output, mode, Status(kind))]
    near = random.choice((state.combined, random.choice(state.outputs).watermark, *random.choices(pool, k=3)))
    return [multiplexer.OutputWatermark(output, mode, clamp(near + random.choice((-1, 0, 0, 0, 1, 1, 2))))]


def draw_refused(
    random: Random, registered: list[int], free: list[int], mode: multiplexer.Mode, pool: list[Long]
) -> multiplexer.Event:
    """An existing id, or an unknown one."""
    unknown = random.choice(free)
    refused: list[multiplexer.Event] = [
        multiplexer.Unregister(unknown),  # not refused, and does nothing
        multiplexer.OutputWatermark(unknown, mode, random.choice(pool)),
        multiplexer.OutputStatus(unknown, mode, random.choice(list(Status))),
        *(multiplexer.Register(one) for one in registered[:2]),
    ]
    return random.choice(refused)


# --- aims -----------------------------------------------------------------------------------------------------


def draw_woken_below(random: Random) -> tuple[multiplexer.Config, tuple[multiplexer.Event, ...]]:
    """All are idle, and one behind emits a watermark that is still too low: it becomes active, and nothing is derived.

    An engine that derives anyway forgets that all were idle, which shows when they are removed.
    """
    config = draw_config(random)
    now = multiplexer.Mode.IMMEDIATE
    base = random.choice(draw_longs(random))
    ids = list(range(random.choice((2, 2, 3))))
    watermarks = [clamp(base + 3 * index) for index in ids]
    walk = Walk(random, multiplexer.start(config), multiplexer.step)
    walk.play(multiplexer.Register(one) for one in ids)
    walk.play(multiplexer.OutputWatermark(one, now, watermarks[one]) for one in ids)
    random.shuffle(ids)
    walk.play(multiplexer.OutputStatus(one, now, Status.IDLE) for one in ids)
    behind = random.choice([one for one in ids if one < len(ids) - 1])
    reached = walk.state.combined
    walk.play([multiplexer.OutputWatermark(behind, now, clamp(reached + random.choice((-1, -1, 0, 0, 1))))])
    ends: tuple[list[multiplexer.Event], ...] = (
        [multiplexer.PeriodicEmit()],
        [multiplexer.OutputStatus(behind, now, Status.IDLE)],
        [*(multiplexer.Unregister(one) for one in ids), multiplexer.PeriodicEmit()],
    )
    walk.play(event for end in random.sample(ends, len(ends)) for event in end)
    return config, walk.events


def draw_last_decides(random: Random, count: int) -> tuple[multiplexer.Config, tuple[multiplexer.Event, ...]]:
    """The last of many outputs holds the others back, is ahead of them when all turn idle, and goes on alone."""
    now = multiplexer.Mode.IMMEDIATE
    *others, last = range(count)
    return draw_config(random), (
        *(multiplexer.Register(one) for one in range(count)),
        *(multiplexer.OutputWatermark(one, now, Long(10)) for one in others),
        *(multiplexer.OutputWatermark(last, now, Long(timestamp)) for timestamp in (5, 7, 20)),
        *(multiplexer.OutputStatus(one, now, Status.IDLE) for one in (last, *random.sample(others, len(others)))),
        multiplexer.OutputWatermark(last, now, Long(25)),
        multiplexer.Register(count),
        multiplexer.OutputWatermark(count, now, Long(24)),
        multiplexer.OutputWatermark(last, now, Long(30)),
        multiplexer.Unregister(count),
        *[multiplexer.PeriodicEmit()] * 2,
    )


AIMS = (draw_woken_below,)
ONCE = tuple(partial(draw, count=count) for count in MANY for draw in (draw_outputs, draw_last_decides))


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_alphabet(outputs: int, timestamps: int, *, lean: bool) -> tuple[multiplexer.Event, ...]:
    """Every event on every output; most are refused while the output is not registered.

    Lean: deferred watermarks, immediate idle, no other statuses.
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
