"""Cases for the writer: unicast among broadcasts, size hints near written sizes, an empty pool, a dying flusher."""

from collections.abc import Iterator
from functools import partial
from random import Random

import attrs

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.payloads import ALPHABETS, draw_bytes, draw_length_for, draw_long_length
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import COUNTS, among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.spanning.builders import UNLIMITED
from tidegate.reference.spanning.records import HEADER_BYTES
from tidegate.reference.spanning.writer import values as writer
from tidegate.reference.spanning.writer.step import start, step


def draw(random: Random, config: writer.Config | None = None) -> tuple[writer.Config, tuple[writer.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random, record=6, broadcast=4, event=1, hint=2, pool=1, flush=1, elapse=1.5, long=0.03, refused=0.1,
        fail=0.1, finish=0.1,
    )  # fmt: skip
    if config.extension == writer.MEASURES:
        weights["measure"] = 4
    if config.channels > COUNTS[-2] and config.kind is writer.Kind.SELECTING:
        # Writing to each of so many takes long.
        weights |= {"broadcast": 0.05, "event": 0.05, "long": 0}
    alphabet = random.choice(ALPHABETS)
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step, choose=random.choice)
    for _ in walk.up_to_length():
        own, kind = draw_kind()
        event = draw_event(own, kind, walk.state, alphabet)
        walk.play_one(event)
        if isinstance(event, writer.Finish):
            walk.end_soon(0, 4)
        if isinstance(event, writer.Fail) and own.random() < 0.3:
            # The failure may stay hidden for a hundred emits, no more.
            walk.play([writer.Record(0, b"")] * own.choice((99, 100, 101, 102)))
            break
    return config, walk.events


def draw_config(random: Random) -> writer.Config:
    own = stream(random, "buffer_size")
    return writer.Config(
        kind=stream(random, "kind").choice(list(writer.Kind)),
        channels=stream(random, "channels").choice((1, 2, 2, 2, 3, 3, 4, 8)),
        buffer_size=own.choice((own.randint(1, 12), own.randint(1, 64), 128, 1024)),
        timeout=stream(random, "timeout").choice((-1, -1, 0, 0, 1, 5, 100)),
        extension=writer.MEASURES if stream(random, "extension").random() < 0.15 else None,
    )


def draw_event(random: Random, kind: str, state: writer.State, alphabet: bytes) -> writer.Event:
    channel = random.randrange(state.config.channels)
    if kind == "refused":
        outside = random.choice((-1, state.config.channels))
        return writer.Record(outside, b"ab") if random.random() < 0.5 else writer.Hint(outside, 5)
    if kind == "hint":
        return writer.Hint(channel, draw_hint(random, state))
    if kind == "elapse":
        to_the_flush = max(1, state.config.timeout - state.elapsed)
        return writer.Elapse(
            max(1, random.choice((1, to_the_flush - 1, to_the_flush, to_the_flush + 1, 3 * to_the_flush)))
        )
    if kind in ("record", "broadcast", "long"):
        return draw_emit(random, kind, channel, state, alphabet)
    if kind == "pool":
        return writer.Pool(random.random() < 0.4)
    others: dict[str, writer.Event] = {
        "event": writer.ControlEvent(),
        "flush": writer.Flush(),
        "fail": writer.Fail(),
        "measure": writer.Measure(),
        "finish": writer.Finish(),
    }
    return others[kind]


def draw_emit(random: Random, kind: str, channel: int, state: writer.State, alphabet: bytes) -> writer.Event:
    size = state.config.buffer_size
    builder = state.builders[channel] or state.shared
    room = builder.room if builder else min(size, state.hints[channel] or size)
    is_long = kind == "long" and size >= 32
    length = draw_long_length(random, size) if is_long else draw_length_for(random, room, size)
    payload = draw_bytes(random, alphabet, length)
    return writer.Broadcast(payload) if kind == "broadcast" else writer.Record(channel, payload)


