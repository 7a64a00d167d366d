"""Cases for the buffers that are needed: few channels and many, around the limits."""

from random import Random

from tidegate.properties.cases.walk import Walk
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
    limit = random.choice((None, None, None, 1, 2, 3, 10, 1000, needs.UNLIMITED))
    return needs.Config(random.choice((0, 1, 2, 2, 5)), random.choice((1, 4, 8, 8)), limit)
