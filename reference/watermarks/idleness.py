"""The generator of a split with its idleness timer: watermarks while there are records, idle after a long silence.

Records only show that the split is alive. The generator is asked at regular checks: then it says how far event time is,
or, if nothing came for longer than the timeout, that the split is idle. Time is read from a clock of its own, which
stands while the split cannot be read: under back pressure, and while watermark alignment has paused it.

Choices. Time has no unit here: a clock, a timeout and `advance` count the same ticks. Timestamps have another. The
timer begins at a check and not at a record, so a split is idle after the timeout and up to two checks.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import MIN, Count, Long, Status, StatusChange, Watermark, at_least, check_long
from tidegate.reference.model import Component, Outcome, Rejected, rejected

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """`delay` is how late records may be; `clock` is what the clock reads at first."""

    timeout: Annotated[Count, "How many ticks a split may be silent."] = attrs.field(validator=at_least(1))
    delay: Annotated[int, "How late records may be; in the unit of timestamps."] = attrs.field(
        default=0, validator=at_least(0)
    )
    clock: Annotated[int, "What the clock reads at first."] = 0


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`since` is when the timer began, 0 if it did not; `heard` is whether a record came after the last check."""

    config: Config
    clock: int
    highest: Long
    paused: int = 0
    heard: bool = False
    since: int = 0
    idle: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class ReadRecord:
    """A record of the split is read."""

    type: ClassVar[str] = "record"
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class PeriodicEmit:
    """The generator is asked."""

    type: ClassVar[str] = "periodic_emit"


@attrs.frozen
class Advance:
    """Time passes."""

    type: ClassVar[str] = "advance"
    ticks: Annotated[int, "How many ticks. A clock that is paused does not notice."] = attrs.field(
        validator=at_least(0)
    )


@attrs.frozen
class Pause:
    """One more reason why the split cannot be read."""

    type: ClassVar[str] = "pause"


@attrs.frozen
class Resume:
    """One reason to pause is over. Without any: observe `rejected`."""

    type: ClassVar[str] = "resume"


Event = ReadRecord | PeriodicEmit | Advance | Pause | Resume

# --- observations ---------------------------------------------------------------------------------------------

Observation = Watermark | StatusChange

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """IDLE-1: as if a record had come whose watermark is the lowest timestamp; no timer, and not idle."""
    return (State(config, config.clock, Long(MIN + config.delay + 1)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case ReadRecord(timestamp=timestamp):
            after = attrs.evolve(state, highest=max(state.highest, timestamp), heard=True, idle=False)
            return (Outcome(after, (), ("IDLE-2",)),)
        case PeriodicEmit():
            return (check(state),)
        case Advance(ticks=ticks):
            moved = state if state.paused else attrs.evolve(state, clock=state.clock + ticks)
            return (Outcome(moved, (), ("IDLE-7",)),)
        case Pause():
            return (Outcome(attrs.evolve(state, paused=state.paused + 1), (), ("IDLE-7",)),)
        case Resume():
            if not state.paused:
                return rejected(state, "IDLE-7")
            return (Outcome(attrs.evolve(state, paused=state.paused - 1), (), ("IDLE-7",)),)


def check(state: State) -> Outcome[State, Observation]:
    if state.heard:
        return emit(attrs.evolve(state, heard=False, since=0), "IDLE-3")
    if state.since == 0:
        # A clock that reads 0 begins no timer that anybody could see.
        began = attrs.evolve(state, since=state.clock)
        return emit(began, "IDLE-8" if state.clock == 0 else "IDLE-4")
    if not is_due(state):
        return emit(state, "IDLE-5")
    if state.idle:
        return Outcome(state, (), ("IDLE-6",))
    return Outcome(attrs.evolve(state, idle=True), (StatusChange(Status.IDLE),), ("IDLE-5", "IDLE-6"))


def is_due(state: State) -> bool:
    return state.since != 0 and state.clock - state.since > state.config.timeout


def emit(state: State, rule: str) -> Outcome[State, Observation]:
    return Outcome(state, (Watermark(Long(state.highest - state.config.delay - 1)),), (rule, "IDLE-1"))


# --- claims ---------------------------------------------------------------------------------------------------


@always("IDLE-1")
def watermarks_never_fall(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A check says how far event time is, which never falls, or that the split is idle; nothing else says anything."""
    if not isinstance(event, PeriodicEmit):
        return outcome.observations in ((), (Rejected(),))
    due = Watermark(Long(before.highest - before.config.delay - 1))
    return (
        outcome.observations in ((due,), (StatusChange(Status.IDLE),), ()) and outcome.state.highest == before.highest
    )


@always("IDLE-2", "IDLE-3", "IDLE-4")
def never_idle_at_the_first_two_checks(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Whoever was heard since the last check is not idle, and neither is who has no timer yet."""
    if not isinstance(event, PeriodicEmit) or not (before.heard or before.since == 0):
        return True
    return StatusChange(Status.IDLE) not in outcome.observations and len(outcome.observations) == 1


@always("IDLE-6")
def idle_is_said_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Idle is said when the split turns idle, and then only."""
    turned = outcome.state.idle and not before.idle
    return (StatusChange(Status.IDLE) in outcome.observations) == turned


@always("IDLE-7")
def the_clock_stands_while_paused(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """However long a pause is, nobody turns idle who was not due when it began."""
    if not before.paused or isinstance(event, ReadRecord):
        return True
    return is_due(outcome.state) <= is_due(before) and outcome.state.clock == before.clock


@sometimes("IDLE-5")
def a_split_turns_idle(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A split that was silent for too long is idle."""
    return outcome.observations == (StatusChange(Status.IDLE),)


@sometimes("IDLE-7")
def idle_while_paused(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """FLINK-40093: who was due already when the pause began turns idle while it is paused."""
    return before.paused > 0 and outcome.observations == (StatusChange(Status.IDLE),)


@sometimes("IDLE-2")
def a_record_ends_idleness(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A record comes while the split is idle; the next check says so."""
    return before.idle and isinstance(event, ReadRecord) and not outcome.state.idle


COMPONENT = Component.of(__name__, title="The idleness timer of a split")
