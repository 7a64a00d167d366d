"""Cases for a task's statuses: the traces of the valve, with records and latency markers in between."""

from random import Random

from tidegate.properties.cases.values import draw_length, draw_longs, swarm
from tidegate.properties.cases.valve import draw as valve_cases
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
    kinds, shares = list(weights), list(weights.values())
    (state,) = start(config)
    events: list[Event] = []
    for _ in range(draw_length(random)):
        kind = random.choices(kinds, shares)[0]
        channel = random.randrange(config.channels) if random.random() < 0.97 else config.channels
        drawn: list[Event]
        if kind == "record":
            drawn = [Record(channel)]
        elif kind == "marker":
            drawn = [LatencyMarker(channel)]
        else:
            drawn = [*valve_cases.draw_events(random, kind, state.valve, pool)]
        for event in drawn:
            events.append(event)
            state = step(state, event)[0].state
    return config, tuple(events)
