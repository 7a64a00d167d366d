"""Cases for the barrier handler: barriers that meet, overtake and never come, with time running out in between."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import attrs

from tidegate.properties.drawing.dice import stream
from tidegate.properties.drawing.generator import Generator
from tidegate.properties.drawing.scope import Concretion, Scope, always, as_it_is, counted
from tidegate.properties.drawing.values import among, swarm
from tidegate.properties.drawing.walk import Walk
from tidegate.reference.barriers import values as barriers
from tidegate.reference.barriers.step import start, step
from tidegate.reference.barriers.tracker import MOST_PENDING
from tidegate.reference.elements import MAX, Long

BASES = (0, 1, 1, 1, 1, 2**31 - 2, 2**53, MAX - 12)


def draw(random: Random, config: barriers.Config | None = None) -> tuple[barriers.Config, tuple[barriers.Event, ...]]:
    config = config or draw_config(random)
    weights = swarm(
        random,
        barrier=6,
        round=1.5,
        newer=0.8,
        older=0.4,
        announcement=2.5,
        cancel=0.6,
        end=0.25,
        advance=1,
        delay=0.3,
        processed=1,
        measure=1.5,
        refused=0.2,
        close=0.15,
    )
    if config.extension != barriers.CLOSING:
        weights["close"] = 0
    if config.extension != barriers.LATE_TIMERS:
        weights["delay"] = 0
    if config.extension != barriers.MEASURES:
        weights["processed"] = weights["measure"] = 0
    elif config.kind is not barriers.Kind.ALTERNATING:
        weights["advance"] = 8
    if config.kind is not barriers.Kind.ALTERNATING:
        weights["announcement"] = weights.get("announcement", 0) * 0.1
        weights["advance"] = weights.get("advance", 0) * 0.1
    modes = draw_modes(random, config.kind)
    base = random.choice(BASES)
    heard = random.choice((0, 0, 0.1, 0.3))
    draw_kind = among(random, weights)
    walk = Walk(random, start(config), step, is_fair=is_fair)
    if config.kind is barriers.Kind.AT_LEAST_ONCE and config.channels > 1 and random.random() < 0.06:
        walk.play(draw_flood(random, config.channels, min(base, 2**53)))
        walk.length += walk.played
    for _ in walk.up_to_length():
        own, kind = draw_kind()
        channel = draw_channel(own, walk.state, heard)
        if channel is None:
            walk.end_soon(1, 2)
        for event in draw_events(own, kind, walk.state, channel, modes, base):
            if is_fair(walk.state, event):
                walk.play_one(event)
            elif channel is not None:
                walk.play_one(barriers.EndOfPartition(channel))
    return config, walk.events


def draw_config(random: Random) -> barriers.Config:
    kind = stream(random, "kind").choice(list(barriers.Kind))
    channels = stream(random, "channels").choice((1, 2, 2, 2, 3, 3, 3, 4, 6))
    timeout = stream(random, "timeout").choice((1, 2, 10, 30)) if kind is barriers.Kind.ALTERNATING else None
    own = stream(random, "extension")
    extension = own.choice((None, None, None, barriers.LATE_TIMERS, barriers.MEASURES))
    if kind is barriers.Kind.ALTERNATING and own.random() < 0.2:
        extension = barriers.CLOSING
    elif (extension == barriers.LATE_TIMERS) != (kind is barriers.Kind.ALTERNATING) and extension != barriers.MEASURES:
        extension = None
    finished_channels = stream(random, "finished_channels").random() < 0.7
    return barriers.Config(kind, channels, finished_channels, timeout, extension)


def is_fair(state: barriers.State, event: barriers.Event) -> bool:
    """False if the last open channel moves on to a newer checkpoint while an older one waits for it.

    Channels do not do that, and the real tracker, which then triggers the newer one first, fails on the older one.
    """
    if not isinstance(state, barriers.Tracking) or not isinstance(event, barriers.Barrier | barriers.Cancel):
        return True
    last = len(state.ended) == state.config.channels - 1
    return not last or not state.pending or event.checkpoint <= state.latest


def draw_flood(random: Random, channels: int, base: int) -> list[barriers.Event]:
    """About as many pending checkpoints as the handler remembers; then the oldest of them complete."""
    count = MOST_PENDING + random.choice((-1, 0, 1, 1, 2))
    first, *others = random.sample(range(channels), channels)
    mode, created = barriers.Mode.ALIGNED, Long(0)
    begun: list[barriers.Event] = [
        barriers.Barrier(first, Long(base + number), mode, created) for number in range(1, count + 1)
    ]
    oldest = range(1, random.choice((2, 3, 4)))
    ways: tuple[list[barriers.Event], ...] = (
        [barriers.Barrier(other, Long(base + number), mode, created) for number in oldest for other in others],
        [barriers.Cancel(others[0], Long(base + random.choice((1, count - 1, count, count + 1))))],
        [barriers.EndOfPartition(others[0])],
    )
    return [*begun, *random.choice(ways)]


def draw_modes(random: Random, kind: barriers.Kind) -> tuple[barriers.Mode, ...]:
    if kind in (barriers.Kind.ALIGNED, barriers.Kind.AT_LEAST_ONCE):
        return random.choice(((barriers.Mode.ALIGNED,), (barriers.Mode.ALIGNED, barriers.Mode.TIMEOUT)))
    if kind is barriers.Kind.UNALIGNED:
        return random.choice(
            (
                (barriers.Mode.UNALIGNED,),
                (barriers.Mode.UNALIGNED,),
                (barriers.Mode.UNALIGNED, barriers.Mode.ALIGNED, barriers.Mode.TIMEOUT),
            )
        )
    return random.choice(
        ((barriers.Mode.TIMEOUT,), (barriers.Mode.TIMEOUT, barriers.Mode.UNALIGNED), tuple(barriers.Mode))
    )


def draw_channel(random: Random, state: barriers.State, heard: float) -> int | None:
    """An open channel, if there is one; mostly one that the current checkpoint still waits for.

    `heard` is the share of blocked channels.
    """
    blocked = state.blocked if isinstance(state, barriers.Alignment) else frozenset()
    if blocked and random.random() < heard:
        return random.choice(sorted(blocked))
    free = [channel for channel in range(state.config.channels) if channel not in state.ended | blocked]
    counted = state.aligned if isinstance(state, barriers.Alignment) else frozenset()
    missing = [channel for channel in free if channel not in counted]
    if missing and random.random() < 0.8:
        return random.choice(missing)
    return random.choice(free) if free else None


def draw_events(
    random: Random, kind: str, state: barriers.State, channel: int | None, modes: tuple[barriers.Mode, ...], base: int
) -> list[barriers.Event]:
    if kind == "refused" or channel is None:
        return [draw_refused(random, state, base)]
    current = max(state.current if isinstance(state, barriers.Alignment) else state.latest, base)
    now = state.now if isinstance(state, barriers.Alignment) else 0
    mode = random.choice(modes)
    timeout = state.config.timeout or 0
    created = Long(now - random.choice((0, 0, 0, timeout, timeout + 1, *long_ago(state))))
    match kind:
        case "close":
            return [barriers.Close(), barriers.Advance(timeout + 1)]
        case "processed":
            return [barriers.Processed(random.choice((0, 1, 7, 1000, 70_000)))]
        case "measure":
            return [barriers.Measure()]
        case "advance" | "delay":
            pass_by = barriers.Advance if kind == "advance" else barriers.Delay
            timer = state.timer if isinstance(state, barriers.Alignment) else None
            if timer is not None and timer.due > now:
                return [pass_by(timer.due - now + random.choice((-1, 0, 0, 0, 1)))]
            return [pass_by(random.choice((0, 1, 5, timeout + 1, 300, 70_000)))]
        case "announcement":
            newer = random.random() < 0.3
            return [barriers.Announcement(channel, clamp(current + newer), random.randint(0, 9), created)]
        case "cancel":
            return [barriers.Cancel(channel, clamp(current + random.choice((0, 0, 0, 1, 1, 2, -1))))]
        case "end":
            return [barriers.EndOfPartition(channel)]
        case "newer":
            return [barriers.Barrier(channel, clamp(current + random.choice((1, 1, 2, 5))), mode, created)]
        case "older":
            return [barriers.Barrier(channel, clamp(current - random.choice((0, 1, 2))), mode, created)]
        case "round":
            return draw_round(random, state, clamp(current + 1), mode, created)
        case _:
            return [barriers.Barrier(channel, draw_checkpoint(random, state, current), mode, created)]


def long_ago(state: barriers.State) -> tuple[int, ...]:
    """How much earlier a barrier was created, if that is measured."""
    return (300, 2**31 + 5, 2**33) if state.config.extension == barriers.MEASURES else ()


def draw_checkpoint(random: Random, state: barriers.State, current: int) -> Long:
    """Mostly the pending one; if there is none, the next."""
    if isinstance(state, barriers.Alignment):
        pending = state.current >= 0 and state.current != state.done
        return clamp(current if pending and random.random() < 0.85 else current + 1)
    choices = [count.checkpoint for count in state.pending]
    return random.choice(choices) if choices and random.random() < 0.75 else clamp(current + 1)


def draw_round(
    random: Random, state: barriers.State, checkpoint: Long, mode: barriers.Mode, created: Long
) -> list[barriers.Event]:
    """A whole checkpoint: the barrier on each open channel, in any order; at times the last is missing."""
    blocked = state.blocked if isinstance(state, barriers.Alignment) else frozenset()
    free = [channel for channel in range(state.config.channels) if channel not in state.ended | blocked]
    random.shuffle(free)
    if random.random() < 0.3:
        free = free[:-1]
    return [barriers.Barrier(channel, checkpoint, mode, created) for channel in free]


def draw_refused(random: Random, state: barriers.State, base: int) -> barriers.Event:
    """No such channel, or one that has ended."""
    outside = [-1, state.config.channels, *state.ended, *state.ended]
    channel, checkpoint = random.choice(outside), clamp(base + random.randint(0, 3))
    barrier = barriers.Barrier(channel, checkpoint, barriers.Mode.ALIGNED, Long(0))
    return random.choice((barrier, barrier, barriers.Cancel(channel, checkpoint), barriers.EndOfPartition(channel)))


def clamp(checkpoint: int) -> Long:
    return Long(min(max(checkpoint, 0), MAX))


GENERATOR = Generator(draw=draw, draw_config=draw_config, is_fair=is_fair)


# --- scopes ---------------------------------------------------------------------------------------------------


BEGUN = Long(0)

#: For two or three checkpoints other numbers in the same order: engines with too narrow ones fail on them.
NUMBERS: dict[str, tuple[int, ...]] = {
    "around-2-31": (2**31 - 1, 2**31, 2**31 + 1),
    "around-2-53": (2**53, 2**53 + 1, 2**53 + 2),
    "largest": (MAX - 2, MAX - 1, MAX),
}


def renumber(numbers: tuple[int, ...]) -> Callable[[Any], Any]:
    def rewrite(event: Any) -> Any:
        checkpoint = getattr(event, "checkpoint", None)
        return event if checkpoint is None else attrs.evolve(event, checkpoint=Long(numbers[checkpoint - 1]))

    return rewrite


def skips_a_pending_checkpoint(state: barriers.State, event: barriers.Event) -> bool:
    """The last open channel moves on to a newer checkpoint while an older one waits for it; channels do not do that."""
    if not isinstance(state, barriers.Tracking) or not isinstance(event, barriers.Barrier | barriers.Cancel):
        return False
    last = len(state.ended) == state.config.channels - 1
    return last and bool(state.pending) and event.checkpoint > state.latest


SUFFIXES = {barriers.LATE_TIMERS: "-late", barriers.MEASURES: "-measured", barriers.CLOSING: "-closed"}
ALSO = {
    barriers.LATE_TIMERS: "with and without timers, ",
    barriers.MEASURES: "measures asked for, ",
    barriers.CLOSING: "the handler closed, ",
}
MODES = {
    barriers.Kind.ALIGNED: (barriers.Mode.ALIGNED,),
    barriers.Kind.AT_LEAST_ONCE: (barriers.Mode.ALIGNED,),
    barriers.Kind.UNALIGNED: (barriers.Mode.UNALIGNED, barriers.Mode.ALIGNED),
    barriers.Kind.ALTERNATING: (barriers.Mode.TIMEOUT, barriers.Mode.UNALIGNED),
}


def make_alphabet(kind: barriers.Kind, channels: int, checkpoints: int, *, late: bool) -> tuple[barriers.Event, ...]:
    numbers = [Long(number) for number in range(1, checkpoints + 1)]
    modes, announcing = MODES[kind], kind in (barriers.Kind.AT_LEAST_ONCE, barriers.Kind.ALTERNATING)
    events: list[barriers.Event] = [barriers.Advance(1)]
    events += [barriers.Delay(1)] if late else []
    for channel in range(channels):
        for number in numbers:
            events += [barriers.Barrier(channel, number, mode, BEGUN) for mode in modes]
            events += [barriers.Announcement(channel, number, channel + 5, BEGUN)] if announcing else []
            events.append(barriers.Cancel(channel, number))
        events.append(barriers.EndOfPartition(channel))
    return (*events, barriers.Barrier(channels, numbers[0], modes[0], BEGUN), barriers.EndOfPartition(-1))


def stop_the_clock(state: barriers.State) -> barriers.State:
    """The state when time makes no difference any more: every timer is due, every barrier is too late."""
    if isinstance(state, barriers.Tracking):
        return state
    last = 0 if state.config.timeout is None else state.config.timeout + 1
    return attrs.evolve(state, now=last) if state.now > last else state


def is_early(state: barriers.State) -> bool:
    return state.now <= 2 and state.measures.processed <= 3


def make_scope(
    kind: barriers.Kind,
    channels: int,
    checkpoints: int,
    timeout: int | None = None,
    finished: tuple[bool, ...] = (True, False),
    extension: str | None = None,
) -> Scope:
    late, measured = extension == barriers.LATE_TIMERS, extension == barriers.MEASURES
    events = make_alphabet(kind, channels, checkpoints, late=late)
    if measured:
        events = (*events, barriers.Processed(3), barriers.Measure())
    if extension == barriers.CLOSING:
        events = (*events, barriers.Close())

    def alphabet(_config: barriers.Config, state: barriers.State) -> Iterator[barriers.Event]:
        return (event for event in events if not skips_a_pending_checkpoint(state, event))

    timed = "" if timeout is None else f" and a time-out of {timeout} ms"
    ends = "with and without" if len(finished) > 1 else "with" if finished[0] else "without"
    concretions = (Concretion(name, renumber(numbers), every=29) for name, numbers in NUMBERS.items())
    return Scope(
        name=f"{kind}-{channels}x{checkpoints}{SUFFIXES.get(extension or '', '')}",
        component="barriers",
        configs=tuple(barriers.Config(kind, channels, counting, timeout, extension) for counting in finished),
        alphabet=alphabet,
        covers=(
            f"a handler of kind {kind}{timed}, {ends} finished channels; {counted(channels, 'channel')}, "
            f"{counted(checkpoints, 'checkpoint')} begun at 0 ms, barriers marked {' or '.join(MODES[kind])}"
            f"{', announcements' * any(isinstance(event, barriers.Announcement) for event in events)}, "
            "cancellations, ends of partitions, time passing by 1 ms, "
            f"{ALSO.get(extension or '', '')}"
            "channels that deliver although they are blocked; refused: what comes on channels that are ended or out "
            "of range"
        ),
        canonical=as_it_is if measured else stop_the_clock,
        cap="at most 2 ms and 3 bytes" if measured else "",
        expand=is_early if measured else always,
        concretions=tuple(concretions),
    )


def small() -> Iterator[Scope]:
    yield make_scope(barriers.Kind.ALIGNED, 2, 2)
    yield make_scope(barriers.Kind.AT_LEAST_ONCE, 2, 2)
    yield make_scope(barriers.Kind.UNALIGNED, 2, 2)
    yield make_scope(barriers.Kind.ALTERNATING, 2, 2, timeout=1, finished=(True,))
    yield make_scope(barriers.Kind.ALTERNATING, 2, 1, timeout=2, finished=(False,))
    yield make_scope(barriers.Kind.ALIGNED, 3, 1, finished=(True,))
    yield make_scope(barriers.Kind.ALTERNATING, 2, 1, timeout=1, finished=(True,), extension=barriers.LATE_TIMERS)
    yield make_scope(barriers.Kind.ALTERNATING, 2, 1, timeout=1, finished=(True,), extension=barriers.CLOSING)
    yield make_scope(barriers.Kind.ALIGNED, 2, 1, finished=(True,), extension=barriers.MEASURES)
    yield make_scope(barriers.Kind.AT_LEAST_ONCE, 2, 1, finished=(True,), extension=barriers.MEASURES)


def thorough() -> Iterator[Scope]:
    for channels, checkpoints in ((2, 3), (3, 2)):
        yield make_scope(barriers.Kind.ALIGNED, channels, checkpoints)
        yield make_scope(barriers.Kind.AT_LEAST_ONCE, channels, checkpoints)
        yield make_scope(barriers.Kind.UNALIGNED, channels, checkpoints)
        yield make_scope(barriers.Kind.ALTERNATING, channels, checkpoints, timeout=2)
