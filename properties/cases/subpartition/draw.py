"""Cases for the pipelined subpartition: open buffers polled in the middle, flags gone stale, holds, priority events."""

from functools import partial
from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
from tidegate.reference.spanning.builders import UNLIMITED
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition import values as subpartition
from tidegate.reference.subpartition.queue import BLOCKING, Kind
from tidegate.reference.subpartition.subpartition.step import start, step
from tidegate.reference.subpartition.subpartition.values import AddEvent, Config, Event, Poll, Query, SizeHint, State

EVENTS = (Kind.EVENT, Kind.EVENT, Kind.END_OF_DATA, Kind.BARRIER, Kind.BARRIER, *BLOCKING)
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
            walk.play(draw_events(random, draw_kind(), walk.state))
    return config, walk.events


def draw_config(random: Random) -> Config:
    return Config(random.choice((0, 0, 1, 2, 2, 2)), random.choice((UNLIMITED, UNLIMITED, UNLIMITED, *SIZES)))


def draw_events(random: Random, kind: str, state: State) -> list[Event]:
    """What makes sense now: a buffer that is open is finished before another is added."""
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
            return AddEvent(Kind.PRIORITY)
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
    """What may still be asked of a subpartition that was released, and be given or refused."""
    return random.choice(
        (subpartition.CreateView(), subpartition.CreateView(), subpartition.Release(), subpartition.Release(),
         Query(credit=True), Query(credit=False), Poll(), subpartition.Resume(), subpartition.Flush(),
         subpartition.Finish(), draw_buffer(random), AddEvent(Kind.PRIORITY))
    )  # fmt: skip


def draw_buffer(random: Random) -> subpartition.AddBuffer:
    return subpartition.AddBuffer(draw_data(random), finished=random.random() < 0.4)


def draw_data(random: Random) -> bytes:
    """Often nothing at all: an empty buffer is the corner that is got wrong."""
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
    """So many items are taken that two bytes with a sign do not number them; then some are announced by their numbers.

    With twice as many, the answer would be longer than a line of the protocol may be.
    """
    one: tuple[Event, ...] = (AddEvent(random.choice((Kind.EVENT, Kind.END_OF_DATA))), Poll())
    some: tuple[Event, ...] = (subpartition.AddBuffer(b"a", finished=True), AddEvent(Kind.PRIORITY), *[Poll()] * 3)
    return Config(), (subpartition.CreateView(), *one * (items - 2), *some * 3)


def draw_bytes(random: Random, size: int) -> tuple[Config, tuple[Event, ...]]:
    """One buffer has so many bytes, some of them read while it is open, that two bytes do not count them."""
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
            (draw_buffer(random), AddEvent(Kind.EVENT), subpartition.Finish(), subpartition.CreateView(), SizeHint(-1))
        )
    choices = (
        subpartition.Append(b"a"),
        subpartition.FinishBuffer(),
        subpartition.Resume(),
        SizeHint(-1),
        subpartition.CreateView(),
    )
    return random.choice(choices) if state.has_view else random.choice((Poll(), Query(credit=True), SizeHint(5)))
