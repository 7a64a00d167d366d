"""Cases for the barrier handler: barriers that meet, overtake and never come, with time running out in between."""

from random import Random

from tidegate.properties.cases.values import among, swarm
from tidegate.properties.cases.walk import Walk
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
        channel = draw_channel(random, walk.state, heard)
        if channel is None:
            walk.end_soon(1, 2)
        for event in draw_events(random, draw_kind(), walk.state, channel, modes, base):
            if is_fair(walk.state, event):
                walk.play_one(event)
            elif channel is not None:
                walk.play_one(barriers.EndOfPartition(channel))
    return config, walk.events


def draw_config(random: Random) -> barriers.Config:
    kind = random.choice(list(barriers.Kind))
    channels = random.choice((1, 2, 2, 2, 3, 3, 3, 4, 6))
    timeout = random.choice((1, 2, 10, 30)) if kind is barriers.Kind.ALTERNATING else None
    extension = random.choice((None, None, None, barriers.LATE_TIMERS, barriers.MEASURES))
    if kind is barriers.Kind.ALTERNATING and random.random() < 0.2:
        extension = barriers.CLOSING
    elif (extension == barriers.LATE_TIMERS) != (kind is barriers.Kind.ALTERNATING) and extension != barriers.MEASURES:
        extension = None
    return barriers.Config(kind, channels, random.random() < 0.7, timeout, extension)


def is_fair(state: barriers.State, event: barriers.Event) -> bool:
    """Not so if the last open channel goes on to a newer checkpoint while an older one waits for it.

    Channels do not do that, and the real tracker, which then triggers the newer one first, fails on the older one.
    """
    if not isinstance(state, barriers.Tracking) or not isinstance(event, barriers.Barrier | barriers.Cancel):
        return True
    last = len(state.ended) == state.config.channels - 1
    return not last or not state.pending or event.checkpoint <= state.latest


def draw_flood(random: Random, channels: int, base: int) -> list[barriers.Event]:
    """About as many pending checkpoints as are remembered; then the oldest of them come to their end."""
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
    """One that may deliver, if there is one; mostly one that the present checkpoint still waits for.

    `heard` is how often it is one that is blocked.
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
    """How much earlier a barrier may have been created where that is measured."""
    return (300, 2**31 + 5, 2**33) if state.config.extension == barriers.MEASURES else ()


def draw_checkpoint(random: Random, state: barriers.State, current: int) -> Long:
    """Mostly the one that is pending; if none is, the next."""
    if isinstance(state, barriers.Alignment):
        pending = state.current >= 0 and state.current != state.done
        return clamp(current if pending and random.random() < 0.85 else current + 1)
    choices = [count.checkpoint for count in state.pending]
    return random.choice(choices) if choices and random.random() < 0.75 else clamp(current + 1)


def draw_round(
    random: Random, state: barriers.State, checkpoint: Long, mode: barriers.Mode, created: Long
) -> list[barriers.Event]:
    """A whole checkpoint: the barrier on each channel that may deliver, in any order; at times the last is missing."""
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
