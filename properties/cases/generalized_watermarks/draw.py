"""Cases for generalized watermarks: every combination, values that come again, channels that say nothing for long."""

from random import Random

from tidegate.properties.cases.values import draw_longs
from tidegate.properties.cases.walk import Walk
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
    channels = random.choice((1, 2, 2, 3, 3, 4, 9))
    return generalized.Config(channels, random.choice(generalized.COMBINATIONS), random.random() < 0.4)
