"""Cases for virtual channels: buffers of all of them in turn, records cut between them, keys of any subtask."""

from collections.abc import Iterator
from functools import partial
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import among, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.partitioning.keygroups import compute_key_group, compute_owner
from tidegate.reference.partitioning.keys import compute_string_hash
from tidegate.reference.recovery import virtual_channels as virtual

KEYS = ("", "a", "b", "c", "d", "e", "f", "x1", "x2", "hello", "flink", "\u00e9", "\U0001f600")
#: Long enough that a half is not a valid length.
LONG_KEYS = ("a" * 40, "b" * 300)
#: Lists of distinct numbers.
NAMED = ("old_consumers", "old_producers", "filtered")


def draw(random: Random, config: virtual.Config | None = None) -> tuple[virtual.Config, tuple[virtual.Event, ...]]:
    config = config or draw_config(random)
    draw_kind = among(random, swarm(random, select=3, buffer=4, wrong=0.15))
    longs = draw_longs(random)
    walk = Walk(random, virtual.start(config), virtual.step)
    for _ in walk.rounds():
        walk.play_one(draw_event(*draw_kind(), walk.state, longs))
    return config, walk.events


def draw_many(count: int, random: Random) -> tuple[virtual.Config, tuple[virtual.Event, ...]]:
    """Many old subtasks on one side, in any order, some with large numbers; nearly all send once."""
    apart = random.choice((1, 3, 2**8))
    many = [2**16 * random.choice((0, 0, 1)) + apart * number for number in range(count)]
    random.shuffle(many)
    few = random.sample((0, 1, 2**8, 2**16), 2)
    olds, channels = (many, few[:1]) if random.random() < 0.7 else (few[:1], many)
    parallelism = random.choice((2, 3, 100, 257, 1000))
    most = random.choice((128, 1000, 32768))
    key = random.choice(KEYS)
    config = virtual.Config(
        tuple(olds),
        tuple(channels),
        tuple(one for one in olds if random.random() < 0.5),
        choose_subtask(key, parallelism, most),
        parallelism,
        most,
    )
    walk = Walk(random, virtual.start(config), virtual.step)
    names = [(old, channel) for old in olds for channel in channels]
    for elements in ((Watermark(Long(5)),), (StatusChange(Status.IDLE),), (virtual.Record(key), virtual.Record("a"))):
        for old, channel in random.sample(names, len(names) - random.choice((0, 0, 1))):
            walk.play_one(virtual.SelectChannel(old, channel))
            walk.play_one(virtual.ReadBuffer(rest=False, elements=elements))
    return config, walk.events


def choose_subtask(key: str, parallelism: int, max_parallelism: int) -> int:
    """The owner of the key."""
    return compute_owner(compute_key_group(compute_string_hash(key), max_parallelism), parallelism, max_parallelism)


def draw_full(random: Random) -> tuple[virtual.Config, tuple[virtual.Event, ...]]:
    """Buffers with very many elements and long keys, of one of many subtasks that has some of the keys."""
    keys = (*KEYS, *LONG_KEYS, "A", " a", "a ", "\0")
    parallelism, most = random.choice((2, 5, 100, 129, 257, 1000)), random.choice((128, 1000, 32768))
    mine = choose_subtask(random.choice(keys), parallelism, most)
    config = virtual.Config((0, 1), (0,), (random.choice((0, 1)),), mine, parallelism, most)
    walk = Walk(random, virtual.start(config), virtual.step)
    for subtask in (0, 1, random.choice((0, 1))):
        walk.play_one(virtual.SelectChannel(subtask, 0))
        count = random.choice((9, 17, 70, 300))
        walk.play_one(
            virtual.ReadBuffer(rest=False, elements=tuple(map(virtual.Record, random.choices(keys, k=count))))
        )
    return config, walk.events


AIMS = (draw_full,)
ONCE = tuple(partial(draw_many, count) for count in (8, 9, 16, 17, 32, 33, 64, 65, 127, 128))


def draw_config(random: Random) -> virtual.Config:
    subtasks = draw_numbers(stream(random, "old_consumers"))
    own, parallelism = stream(random, "filtered"), stream(random, "parallelism").choice((1, 2, 2, 3, 4, 5, 100))
    return virtual.Config(
        old_consumers=subtasks,
        old_producers=draw_numbers(stream(random, "old_producers")),
        filtered=tuple(one for one in subtasks if own.random() < 0.5),
        subtask=stream(random, "subtask").randrange(min(parallelism, 4)),
        parallelism=parallelism,
        max_parallelism=stream(random, "max_parallelism").choice((parallelism, 128, 128, 128, 7, 1000, 32768)),
    )


