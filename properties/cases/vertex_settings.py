"""Cases for the settings of a vertex: trees of all shapes, with one operator that differs."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

import attrs

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.chaining import vertex_settings as settings


def draw(random: Random, config: settings.Config | None = None) -> tuple[settings.Config, tuple[settings.Event, ...]]:
    config = config or draw_config(random)
    walk = Walk(random, settings.start(config), settings.step, length=random.choice((1, 2, 3)))
    for _ in walk.rounds():
        walk.play_one(draw_vertex(random))
    return config, walk.events


def draw_config(random: Random) -> settings.Config:
    return settings.Config(
        parallelism=stream(random, "parallelism").choice((1, 2, 4)),
        max_parallelism=stream(random, "max_parallelism").choice((-1, -1, 4, 128)),
        dynamic=stream(random, "dynamic").random() < 0.5,
        checkpoints=stream(random, "checkpoints").random() < 0.5,
    )


def draw_large(count: int, random: Random) -> tuple[settings.Config, tuple[settings.Event, ...]]:
    """A long chain, with as many sources as allowed."""
    sources = min(count, settings.MOST_SOURCES)
    return draw_config(random), (draw_vertex(random, (count,), (sources,), (-1, 129, 1000, 32768)),)


def draw_last_differs(count: int, random: Random) -> tuple[settings.Config, tuple[settings.Event, ...]]:
    """All are children of the head; only the last operator or source is configured, refuses checkpoints, or selects."""
    *operators, last = (settings.Operator(f"operator {place}") for place in range(count))
    *sources, source = (settings.ChainedSource(f"source {place}") for place in range(settings.MOST_SOURCES))
    ends = [
        (attrs.evolve(last, configured=True), source),
        (attrs.evolve(last, concurrent=False), source),
        (attrs.evolve(last, selects=True), source),
        (last, attrs.evolve(source, configured=True)),
        (last, attrs.evolve(source, concurrent=False)),
    ]
    random.shuffle(ends)
    config = settings.Config(4, -1, dynamic=True, checkpoints=True)
    return config, tuple(settings.MakeVertex((*operators, one), (*sources, other), -1) for one, other in ends)


#: Each operator has its own name, and the names are in events: boundaries are drawn here.
ONCE = (
    *(partial(draw_large, count) for count in (9, 17, 33, 65, 129, 257, 1025)),
    *(partial(draw_last_differs, count) for count in (10, 66, 258)),
)


def draw_vertex(
    random: Random,
    operator_counts: tuple[int, ...] = (1, 2, 3, 4, 5),
    source_counts: tuple[int, ...] = (0, 0, 1, 2),
    most: tuple[int, ...] = (-1, -1, 4, 10),
) -> settings.MakeVertex:
    configured, concurrent, selecting = (random.choice((0, 0.2, 0.5)) for _ in range(3))
    operators = tuple(
        settings.Operator(
            f"operator {place}",
            random.randrange(place) if place else 0,
            random.random() < configured,
            random.random() >= concurrent,
            random.random() < selecting * 0.3,
        )
        for place in range(random.choice(operator_counts))
    )
    sources = tuple(
        settings.ChainedSource(f"source {place}", random.random() < configured, random.random() >= concurrent)
        for place in range(random.choice(source_counts))
    )
    return settings.MakeVertex(operators, sources, random.choice(most))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


def vertices(length: int) -> Iterator[settings.MakeVertex]:
    flags = (False, True)
    for configured, concurrent, selects, most, with_source in product(flags, flags, flags, (-1, 10), flags):
        last = settings.Operator("last", max(0, length - 2), configured, concurrent, selects)
        others = tuple(settings.Operator(f"operator {place}") for place in range(length - 1))
        sources = (settings.ChainedSource("source", configured, concurrent),) if with_source else ()
        yield settings.MakeVertex((*others, last), sources, most)


def make_scope(length: int) -> Scope:
    events = tuple(vertices(length))
    return Scope(
        name=f"{length}-operators",
        component="vertex_settings",
        configs=tuple(
            settings.Config(2, most, dynamic, checkpoints)
            for most, dynamic, checkpoints in product((-1, 4), (False, True), (False, True))
        ),
        alphabet=lambda _config, _state: events,
        covers=f"a line of {length}, of which the last has every setting; refused: checkpoints and selected inputs",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1)
    yield make_scope(2)


def thorough() -> Iterator[Scope]:
    yield make_scope(3)
