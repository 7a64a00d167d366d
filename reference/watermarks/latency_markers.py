"""A source makes latency markers, if it is told to: whose word counts, and when they come.

Choices. LatencyMarkerEmitter and the SourceOperator of Flink 2.3. Time is that of the events; what an operator does
with a marker is `statuses`.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, sometimes
from tidegate.reference.elements import Position, at_least
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.watermarks.latency import compute_marker_times

#: So far a case may go, in milliseconds.
MOST = 1000

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """The interval that the cluster says, and the one that the job says, if it does. Milliseconds; 0 is none."""

    cluster: Annotated[Position, "The interval configured for the cluster, in milliseconds; 0 turns markers off."] = (
        attrs.field(validator=at_least(0))
    )
    job: Annotated[
        Position | None,
        "The interval configured for the job; 0 turns markers off. Left out: that of the cluster.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(at_least(0)))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`opened` is when the source began, `now` what the clock says."""

    config: Config
    now: int = 0
    opened: int | None = None
    closed: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class OpenSource:
    """The source begins to read."""

    type: ClassVar[str] = "open"


@attrs.frozen
class Elapse:
    """Time passes. Beyond 1000 ms: observe `rejected`."""

    type: ClassVar[str] = "elapse"
    milliseconds: Annotated[Position, "How much."] = attrs.field(validator=at_least(0))


@attrs.frozen
class CloseSource:
    """The source is closed."""

    type: ClassVar[str] = "close"


Event = OpenSource | Elapse | CloseSource

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class MarkerMade:
    """A marker, with the time at which it was made."""

    type: ClassVar[str] = "marker"
    timestamp: Annotated[Position, "The time at which it was due."]


Observation = MarkerMade
Seen = Outcome[State, Observation]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """The clock stands at 0, and the source has not begun."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Seen, ...]:
    match event:
        case OpenSource():
            if state.opened is not None:
                return rejected(state, "LAT-4")
            after = attrs.evolve(state, opened=state.now)
            first = (MarkerMade(state.now),) if compute_interval(state.config) else ()
            return (Outcome(after, first, ("LAT-3", "LAT-4")),)
        case CloseSource():
            if state.opened is None:
                return rejected(state, "LAT-4")
            return (Outcome(attrs.evolve(state, closed=True), (), ("LAT-4",)),)
        case Elapse(milliseconds):
            if state.now + milliseconds > MOST:
                return rejected(state, "LAT-4")
            after = attrs.evolve(state, now=state.now + milliseconds)
            return (Outcome(after, list_markers(state, after), ("LAT-4", "LAT-3")),)


def compute_interval(config: Config) -> int:
    """LAT-3: the word of the job counts, if there is one."""
    return config.cluster if config.job is None else config.job


def list_markers(before: State, after: State) -> tuple[MarkerMade, ...]:
    """LAT-4: those that are due behind the old time, and up to the new one."""
    if before.opened is None or before.closed:
        return ()
    times = compute_marker_times(compute_interval(before.config), after.now - before.opened)
    return tuple(MarkerMade(before.opened + time) for time in times if before.opened + time > before.now)


# --- claims ---------------------------------------------------------------------------------------------------


@always("LAT-3")
def the_job_can_say_no(before: State, _event: Event, outcome: Seen) -> bool:
    """Where the job wants no markers, there are none."""
    return before.config.job != 0 or not any(isinstance(seen, MarkerMade) for seen in outcome.observations)


@sometimes("LAT-4")
def several_are_due(_before: State, event: Event, outcome: Seen) -> bool:
    """More than one marker is due when time has passed."""
    return isinstance(event, Elapse) and len(outcome.observations) > 1


COMPONENT = Component.of(__name__, title="When a source makes latency markers")
