"""Cases for the wiring: pairs next to multiples of each other, and pairs that float arithmetic gets wrong."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.walk import Walk, stay
from tidegate.reference.partitioning import float_wiring
from tidegate.reference.partitioning.wiring import (
    DYNAMIC,
    WIRED_OTHERWISE_IN_1_5,
    Broadcast,
    Config,
    Event,
    Pattern,
    State,
    Wire,
    WireDynamic,
)

#: Each connection is an observation: all-to-all must not have too many.
MOST_READS = 20_000
WRONG_WITH_FLOATS = (*sorted(WIRED_OTHERWISE_IN_1_5), (7, 57), (7, 114), (11, 29), (11, 47), (13, 14), (13, 28))


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    times = random.choice((1, 1, 1, 1, 2, 3))
    config = config or draw_config(random)
    walk = Walk[Config, Event](random, (config,), stay, length=times)
    for _ in walk.rounds():
        walk.play_one(Wire() if config.extension is None or random.random() < 0.1 else draw_dynamic(random, config))
    return config, walk.events


def draw_dynamic(random: Random, config: Config) -> WireDynamic:
    """As many subpartitions as there are consumers that share a producer, or some more, or one too few."""
    if config.pattern is Pattern.ALL_TO_ALL:
        kind = random.choice((Broadcast.NO, Broadcast.NO, Broadcast.LATE, Broadcast.EARLY))
        if kind is Broadcast.LATE and config.producers * config.consumers**2 > MOST_READS:
            kind = Broadcast.NO
        sharing = random.choice((1, 1, 1, 2)) if kind is Broadcast.EARLY else config.consumers
    else:
        kind = random.choice((*[Broadcast.NO] * 9, *Broadcast))
        sharing = -(-config.consumers // config.producers)
    most = max(2, 600 // (config.producers * config.consumers))
    extra = random.choice((0, 1, random.randint(0, most)))
    return WireDynamic(max(1, sharing + (0 if kind is Broadcast.EARLY else random.choice((extra, extra, -1)))), kind)


def draw_config(random: Random) -> Config:
    pattern, sides = stream(random, "pattern"), stream(random, "sides")
    if stream(random, "extension").random() < 0.25:
        return Config(pattern.choice(list(Pattern)), sides.randint(1, 8), sides.randint(1, 12), DYNAMIC)
    if pattern.random() < 0.15:
        return Config(Pattern.ALL_TO_ALL, *draw_sides(sides))
    return Config(Pattern.POINTWISE, *draw_pair(sides))


def draw_sides(random: Random) -> tuple[int, int]:
    """Not too many connections; equal sides, and at times a long one."""
    style = random.random()
    if style < 0.25:
        return (random.randint(1, 12),) * 2
    if style < 0.4:
        pair = random.randint(1, 3), random.choice((31, 32, 33, 64, 65, 128, 129, 256, 257))
        return pair if random.random() < 0.5 else (pair[1], pair[0])
    sides = random.choice((3, 8, 8, 25))
    return random.randint(1, sides), random.randint(1, sides)


def draw_pair(random: Random) -> tuple[int, int]:
    style = random.random()
    if style < 0.2:
        pair = random.randint(1, 12), random.randint(1, 12)
    elif style < 0.35:
        pair = random.choice(WRONG_WITH_FLOATS)
    elif style < 0.5:
        pair = draw_overrun(random)
    elif style < 0.75:
        # One side next to a multiple of the other.
        fewer = random.randint(1, 60)
        more = fewer * random.randint(1, max(1, 300 // fewer)) + random.choice((-1, 0, 1))
        pair = fewer, max(1, more)
    elif style < 0.9:
        pair = random.randint(1, 60), random.randint(1, 60)
    else:
        pair = random.randint(1, 300), random.randint(1, 300)
    # Both ways round: the two directions are computed differently.
    return pair if random.random() < 0.7 else (pair[1], pair[0])


def draw_overrun(random: Random) -> tuple[int, int]:
    """A pair for which rounded-up floats run past the last consumer, if one is found soon."""
    producers, consumers = 7, 57
    for _ in range(30):
        producers = random.randint(7, 100)
        consumers = random.randint(producers + 1, 300)
        if float_wiring.compute_fed_consumers(producers - 1, producers, consumers).stop > consumers:
            break
    return producers, consumers


def draw_wide(producers: int, consumers: int, random: Random) -> tuple[Config, tuple[Event, ...]]:
    """Both sides are wide."""
    dynamic = random.random() < 0.5
    config = Config(Pattern.POINTWISE, producers, consumers, DYNAMIC if dynamic else None)
    return config, (Wire(), *([WireDynamic(-(-consumers // producers), Broadcast.NO)] if dynamic else []))


ONCE = tuple(partial(draw_wide, *pair) for pair in ((257, 300), (300, 257), (1025, 258), (258, 1025)) for _ in range(2))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, in_runs=False)


# --- scopes ---------------------------------------------------------------------------------------------------


#: Pairs that releases with float arithmetic wired past the last consumer.
WIRED_TOO_FAR = ((7, 57), (7, 114), (11, 29), (11, 47), (13, 14), (13, 28))


def wire(_config: Config, _state: State) -> tuple[Event, ...]:
    return (Wire(),)


def make_scopes(most_pointwise: int, most_all_to_all: int) -> Iterator[Scope]:
    sides = range(1, most_pointwise + 1)
    square = set(product(sides, sides))
    known = (*sorted(WIRED_OTHERWISE_IN_1_5), *WIRED_TOO_FAR)
    further = {(one, other) for pair in known for one, other in (pair, pair[::-1])} - square
    yield Scope(
        name="pointwise",
        component="wiring",
        configs=tuple(Config(Pattern.POINTWISE, *pair) for pair in (*sorted(square), *sorted(further))),
        alphabet=wire,
        covers=(
            f"pointwise, all pairs of 1 to {most_pointwise} producers and consumers, and {len(further)} larger ones "
            "that float arithmetic gets wrong, both ways round"
        ),
        extra_states=1,
    )
    narrow, wide = range(1, most_all_to_all + 1), ((2, 300), (300, 2))
    yield Scope(
        name="all-to-all",
        component="wiring",
        configs=tuple(Config(Pattern.ALL_TO_ALL, *pair) for pair in (*product(narrow, narrow), *wide)),
        alphabet=wire,
        covers=f"all to all, all pairs of 1 to {most_all_to_all} producers and consumers, and 2 with 300",
        extra_states=1,
    )


def make_dynamic_scope(most: int) -> Scope:
    sides = range(1, most + 1)
    events = tuple(WireDynamic(count, kind) for count, kind in product(range(1, most + 3), Broadcast))
    return Scope(
        name="dynamic",
        component="wiring",
        configs=tuple(Config(*one, DYNAMIC) for one in product(Pattern, sides, sides)),
        alphabet=lambda _config, _state: events,
        covers=(
            f"a dynamic graph, both patterns, all pairs of 1 to {most} producers and consumers, 1 to {most + 2} "
            "subpartitions, broadcast early, late and not; refused: too few subpartitions, several for an early one"
        ),
    )


def small() -> Iterator[Scope]:
    yield from make_scopes(12, 6)
    yield make_dynamic_scope(5)


def thorough() -> Iterator[Scope]:
    yield from make_scopes(64, 12)
    yield make_dynamic_scope(9)
