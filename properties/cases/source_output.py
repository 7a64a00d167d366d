"""Cases for the output of a source: main and splits, immediate and deferred, all idle, records between, splits that
come and go.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted, dated
from tidegate.properties.drawing.timestamps import order_preserving, small_timestamps
from tidegate.properties.drawing.values import COUNTS, FAR_APART, among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long, Status
from tidegate.reference.watermarks import source_output
from tidegate.reference.watermarks.multiplexer import Mode

#: The default, which newer releases follow, more often than the other.
OF_RELEASES = (source_output.SEMANTICS[0], *source_output.SEMANTICS)


def draw(
    random: Random, config: source_output.Config | None = None, ids: list[int] | None = None
) -> tuple[source_output.Config, tuple[source_output.Event, ...]]:
    config = config or draw_config(random)
    ids = ids or [random.choice((1, 1, -1, 1000)) * index for index in range(random.choice((0, 1, 1, 2, 2, 3)) + 1)]
    pool = draw_longs(random)
    weights = swarm(random, watermark=4, idle=2, active=1, record=1, emit=1.5, add=0.5, release=0.3, all_idle=0.6)
    weights["refused"] = pick(random, "share of refused", (0, 0, 0.3))
    deferred, by_main = random.choice((0, 0.3, 0.8)), random.choice((0, 0.2, 0.5, 1))
    draw_kind = among(random, weights)
    walk = Walk(random, source_output.start(config), source_output.step)
    opening: list[source_output.Event] = [source_output.AddSplit(one) for one in ids[:-1]]
    for number in walk.rounds():
        own, kind = draw_kind()
        walk.play(draw_events(own, kind, walk.state, ids, pool, (deferred, by_main)) if number else opening)
    return config, walk.events


def draw_config(random: Random) -> source_output.Config:
    return source_output.Config(stream(random, "semantics").choice(OF_RELEASES))


def draw_events(
    random: Random, kind: str, state: source_output.State, ids: list[int], pool: list[Long], odds: tuple[float, float]
) -> list[source_output.Event]:
    deferred, by_main = odds
    mode = Mode.DEFERRED if random.random() < deferred else Mode.IMMEDIATE
    known = [one.id for one in state.splits.outputs]
    if kind == "emit":
        return [source_output.PeriodicEmit()] * random.choice((1, 1, 1, 2))
    if kind == "add":
        return [source_output.AddSplit(random.choice(ids))]
    if kind == "release":
        return [source_output.ReleaseSplit(one) for one in random.sample(known, min(len(known), random.choice((1, 2))))]
    if kind == "refused":
        return [draw_refused(random, max(ids) + 1, mode, pool)]
    if kind == "all_idle":
        everybody: list[int | None] = [*known, *([None] if random.random() < 0.7 else [])]
        random.shuffle(everybody)
        emit = [source_output.PeriodicEmit()] if random.random() < 0.7 else []
        return [*(source_output.EmitStatus(mode, Status.IDLE, one) for one in everybody), *emit]
    split = None if not known or random.random() < by_main else random.choice(known)
    if kind in ("idle", "active"):
        return [source_output.EmitStatus(mode, Status(kind), split)]
    held = [one.watermark for one in state.splits.outputs]
    near = random.choice((state.last, state.splits.combined, *held, *random.choices(pool, k=2)))
    timestamp = clamp(near + random.choice((-1, 0, 0, 1, 1, 2)))
    if kind == "record":
        watermark = timestamp if random.random() < 0.5 else None
        return [source_output.EmitRecord(random.choice(pool), split, watermark)]
    return [source_output.EmitWatermark(mode, timestamp, split)]


def draw_refused(random: Random, unknown: int, mode: Mode, pool: list[Long]) -> source_output.Event:
    """An event on the output of an unknown split."""
    refused: list[source_output.Event] = [
        source_output.ReleaseSplit(unknown),
        source_output.EmitWatermark(mode, random.choice(pool), unknown),
        source_output.EmitStatus(mode, random.choice(list(Status)), unknown),
        source_output.EmitRecord(random.choice(pool), unknown),
    ]
    return random.choice(refused)


def draw_far_apart(random: Random) -> tuple[source_output.Config, tuple[source_output.Event, ...]]:
    """Splits whose ids differ only where a narrow number ends."""
    return draw(random, ids=[0, *random.sample(FAR_APART, random.choice((1, 2)))])


def draw_last_decides(random: Random, splits: int) -> tuple[source_output.Config, tuple[source_output.Event, ...]]:
    """The last of many splits holds the others back, is ahead of them when all turn idle, and goes on alone."""
    now = Mode.IMMEDIATE
    *others, last = range(splits)
    return draw_config(random), (
        *(source_output.AddSplit(one) for one in range(splits)),
        *(source_output.EmitWatermark(now, Long(10), one) for one in others),
        *(source_output.EmitWatermark(now, Long(timestamp), last) for timestamp in (5, 7, 20)),
        *(source_output.EmitStatus(now, Status.IDLE, one) for one in (last, *random.sample(others, len(others)))),
        source_output.EmitWatermark(now, Long(25), last),
        source_output.EmitRecord(Long(1), last, Long(26)),
        source_output.ReleaseSplit(last),
        source_output.PeriodicEmit(),
    )


AIMS = (draw_far_apart,)
ONCE = tuple(partial(draw_last_decides, splits=splits) for splits in COUNTS)


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_alphabet(splits: int, timestamps: int, *, lean: bool) -> tuple[source_output.Event, ...]:
    """Every event on every output. Lean: splits only use immediate outputs, and are never released."""
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
