"""Cases for a task's statuses: the traces of the valve, with records and latency markers in between."""

from random import Random

from tidegate.properties.cases.values import draw_length, draw_longs, swarm
from tidegate.properties.cases.valve import draw as valve_cases
from tidegate.properties.cases.walk import Walk, among
from tidegate.reference.watermarks.statuses import SEMANTICS, Config, Event, LatencyMarker, Record, start, step


def draw(random: Random) -> tuple[Config, tuple[Event, ...]]:
    config = Config(
        random.choice((1, 1, 2, 2, 3, 4)),
        random.choice((1, 1, 2, 3)),
        random.choice((0, 1, 1, 2, 2, 3)),
        random.choice(SEMANTICS),
    )
    pool = draw_longs(random)
    weights = swarm(random, watermark=5, idle=3, active=2.5, record=2, marker=1, equal_status=0.3, refused=0.15)
    draw_kind = among(random, weights)
    walk = Walk(step, *start(config))
    for _ in range(draw_length(random)):
        kind = draw_kind()
        channel = random.randrange(config.channels) if random.random() < 0.97 else config.channels
        if kind == "record":
            walk.play(Record(channel))
        elif kind == "marker":
            walk.play(LatencyMarker(channel))
        else:
            walk.play(*valve_cases.draw_events(random, kind, walk.state.valve, pool))
    return config, tuple(walk.events)
