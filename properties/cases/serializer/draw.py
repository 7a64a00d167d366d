"""Cases for the serializer: buffers that end with a record, in its header, or just before and behind either."""

from random import Random

from tidegate.properties.cases.payloads import ALPHABETS, draw_bytes, draw_length_for, draw_long_length
from tidegate.properties.cases.values import draw_length, swarm
from tidegate.properties.cases.walk import Walk, among
from tidegate.reference.spanning.serializer import (
    Config,
    ControlEvent,
    Event,
    Finish,
    Flush,
    Record,
    State,
    start,
    step,
)

#: Lengths around what two bytes can say, and from which buffer size on they make not too many buffers.
HUGE, HUGE_BUFFER = (65_535, 65_536, 65_537), 1000
BEHIND_THE_END: tuple[Event, ...] = (Finish(), ControlEvent(), Flush(), Record(b""))


def draw(random: Random) -> tuple[Config, tuple[Event, ...]]:
    config = Config(draw_buffer_size(random))
    weights = swarm(random, record=8, flush=3, event=1.5, long=0.03, finish=0.3)
    alphabet = random.choice(ALPHABETS)
    draw_kind = among(random, weights)
    walk = Walk(step, *start(config))
    if config.buffer_size >= HUGE_BUFFER and random.random() < 0.2:
        walk.play(Record(draw_bytes(random, alphabet, random.choice(HUGE))))
    left = draw_length(random)
    while left > 0:
        event = draw_event(random, draw_kind(), walk.state, alphabet)
        walk.play(event)
        # After the end a few events are refused, and that is all there is to see.
        left = min(left - 1, random.randint(1, 5)) if isinstance(event, Finish) else left - 1
    if not walk.state.finished and random.random() < 0.5:
        walk.play(Finish(), *random.choices(BEHIND_THE_END, k=random.choice((0, 0, 1, 2))))
    return config, tuple(walk.events)


def draw_buffer_size(random: Random) -> int:
    style = random.random()
    if style < 0.45:
        return random.randint(1, 12)
    if style < 0.9:
        return random.randint(1, 64)
    return random.choice((100, 127, 128, 256, 1000, 1024, 4096)) if style < 0.99 else 32768


def draw_event(random: Random, kind: str, state: State, alphabet: bytes) -> Event:
    size = state.config.buffer_size
    if kind == "flush":
        return Flush()
    if kind == "event":
        return ControlEvent()
    if kind == "finish":
        return Finish()
    length = draw_long_length(random, size) if kind == "long" else draw_length_for(random, size - state.filled, size)
    return Record(draw_bytes(random, alphabet, length))
