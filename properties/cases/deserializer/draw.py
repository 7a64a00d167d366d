"""Cases for the deserializer: a stream of records, cut wherever a reader may trip, and cleared in mid-record.

After a clear the stream goes on with a new record or, at times, from where it was: then any bytes are read as a
header. Lengths on the wire are never negative, so bytes that would be read as one are left out.
"""

from itertools import pairwise
from random import Random

from tidegate.properties.cases.boundaries import BOUNDARIES, FAR
from tidegate.properties.cases.payloads import ALPHABETS, draw_bytes, draw_length_for, draw_long_length
from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.spanning.deserializer import step as deserializer
from tidegate.reference.spanning.records import HEADER_BYTES, decode_length, encode_record

#: More than this is not waiting to be cut.
MOST_AHEAD = 200
#: Lengths around what two bytes can say, in one of so many cases.
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
        kind = draw_kind()
        if kind == "long":
            stream += encode_record(draw_bytes(random, alphabet, draw_long_length(random, random.choice((1, 1, 1000)))))
        while len(stream) < min(MOST_AHEAD, 3 * usual_size):
            length = draw_length_for(random, usual_size, usual_size)
            stream += encode_record(draw_bytes(random, alphabet, length))
        event: deserializer.Event = (
            deserializer.Clear()
            if kind == "clear"
            else deserializer.Buffer(stream[: draw_cut(random, kind, walk.state, stream)])
        )
        if not is_fair(walk.state, event):
            event = deserializer.Clear()
        if isinstance(event, deserializer.Buffer):
            stream = stream[len(event.data) :]
        elif random.random() >= resumes:
            stream = b""
        walk.play_one(event)
    return config, walk.events


def draw_config(_random: Random) -> deserializer.Config:
    return deserializer.Config()


def is_fair(state: deserializer.State, event: deserializer.Event) -> bool:
    """Not so if bytes are read as a negative length: there is none on the wire."""
    return all(
        deserializer.records_are_the_bytes_received.holds(state, event, outcome)
        for outcome in deserializer.step(state, event)
    )


def cut_huge(random: Random, alphabet: bytes) -> list[deserializer.Event]:
    """A record that is complete with its last piece, so that what comes behind starts anew."""
    data = encode_record(draw_bytes(random, alphabet, random.choice(HUGE)))
    cuts = sorted(random.sample(range(1, len(data)), random.choice((0, 1, 2, 3))))
    return [deserializer.Buffer(data[begin:end]) for begin, end in pairwise((0, *cuts, len(data)))]


def draw_cut(random: Random, kind: str, state: deserializer.State, stream: bytes) -> int:
    """How much of the stream goes into the next buffer."""
    ends = find_ends(state, stream)
    if kind == "empty":
        return 0
    if kind == "byte":
        return 1
    if kind == "all" or len(stream) > 20 * MOST_AHEAD:
        return len(stream)
    if kind == "boundary":
        # With a record, or a byte before or behind that.
        return max(0, random.choice(ends) + random.choice((-1, 0, 0, 0, 0, 1)))
    if kind == "header":
        return random.choice(ends) + random.randint(1, HEADER_BYTES)
    if kind == "payload":
        return random.choice(ends) + HEADER_BYTES + random.choice((1, 1, 2, 5))
    return random.randint(0, min(len(stream), MOST_AHEAD))


def find_ends(state: deserializer.State, stream: bytes) -> list[int]:
    """Where in the stream the first few records end; 0 if there is none that does."""
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
    """Records of every length at a boundary, in buffers of such lengths."""
    lengths = random.sample((*BOUNDARIES, FAR), len(BOUNDARIES) + 1)
    stream = b"".join(encode_record(draw_bytes(random, ALPHABETS[-1], length)) for length in lengths)
    buffers = []
    while stream:
        size = random.choice((*BOUNDARIES, 4096))
        buffers.append(deserializer.Buffer(stream[:size]))
        stream = stream[size:]
    return deserializer.Config(), tuple(buffers)


ONCE = (draw_boundaries,)
