"""Cases for the valve: long idle phases, low channels that return, watermarks next to earlier output."""

from collections.abc import Iterator
from functools import lru_cache, partial
from random import Random

from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection, up_to_numbers
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted, dated
from tidegate.properties.drawing.timestamps import order_preserving, signals
from tidegate.properties.drawing.values import COUNTS, among, clamp, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long, Status
from tidegate.reference.watermarks import valve

SEMANTICS = ("flink-7728", "flink-7728", "flink-7728", "flink-40475", "flink-40475")
CHANNELS = (1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 8)
ACTIVE, IDLE = Status
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
    if config.channels > MANY[-1]:
        walk.play(leave_it_to_the_ends(random, config.channels, clamp(max(pool) + 5)))
    for _ in walk.rounds():
        walk.play(draw_events(*draw_kind(), walk.state, pool))
    return config, walk.events


def draw_config(random: Random) -> valve.Config:
    own = stream(random, "channels")
    channels = own.choice(CHANNELS if own.random() < 0.98 else MANY)
    return valve.Config(channels, stream(random, "semantics").choice(SEMANTICS))


def leave_it_to_the_ends(random: Random, channels: int, high: Long) -> list[valve.Event]:
    """Of very many channels only the first and the last ones decide: the others are idle, or far ahead."""
    between, idle = range(2, channels - 2), random.choice((0, 0.5, 1))
    return [change(index, IDLE) if random.random() < idle else watermark(index, high) for index in between]


def draw_events(random: Random, kind: str, state: valve.State, pool: list[Long]) -> list[valve.Event]:
    channels, last = state.channels, state.last
    # A minimum is pending if there is one, and no aligned channel holds the last output. A campaign spends half of its
    # time in this function, so one loop finds this and the active channels.
    active, held, aligned = [], False, False
    for index, channel in enumerate(channels):
        if channel.active:
            active.append(index)
            if channel.aligned:
                aligned = True
                held = held or channel.watermark <= last
    if aligned and not held and random.random() < 0.6:
        return [probe_pending_minimum(random, state)]
    if kind == "active":
        idle = [index for index, channel in enumerate(channels) if not channel.active]
        if idle:
            return [change(random.choice(idle), ACTIVE)]
    if kind == "leave_behind" and len(channels) > 2:
        return leave_behind(random, state)
    if kind == "equal_status":
        index = random.choice(range(len(channels)))
        return [change(index, ACTIVE if channels[index].active else IDLE)]
    if kind == "refused":
        outside = random.choice((-1, len(channels), len(channels) + 7))
        if random.random() < 0.5:
            return [change(outside, random.choice(list(Status)))]
        return [watermark(outside, random.choice(pool))]
    if active and kind == "idle":
        return [change(random.choice(active), IDLE)]
    if active and kind == "idle_all_but_one":
        random.shuffle(active)
        return [change(index, IDLE) for index in active[1:]]
    # Mostly on active channels: an idle one only ignores it.
    index = random.choice(active if active and random.random() < 0.85 else range(len(channels)))
    return [watermark(index, draw_timestamp(random, state, index, pool))]


# A few events make up most traces, and writers and senders cache them.
change = lru_cache(1 << 10)(valve.ChannelStatus)
watermark = lru_cache(1 << 16)(valve.ChannelWatermark)


def leave_behind(random: Random, state: valve.State) -> list[valve.Event]:
    """One channel idle with a high watermark, one idle with the last output, and only a stale one active.

    Here watermarks are lost or stall (VALVE-12, VALVE-13), and random walks rarely get here.
    """
    stale, high, output, *others = random.sample(range(state.config.channels), state.config.channels)
    base = max(state.last, *(channel.watermark for channel in state.channels))
    statuses = [change(index, IDLE) for index in (stale, *others)]
    statuses += [change(index, ACTIVE) for index in (high, output)]
    needed = [one for one in statuses if state.channels[one.channel].active != (one.status is ACTIVE)]
    gap = random.choice((1, 1, 2, 5))
    return [
        *needed,
        watermark(high, clamp(base + 1 + gap)),
        watermark(output, clamp(base + 1)),
        change(high, IDLE),
        change(stale, ACTIVE),
        change(output, IDLE),
        *random.choice(([], [change(high, ACTIVE)])),
    ]


def probe_pending_minimum(random: Random, state: valve.State) -> valve.Event:
    """Events that must not release a pending minimum, and events that must: engines differ here the most."""
    index = random.choice([index for index, channel in enumerate(state.channels) if channel.active])
    channel = state.channels[index]
    if random.random() < 0.4:
        return change(index, IDLE)
    if channel.aligned:
        return watermark(index, clamp(channel.watermark + random.choice((0, 0, 1))))
    return watermark(index, clamp(random.choice((channel.watermark + 1, state.last - 1, state.last))))


