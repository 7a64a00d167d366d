"""Cases for latency markers: intervals of the cluster and of the job, and sources that begin late."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.watermarks import latency_markers as markers

INTERVALS = (0, 0, 1, 3, 10, 100)
FAR = (1, 127, 128, 200, 255, 256, 257, 500, 999, 1000, 1001, 2**15, 2**16 - 1, 2**16, 2**16 + 1, 2**31 - 1)
TIMES = (0, 1, 127, 128, 200, 255, 256, 257, 500, 999, 1000, 1001, 2**15, 2**16, 2**16 + 1, 2**31 - 1)


def draw(random: Random, config: markers.Config | None = None) -> tuple[markers.Config, tuple[markers.Event, ...]]:
    config = config or draw_config(random)
    draw_kind = among(random, swarm(random, open=2, elapse=5, close=0.3))
    walk = Walk(random, markers.start(config), markers.step)
    for _ in walk.rounds():
        walk.play_one(draw_event(*draw_kind()))
    return config, walk.events


def draw_far(random: Random) -> tuple[markers.Config, tuple[markers.Event, ...]]:
    """Intervals and times around the range of the clock, and far beyond."""
    cluster, job = (random.choice(FAR) for _ in range(2))
    config = markers.Config(cluster, random.choice((None, job)))
    times = [random.choice(TIMES) for _ in range(random.randint(1, 4))]
    order: list[markers.Event] = [markers.OpenSource(), *map(markers.Elapse, times)]
    place = random.choice((0, 0, 1))
    order[0], order[place] = order[place], order[0]
    return config, tuple(order)


AIMS = (draw_far,)


def draw_config(random: Random) -> markers.Config:
    return markers.Config(
        stream(random, "cluster").choice(INTERVALS), stream(random, "job").choice((None, None, *INTERVALS))
    )


def draw_event(random: Random, kind: str) -> markers.Event:
    if kind == "open":
        return markers.OpenSource()
    if kind == "close":
        return markers.CloseSource()
    return markers.Elapse(random.choice((0, 0, 0, 1, 1, 2, 5, 9, 10, 11, 30, 100)))


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(intervals: tuple[int, ...], until: int) -> Scope:
    def alphabet(_config: markers.Config, state: markers.State) -> tuple[markers.Event, ...]:
        steps = tuple(markers.Elapse(step) for step in (1, 3) if state.now + step <= until)
        return (markers.OpenSource(), markers.CloseSource(), *steps, markers.Elapse(markers.MOST + 1))

    jobs = (None, *intervals)
    return Scope(
        name=f"until-{until}",
        component="latency_markers",
        configs=tuple(markers.Config(cluster, job) for cluster in intervals for job in jobs),
        alphabet=alphabet,
        covers=f"intervals of 0 to {max(intervals)} ms for cluster and job, {until} ms",
    )


def small() -> Iterator[Scope]:
    yield make_scope((0, 1, 2), 4)


def thorough() -> Iterator[Scope]:
    yield make_scope((0, 2, 3), 9)
