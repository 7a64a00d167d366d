"""Cases for a task's statuses: the traces of the valve, with records and latency markers in between."""

from functools import partial
from random import Random

from tidegate.properties.cases.values import COUNTS, among, clamp, draw_longs, swarm
from tidegate.properties.cases.valve import draw as valve_cases
from tidegate.properties.cases.walk import Walk
from tidegate.reference.watermarks.statuses import SEMANTICS, Config, Event, LatencyMarker, Record, start, step


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    pool = draw_longs(random)
    weights = swarm(random, watermark=5, idle=3, active=2.5, record=2, marker=1, equal_status=0.3, refused=0.15)
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    if config.channels > COUNTS[3]:
        walk.play(valve_cases.leave_it_to_the_ends(random, config.channels, clamp(max(pool) + 5)))
    for _ in walk.rounds():
        kind = draw_kind()
        channel = random.randrange(config.channels) if random.random() < 0.97 else config.channels
        if kind == "record":
            walk.play_one(Record(channel))
        elif kind == "marker":
            walk.play_one(LatencyMarker(channel))
        else:
            walk.play(valve_cases.draw_events(random, kind, walk.state.valve, pool))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(
        random.choice((1, 1, 2, 2, 3, 4)),
        random.choice((1, 1, 2, 3)),
        random.choice((0, 1, 1, 2, 2, 3)),
        random.choice(SEMANTICS),
    )


def draw_last_decides(random: Random, channels: int) -> tuple[Config, tuple[Event, ...]]:
    """What the last of many channels decides for the valve, it decides for the task."""
    _, events = valve_cases.draw_last_decides(random, channels)
    return Config(channels, 1, 1, random.choice(SEMANTICS)), events


ONCE = tuple(partial(draw_last_decides, channels=channels) for channels in COUNTS)
