"""Cases for the end of an input: channels that end, fail, or both, and inputs that are closed twice."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.input import input_close as closing


def draw(random: Random, config: closing.Config | None = None) -> tuple[closing.Config, tuple[closing.Event, ...]]:
    config = config or draw_config(random)
    draw_kind = among(random, swarm(random, error=2, breaks=2, end=1.5, snapshot=1, close=1))
    walk = Walk(random, closing.start(config), closing.step)
    for _ in walk.rounds():
        walk.play_one(draw_event(*draw_kind(), config.channels))
    return config, walk.events


def draw_config(random: Random) -> closing.Config:
    return closing.Config(stream(random, "channels").choice((1, 2, 2, 3)))


def draw_event(random: Random, kind: str, channels: int) -> closing.Event:
    channel = random.choice((-1, channels)) if random.random() < 0.03 else random.randrange(channels)
    match kind:
        case "error":
            return closing.ChannelFails(channel)
        case "breaks":
            return closing.Break(channel, random.choice(list(closing.Cause)))
        case "end":
            return closing.ChannelEnds(channel)
        case "snapshot":
            return closing.SnapshotInput()
        case _:
            return closing.CloseInput()


GENERATOR = Generator(draw=draw, draw_config=draw_config)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(channels: int) -> Scope:
    numbers = range(channels + 1)
    events: tuple[closing.Event, ...] = (
        closing.CloseInput(),
        closing.SnapshotInput(),
        *(closing.ChannelFails(channel) for channel in numbers),
        *(closing.ChannelEnds(channel) for channel in numbers),
        *(closing.Break(channel, cause) for channel in numbers for cause in closing.Cause),
    )
    return Scope(
        name=f"{channels}-channels",
        component="input_close",
        configs=(closing.Config(channels),),
        alphabet=lambda _config, _state: events,
        covers=f"{counted(channels, 'channel')}, all that may fail; refused: a channel that does not exist",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1)
    yield make_scope(2)


def thorough() -> Iterator[Scope]:
    yield make_scope(3)
