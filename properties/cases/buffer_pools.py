"""Cases for buffer pools: few segments, greedy pools that come and go, and recycle in any order."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.dice import pick, stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.pools import buffer_pools as pools

#: More pools at a time can be resized and woken in too many orders.
MOST_POOLS = 3


def draw(random: Random, config: pools.Config | None = None) -> tuple[pools.Config, tuple[pools.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, request=5, recycle=4, create=1.5, destroy=0.4, listen=0.7)
    weights["refused"] = pick(random, "share of refused", (0, 0, 0.3))
    draw_kind = among(random, weights)
    walk = Walk(random, pools.start(config), pools.step)
    for _ in walk.rounds():
        walk.play(draw_events(*draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> pools.Config:
    return pools.Config(stream(random, "total").choice((1, 2, 3, 4, 5, 7, 10)))


def draw_events(random: Random, kind: str, state: pools.State) -> list[pools.Event]:
    if kind == "refused":
        return [draw_refused(random, state)]
    alive = [one for one in state.pools if not one.destroyed]
    used = [(one.id, place) for one in state.pools for place, count in enumerate(one.used) if count]
    if len(state.pools) < MOST_POOLS and (kind == "create" or not alive):
        return [draw_pool(random, state)]
    if used and (kind == "recycle" or not alive):
        some = random.sample(used, random.choice((1, 1, min(len(used), 3))))
        return [pools.RecycleSegment(number, channel_of(state, number, place)) for number, place in some]
    if kind in ("destroy", "create"):
        return [pools.DestroyPool(random.choice(state.pools).id)]
    pool = random.choice(alive)
    if kind == "listen" and len(pool.used) == 1:
        return [pools.Listen(pool.id)] * random.choice((1, 1, 2))
    channel = channel_of(state, pool.id, random.randrange(len(pool.used)))
    return [pools.RequestSegment(pool.id, channel)] * random.choice((1, 1, 2, pool.size + 1))


def channel_of(state: pools.State, number: int, place: int) -> int | None:
    return None if place == len(pools.get(state, number).used) - 1 else place


def draw_pool(random: Random, state: pools.State) -> pools.CreatePool:
    number = next(one for one in range(MOST_POOLS + 1) if pools.find(state, one) is None)
    left = state.config.total - pools.required_of(state)
    required = random.choice((1, 1, 2, max(left, 1), left // 2 + 1))
    maximum = required + random.choice((0, 0, 1, 2, 2, 3, 100))
    channels = random.choice((0, 0, 1, 2, 3))
    limit = random.choice((None, 1, 2, 3)) if channels else None
    return pools.CreatePool(number, required, maximum, random.choice((0, 0, 1, 2, 5)), channels, limit)


def draw_refused(random: Random, state: pools.State) -> pools.Event:
    """Pools, channels and segments that do not exist, and invalid pools."""
    refused: list[pools.Event] = [
        pools.CreatePool(77, state.config.total + 1, state.config.total + 1),
        pools.CreatePool(77, 0, 1),
        pools.CreatePool(77, 2, 1),
        pools.RequestSegment(77),
        pools.DestroyPool(77),
    ]
    for one in state.pools:
        refused += [
            pools.CreatePool(one.id, 1, 1),
            pools.RequestSegment(one.id, len(one.used) - 1),
            pools.RecycleSegment(one.id, None),
            pools.RecycleSegment(one.id, -1),
            pools.Listen(one.id),
        ]
    return random.choice(refused)


# --- once -----------------------------------------------------------------------------------------------------

#: Where numbers of one and of two bytes end.
ENDS = (2**8, 2**16)


def draw_shares(_random: Random, end: int) -> tuple[pools.Config, tuple[pools.Event, ...]]:
    """Pools with sizes beyond a narrow number; their own numbers are that far apart, too."""
    return pools.Config(4 * end), (
        pools.CreatePool(0, end + 1, 2 * end + 3),
        pools.CreatePool(end, 1, end + 5),
        pools.RequestSegment(end),
        pools.RequestSegment(0),
        pools.RecycleSegment(end),
        pools.DestroyPool(end),
        pools.CreatePool(1, end + 2, 3 * end),
        pools.RequestSegment(1),
    )


def draw_limits(_random: Random, end: int) -> tuple[pools.Config, tuple[pools.Event, ...]]:
    """An overdraft and a channel limit that are small modulo a narrow number, on the last of many channels."""
    request = pools.RequestSegment(0, ENDS[0])
    create = pools.CreatePool(0, 2, 2, end + 1, ENDS[0] + 1, end + 1)
    return pools.Config(4 * end), (create, *[request] * 5, pools.RecycleSegment(0, ENDS[0]), request)


def draw_free(_random: Random, end: int) -> tuple[pools.Config, tuple[pools.Event, ...]]:
    """When the last segment comes back, the number of free segments is 0 modulo a narrow number."""
    request = pools.RequestSegment(0)
    give_back = pools.RecycleSegment(0)
    return pools.Config(end + 1), (pools.CreatePool(0, 1, 1, 3), request, request, give_back, request, request)


ONCE = tuple(partial(draw, end=end) for draw in (draw_shares, draw_limits, draw_free) for end in ENDS)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(
    name: str, total: int, kinds: tuple[pools.CreatePool, ...], covers: str, *, listening: bool = False
) -> Scope:
    """Each of these pools comes and goes, and takes all available segments."""
    events: list[pools.Event] = [pools.CreatePool(9, total + 1, total + 1), pools.CreatePool(9, 0, 1)]
    for kind in kinds:
        channels = [*range(kind.channels), None]
        events += [kind, pools.DestroyPool(kind.pool)]
        events += [pools.RequestSegment(kind.pool, channel) for channel in channels]
        events += [pools.RecycleSegment(kind.pool, channel) for channel in channels]
        if listening:
            events.append(pools.Listen(kind.pool))
    alphabet = tuple(events)
    return Scope(
        name=name,
        component="buffer_pools",
        configs=(pools.Config(total),),
        alphabet=lambda _config, _state: alphabet,
        covers=f"{covers}; refused: pools that cannot be",
        cap="more than one listener at a time" if listening else "listeners",
        expand=lambda state: all(one.listeners < 2 for one in state.pools),
    )


def small() -> Iterator[Scope]:
    yield make_scope(
        "one-pool",
        3,
        (pools.CreatePool(0, 1, 2, overdraft=1),),
        "one pool of 1 to 2 of 3 segments, with an overdraft and listeners",
        listening=True,
    )
    yield make_scope(
        "channels",
        2,
        (pools.CreatePool(0, 1, 2, channels=1, per_channel=1),),
        "one pool of 1 to 2 of 2 segments, with a channel that may have one",
    )
    yield make_scope(
        "two-pools",
        3,
        (pools.CreatePool(0, 1, 3, overdraft=1), pools.CreatePool(1, 1, 1)),
        "two pools, of 1 to 3 of 3 segments with an overdraft, and of 1",
    )


def thorough() -> Iterator[Scope]:
    yield make_scope(
        "two-shares", 4, (pools.CreatePool(0, 1, 3), pools.CreatePool(1, 1, 3)), "two pools of 1 to 3 of 4 segments"
    )
