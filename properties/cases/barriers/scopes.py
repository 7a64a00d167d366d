"""Scopes of the barrier handler.

Checkpoints are only compared, so a few numbers stand for all of them. Time matters only to a handler that alternates,
and there only until every barrier that is read is too late; states that differ only in what came after count as equal.
"""

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from tidegate.properties.cases.scope import Concretion, Scope, always, as_it_is, counted
from tidegate.reference.barriers import values as barriers
from tidegate.reference.elements import MAX, Long

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
    """The last open channel goes on to a newer checkpoint while an older one waits for it; channels do not do that."""
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
    """The state as soon as time makes no difference any more: every timer is due, every barrier read is too late."""
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
