"""Cases for the deserializer: a stream of records, cut at difficult places, and cleared in mid-record.

After a clear the stream continues with a new record or, at times, in the middle: then any bytes are read as a header.
Lengths on the wire are never negative, so bytes that would give a negative length are left out.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from random import Random

from tidegate.properties.drawing.boundaries import BOUNDARIES, FAR
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.payloads import ALPHABETS, draw_bytes, draw_length_for, draw_long_length
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.spanning.deserializer import step as deserializer
from tidegate.reference.spanning.deserializer.step import Buffer, Clear, Config, Event, State
from tidegate.reference.spanning.records import HEADER_BYTES, decode_length, encode_record

#: Limit of bytes that wait to be cut.
MOST_AHEAD = 200
#: Lengths around the limit of two bytes, in one of this many cases.
HUGE, HUGE_SHARE = (65_535, 65_536, 65_537), 0.006


def draw(
    random: Random, config: deserializer.Config | None = None
) -> tuple[deserializer.Config, tuple[deserializer.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, any=3, boundary=2, header=2, payload=1, byte=1.5, all=0.7, empty=0.7, clear=0.7, long=0.03)
    alphabet = random.choice(ALPHABETS)
    usual_size = random.choice((1, 3, 4, 5, 8, 16, 32, 64))
    resumes = random.choice((0.0, 0.0, 0.3, 1.0))
    huge = cut_huge(random, alphabet) if random.random() < HUGE_SHARE else []
    draw_kind = among(random, weights)
    walk = Walk(random, deserializer.start(config), deserializer.step, is_fair=is_fair)
    walk.play(huge)
    stream = b""
    for _ in walk.rounds():
        own, kind = draw_kind()
        if kind == "long":
            stream += encode_record(draw_bytes(own, alphabet, draw_long_length(own, own.choice((1, 1, 1000)))))
        while len(stream) < min(MOST_AHEAD, 3 * usual_size):
            length = draw_length_for(random, usual_size, usual_size)
            stream += encode_record(draw_bytes(random, alphabet, length))
        event: deserializer.Event = (
            deserializer.Clear()
            if kind == "clear"
            else deserializer.Buffer(stream[: draw_cut(own, kind, walk.state, stream)])
        )
        if not is_fair(walk.state, event):
            event = deserializer.Clear()
        if isinstance(event, deserializer.Buffer):
            stream = stream[len(event.data) :]
        elif own.random() >= resumes:
            stream = b""
        walk.play_one(event)
    return config, walk.events


def draw_config(_random: Random) -> deserializer.Config:
    return deserializer.Config()


def is_fair(state: deserializer.State, event: deserializer.Event) -> bool:
    """False if bytes would be read as a negative length: the wire has none."""
    return all(
        deserializer.records_are_the_bytes_received.holds(state, event, outcome)
        for outcome in deserializer.step(state, event)
    )


def cut_huge(random: Random, alphabet: bytes) -> list[deserializer.Event]:
    """A record that ends with its last piece, so that the next piece starts a new one."""
    data = encode_record(draw_bytes(random, alphabet, random.choice(HUGE)))
    cuts = sorted(random.sample(range(1, len(data)), random.choice((0, 1, 2, 3))))
    return [deserializer.Buffer(data[begin:end]) for begin, end in pairwise((0, *cuts, len(data)))]


def draw_cut(random: Random, kind: str, state: deserializer.State, stream: bytes) -> int:
    """The number of bytes for the next buffer."""
    ends = find_ends(state, stream)
    if kind == "empty":
        return 0
    if kind == "byte":
        return 1
    if kind == "all" or len(stream) > 20 * MOST_AHEAD:
        return len(stream)
    if kind == "boundary":
        # At the end of a record, or a byte before or after it.
        return max(0, random.choice(ends) + random.choice((-1, 0, 0, 0, 0, 1)))
    if kind == "header":
        return random.choice(ends) + random.randint(1, HEADER_BYTES)
    if kind == "payload":
        return random.choice(ends) + HEADER_BYTES + random.choice((1, 1, 2, 5))
    return random.randint(0, min(len(stream), MOST_AHEAD))


def find_ends(state: deserializer.State, stream: bytes) -> list[int]:
    """The ends of the first few records in the stream; 0 if there is none."""
    data = state.gathered + stream
    ends = [0]
    position = 0
    while len(ends) < 5 and len(data) - position >= HEADER_BYTES:
        position += HEADER_BYTES + max(0, decode_length(data[position:]))
        if position > len(data):
            break
        ends.append(max(0, position - len(state.gathered)))
    return ends[1:] or ends


def draw_boundaries(random: Random) -> tuple[deserializer.Config, tuple[deserializer.Event, ...]]:
    """Records and buffers of every boundary length."""
    lengths = random.sample((*BOUNDARIES, FAR), len(BOUNDARIES) + 1)
    stream = b"".join(encode_record(draw_bytes(random, ALPHABETS[-1], length)) for length in lengths)
    buffers = []
    while stream:
        size = random.choice((*BOUNDARIES, 4096))
        buffers.append(deserializer.Buffer(stream[:size]))
        stream = stream[size:]
    return deserializer.Config(), tuple(buffers)


ONCE = (draw_boundaries,)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE, is_fair=is_fair)


# --- scopes ---------------------------------------------------------------------------------------------------


#: A length with two different nonzero bytes.
LONG = 0x0102


def is_stream(data: bytes, lengths: tuple[int, ...]) -> bool:
    """Whether these are records of the given lengths, the last one perhaps incomplete."""
    headers = [length.to_bytes(HEADER_BYTES, "big") for length in lengths]
    while data:
        header = data[:HEADER_BYTES]
        if not any(known.startswith(header) for known in headers):
            return False
        if len(header) < HEADER_BYTES:
            return True
        data = data[HEADER_BYTES + decode_length(header) :]
    return True


def goes_on(gathered: bytes, data: bytes, lengths: tuple[int, ...]) -> bool:
    """Whether the buffer is allowed: it continues the stream, and a long payload does not use many short buffers."""
    missing = HEADER_BYTES + decode_length(gathered) - len(gathered) if len(gathered) >= HEADER_BYTES else 0
    is_long_enough = missing < 8 or len(data) >= LONG // 2 or not data
    return is_long_enough and is_stream(gathered + data, lengths)


def make_scope(
    name: str, lengths: tuple[int, ...], buffers: tuple[bytes, ...], covers: str, extra_states: int
) -> Scope:
    events = tuple(Buffer(data) for data in dict.fromkeys(buffers))
    known: dict[State, tuple[Event, ...]] = {}

    def alphabet(_config: Config, state: State) -> tuple[Event, ...]:
        if state not in known:
            going_on = (event for event in events if goes_on(state.gathered, event.data, lengths))
            known[state] = (*going_on, Clear())
        return known[state]

    return Scope(
        name=name,
        component="deserializer",
        configs=(Config(),),
        alphabet=alphabet,
        covers=covers,
        extra_states=extra_states,
    )


def short_buffers(most: int, highest: int) -> Iterator[bytes]:
    """Every sequence of up to `most` bytes 0 … `highest`."""
    for length in range(most + 1):
        yield from (bytes(data) for data in product(range(highest + 1), repeat=length))


def whole_records(payloads: tuple[bytes, ...]) -> Iterator[bytes]:
    """Each record, each pair, and each record with the beginning of another one."""
    encoded = [encode_record(payload) for payload in payloads]
    yield from encoded
    yield from (one + other for one, other in product(encoded, repeat=2))
    yield from (one + other[:-1] for one, other in product(encoded, repeat=2))
    yield from (one + bytes(1) for one in encoded)
    yield bytes(HEADER_BYTES - 1)


def make_scopes(most: int, longest: int, extra_states: int) -> Iterator[Scope]:
    lengths = tuple(range(longest + 1))
    payloads = tuple(bytes(range(1, length + 1)) for length in lengths)
    yield make_scope(
        "cuts",
        lengths,
        (*short_buffers(most, longest), *whole_records(payloads)),
        f"records of up to {longest} bytes; every buffer of up to {most} bytes 0 to {longest} that goes on with them, "
        "whole records, two at once, one and the beginning of the next, and clear",
        extra_states,
    )
    yield make_scope(
        "bytes",
        (0, 1, 3),
        tuple(bytes((value,)) for value in (0, 1, 3)),
        "records of 0, 1 and 3 bytes that come byte by byte, and clear",
        extra_states=3 + extra_states,
    )
    yield make_scope(
        "long",
        (0, 1, LONG - 2, LONG),
        (b"", b"\0", b"\0\0", b"\1", b"\2", b"\1\2", b"\0\0\1\2", bytes(range(129)), bytes(129), bytes(LONG - 1)),
        f"records of 0, 1, {LONG - 2} and {LONG} bytes; buffers of a few bytes, {LONG // 2} and {LONG - 1}, clear",
        extra_states=0,
    )


def small() -> Iterator[Scope]:
    return make_scopes(most=2, longest=2, extra_states=1)


def thorough() -> Iterator[Scope]:
    return make_scopes(most=3, longest=3, extra_states=1)
