"""Cases for events in transit: every kind, with and without priority."""

from collections.abc import Iterator
from itertools import product
from random import Random

from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.subpartition import event_kinds as events


def draw(random: Random, config: events.Config | None = None) -> tuple[events.Config, tuple[events.Event, ...]]:
    config = config or draw_config(random)
    walk = Walk(random, events.start(config), events.step, length=random.choice((1, 2, 5)))
    for _ in walk.rounds():
        walk.play_one(events.PutIntoBuffer(random.choice(list(events.Kind)), random.random() < 0.3))
    return config, walk.events


def draw_config(_random: Random) -> events.Config:
    return events.Config()


GENERATOR = Generator(draw=draw, draw_config=draw_config, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


def small() -> Iterator[Scope]:
    every = tuple(events.PutIntoBuffer(kind, urgent) for kind, urgent in product(events.Kind, (False, True)))
    yield Scope(
        name="every-kind",
        component="event_kinds",
        configs=(events.Config(),),
        alphabet=lambda _config, _state: every,
        covers="every kind of event, with priority and without",
    )


thorough = small
