"""Cases for groups of sources: reports that rise and fall, idle groups, drifts at the edge, subtasks that fail."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, FAR_APART, among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import MAX, MIN, Long
from tidegate.reference.watermarks import alignment_group as group


def draw(random: Random, config: group.Config | None = None) -> tuple[group.Config, tuple[group.Event, ...]]:
    config = config or draw_config(random)
    pool = [clamp(max(value, MIN + 1)) for value in draw_longs(random)]
    weights = swarm(random, announce=3, report=4, idle=1, failed=0.5, ready=0.5)
    weights["refused"] = pick(random, "share of refused", (0, 0, 0.2))
    draw_kind = among(random, weights)
    walk = Walk(random, group.start(config), group.step)
    for _ in walk.rounds():
        walk.play_one(draw_event(*draw_kind(), config, pool))
    return config, walk.events


def draw_config(random: Random) -> group.Config:
    groups = stream(random, "sources").choice(((0,), (0, 0), (0, 0), (0, 1), (0, 1, 0), (5, 5, -1)))
    drifts, drift = (0, 1, 10, 1000, MAX - 1), stream(random, "drift")
    return group.Config(
        tuple(group.Source(one, Long(drift.choice(drifts))) for one in groups),
        stream(random, "subtasks").choice((1, 2, 2, 3, 12)),
    )


def draw_event(random: Random, kind: str, config: group.Config, pool: list[Long]) -> group.Event:
    source, subtask = random.randrange(len(config.sources)), random.randrange(config.subtasks)
    if kind == "announce":
        return group.AnnounceLimits(source)
    if kind == "failed":
        return group.TaskFailed(source, subtask)
    if kind == "ready":
        return group.TaskReady(source, subtask)
    if kind == "idle":
        return group.ReportWatermark(source, subtask, MAX)
    if kind == "report":
        return group.ReportWatermark(source, subtask, random.choice(pool))
    refused: list[group.Event] = [
        group.AnnounceLimits(random.choice((-1, len(config.sources)))),
        group.ReportWatermark(source, random.choice((-1, config.subtasks)), random.choice(pool)),
        group.ReportWatermark(source, subtask, MIN),
        group.TaskFailed(len(config.sources), subtask),
        group.TaskReady(source, config.subtasks),
    ]
    return random.choice(refused)


def draw_far_apart(random: Random) -> tuple[group.Config, tuple[group.Event, ...]]:
    """Groups whose numbers differ only where a narrow number ends."""
    far = random.choice(FAR_APART)
    sources = tuple(
        group.Source(one, Long(random.choice((0, 10)))) for one in random.choice(((0, far), (1, far + 1, 1)))
    )
    return draw(random, group.Config(sources, random.choice((1, 2))))


def draw_last(_random: Random, sources: int, subtasks: int) -> tuple[group.Config, tuple[group.Event, ...]]:
    """The last of many sources or subtasks, which equals the first in a byte."""
    last, other = sources - 1, subtasks - 1
    return group.Config((group.Source(0, Long(10)),) * sources, subtasks), (
        group.ReportWatermark(0, 0, Long(5)),
        group.ReportWatermark(last, other, Long(3)),
        group.TaskFailed(last, other),
        group.AnnounceLimits(0),
        group.AnnounceLimits(last),
        group.TaskReady(last, other),
        group.AnnounceLimits(last),
    )


def draw_all_report(random: Random, sources: int, subtasks: int) -> tuple[group.Config, tuple[group.Event, ...]]:
    """Many report, the last one is behind, and some are gone for a while."""
    places = [(source, subtask) for source in range(sources) for subtask in range(subtasks)]
    gone = random.sample(places, 3)
    return group.Config((group.Source(0, Long(10)),) * sources, subtasks), (
        *(group.ReportWatermark(*place, Long(20)) for place in places),
        group.ReportWatermark(*places[-1], Long(3)),
        *(group.ReportWatermark(*place, Long(21)) for place in places[:-1]),
        *(group.TaskFailed(*place) for place in gone),
        group.AnnounceLimits(sources - 1),
        *(group.TaskReady(*place) for place in gone),
        group.AnnounceLimits(0),
    )


AIMS = (draw_far_apart,)
ONCE = (
    *(
        partial(draw_last, sources=sources, subtasks=subtasks)
        for sources, subtasks in ((COUNTS[-1], 1), (1, COUNTS[-1]))
    ),
    *(partial(draw_all_report, sources=count, subtasks=1) for count in COUNTS),
    *(partial(draw_all_report, sources=1, subtasks=count) for count in COUNTS),
)


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(name: str, groups: tuple[int, ...], subtasks: int, values: tuple[int, ...], *, failing: bool) -> Scope:
    sources = range(len(groups))
    places = tuple(product(sources, range(subtasks)))
    failures = places if failing else ()
    events: tuple[group.Event, ...] = (
        *(group.AnnounceLimits(source) for source in (*sources, len(groups))),
        *(group.ReportWatermark(source, subtask, Long(value)) for (source, subtask), value in product(places, values)),
        *(group.TaskFailed(source, subtask) for source, subtask in failures),
        *(group.TaskReady(source, subtask) for source, subtask in failures),
        group.ReportWatermark(0, subtasks, Long(1)),
        group.ReportWatermark(0, 0, MIN),
    )
    drifts = (Long(5), Long(0), Long(MAX - 1))
    return Scope(
        name=name,
        component="alignment_group",
        configs=(group.Config(tuple(map(group.Source, groups, drifts)), subtasks),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(len(groups), 'source')} in {counted(len(set(groups)), 'group')}, "
            f"{counted(subtasks, 'subtask')} each, reports of {', '.join(map(str, values))}"
            f"{'; subtasks that fail and come back' if failing else ''}; "
            "refused: sources and subtasks that do not exist, the lowest timestamp"
        ),
    )


def small() -> Iterator[Scope]:
    yield make_scope("one-source", (0,), 2, (1, MAX), failing=True)
    yield make_scope("two-sources", (0, 0), 1, (1, 9), failing=False)
    yield make_scope("two-groups", (0, 1), 1, (1, 9), failing=False)


def thorough() -> Iterator[Scope]:
    yield make_scope("three-sources", (0, 1, 0), 1, (1, 9, MAX), failing=True)
