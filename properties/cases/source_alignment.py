"""Cases for watermark alignment: limits near the watermarks of source and splits, idle and paused at once."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted, dated
from tidegate.properties.drawing.timestamps import order_preserving, small_timestamps
from tidegate.properties.drawing.values import FAR_APART, among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import MAX, Long, Status
from tidegate.reference.watermarks import source_alignment as alignment

#: The default, which newer releases follow, more often than the other.
OF_RELEASES = (alignment.SEMANTICS[0], *alignment.SEMANTICS)


def draw(
    random: Random, config: alignment.Config | None = None, ids: list[int] | None = None
) -> tuple[alignment.Config, tuple[alignment.Event, ...]]:
    config = config or draw_config(random)
    ids = ids or [random.choice((1, 1, -1, 1000)) * index for index in range(random.choice((1, 1, 2, 3)))]
    pool = draw_longs(random)
    weights = swarm(random, sample=3, announce=3, split_watermark=3, split_status=2, watermark=1.5, cross=0.7)
    weights |= {
        "status": 0.5,
        "add": 0.3,
        "finish": pick(random, "share of finish", (0, 0.3)),
        "unknown": pick(random, "share of unknown", (0, 0, 0.2)),
        "end": pick(random, "share of end", (0, 0.1)),
    }
    draw_kind = among(random, weights)
    walk = Walk(random, alignment.start(config), alignment.step)
    opening: list[alignment.Event] = [alignment.AddSplit(one) for one in ids]
    for number in walk.rounds():
        own, kind = draw_kind()
        walk.play(draw_events(own, kind, walk.state, ids, pool) if number else opening)
    return config, walk.events


def draw_config(random: Random) -> alignment.Config:
    return alignment.Config(
        stream(random, "samples").choice((0, 0, 1, 1, 2, 3, 3)), stream(random, "semantics").choice(OF_RELEASES)
    )


def draw_events(
    random: Random, kind: str, state: alignment.State, ids: list[int], pool: list[Long]
) -> list[alignment.Event]:
    samples = random.choice((1, 1, 1, 2, state.config.samples))
    if kind == "sample":
        return [alignment.Sample()] * samples
    if kind == "status":
        return [alignment.SourceStatus(random.choice(list(Status)))]
    if kind == "add":
        return [alignment.AddSplit(random.choice(ids))]
    if kind == "finish":
        return [alignment.FinishSplit(random.choice((*ids, 77)))]
    if kind == "end":
        return [alignment.End()]
    held = [one.samples.latest for one in state.splits]
    near = random.choice((state.limit, state.source.latest, *held, *random.choices(pool, k=2)))
    timestamp = clamp(near + random.choice((-1, 0, 0, 1, 1)))
    if kind == "announce":
        return [alignment.Announce(random.choice((timestamp, timestamp, timestamp, MAX)))]
    if kind == "watermark":
        return [alignment.SourceWatermark(timestamp), *[alignment.Sample()] * random.choice((0, 0, samples))]
    known = [one.id for one in state.splits]
    if kind == "cross" and len(known) > 1:
        # One runs ahead while another falls behind, and the next samples notice both.
        ahead, behind = random.sample(known, 2)
        return [
            alignment.SplitWatermark(ahead, clamp(state.limit + 1)),
            alignment.SplitWatermark(behind, state.limit),
            *[alignment.Sample()] * state.config.samples,
        ]
    split = 99 if kind == "unknown" or not known else random.choice(known)
    if kind == "split_status" or (kind == "unknown" and random.random() < 0.5):
        return [alignment.SplitStatus(split, random.choice(list(Status)))]
    return [alignment.SplitWatermark(split, timestamp)]


def draw_far_apart(random: Random) -> tuple[alignment.Config, tuple[alignment.Event, ...]]:
    """Splits whose ids differ only where a narrow number ends."""
    return draw(random, ids=[0, *random.sample(FAR_APART, random.choice((1, 2)))])


def draw_deep(_random: Random, samples: int) -> tuple[alignment.Config, tuple[alignment.Event, ...]]:
    """More samples are kept than a byte counts; the oldest finally counts."""
    ahead: list[alignment.Event] = [alignment.AddSplit(0), alignment.SplitWatermark(0, Long(5))]
    sampling = [alignment.Sample()] * (samples + 1)
    return alignment.Config(samples), (
        *ahead,
        alignment.SourceWatermark(Long(5)),
        alignment.Announce(Long(3)),
        *sampling,
    )


def draw_behind_the_end(random: Random) -> tuple[alignment.Config, tuple[alignment.Event, ...]]:
    """A source ends while some of its splits are idle or paused; they still continue."""
    config, pool, ids = draw_config(random), draw_longs(random), [0, 1, 2]
    walk = Walk(random, alignment.start(config), alignment.step)
    walk.play(alignment.AddSplit(one) for one in ids)
    before = ("split_status", "split_status", "split_watermark", "announce", "watermark", "sample", "status")
    for kind in random.choices(before, k=random.randint(4, 10)):
        walk.play(draw_events(random, kind, walk.state, ids, pool))
    walk.play([alignment.End()])
    for kind in random.choices((*before, "split_watermark", "finish", "add"), k=random.randint(6, 14)):
        walk.play(draw_events(random, kind, walk.state, ids, pool))
    return config, walk.events


AIMS = (draw_far_apart, draw_behind_the_end)
ONCE = tuple(partial(draw_deep, samples=samples) for samples in (2**8, 2**8 + 1))


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


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
