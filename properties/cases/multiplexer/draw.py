"""Cases for the multiplexer: splits that come and go, both doors, all idle, emits with and without news."""

from random import Random

from tidegate.properties.cases.values import among, clamp, draw_longs, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.elements import Long, Status
from tidegate.reference.watermarks import multiplexer

#: The default, which newer releases follow, more often than the others.
OF_RELEASES = (multiplexer.SEMANTICS[0], *multiplexer.SEMANTICS)
#: So many outputs there are at first, and one more id than that, which comes and goes.
OUTPUTS = (0, 1, 1, 2, 2, 2, 3, 3, 4, 7)


def draw(
    random: Random, config: multiplexer.Config | None = None
) -> tuple[multiplexer.Config, tuple[multiplexer.Event, ...]]:
    config = config or draw_config(random)
    ids = [random.choice((1, 1, -1, 1000)) * index for index in range(random.choice(OUTPUTS) + 1)]
    pool = draw_longs(random)
    weights = swarm(random, watermark=5, idle=2, active=1, emit=1.5, register=0.5, unregister=0.3, all_idle=0.4)
    weights["refused"] = random.choice((0, 0, 0.3))
    deferred = random.choice((0, 0.3, 0.5, 0.8, 1))
    draw_kind = among(random, weights)
    walk = Walk(random, multiplexer.start(config), multiplexer.step)
    opening: list[multiplexer.Event] = [multiplexer.Register(one) for one in ids[:-1]]
    for number in walk.rounds():
        kind = draw_kind()
        walk.play(draw_events(random, kind, walk.state, ids, pool, deferred) if number else opening)
    return config, walk.events


def draw_config(random: Random) -> multiplexer.Config:
    return multiplexer.Config(random.choice(OF_RELEASES))


def draw_events(
    random: Random, kind: str, state: multiplexer.State, ids: list[int], pool: list[Long], deferred: float
) -> list[multiplexer.Event]:
    mode = multiplexer.Mode.DEFERRED if random.random() < deferred else multiplexer.Mode.IMMEDIATE
    registered = [one.id for one in state.outputs]
    free = [one for one in ids if one not in registered]
    if kind == "refused":
        return [draw_refused(random, registered, free or [max(ids) + 1], mode, pool)]
    if kind == "emit":
        return [multiplexer.PeriodicEmit()] * random.choice((1, 1, 1, 2))
    if kind == "register" or not registered:
        return [multiplexer.Register(random.choice(free))] if free else [multiplexer.PeriodicEmit()]
    output = random.choice(registered)
    if kind == "unregister":
        # What is gone shows at the next derivation, and least of all when it was the last.
        gone = registered if random.random() < 0.2 else [output]
        return [
            *(multiplexer.Unregister(one) for one in gone),
            *([multiplexer.PeriodicEmit()] if random.random() < 0.5 else []),
        ]
    if kind == "all_idle":
        random.shuffle(registered)
        return [multiplexer.OutputStatus(one, mode, Status.IDLE) for one in registered]
    if kind != "watermark":
        return [multiplexer.OutputStatus(output, mode, Status(kind))]
    near = random.choice((state.combined, random.choice(state.outputs).watermark, *random.choices(pool, k=3)))
    return [multiplexer.OutputWatermark(output, mode, clamp(near + random.choice((-1, 0, 0, 0, 1, 1, 2))))]


def draw_refused(
    random: Random, registered: list[int], free: list[int], mode: multiplexer.Mode, pool: list[Long]
) -> multiplexer.Event:
    """An id that is there already, or one that is not."""
    unknown = random.choice(free)
    refused: list[multiplexer.Event] = [
        multiplexer.Unregister(unknown),  # not refused, and does nothing
        multiplexer.OutputWatermark(unknown, mode, random.choice(pool)),
        multiplexer.OutputStatus(unknown, mode, random.choice(list(Status))),
        *(multiplexer.Register(one) for one in registered[:2]),
    ]
    return random.choice(refused)
