"""Cases for the serializer: buffers that end with a record, in its header, or just before and behind either."""

from random import Random

from tidegate.properties.cases.boundaries import BOUNDARIES, FAR
from tidegate.properties.cases.payloads import ALPHABETS, draw_bytes, draw_length_for, draw_long_length
from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.spanning import serializer

#: Lengths around what two bytes can say, and from which buffer size on they make not too many buffers.
HUGE, HUGE_BUFFER = (65_535, 65_536, 65_537), 1000
BEHIND_THE_END: tuple[serializer.Event, ...] = (
    serializer.Finish(),
    serializer.ControlEvent(),
    serializer.Flush(),
    serializer.Record(b""),
)


def draw(
    random: Random, config: serializer.Config | None = None
) -> tuple[serializer.Config, tuple[serializer.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, record=8, flush=3, event=1.5, long=0.03, finish=0.3)
    alphabet = random.choice(ALPHABETS)
    huge: list[serializer.Event] = []
    if config.buffer_size >= HUGE_BUFFER and random.random() < 0.2:
        huge = [serializer.Record(draw_bytes(random, alphabet, random.choice(HUGE)))]
    draw_kind = among(random, weights)
    walk = Walk(random, serializer.start(config), serializer.step)
    walk.play(huge)
    walk.length += walk.played
    for _ in walk.up_to_length():
        event = draw_event(random, draw_kind(), walk.state, alphabet)
        walk.play_one(event)
        if isinstance(event, serializer.Finish):
            # After the end a few events are refused, and that is all there is to see.
            walk.end_soon(1, 5)
    if not walk.state.finished and random.random() < 0.5:
        walk.play([serializer.Finish(), *random.choices(BEHIND_THE_END, k=random.choice((0, 0, 1, 2)))])
    return config, walk.events


def draw_config(random: Random) -> serializer.Config:
    return serializer.Config(draw_buffer_size(random))


def draw_buffer_size(random: Random) -> int:
    style = random.random()
    if style < 0.45:
        return random.randint(1, 12)
    if style < 0.9:
        return random.randint(1, 64)
    return random.choice((100, 127, 128, 256, 1000, 1024, 4096)) if style < 0.99 else 32768


def draw_event(random: Random, kind: str, state: serializer.State, alphabet: bytes) -> serializer.Event:
    size = state.config.buffer_size
    if kind == "flush":
        return serializer.Flush()
    if kind == "event":
        return serializer.ControlEvent()
    if kind == "finish":
        return serializer.Finish()
    length = draw_long_length(random, size) if kind == "long" else draw_length_for(random, size - state.filled, size)
    return serializer.Record(draw_bytes(random, alphabet, length))


def draw_boundaries(random: Random) -> tuple[serializer.Config, tuple[serializer.Event, ...]]:
    """Payloads of every length at a boundary, in any order."""
    lengths = random.sample((*BOUNDARIES, FAR), len(BOUNDARIES) + 1)
    records = [serializer.Record(draw_bytes(random, ALPHABETS[-1], length)) for length in lengths]
    return serializer.Config(random.choice((255, 256, 1000))), (*records, serializer.Finish())


ONCE = (draw_boundaries,)
