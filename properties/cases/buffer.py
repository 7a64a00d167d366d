"""Cases for the network buffer: consumers that lag behind, buffers filled to the last byte, holders that recycle."""

from collections.abc import Iterator
from random import Random

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.subpartition.buffer import values as buffer
from tidegate.reference.subpartition.buffer.step import is_held, start, step

BY_CONSUMER: dict[str, type[buffer.Build | buffer.Inspect | buffer.Copy | buffer.CloseConsumer]] = {
    "build": buffer.Build,
    "inspect": buffer.Inspect,
    "copy": buffer.Copy,
    "close": buffer.CloseConsumer,
}


def draw(random: Random, config: buffer.Config | None = None) -> tuple[buffer.Config, tuple[buffer.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random, build=5, append=4, commit=3, inspect=3, copy=1, recycle=2, close=0.7, finish=0.5, close_builder=0.3,
        wind_up=0.2, refused=0.3,
    )  # fmt: skip
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_end(lambda state: not is_held(state), 1, 3):
        walk.play(draw_events(*draw_kind(), walk.state))
    return config, walk.events


def draw_shared(random: Random) -> tuple[buffer.Config, tuple[buffer.Event, ...]]:
    """Very many copies of a consumer; the first and the last ones read, are copied, and recycled."""
    config = draw_config(random)
    walk = Walk(random, start(config), step)
    count = random.choice((9, 33, 65, 130, 258))
    walk.play([buffer.Consume(), buffer.Append(b"x"), buffer.Commit(), *(buffer.Copy(0) for _ in range(count - 1))])
    ends = (0, 1, count - 2, count - 1)
    for _ in range(16):
        made = random.choice((*BY_CONSUMER.values(), buffer.Recycle))
        walk.play_one(made(random.choice(ends)))
    return config, walk.events


ONCE = (draw_shared,) * 6


def draw_config(random: Random) -> buffer.Config:
    return buffer.Config(stream(random, "capacity").choice((1, 2, 4, 8, 8, 16)))


def draw_events(random: Random, kind: str, state: buffer.State) -> list[buffer.Event]:
    indices = [index for index, consumer in enumerate(state.consumers) if not consumer.closed]
    with_slices = [index for index, consumer in enumerate(state.consumers) if consumer.slices]
    if kind == "refused":
        return [draw_refused(random, state)]
    if kind == "wind_up" and is_held(state):
        return draw_wind_up(random, state, indices)
    if kind == "recycle" and with_slices:
        return [buffer.Recycle(random.choice(with_slices))]
    if kind in ("build", "inspect", "copy", "close") and indices:
        return [BY_CONSUMER[kind](random.choice(indices))]
    if state.closed:
        return (
            [buffer.Inspect(random.choice(indices))] if indices else [buffer.Recycle(random.choice(with_slices or [0]))]
        )
    if not state.consumers and random.random() < 0.5:
        return [buffer.Consume()]
    return [draw_writing(random, kind, state)]


def draw_writing(random: Random, kind: str, state: buffer.State) -> buffer.Event:
    if kind == "finish":
        return buffer.Finish()
    if kind == "close_builder":
        return buffer.CloseBuilder()
    if kind == "commit" or state.finished:
        return buffer.Commit()
    # Often exactly to the last byte, or one more.
    room = state.config.capacity - len(state.written)
    return buffer.Append(random.randbytes(max(0, random.choice((0, 1, 2, 3, room, room + 1)))))


def draw_wind_up(random: Random, state: buffer.State, indices: list[int]) -> list[buffer.Event]:
    """Every holder recycles, in any order; perhaps all but one."""
    events: list[buffer.Event] = [buffer.CloseConsumer(index) for index in indices]
    events += [buffer.Recycle(index) for index, consumer in enumerate(state.consumers) for _ in range(consumer.slices)]
    if not state.closed:
        events.append(buffer.CloseBuilder())
    random.shuffle(events)
    return events[: max(1, len(events) - random.choice((0, 0, 0, 1)))]


def draw_refused(random: Random, state: buffer.State) -> buffer.Event:
    beyond = random.choice((-1, len(state.consumers), len(state.consumers) + 3))
    closed = [index for index, consumer in enumerate(state.consumers) if consumer.closed]
    index = random.choice(closed) if closed and random.random() < 0.6 else beyond
    made = random.choice((buffer.Build, buffer.Copy, buffer.Inspect, buffer.CloseConsumer, buffer.Recycle))
    return random.choice((made(index), made(index), buffer.Consume(), buffer.Append(b"x"), buffer.Finish()))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


def make_scope(capacity: int, consumers: int, slices: int) -> Scope:
    def play(_config: buffer.Config, state: buffer.State) -> Iterator[buffer.Event]:
        yield from (
            buffer.Append(b"a"),
            buffer.Append(b"bc"),
            buffer.Commit(),
            buffer.Finish(),
            buffer.CloseBuilder(),
            buffer.Consume(),
        )
        # Includes one that does not exist yet: the next one.
        for consumer in range(min(len(state.consumers) + 1, consumers + 1)):
            yield from (
                make(consumer)
                for make in (buffer.Copy, buffer.Inspect, buffer.Build, buffer.Recycle, buffer.CloseConsumer)
            )
        yield buffer.Inspect(-1)

    def expand(state: buffer.State) -> bool:
        few = all(consumer.slices <= slices for consumer in state.consumers)
        return len(state.consumers) <= consumers and few

    return Scope(
        name=f"{capacity}x{consumers}x{slices}",
        component="buffer",
        configs=(buffer.Config(capacity),),
        alphabet=play,
        covers=(
            f"a buffer of {counted(capacity, 'byte')}, {counted(consumers, 'consumer')}; one byte or two appended, "
            "commit, finish, close, consumers copied, asked, read, recycled and closed; refused: appending to a buffer "
            "that is finished, a second first consumer, consumers that are none or closed, recycling what is not held"
        ),
        cap=f"at most {counted(consumers, 'consumer')}, each with at most {counted(slices, 'slice')} out",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope(2, 1, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(3, 1, 2)
    yield make_scope(1, 2, 1)
