"""Cases for the partitioner: whole rounds of channels, keys that hash to the edges, statuses between watermarks."""

from random import Random
from typing import NamedTuple

from properties.strategies.values import EDGES, draw_length, draw_longs, swarm
from reference.elements import Long, Status, StatusChange, Watermark
from reference.keys import IntKey, Key, LongKey, StringKey
from reference.partitioning import Config, Event, Kind, LatencyMarker, Record, State

KINDS = (*Kind, Kind.HASH, Kind.HASH, Kind.HASH, Kind.REBALANCE, Kind.RESCALE)
MOST = (1, 2, 3, 7, 16, 100, 126, 127, 127, 128, 128, 128, 129, 129, 255, 256, 1000, 32767, 32768, 32768)

#: Hash codes that come out of the scrambling as the most negative number, its neighbours, and 0.
EDGE_CODES = (-2089875627, 1814469223, 994512208, -1035494534)
INTS = (*EDGE_CODES, -(2**31), -(2**31) + 1, -(2**16), -2, -1, 0, 1, 2, 97, 127, 128, 2**16, 2**31 - 2, 2**31 - 1)
LONGS = (*EDGES, *EDGE_CODES, -(2**32), -(2**32) - 1, 2**32 - 1, 2**32 + 1, 2**53 - 1, -(2**53) - 1, 2**62)
STRINGS = ("", "a", "A", "b", "aa", "Aa", "BB", "hello", "flink", "0", "-1", " ", "\x00", "\x7f", "polygenelubricants")
CHARACTERS = "abz09 -\x00\x7f\x80éßλ中\ud7ff\ue000\ufeff\ufffd\uffff\U00010000\U0001f600\U0001f468\U0010ffff"


class Palette(NamedTuple):
    """The values that one case is made of."""

    keys: list[Key]
    timestamps: list[Long]


def draw(random: Random) -> tuple[Config, tuple[Event, ...]]:
    config = draw_config(random)
    keys = [draw_key(random) for _ in range(random.choice((1, 3, 8, 40)))] if config.kind is Kind.HASH else []
    palette = Palette(keys, draw_longs(random))
    weights = swarm(random, records=6, watermark=2, change=1.5, equal=0.7, marker=1.0, idle_phase=0.3)
    kinds, shares = list(weights), list(weights.values())
    # Each watermark and status of a wide output is an observation for every channel.
    length = draw_length(random) if config.channels <= 40 else random.randint(1, 12)
    events: list[Event] = []
    state = State(config)
    while len(events) < length:
        drawn = draw_events(random, random.choices(kinds, shares)[0], state, palette)
        events += drawn
        # Where a record goes does not matter here; the announced status does.
        for event in drawn:
            if isinstance(event, StatusChange):
                state = State(config, active=event.status is Status.ACTIVE)
    return config, tuple(events)


def draw_config(random: Random) -> Config:
    kind = random.choice(KINDS)
    if kind is not Kind.HASH:
        return Config(kind, random.choice((1, 2, 2, 3, 3, 4, 5, 7, 8, 11, 16, random.randint(17, 300))))
    most = random.choice(MOST)
    near = most + random.choice((-1, 0, 1, 2)) if most <= 256 else random.randint(200, 300)
    few = random.randint(1, 12)
    return Config(kind, max(1, random.choice((few, few, few, random.randint(13, 130), near, 300))), most)


def draw_key(random: Random) -> Key:
    kind = random.choice(("string", "string", "int", "long"))
    edge = random.random() < 0.5
    if kind == "int":
        return IntKey(random.choice(INTS) if edge else random.randint(-(2**31), 2**31 - 1))
    if kind == "long":
        return LongKey(Long(random.choice(LONGS) if edge else random.randint(-(2**63), 2**63 - 1)))
    if edge:
        return StringKey(random.choice(STRINGS))
    return StringKey("".join(random.choices(CHARACTERS, k=random.choice((1, 2, 3, 6, 12, 40)))))


def draw_events(random: Random, kind: str, state: State, palette: Palette) -> list[Event]:
    watermark = Watermark(random.choice(palette.timestamps))
    current, other = (Status.ACTIVE, Status.IDLE) if state.active else (Status.IDLE, Status.ACTIVE)
    if kind == "watermark":
        return [watermark]
    if kind == "change":
        return [StatusChange(other)]
    if kind == "equal":
        return [StatusChange(current)]
    if kind == "marker":
        return [LatencyMarker()] * random.choice((1, 1, 1, 2, 3))
    if kind == "idle_phase":
        # Everything once while idle, and again afterwards.
        within: list[Event] = [watermark, draw_record(random, palette), LatencyMarker(), StatusChange(Status.IDLE)]
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


def draw_record(random: Random, palette: Palette) -> Record:
    return Record(random.choice(palette.keys)) if palette.keys else Record()
