"""Cases for a channel with recovered data: barriers that overtake it, and right or wrong notifications."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.recovery import handed_over as handed

EVENTS: dict[str, handed.Event] = {
    "request": handed.RequestPartition(),
    "data": handed.WriteData(),
    "barrier": handed.WriteBarrier(),
    "tell": handed.TellOfBarrier(),
    "poll": handed.PollItem(),
    "count": handed.CountBuffers(),
}


def draw(random: Random, config: handed.Config | None = None) -> tuple[handed.Config, tuple[handed.Event, ...]]:
    config = config or draw_config(random)
    draw_kind = among(random, swarm(random, request=1.5, data=2, barrier=1.5, tell=0.2, poll=3, count=1.5))
    walk = Walk(random, handed.start(config), handed.step)
    for _ in walk.rounds():
        walk.play_one(EVENTS[draw_kind()[1]])
    return config, walk.events


def draw_config(random: Random) -> handed.Config:
    return handed.Config(stream(random, "recovered").choice((0, 1, 2, 3, 5, 8)))


GENERATOR = Generator(draw=draw, draw_config=draw_config)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(recovered: int, items: int) -> Scope:
    """At most `items` of each kind wait with the producer."""

    def alphabet(_config: handed.Config, state: handed.State) -> tuple[handed.Event, ...]:
        full = {"data": state.data >= items, "barrier": state.barriers >= items}
        return tuple(event for name, event in EVENTS.items() if not full.get(name, False))

    return Scope(
        name=f"{recovered}-recovered",
        component="handed_over",
        configs=(handed.Config(recovered),),
        alphabet=alphabet,
        covers=f"{counted(recovered, 'recovered buffer')}, up to {items} of each kind with the producer, every event",
    )


def small() -> Iterator[Scope]:
    yield make_scope(2, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(3, 2)
