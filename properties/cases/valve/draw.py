"""Cases for the valve: long idle phases, low channels that come back, watermarks next to what was already said."""

from random import Random
from typing import Any

from tidegate.properties.cases.values import among, clamp, draw_longs, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.elements import Long, Status
from tidegate.reference.watermarks import valve

SEMANTICS = ("flink-7728", "flink-7728", "flink-7728", "flink-40475", "flink-40475")
CHANNELS = (1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 8)
#: Where masks of bits end.
MANY = (9, 16, 17, 33, 65)


def draw(random: Random, config: valve.Config | None = None) -> tuple[valve.Config, tuple[valve.Event, ...]]:
    config = config or draw_config(random)
    pool = draw_longs(random)
    weights = swarm(
        random, watermark=6, idle=3, active=3, idle_all_but_one=0.3, leave_behind=0.4, equal_status=0.3, refused=0.2
    )
    draw_kind = among(random, weights)
    walk = Walk(random, valve.start(config), valve.step)
    for _ in walk.rounds():
        walk.play(draw_events(random, draw_kind(), walk.state, pool))
    return config, walk.events


def draw_config(random: Random) -> valve.Config:
    channels = random.choice(CHANNELS if random.random() < 0.98 else MANY)
    return valve.Config(channels, random.choice(SEMANTICS))


def draw_events(random: Random, kind: str, state: valve.State, pool: list[Long]) -> list[valve.Event]:
    if valve.is_minimum_pending(state) and random.random() < 0.6:
        return [probe_pending_minimum(random, state)]
    channels = range(state.config.channels)
    active = [index for index in channels if state.channels[index].active]
    idle = [index for index in channels if not state.channels[index].active]
    if kind == "idle" and active:
        return [valve.ChannelStatus(random.choice(active), Status.IDLE)]
    if kind == "active" and idle:
        return [valve.ChannelStatus(random.choice(idle), Status.ACTIVE)]
    if kind == "idle_all_but_one" and active:
        random.shuffle(active)
        return [valve.ChannelStatus(index, Status.IDLE) for index in active[1:]]
    if kind == "leave_behind" and state.config.channels > 2:
        return leave_behind(random, state)
    if kind == "equal_status":
        index = random.choice(channels)
        return [valve.ChannelStatus(index, Status.ACTIVE if state.channels[index].active else Status.IDLE)]
    if kind == "refused":
        outside = random.choice((-1, state.config.channels, state.config.channels + 7))
        if random.random() < 0.5:
            return [valve.ChannelStatus(outside, random.choice(list(Status)))]
        return [valve.ChannelWatermark(outside, random.choice(pool))]
    # Mostly on active channels: an idle one only ignores it.
    index = random.choice(active if active and random.random() < 0.85 else channels)
    return [valve.ChannelWatermark(index, draw_timestamp(random, state, index, pool))]


def leave_behind(random: Random, state: valve.State) -> list[valve.Event]:
    """One channel idle with a high watermark, one idle with the last output, and only a stale one active.

    This is where watermarks are lost or stall (VALVE-12, VALVE-13), and no random walk comes here often.
    """
    stale, high, output, *others = random.sample(range(state.config.channels), state.config.channels)
    base = max(state.last, *(channel.watermark for channel in state.channels))
    statuses = [valve.ChannelStatus(index, Status.IDLE) for index in (stale, *others)]
    statuses += [valve.ChannelStatus(index, Status.ACTIVE) for index in (high, output)]
    needed = [one for one in statuses if state.channels[one.channel].active != (one.status is Status.ACTIVE)]
    gap = random.choice((1, 1, 2, 5))
    return [
        *needed,
        valve.ChannelWatermark(high, clamp(base + 1 + gap)),
        valve.ChannelWatermark(output, clamp(base + 1)),
        valve.ChannelStatus(high, Status.IDLE),
        valve.ChannelStatus(stale, Status.ACTIVE),
        valve.ChannelStatus(output, Status.IDLE),
        *random.choice(([], [valve.ChannelStatus(high, Status.ACTIVE)])),
    ]


def probe_pending_minimum(random: Random, state: valve.State) -> valve.Event:
    """What must not release a pending minimum, and what must: engines differ here more than anywhere."""
    index = random.choice([index for index, channel in enumerate(state.channels) if channel.active])
    channel = state.channels[index]
    if random.random() < 0.4:
        return valve.ChannelStatus(index, Status.IDLE)
    if channel.aligned:
        return valve.ChannelWatermark(index, clamp(channel.watermark + random.choice((0, 0, 1))))
    return valve.ChannelWatermark(index, clamp(random.choice((channel.watermark + 1, state.last - 1, state.last))))


def draw_timestamp(random: Random, state: valve.State, index: int, pool: list[Long]) -> Long:
    """Next to the last output, to the channel's own watermark or to another channel's; or anything."""
    channel = state.channels[index]
    if channel.active and not channel.aligned and random.random() < 0.5:
        # Still behind, exactly caught up, or just ahead.
        return clamp(random.choice((channel.watermark + 1, state.last - 1, state.last, state.last + 1)))
    near: Any = random.choice(
        (
            state.last,
            channel.watermark,
            random.choice(state.channels).watermark,
            random.choice(pool),
            random.choice(pool),
        )
    )
    return clamp(near + random.choice((-1, 0, 0, 0, 1, 1, 2)))


# --- aims -----------------------------------------------------------------------------------------------------


def draw_around_the_output(random: Random) -> tuple[valve.Config, tuple[valve.Event, ...]]:
    """Channels below, at and above the last output, some idle and some back again; then what makes a difference."""
    config = valve.Config(random.choice((3, 4, 4, 4, 5, 6)), random.choice(SEMANTICS))
    pool = draw_longs(random)
    walk = Walk(random, valve.start(config), valve.step)
    output, below, *others = random.sample(range(config.channels), config.channels)
    base = random.choice(pool)
    above = [index for index in others if random.random() < 0.8]
    walk.play(valve.ChannelWatermark(index, clamp(base + random.choice((1, 1, 2)))) for index in above)
    walk.play(valve.ChannelStatus(index, Status.IDLE) for index in random.sample([below, *others], len(others) + 1))
    walk.play([valve.ChannelWatermark(output, base)])
    # One that is below keeps the valve active while the output turns idle: a minimum above it is pending then.
    back = [below, output, *random.sample(others, len(others))]
    if random.random() < 0.3:
        random.shuffle(back)
    for index in back[: random.choice((2, 3, 4, 4, 6))]:
        walk.play([valve.ChannelStatus(index, Status.IDLE if index == output else Status.ACTIVE)])
    for _ in range(random.randint(1, 8)):
        walk.play([draw_near(random, walk.state)])
    return config, walk.events


def draw_near(random: Random, state: valve.State) -> valve.Event:
    """Mostly an active channel turns idle or moves by one; now and then an idle one comes back."""
    active = [index for index, channel in enumerate(state.channels) if channel.active]
    if not active or random.random() < 0.25:
        return valve.ChannelStatus(random.randrange(state.config.channels), Status.ACTIVE)
    index = random.choice(active)
    if random.random() < 0.6:
        return valve.ChannelStatus(index, Status.IDLE)
    return valve.ChannelWatermark(index, clamp(random.choice((state.last, state.channels[index].watermark + 1))))


AIMS = (draw_around_the_output,)