def draw_numbers(random: Random) -> tuple[int, ...]:
    count = random.choice((1, 1, 2, 2, 2, 3, 5)) if random.random() < 0.97 else 0
    first, apart = random.choice((0, 0, 1, 41, 255)), random.choice((1, 1, 2, 7))
    return tuple(range(first, first + count * apart, apart))


def draw_event(random: Random, kind: str, state: virtual.State, longs: list[Long]) -> virtual.Event:
    if kind == "buffer" and state.selected is not None:
        return draw_buffer(random, state, longs)
    if kind == "wrong":
        unknown = virtual.SelectChannel(-1, 0), virtual.SelectChannel(0, 99)
        return random.choice((*unknown, virtual.ReadBuffer(rest=True, elements=())))
    if not state.channels:
        return virtual.SelectChannel(0, 0)
    chosen = random.choice(state.channels)
    return virtual.SelectChannel(chosen.subtask, chosen.channel)


def draw_buffer(random: Random, state: virtual.State, longs: list[Long]) -> virtual.ReadBuffer:
    assert state.selected is not None
    rest = state.channels[state.selected].begun is not None
    elements = tuple(draw_element(random, longs) for _ in range(random.choice((0, 1, 1, 2, 3, 6))))
    begun = random.choice((*KEYS, *LONG_KEYS)) if random.random() < 0.3 else None
    return virtual.ReadBuffer(rest if random.random() < 0.98 else not rest, elements, begun)


def draw_element(random: Random, longs: list[Long]) -> virtual.Element:
    kind = random.random()
    if kind < 0.5:
        return virtual.Record(random.choice(KEYS))
    return Watermark(random.choice(longs)) if kind < 0.75 else StatusChange(random.choice(list(Status)))


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE, unrepeatable=NAMED)


# --- scopes ---------------------------------------------------------------------------------------------------


#: Of two subtasks the first has the key c, and the second the key a.
MINE, OTHER = virtual.Record("c"), virtual.Record("a")


def play(config: virtual.Config, state: virtual.State) -> Iterator[virtual.Event]:
    """Every virtual channel and a nonexistent one; buffers with one element, with several, and with halves.

    Without filters there is one watermark, and no cut record.
    """
    yield from (virtual.SelectChannel(one.subtask, one.channel) for one in state.channels)
    yield virtual.SelectChannel(9, 9)
    elements = (OTHER, Watermark(Long(1)), StatusChange(Status.IDLE), StatusChange(Status.ACTIVE))
    rest = state.selected is not None and state.channels[state.selected].begun is not None
    yield from (virtual.ReadBuffer(rest, (element,)) for element in elements)
    yield from (virtual.ReadBuffer(either, ()) for either in (False, True))
    if config.filtered:
        yield virtual.ReadBuffer(rest, (OTHER, MINE, Watermark(Long(2)), MINE))
        if not any(one.begun for one in state.channels):
            yield virtual.ReadBuffer(rest, (), "a")


def make_scope(name: str, covers: str, *configs: virtual.Config) -> Scope:
    return Scope(
        name=name,
        component="virtual_channels",
        configs=configs,
        alphabet=play,
        covers=f"{covers}; two keys, both statuses; where one is filtered two watermarks, and one record that is cut",
    )


def small() -> Iterator[Scope]:
    yield make_scope(
        "two-connections",
        "two old consumers of which one is filtered, two old producers, one of each, and none",
        virtual.Config((0, 1), (3,), (1,), 0, 2, 128),
        virtual.Config((1,), (2, 3), (), 0, 2, 128),
        virtual.Config((1,), (2,), (1,), 1, 2, 128),
        virtual.Config((), (2,), (), 0, 1, 128),
        virtual.Config((2,), (), (), 0, 1, 128),
    )


def thorough() -> Iterator[Scope]:
    yield make_scope(
        "three-connections",
        "three old consumers of which two are filtered",
        virtual.Config((0, 1, 2), (0,), (1, 2), 0, 2, 128),
    )
