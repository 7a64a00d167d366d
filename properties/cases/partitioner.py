"""Cases for the partitioner: whole rounds of channels, keys that hash to the edges, statuses between watermarks.

The hash can be inverted, so keys are chosen: draw a hash at an edge of 32 bits, or in the first or last key group of a
channel, and make an int, a long or a string with it.
"""

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Aim, Generator
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import EDGES, among, draw_longs, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference import elements
from tidegate.reference.elements import MAX, MIN, LatencyMarker, Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.partitioning import partitioner
from tidegate.reference.partitioning.keys import IntKey, Key, LongKey, StringKey, compute_string_hash, to_int32
from tidegate.reference.partitioning.partitioner import Config, Event, Partitioner, Record, State

KINDS = (
    *partitioner.Partitioner,
    partitioner.Partitioner.HASH,
    partitioner.Partitioner.HASH,
    partitioner.Partitioner.HASH,
    partitioner.Partitioner.REBALANCE,
    partitioner.Partitioner.RESCALE,
)
MOST = (1, 2, 3, 7, 16, 100, 126, 127, 127, 128, 128, 128, 129, 129, 255, 256, 1000, 32767, 32768, 32768)

#: Where masks of bits, small tables and bytes end.
WIDE = (31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257)

INTS = (-(2**31), -(2**31) + 1, -(2**16), -128, -2, -1, 0, 1, 2, 97, 127, 128, 2**16, 2**31 - 2, 2**31 - 1)
LONGS = (*EDGES, *INTS, -(2**32), -(2**32) - 1, 2**32 - 1, 2**32 + 1, 2**53 - 1, -(2**53) - 1, 2**62)
SCRAMBLED = (-(2**31), -(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 1)

PLAIN = ("", "a", "A", "b", "aa", "Aa", "BB", "hello", "flink", "0", "-1", "polygenelubricants")

#: Texts that library calls may change: normal forms, case, blanks, ends of text, numbers, escapes.
FRAGILE = (
    *("\u00e9", "e\u0301", "\u212b", "\u00c5", "A\u030a", "\uac00", "\u1100\u1161", "\ufb01", "\u2163", "\uff21"),
    *("\u0130", "i\u0307", "\u0131", "\u00df", "\u1e9e", "SS", "\u017f", "\u03a3", "\u03c2", "\u212a", "\u01c5"),
    *(" ", " a", "a ", "a  b", "\ta", "a\n", "\r\n", "\u00a0a", "\u3000a", "a\u2028", "\u200ba", "\ufeffa", "a\ufeff"),
    *("\x00", "a\x00", "\x00a", "a\x00b", "\x1a", "\x7f", "\x85", "\ufffd", "\uffff", "\ufdd0"),
    *("01", "+1", "1.0", "1e0", "-0", "NaN", "null", "true", "\u0661", "\\u0041", "\\n", "%41", "&amp;", '"', "'", "/"),
    *("\U0001f600", "\U0001f468\u200d\U0001f469", "\U0001f1e9\U0001f1ea", "\u270c\U0001f3fd", "\u2764\ufe0f"),
)
CHARACTERS = (
    "abz09 -\x00\x7f\x80\u00e9\u00dfe\u0301\u0308\u03bb\u4e2d\ud7ff\ue000\ufeff\ufffd\uffff"
    "\U00010000\U0001f600\U0001f468\U0010ffff"
)


class Palette(NamedTuple):
    """The values of one case."""

    keys: list[Key]
    timestamps: list[Long]


def draw(
    random: Random, config: partitioner.Config | None = None
) -> tuple[partitioner.Config, tuple[partitioner.Event, ...]]:
    config = config or draw_config(random)
    keys = []
    if config.kind is partitioner.Partitioner.HASH:
        keys = [draw_key(random, config) for _ in range(random.choice((1, 3, 8, 40)))]
    palette = Palette(keys, draw_longs(random))
    weights = swarm(random, records=6, watermark=2, change=1.5, equal=0.7, marker=1.0, idle_phase=0.3)
    # Each watermark and status of a wide output is an observation for every channel.
    draw_kind = among(random, weights)
    walk = Walk(
        random, (partitioner.State(config),), follow, length=None if config.channels <= 40 else random.randint(1, 12)
    )
    for _ in walk.up_to_length():
        walk.play(draw_events(*draw_kind(), walk.state, palette))
    if config.channels <= 12 and random.random() < 0.04:
        # At times so many records that a counter overflows.
        walk.play([draw_record(random, palette) for _ in range(random.choice((70, 140, 270)))])
    return config, walk.events


def follow(state: partitioner.State, event: partitioner.Event) -> tuple[Outcome[partitioner.State, Any], ...]:
    """The target of a record does not matter here; the announced status does."""
    if isinstance(event, StatusChange):
        state = partitioner.State(state.config, active=event.status is Status.ACTIVE)
    return (Outcome(state, (), ()),)


def draw_config(random: Random) -> partitioner.Config:
    kind, own = stream(random, "kind").choice(KINDS), stream(random, "channels")
    if kind is not partitioner.Partitioner.HASH:
        few = own.choice((1, 2, 2, 3, 3, 4, 5, 7, 8, 11, 16))
        wide = 0.4 if kind is partitioner.Partitioner.BROADCAST else 0.1
        return partitioner.Config(kind, few if own.random() >= wide else own.choice((*WIDE, own.randint(17, 300))))
    most = stream(random, "max_parallelism").choice(MOST)
    near = most + own.choice((-1, 0, 1, 2)) if most <= 256 else own.randint(200, 300)
    few = own.randint(1, 12)
    return partitioner.Config(kind, max(1, own.choice((few, few, few, own.randint(13, 130), near, 300))), most)


# --- keys -----------------------------------------------------------------------------------------------------


def draw_key(random: Random, config: partitioner.Config) -> Key:
    style = random.random()
    if style < 0.3:
        return dress(random, unscramble(draw_scrambled(random, config)))
    kind = random.choice(("string", "string", "int", "long"))
    edge = random.random() < 0.5
    if kind == "int":
        return IntKey(random.choice(INTS) if edge else random.randint(-(2**31), 2**31 - 1))
    if kind == "long":
        return LongKey(Long(random.choice(LONGS) if edge else random.randint(-(2**63), 2**63 - 1)))
    if edge:
        return StringKey(random.choice(random.choice((PLAIN, FRAGILE, FRAGILE))))
    return StringKey(draw_text(random, random.choice((1, 2, 3, 6, 12, 40, 90))))


def draw_text(random: Random, length: int) -> str:
    return "".join(random.choices(CHARACTERS, k=length))


def draw_scrambled(random: Random, config: partitioner.Config) -> int:
    """A scrambled code at an edge of 32 bits, or with the last key group of a channel or the first of the next."""
    most = config.max_parallelism
    if most is None or random.random() < 0.25:
        return random.choice(SCRAMBLED)
    first = -(-random.randint(0, config.channels - 1) * most // config.channels)
    group = (first - random.randint(0, 1)) % most
    magnitude = group + most * random.randint(0, (2**31 - 1 - group) // most)
    return random.choice((magnitude, -magnitude))


def unscramble(scrambled: int) -> int:
    """The only hash code that Murmur3 maps to this: its steps inverted, last one first."""
    code = scrambled & 0xFFFFFFFF
    code ^= code >> 16
    code = code * 0x7ED1B41D & 0xFFFFFFFF
    code ^= code >> 13 ^ code >> 26
    code = code * 0xA5CB9243 & 0xFFFFFFFF
    code ^= code >> 16
    code = (code ^ 4) - 0xE6546B64 & 0xFFFFFFFF
    code = code * 0xCCCCCCCD & 0xFFFFFFFF
    code = (code >> 13 | code << 19) & 0xFFFFFFFF
    code = code * 0x56ED309B & 0xFFFFFFFF
    code = (code >> 15 | code << 17) & 0xFFFFFFFF
    return to_int32(code * 0xDEE13BB1)


def dress(random: Random, code: int) -> Key:
    """A key of any type with this hash code."""
    kind = random.choice(("string", "int", "int", "long"))
    if kind == "int":
        return IntKey(code)
    if kind == "long":
        upper = random.choice((0, -1, random.randint(-(2**31), 2**31 - 1)))
        return LongKey(Long(upper << 32 | (upper ^ code) & 0xFFFFFFFF))
    # Any text with seven more units: the digits of the missing part in the base of the polynomial.
    text = draw_text(random, random.choice((0, 0, 1, 3)))
    lacking = (code - compute_string_hash(text) * 31**7) % 2**32
    return StringKey(text + "".join(chr(lacking // 31**place % 31) for place in reversed(range(7))))


# --- events ---------------------------------------------------------------------------------------------------


def draw_events(random: Random, kind: str, state: partitioner.State, palette: Palette) -> list[partitioner.Event]:
    watermark = Watermark(random.choice(palette.timestamps))
    current, other = (Status.ACTIVE, Status.IDLE) if state.active else (Status.IDLE, Status.ACTIVE)
    if kind == "watermark":
        return [watermark]
    if kind == "change":
        return [StatusChange(other)]
    if kind == "equal":
        return [StatusChange(current)]
    if kind == "marker":
        return [elements.LatencyMarker()] * random.choice((1, 1, 1, 2, 3))
    if kind == "idle_phase":
        # Everything once while idle, and again afterwards.
        within: list[partitioner.Event] = [
            watermark,
            draw_record(random, palette),
            elements.LatencyMarker(),
            StatusChange(Status.IDLE),
        ]
        random.shuffle(within)
        return [
            StatusChange(Status.IDLE),
            *within,
            StatusChange(Status.ACTIVE),
            watermark,
            draw_record(random, palette),
        ]
    # One record, or just less or more than a round of the channels.
    around = state.config.channels + random.choice((-1, 0, 1))
    count = around if 0 < around <= 20 and random.random() < 0.2 else 1
    return [draw_record(random, palette) for _ in range(count)]


def draw_record(random: Random, palette: Palette) -> partitioner.Record:
    return partitioner.Record(random.choice(palette.keys)) if palette.keys else partitioner.Record()


# --- aims -----------------------------------------------------------------------------------------------------

#: Records per channel of a shuffle: enough to notice a channel that is never drawn.
DRAWS_EACH = 45


def draw_spread(random: Random) -> tuple[partitioner.Config, tuple[partitioner.Event, ...]]:
    """A shuffle that is long enough to show its distribution."""
    return draw_many(random, partitioner.Partitioner.SHUFFLE, random.choice((2, 3, 4, 5, 8, 11)))


def draw_many(
    _random: Random, kind: partitioner.Partitioner, channels: int, records: int = 0
) -> tuple[partitioner.Config, tuple[partitioner.Event, ...]]:
    """Only records, which are cheap to play."""
    record = partitioner.Record()
    return partitioner.Config(kind, channels), (record,) * (records or DRAWS_EACH * channels)


def draw_long_keys(random: Random) -> tuple[partitioner.Config, tuple[partitioner.Event, ...]]:
    """Strings that are longer than one or two bytes can count; they differ in the last character."""
    config = partitioner.Config(partitioner.Partitioner.HASH, 300, 32768)
    texts = [draw_text(random, length) + end for length in LENGTHS for end in ("", "a", "b")]
    return config, tuple(partitioner.Record(StringKey(text)) for text in (*texts, "a" * 2**16))


#: Of strings, with the last character left out at times.
LENGTHS = (7, 8, 15, 16, 31, 32, 63, 64, 126, 127, 254, 255, 256, 1000)
AIMS = (draw_spread,)
TURNS = (partitioner.Partitioner.RESCALE, partitioner.Partitioner.REBALANCE)
#: Rounds beyond one and two bytes, by channels and by records. Eleven and 2^15 + 1 divide none of 2^8, 2^15, 2^16 and
#: the numbers below them, so that a counter that wraps cannot hit the right channel by accident.
ONCE: tuple[Aim, ...] = (
    *(partial(draw_many, kind=kind, channels=257, records=515) for kind in TURNS),
    *(partial(draw_many, kind=kind, channels=11, records=260) for kind in TURNS),
    *(partial(draw_many, kind=kind, channels=2**15 + 1, records=2**16 + 2) for kind in TURNS),
    partial(draw_many, kind=partitioner.Partitioner.SHUFFLE, channels=33),
    draw_long_keys,
)


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


OTHERS: tuple[Event, ...] = (
    Watermark(Long(1)),
    StatusChange(Status.IDLE),
    StatusChange(Status.ACTIVE),
    LatencyMarker(),
)
WITHOUT_KEYS: tuple[Event, ...] = (Record(), *OTHERS)

TEXTS = ("", "a", "b", " a ", "Aa", "BB", "hello", "é", "e\u0301", "中", "\U0001f600", "polygenelubricants")

#: All types of keys; hash codes that are negative, fold to the most negative number, or overflow; UTF-16 pairs.
KEYS: tuple[Key, ...] = (
    *(StringKey(text) for text in (TEXTS)),
    *(IntKey(value) for value in (0, 1, -1, 97, 2**31 - 1, -(2**31), -2089875627, 1814469223, 994512208)),
    *(LongKey(Long(value)) for value in (0, 1, -1, 2**31, 2**32 - 1, 2**53 + 1, MIN, MAX)),
)
WITH_KEYS: tuple[Event, ...] = (*(Record(key) for key in KEYS), Watermark(MIN), Watermark(MAX), *OTHERS)

FREE = "a channel that is left free counts as the same answer whichever it is, and is taken to change nothing"


def without_keys(_config: Config, _state: State) -> tuple[Event, ...]:
    return WITHOUT_KEYS


def with_keys(_config: Config, _state: State) -> tuple[Event, ...]:
    return WITH_KEYS


def without_records(_config: Config, _state: State) -> tuple[Event, ...]:
    return OTHERS


def make_scopes(most_channels: int, hashes: tuple[tuple[int, int], ...], extra_states: int) -> Iterator[Scope]:
    counts = range(1, most_channels + 1)
    fixed = (Partitioner.FORWARD, Partitioner.RESCALE, Partitioner.GLOBAL, Partitioner.BROADCAST, Partitioner.SHUFFLE)
    elements = "records, a watermark, both statuses and latency markers"
    yield Scope(
        name="kinds",
        component="partitioner",
        configs=tuple(Config(kind, channels) for kind in fixed for channels in counts),
        alphabet=without_keys,
        covers=f"{', '.join(fixed)} with 1 to {most_channels} channels; {elements}; {FREE}",
        extra_states=extra_states,
    )
    wide = (Partitioner.FORWARD, Partitioner.GLOBAL, Partitioner.BROADCAST, Partitioner.SHUFFLE)
    yield Scope(
        name="wide",
        component="partitioner",
        configs=tuple(Config(kind, 300) for kind in wide),
        alphabet=without_keys,
        covers=f"{', '.join(wide)} with 300 channels; {elements}; {FREE}",
    )
    yield Scope(
        name="rebalance",
        component="partitioner",
        configs=tuple(Config(Partitioner.REBALANCE, channels) for channels in counts),
        alphabet=without_keys,
        opening=lambda _config: (Record(),),
        covers=(
            f"rebalance with 1 to {most_channels} channels, after a first record that tells where it starts; "
            f"{elements}; {FREE}"
        ),
        extra_states=extra_states,
    )
    yield Scope(
        name="rebalance-start",
        component="partitioner",
        configs=tuple(Config(Partitioner.REBALANCE, channels) for channels in counts),
        alphabet=without_records,
        covers=(
            f"rebalance with 1 to {most_channels} channels before its first record; a watermark, both statuses and "
            f"latency markers; {FREE}"
        ),
        extra_states=extra_states,
    )
    yield Scope(
        name="hash",
        component="partitioner",
        configs=tuple(Config(Partitioner.HASH, channels, most) for channels, most in hashes),
        alphabet=with_keys,
        covers=(
            f"hash with {len(hashes)} pairs of channels and key groups; {len(KEYS)} keys of all types, watermarks "
            f"up to MIN and MAX, both statuses and latency markers; {FREE}"
        ),
    )


def small() -> Iterator[Scope]:
    hashes = ((1, 128), (2, 128), (3, 128), (7, 128), (128, 128), (5, 3), (2, 1), (60, 127), (3, 129), (9, 32768))
    return make_scopes(3, hashes, extra_states=2)


def thorough() -> Iterator[Scope]:
    counts = (1, 2, 3, 4, 5, 7, 8, 57, 60, 127, 128)
    hashes = tuple((channels, most) for channels in counts for most in (1, 3, 127, 128, 129, 256, 1000, 32768))
    return make_scopes(5, hashes, extra_states=2)
