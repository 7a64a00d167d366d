"""The barrier handler: which channels wait, and when a task takes its part of a checkpoint.

Barriers travel with the data and cut every channel at the same moment of the job. A task that has several channels
sees them at different times. It may let the quick channels wait (aligned), count without waiting and process some
elements twice after a restart (at least once), let the barriers overtake and save what they overtook (unaligned), or
try the first and fall back to the last (alternating).

Choices. SingleCheckpointBarrierHandler and CheckpointBarrierTracker of Flink 2.3. A channel that is blocked delivers
nothing, and a channel that has ended neither: both are refused. Channels resumed in one step are a set, shown in
ascending order; so are barriers made to overtake. Time passes only by the event that says so, and a timer that is due
fires then, even if no time passes. Barriers are marked `unaligned` only where the handler is unaligned or alternating.
"""

from typing import cast

from reference.barriers import alignment, buffering, channel_state, tracker
from reference.barriers.properties import INVARIANTS, PROPERTIES
from reference.barriers.values import (
    EVENTS,
    OBSERVATIONS,
    Advance,
    Alignment,
    Announcement,
    Barrier,
    Cancel,
    Config,
    EndOfPartition,
    Event,
    Kind,
    Mode,
    Observation,
    State,
    Tracking,
)
from reference.model import Component, InvalidInputError, Outcome, rejected

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """No checkpoint yet, every channel open, the clock at 0."""
    if config.kind is Kind.AT_LEAST_ONCE:
        return (Tracking(config),)
    return (Alignment(config, unaligned=config.kind is Kind.UNALIGNED),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    check_mode(state.config.kind, event)
    if not isinstance(event, Advance):
        if not 0 <= event.channel < state.config.channels or event.channel in state.ended:
            return rejected(state, "BARR-7")
        if isinstance(state, Alignment) and event.channel in state.blocked:
            return rejected(state, "BARR-8")
    outcome = on_tracked(state, event) if isinstance(state, Tracking) else on_aligned(state, event)
    return (cast("Outcome[State, Observation]", outcome),)


def check_mode(kind: Kind, event: Event) -> None:
    unaligned = isinstance(event, Barrier) and event.mode is Mode.UNALIGNED
    if unaligned and kind in (Kind.ALIGNED, Kind.AT_LEAST_ONCE):
        raise InvalidInputError(f"a handler of kind {kind} gets no unaligned barriers")


def on_aligned(state: Alignment, event: Event) -> Outcome[Alignment, Observation]:
    match event:
        case Barrier():
            return alignment.on_barrier(state, event)
        case Announcement():
            return alignment.on_announcement(state, event)
        case Cancel():
            return alignment.on_cancel(state, event)
        case EndOfPartition():
            return alignment.on_end_of_partition(state, event)
        case Advance():
            return alignment.on_advance(state, event)


def on_tracked(state: Tracking, event: Event) -> Outcome[Tracking, Observation]:
    match event:
        case Barrier():
            return tracker.on_barrier(state, event)
        case Cancel():
            return tracker.on_cancel(state, event)
        case EndOfPartition():
            return tracker.on_end_of_partition(state, event)
        case Announcement() | Advance():
            return Outcome(state, (), ("BARR-10",))


COMPONENT = Component(
    name="barriers",
    title="The barrier handler",
    config=Config,
    events=EVENTS,
    observations=OBSERVATIONS,
    start=start,
    step=step,
    properties=PROPERTIES,
    invariants=INVARIANTS,
    laws=(*buffering.LAWS, *channel_state.LAWS),
)