def draw_timestamp(random: Random, state: valve.State, index: int, pool: list[Long]) -> Long:
    """Next to the last output, to the channel's own watermark or to another channel's; or anything."""
    channel = state.channels[index]
    if channel.active and not channel.aligned and random.random() < 0.5:
        # Still behind, exactly caught up, or just ahead.
        return clamp(random.choice((channel.watermark + 1, state.last - 1, state.last, state.last + 1)))
    choose = random.choice
    near = choose((state.last, channel.watermark, choose(state.channels).watermark, choose(pool), choose(pool)))
    return clamp(near + choose((-1, 0, 0, 0, 1, 1, 2)))


# --- aims -----------------------------------------------------------------------------------------------------


def draw_around_the_output(random: Random) -> tuple[valve.Config, tuple[valve.Event, ...]]:
    """Channels below, at and above the last output, some idle and some active again; then the deciding events."""
    config = valve.Config(random.choice((3, 4, 4, 4, 5, 6)), random.choice(SEMANTICS))
    pool = draw_longs(random)
    walk = Walk(random, valve.start(config), valve.step)
    output, below, *others = random.sample(range(config.channels), config.channels)
    base = random.choice(pool)
    above = [index for index in others if random.random() < 0.8]
    walk.play(watermark(index, clamp(base + random.choice((1, 1, 2)))) for index in above)
    walk.play(change(index, IDLE) for index in random.sample([below, *others], len(others) + 1))
    walk.play([watermark(output, base)])
    # One that is below keeps the valve active while the output turns idle: a minimum above it is pending then.
    back = [below, output, *random.sample(others, len(others))]
    if random.random() < 0.3:
        random.shuffle(back)
    for index in back[: random.choice((2, 3, 4, 4, 6))]:
        walk.play([change(index, IDLE if index == output else ACTIVE)])
    for _ in range(random.randint(1, 8)):
        walk.play([draw_near(random, walk.state)])
    return config, walk.events


def draw_near(random: Random, state: valve.State) -> valve.Event:
    """Mostly an active channel turns idle or advances by one; at times an idle one becomes active."""
    active = [index for index, channel in enumerate(state.channels) if channel.active]
    if not active or random.random() < 0.25:
        return change(random.randrange(state.config.channels), ACTIVE)
    index = random.choice(active)
    if random.random() < 0.6:
        return change(index, IDLE)
    return watermark(index, clamp(random.choice((state.last, state.channels[index].watermark + 1))))


def draw_last_decides(random: Random, channels: int) -> tuple[valve.Config, tuple[valve.Event, ...]]:
    """The last of many channels holds the others back, is ahead of them when all turn idle, and goes on alone."""
    *others, last = range(channels)
    idlers = random.sample(others, len(others))
    return valve.Config(channels, random.choice(SEMANTICS)), (
        *(watermark(index, Long(10)) for index in others),
        *(watermark(last, Long(timestamp)) for timestamp in (5, 7, 20)),
        *(change(index, IDLE) for index in (last, *idlers)),
        change(last, ACTIVE),
        watermark(last, Long(25)),
        change(0, ACTIVE),
        watermark(0, Long(30)),
        watermark(last, Long(40)),
    )


AIMS = (draw_around_the_output,)
ONCE = tuple(partial(draw_last_decides, channels=channels) for channels in (16, *COUNTS))


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_alphabet(channels: int, timestamps: int, *, refused: bool) -> tuple[valve.Event, ...]:
    return signals(channels, timestamps, valve.ChannelWatermark, valve.ChannelStatus, refused=refused)


UP_TO_NAMES = up_to_numbers(valve.SYMMETRY)


def make_scope(
    channels: int,
    timestamps: int,
    semantics: str,
    every: int,
    selection: Selection = EACH_CLASS,
    *,
    refused: bool = True,
) -> Scope:
    events = make_alphabet(channels, timestamps, refused=refused)
    out_of_range = ", a watermark and a status on channels out of range" if refused else ""
    return Scope(
        name=f"{channels}x{timestamps}{dated(semantics, valve.SEMANTICS)}",
        component="valve",
        configs=(valve.Config(channels, semantics),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{counted(channels, 'channel')}, {counted(timestamps, 'timestamp')}, {semantics}; "
            f"every watermark and status on every channel{out_of_range}"
        ),
        concretions=order_preserving(timestamps, every),
        selection=selection,
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    for semantics in valve.SEMANTICS:
        yield make_scope(3, 2, semantics, every=29)
    # Some bugs take three timestamps to show. One state of each class would take half a million events.
    yield make_scope(3, 3, valve.SEMANTICS[0], every=97, selection=UP_TO_NAMES, refused=False)
    # And some take four channels: one that is left behind, one that carries the last output, and two above it.
    yield make_scope(4, 2, valve.SEMANTICS[0], every=997, selection=UP_TO_NAMES, refused=False)


def thorough() -> Iterator[Scope]:
    for semantics in valve.SEMANTICS:
        yield make_scope(3, 2, semantics, every=1, selection=EACH_STATE)
        yield make_scope(3, 3, semantics, every=29, selection=EACH_STATE)
        yield make_scope(4, 2, semantics, every=97)