def draw_hint(random: Random, state: writer.State) -> int:
    """0, the whole buffer, and sizes around a header, a short record, and another reader's request."""
    size = state.config.buffer_size
    near = random.choice((HEADER_BYTES, 10, size // 2, size, *state.hints))
    return random.choice((0, 1, UNLIMITED, max(0, near - 1), near, min(UNLIMITED, near + 1)))


def draw_last_hint(_random: Random, channels: int) -> tuple[writer.Config, tuple[writer.Event, ...]]:
    """The last of many readers requests smaller buffers, and broadcasts are cut to that size."""
    payload = bytes(40)
    return writer.Config(writer.Kind.BROADCAST, channels, 64, -1), (
        writer.Hint(channels - 1, 10),
        writer.Broadcast(payload),
        writer.Hint(0, 20),
        writer.Broadcast(payload),
        writer.Record(channels - 1, payload),
        writer.Broadcast(payload),
        writer.Finish(),
    )


def draw_behind_a_failure(random: Random) -> tuple[writer.Config, tuple[writer.Event, ...]]:
    """The flusher dies, or there is none, which may stay hidden for a hundred emits; then every event."""
    usual = draw_config(random)
    timeout = random.choice((1, 5, 5, usual.timeout))
    config = attrs.evolve(usual, timeout=timeout, extension=random.choice((None, writer.MEASURES)))
    kinds = ["record", "broadcast", "event", "hint", "pool", "flush", "elapse", "refused", "fail"]
    kinds += ["measure"] * 2 if config.extension else []
    alphabet = random.choice(ALPHABETS)
    walk = Walk(random, start(config), step, choose=random.choice)
    walk.play([writer.Record(0, b"ab"), writer.Fail(), *[writer.Record(0, b"")] * random.choice((0, 101))])
    for kind in random.choices(kinds, k=random.randint(10, 30)):
        walk.play_one(draw_event(random, kind, walk.state, alphabet))
    walk.play([writer.Finish(), *[writer.Measure()] * (config.extension is not None)])
    return config, walk.events


AIMS = (draw_behind_a_failure,)
ONCE = tuple(partial(draw_last_hint, channels=channels) for channels in COUNTS)


GENERATOR = Generator(draw=draw, draw_config=draw_config, aims=AIMS, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(
    name: str, timeout: int, channels: int, size: int, *, sized: bool, extension: str | None = None
) -> Scope:
    """With `sized`, the buffer size changes by readers' requests and by the rest of the pool."""

    def play(config: writer.Config, _state: writer.State) -> Iterator[writer.Event]:
        yield from (
            writer.Broadcast(b""),
            writer.ControlEvent(),
            writer.Flush(),
            writer.Finish(),
            writer.Hint(channels, 3),
            writer.Elapse(1),
        )
        yield from (writer.Record(channel, b"a") for channel in range(channels))
        yield writer.Record(-1, b"a")
        if sized:
            yield from (writer.Hint(0, 3), writer.Pool(available=False), writer.Pool(available=True))
        if config.timeout <= 0:
            yield writer.Fail()
        if config.extension == writer.MEASURES:
            yield writer.Measure()

    asked = "how much is queued, " * bool(extension)
    changes = "a smaller size asked for by the first reader, the pool exhausted or not, " * sized
    return Scope(
        name=name,
        component="writer",
        configs=tuple(writer.Config(kind, channels, size, timeout, extension) for kind in writer.Kind),
        alphabet=play,
        covers=(
            f"both kinds with {counted(channels, 'channel')}, buffers of {size} bytes and time-out {timeout}; records, "
            f"broadcasts, events, flush, finish, {changes}{asked}time passing; refused: channels out of range, writing "
            "after the end, failures of no flusher"
        ),
    )


def small() -> Iterator[Scope]:
    yield make_scope("always", 0, 1, 7, sized=True)
    yield make_scope("never", -1, 1, 6, sized=True)
    yield make_scope("timed", 2, 1, 6, sized=False)
    yield make_scope("two-channels", 0, 2, 6, sized=False)
    yield make_scope("queued", -1, 1, 6, sized=False, extension=writer.MEASURES)


def thorough() -> Iterator[Scope]:
    yield make_scope("always", 0, 2, 7, sized=True)
    yield make_scope("never", -1, 1, 9, sized=True)
    yield make_scope("timed", 3, 1, 9, sized=False)
    yield make_scope("two-channels", -1, 2, 6, sized=False)
