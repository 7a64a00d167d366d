"""Cases for the serializer: buffers that end with a record, in its header, or just before or after either."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.boundaries import BOUNDARIES, FAR
from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.payloads import ALPHABETS, draw_bytes, draw_length_for, draw_long_length
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.spanning import serializer
from tidegate.reference.spanning.serializer import Config, ControlEvent, Event, Finish, Flush, State, WriteRecord

#: Lengths around the limit of two bytes, and the buffer size from which they need few enough buffers.
HUGE, HUGE_BUFFER = (65_535, 65_536, 65_537), 1000
BEHIND_THE_END: tuple[serializer.Event, ...] = (
    serializer.Finish(),
    serializer.ControlEvent(),
    serializer.Flush(),
    serializer.WriteRecord(b""),
)


def draw(
    random: Random, config: serializer.Config | None = None
) -> tuple[serializer.Config, tuple[serializer.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(random, record=8, flush=3, event=1.5, long=0.03, finish=0.3)
    alphabet = random.choice(ALPHABETS)
    huge: list[serializer.Event] = []
    if config.buffer_size >= HUGE_BUFFER and random.random() < 0.2:
        huge = [serializer.WriteRecord(draw_bytes(random, alphabet, random.choice(HUGE)))]
    draw_kind = among(random, weights)
    walk = Walk(random, serializer.start(config), serializer.step)
    walk.play(huge)
    walk.length += walk.played
    for _ in walk.up_to_length():
        event = draw_event(*draw_kind(), walk.state, alphabet)
        walk.play_one(event)
        if isinstance(event, serializer.Finish):
            # After the end a few events are refused, and nothing else happens.
            walk.end_soon(1, 5)
    if not walk.state.finished and random.random() < 0.5:
        walk.play([serializer.Finish(), *random.choices(BEHIND_THE_END, k=random.choice((0, 0, 1, 2)))])
    return config, walk.events


def draw_config(random: Random) -> serializer.Config:
    return serializer.Config(draw_buffer_size(stream(random, "buffer_size")))


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
    return serializer.WriteRecord(draw_bytes(random, alphabet, length))


def draw_boundaries(random: Random) -> tuple[serializer.Config, tuple[serializer.Event, ...]]:
    """Payloads of every length at a boundary, in any order."""
    lengths = random.sample((*BOUNDARIES, FAR), len(BOUNDARIES) + 1)
    records = [serializer.WriteRecord(draw_bytes(random, ALPHABETS[-1], length)) for length in lengths]
    return serializer.Config(random.choice((255, 256, 1000))), (*records, serializer.Finish())


ONCE = (draw_boundaries,)


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_payload(place: int, length: int) -> bytes:
    """Bytes that differ from their neighbours and from other records, so that each is traceable."""
    return bytes((37 * place + offset) % 239 + 17 for offset in range(length))


def make_scope(name: str, sizes: tuple[int, ...], lengths: tuple[int, ...], extra_states: int) -> Scope:
    records = (WriteRecord(make_payload(place, length)) for place, length in enumerate(lengths))
    events: tuple[Event, ...] = (*records, Flush(), ControlEvent(), Finish())

    def alphabet(_config: Config, _state: State) -> tuple[Event, ...]:
        return events

    return Scope(
        name=name,
        component="serializer",
        configs=tuple(Config(size) for size in sizes),
        alphabet=alphabet,
        covers=(
            f"buffers of {', '.join(map(str, sizes))} bytes; records of {', '.join(map(str, lengths))} bytes, flush, "
            "event and finish, after the end too"
        ),
        extra_states=extra_states,
    )


def small() -> Iterator[Scope]:
    yield make_scope("sizes", (1, 2, 3, 4, 5, 6, 7), (0, 1, 3), extra_states=1)
    yield make_scope("long", (131, 262), (0x0102,), extra_states=2)


def thorough() -> Iterator[Scope]:
    yield make_scope("sizes", (1, 2, 3, 4, 5, 6, 7, 8, 9), (0, 1, 3, 5), extra_states=1)
    yield make_scope("long", (131, 262), (0x0102,), extra_states=3)
