"""Cases for the number of required buffers: few and many channels, around the limits."""

from collections.abc import Iterator
from itertools import product
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.pools import buffer_needs as needs


def draw(random: Random, config: needs.Config | None = None) -> tuple[needs.Config, tuple[needs.Event, ...]]:
    config = config or draw_config(random)
    walk = Walk(random, needs.start(config), needs.step, length=random.choice((1, 2, 4, 4, 40)))
    for _ in walk.rounds():
        result = random.choice(list(needs.Result))
        count = random.choice((1, 2, 3, 10, 333, 499, 500, 999, 1000, 32768))
        gate = random.random() < 0.6
        walk.play_one(needs.AskForGate(result, count) if gate else needs.AskForPartition(result, count))
    return config, walk.events


def draw_config(random: Random) -> needs.Config:
    return needs.Config(
        per_channel=stream(random, "per_channel").choice((0, 1, 2, 2, 5)),
        floating=stream(random, "floating").choice((1, 4, 8, 8)),
        limit=stream(random, "limit").choice((None, None, None, 1, 2, 3, 10, 1000, needs.UNLIMITED)),
    )


GENERATOR = Generator(draw=draw, draw_config=draw_config, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(name: str, counts: tuple[int, ...], limits: tuple[int | None, ...]) -> Scope:
    events: tuple[needs.Event, ...] = (
        *(needs.AskForPartition(result, count) for result, count in product(needs.Result, counts)),
        *(needs.AskForGate(result, count) for result, count in product(needs.Result, counts)),
    )
    return Scope(
        name=name,
        component="buffer_needs",
        configs=tuple(needs.Config(own, floating, limit) for own, floating, limit in product((0, 2), (1, 8), limits)),
        alphabet=lambda _config, _state: events,
        covers=f"partitions and gates of {', '.join(map(str, counts))}, with and without a limit",
    )


def small() -> Iterator[Scope]:
    yield make_scope("few-and-many", (1, 3, 499, 500), (None, 1, 4))


def thorough() -> Iterator[Scope]:
    yield make_scope("all-limits", (1, 2, 3, 333, 499, 500, 1000), (None, 1, 2, 3, 4, 1000))
