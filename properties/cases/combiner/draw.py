"""Cases for the combiner: inputs that wake by a watermark, all idle in any order, equal values."""

from random import Random

from tidegate.properties.cases.values import among, clamp, draw_longs, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.elements import Long, Status
from tidegate.reference.watermarks import combiner

SEMANTICS = ("flink-38454", "flink-38454", "flink-18934")
INPUTS = (1, 2, 2, 2, 3, 3, 3, 4, 6)
#: Where masks of bits end.
MANY = (9, 17, 33, 65)


def draw(random: Random, config: combiner.Config | None = None) -> tuple[combiner.Config, tuple[combiner.Event, ...]]:
    config = config or draw_config(random)
    pool = draw_longs(random)
    weights = swarm(random, watermark=5, idle=3, active=2, all_idle=0.3, refused=0.2)
    draw_kind = among(random, weights)
    walk = Walk(random, combiner.start(config), combiner.step)
    for _ in walk.rounds():
        walk.play(draw_events(random, draw_kind(), walk.state, pool))
    return config, walk.events


def draw_config(random: Random) -> combiner.Config:
    inputs = random.choice(INPUTS if random.random() < 0.98 else MANY)
    return combiner.Config(inputs, random.choice(SEMANTICS))


def draw_events(random: Random, kind: str, state: combiner.State, pool: list[Long]) -> list[combiner.Event]:
    inputs = list(range(state.config.inputs))
    index = random.choice(inputs)
    if kind == "idle":
        return [combiner.InputStatus(index, Status.IDLE)]
    if kind == "active":
        return [combiner.InputStatus(index, Status.ACTIVE)]
    if kind == "all_idle":
        random.shuffle(inputs)
        return [combiner.InputStatus(one, Status.IDLE) for one in inputs]
    if kind == "refused":
        outside = random.choice((-1, state.config.inputs, state.config.inputs + 7))
        if random.random() < 0.5:
            return [combiner.InputStatus(outside, random.choice(list(Status)))]
        return [combiner.InputWatermark(outside, random.choice(pool))]
    near = random.choice(
        (
            state.combined,
            state.inputs[index].watermark,
            random.choice(state.inputs).watermark,
            random.choice(pool),
            random.choice(pool),
        )
    )
    return [combiner.InputWatermark(index, clamp(near + random.choice((-1, 0, 0, 0, 1, 1, 2))))]
