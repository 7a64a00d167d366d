"""Cases for generalized watermarks: every combination, repeated values, channels that are silent for long."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import draw_longs
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long
from tidegate.reference.watermarks import generalized_watermarks as generalized


def draw(
    random: Random, config: generalized.Config | None = None
) -> tuple[generalized.Config, tuple[generalized.Event, ...]]:
    config = config or draw_config(random)
    pool = draw_longs(random)
    refused = random.choice((0, 0, 0.1))
    truths = {"min": 0.0, "max": 0.0, "and": 1.0, "or": 1.0}.get(config.combination, random.choice((0, 0.5, 1)))
    walk = Walk(random, generalized.start(config), generalized.step)
    for _ in walk.rounds():
        channel = random.randrange(config.channels)
        is_truth = random.random() < truths
        if random.random() < refused:
            channel, is_truth = random.choice(((-1, is_truth), (config.channels, is_truth), (channel, not is_truth)))
        if is_truth:
            walk.play_one(generalized.ChannelTruth(channel, random.random() < 0.5))
        else:
            walk.play_one(generalized.ChannelNumber(channel, random.choice(pool)))
    return config, walk.events


def draw_config(random: Random) -> generalized.Config:
    return generalized.Config(
        channels=stream(random, "channels").choice((1, 2, 2, 3, 3, 4, 9)),
        combination=stream(random, "combination").choice(generalized.COMBINATIONS),
        wait=stream(random, "wait").random() < 0.4,
    )


def draw_last_decides(
    random: Random, channels: int, combination: str
) -> tuple[generalized.Config, tuple[generalized.Event, ...]]:
    """The last of many channels sends another value than all others; these send again, and then it sends the same."""
    *others, last = range(channels)
    config = generalized.Config(channels, combination, random.random() < 0.5)
    if combination in generalized.TRUTHS:
        common = combination == "and"
        said = [(index, common) for index in others]
        truths = [*said, (last, not common), *said, *((last, value) for value in (not common, common, not common))]
        return config, tuple(generalized.ChannelTruth(index, value) for index, value in truths)
    usual = [(index, 10) for index in others]
    numbers = [*usual, (last, 5), *usual, (last, 20), *usual, (last, 7), (last, 10)]
    return config, tuple(generalized.ChannelNumber(index, Long(value)) for index, value in numbers)


ONCE = tuple(
    partial(draw_last_decides, channels=channels, combination=combination)
    for channels in (9, 65, 257, 1025)
    for combination in generalized.COMBINATIONS
)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(channels: int, numbers: int) -> Scope:
    places = range(channels + 1)
    events: tuple[generalized.Event, ...] = (
        *(generalized.ChannelNumber(one, Long(value)) for one, value in product(places, range(numbers))),
        *(generalized.ChannelTruth(one, value) for one, value in product(places, (False, True))),
    )
    return Scope(
        name=f"{channels}x{numbers}",
        component="generalized_watermarks",
        configs=tuple(
            generalized.Config(channels, combination, wait)
            for combination, wait in product(generalized.COMBINATIONS, (False, True))
            if not (wait and combination == "aligned")
        ),
        alphabet=lambda _config, _state: events,
        covers=(
            f"every combination of {counted(channels, 'channel')}, numbers below {numbers} and truth values; refused: "
            "a channel that does not exist, values of the other type"
        ),
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    yield make_scope(2, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope(3, 3)
