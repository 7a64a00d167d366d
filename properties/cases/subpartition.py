"""Cases for the pipelined subpartition: open buffers polled in the middle, flags gone stale, holds, priority events."""

from collections.abc import Iterator
from functools import partial
from random import Random

import attrs

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Scope, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.spanning.builders import UNLIMITED
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition import values as subpartition
from tidegate.reference.subpartition.queue import BLOCKING, ItemKind
from tidegate.reference.subpartition.subpartition.step import start, step
from tidegate.reference.subpartition.subpartition.values import AddEvent, Config, Event, Poll, Query, SizeHint, State

EVENTS = (ItemKind.EVENT, ItemKind.EVENT, ItemKind.END_OF_DATA, ItemKind.BARRIER, ItemKind.BARRIER, *BLOCKING)
SIZES = (0, 1, 2, 1024, 2**31 - 2, UNLIMITED)


def draw(random: Random, config: Config | None = None) -> tuple[Config, tuple[Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random, poll=6, buffer=4, append=3, finish_buffer=2, flush=2.5, event=1, priority=0.6, query=1.5, burst=0.4,
        drain=0.4, hold=0.3, resume=1, size=0.3, finish=0.15, release=0.12, view=0.05, refused=0.4,
    )  # fmt: skip
    viewless = random.choice((0, 0, 0, 0, 1, 3, 8, 30))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step)
    for _ in walk.up_to_length():
        queue = walk.state.queue
        if queue.released or (queue.finished and not queue.items):
            walk.end_soon(1, 4)
        if queue.released and random.random() < 0.6:
            walk.play_one(draw_posthumous(random))
        elif walk.played >= viewless and not walk.state.has_view and not queue.released and random.random() < 0.8:
            walk.play_one(subpartition.CreateView())
        else:
            walk.play(draw_events(*draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(
        exclusive=stream(random, "exclusive").choice((0, 0, 1, 2, 2, 2)),
        size_hint=stream(random, "size_hint").choice((UNLIMITED, UNLIMITED, UNLIMITED, *SIZES)),
    )


def draw_events(random: Random, kind: str, state: State) -> list[Event]:
    """Valid events: an open buffer is finished before another is added."""
    opened = queues.is_open(state.queue)
    closing: list[Event] = [subpartition.FinishBuffer()] if opened else []
    match kind:
        case "buffer":
            return [*closing, draw_buffer(random)]
        case "append":
            return (
                [subpartition.Append(draw_data(random))]
                if opened
                else [subpartition.AddBuffer(draw_data(random), finished=False)]
            )
        case "finish_buffer":
            return closing or [Poll()]
        case "event":
            return [*closing, AddEvent(random.choice(EVENTS))]
        case "finish":
            return [*closing, subpartition.Finish()]
        case "burst":
            return draw_burst(random, closing)
        case "hold" if not state.queue.blocked:
            return [*closing, *draw_hold(random, state)]
        case "drain":
            # To the last item, or up to it, or beyond it.
            return [Poll()] * max(1, len(state.queue.items) + random.choice((-1, 0, 1, 2)))
        case "resume" if state.queue.blocked:
            return [subpartition.Resume()]
    return [draw_single(random, kind, state)]


def draw_single(random: Random, kind: str, state: State) -> Event:
    match kind:
        case "flush":
            return subpartition.Flush()
        case "priority":
            return AddEvent(ItemKind.PRIORITY)
        case "query":
            return Query(random.random() < 0.5)
        case "size":
            return SizeHint(random.choice(SIZES))
        case "release":
            return subpartition.Release()
        case "view":
            return subpartition.CreateView()
        case "refused":
            return draw_refused(random, state)
    return Poll()


def draw_posthumous(random: Random) -> Event:
    """Events on a released subpartition, accepted or refused."""
    return random.choice(
        (subpartition.CreateView(), subpartition.CreateView(), subpartition.Release(), subpartition.Release(),
         Query(credit=True), Query(credit=False), Poll(), subpartition.Resume(), subpartition.Flush(),
         subpartition.Finish(), draw_buffer(random), AddEvent(ItemKind.PRIORITY))
    )  # fmt: skip


def draw_buffer(random: Random) -> subpartition.AddBuffer:
    return subpartition.AddBuffer(draw_data(random), finished=random.random() < 0.4)


def draw_data(random: Random) -> bytes:
    """Often empty: empty buffers are a frequent source of bugs."""
    return random.randbytes(random.choice((0, 0, 1, 1, 2, 3) if random.random() < 0.98 else (127, 128, 255, 256, 257)))


def draw_burst(random: Random, closing: list[Event]) -> list[Event]:
    """Several buffers in a row, each finished by the time the next comes; the last may stay open."""
    events = list(closing)
    for _ in range(random.randint(2, 4)):
        buffer = draw_buffer(random)
        events += [buffer] if buffer.finished else [buffer, subpartition.FinishBuffer()]
    return events if random.random() < 0.5 else [*events, subpartition.AddBuffer(draw_data(random), finished=False)]


def draw_hold(random: Random, state: State) -> list[Event]:
    """Everything up to a blocking event is taken; what lies behind it is flushed before the reader resumes."""
    polls = [Poll()] * (len(state.queue.items) + 1)
    buffers = (
        draw_burst(random, []) if random.random() < 0.2 else [subpartition.AddBuffer(draw_data(random), finished=False)]
    )
    behind = [*buffers, subpartition.Flush()] if random.random() < 0.8 else [subpartition.Flush(), *buffers]
    return [AddEvent(random.choice(BLOCKING)), *polls, *behind, subpartition.Resume(), Query(random.random() < 0.8)]


def draw_numbers(random: Random, items: int) -> tuple[Config, tuple[Event, ...]]:
    """More items are polled than signed two-byte numbers count; then some are announced by their numbers.

    With twice as many, the answer would exceed the line limit of the protocol.
    """
    one: tuple[Event, ...] = (AddEvent(random.choice((ItemKind.EVENT, ItemKind.END_OF_DATA))), Poll())
    some: tuple[Event, ...] = (subpartition.AddBuffer(b"a", finished=True), AddEvent(ItemKind.PRIORITY), *[Poll()] * 3)
    return Config(), (subpartition.CreateView(), *one * (items - 2), *some * 3)


def draw_bytes(random: Random, size: int) -> tuple[Config, tuple[Event, ...]]:
    """A buffer with more bytes than two bytes count, some of them read while it is open."""
    parts = [random.randbytes(part) for part in (size - 3, 2, 2, 1)]
    opened = subpartition.AddBuffer(parts[0], finished=False)
    appended = [subpartition.Append(part) for part in parts[1:]]
    read = random.choice(([Poll()], []))
    return Config(), (
        subpartition.CreateView(), opened, *read, appended[0], *read, *appended[1:], Poll(),
        subpartition.FinishBuffer(), subpartition.AddBuffer(parts[0] + parts[1], finished=True), Poll(), Poll(),
    )  # fmt: skip


ONCE = (
    partial(draw_numbers, items=2**15),
    *(partial(draw_bytes, size=size) for size in (2**15, 2**16, 2**16 + 1)),
)


def draw_refused(random: Random, state: State) -> Event:
    if queues.is_open(state.queue):
        return random.choice(
            (
                draw_buffer(random),
                AddEvent(ItemKind.EVENT),
                subpartition.Finish(),
                subpartition.CreateView(),
                SizeHint(-1),
            )
        )
    choices = (
        subpartition.Append(b"a"),
        subpartition.FinishBuffer(),
        subpartition.Resume(),
        SizeHint(-1),
        subpartition.CreateView(),
    )
    return random.choice(choices) if state.has_view else random.choice((Poll(), Query(credit=True), SizeHint(5)))


GENERATOR = Generator(draw=draw, draw_config=draw_config, once=ONCE)


# --- scopes ---------------------------------------------------------------------------------------------------


FULL, EMPTY = subpartition.AddBuffer(b"a", finished=True), subpartition.AddBuffer(b"", finished=True)
OPEN, OPEN_EMPTY = subpartition.AddBuffer(b"b", finished=False), subpartition.AddBuffer(b"", finished=False)
READING: tuple[Event, ...] = (Poll(), Query(credit=True), Query(credit=False))

BUFFERS: tuple[Event, ...] = (
    *(
        FULL,
        EMPTY,
        OPEN,
        OPEN_EMPTY,
        subpartition.Append(b"c"),
        subpartition.FinishBuffer(),
        subpartition.Flush(),
        AddEvent(ItemKind.EVENT),
    ),
    *READING,
)
SCOPE_EVENTS: tuple[Event, ...] = (
    *(FULL, OPEN, subpartition.FinishBuffer(), subpartition.Flush()),
    *(AddEvent(kind) for kind in (ItemKind.EVENT, ItemKind.BARRIER, ItemKind.PRIORITY)),
    *READING,
    subpartition.Resume(),
)
BLOCKERS: tuple[Event, ...] = (
    *(AddEvent(kind) for kind in (ItemKind.END_OF_DATA, ItemKind.RECOVERY_COMPLETION, ItemKind.ALIGNED_WATERMARK)),
    *READING,
    subpartition.Resume(),
)
SLICES: tuple[Event, ...] = (OPEN, subpartition.Append(b"c"), subpartition.FinishBuffer(), subpartition.Flush(), Poll())
ENDS: tuple[Event, ...] = (
    *(OPEN, subpartition.FinishBuffer(), subpartition.Flush(), AddEvent(ItemKind.BARRIER), AddEvent(ItemKind.PRIORITY)),
    *(
        subpartition.Finish(),
        subpartition.Release(),
        subpartition.CreateView(),
        subpartition.Resume(),
        SizeHint(5),
        SizeHint(0),
        SizeHint(-1),
    ),
    *READING,
)


@attrs.frozen
class Part:
    """A part of the subpartition. Unless `early`, its reader exists from the start."""

    name: str
    events: tuple[Event, ...]
    items: int
    covers: str
    early: bool = False
    extra_states: int = 0


def number_from_zero(state: State) -> State:
    return attrs.evolve(state, queue=attrs.evolve(state.queue, sequence=0)) if state.queue.sequence else state


def make_scope(part: Part, exclusive: tuple[int, ...]) -> Scope:
    reads = "polls and queries" if READING[1] in part.events else "polls"

    def expand(state: State) -> bool:
        items = state.queue.items
        return len(items) <= part.items and all(len(item.data) <= 1 for item in items)

    return Scope(
        name=part.name,
        component="subpartition",
        configs=tuple(Config(buffers) for buffers in exclusive),
        opening=lambda _config: () if part.early else (subpartition.CreateView(),),
        alphabet=lambda _config, _state: part.events,
        covers=(
            f"exclusive buffers: {' or '.join(map(str, exclusive))}; {part.covers}; {reads}. States that differ only "
            "in the next sequence number count as equal"
        ),
        cap=f"at most {counted(part.items, 'item')} queued, with at most 1 byte not read in each",
        expand=expand,
        canonical=number_from_zero,
        extra_states=part.extra_states,
    )


def make_scopes(buffers: int, events: int, ends: int) -> Iterator[Scope]:
    refused = "refused: appending to or finishing a buffer that is not open, adding behind an open one"
    part = "full, empty and open buffers, an event, appending, finishing buffers, flush"
    yield make_scope(Part("buffers", BUFFERS, buffers, f"{part}; {refused}"), (2, 0))
    part = "a full and an open buffer, an event, a barrier and a priority event, resume, flush; "
    yield make_scope(Part("events", SCOPE_EVENTS, events, f"{part}; {refused}, resume while not blocked"), (2,))
    yield make_scope(Part("blockers", BLOCKERS, events, "the other kinds of events, resume"), (2,))
    yield make_scope(Part("slices", SLICES, 1, "an open buffer, appending, finishing it, flush", extra_states=2), (2,))
    part = "an open buffer, a barrier, a priority event, flush, finish, release, the reader that comes, size hints"
    refused = "refused: all of the reader before it comes, a second one, what is added after the end, a negative size"
    yield make_scope(Part("ends", ENDS, ends, f"{part}; {refused}", early=True), (2,))


def small() -> Iterator[Scope]:
    return make_scopes(buffers=2, events=2, ends=1)


def thorough() -> Iterator[Scope]:
    return make_scopes(buffers=3, events=3, ends=2)
