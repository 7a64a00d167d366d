"""What the barrier handler does: where it starts, and what each event leads to."""

from typing import cast

import attrs

from tidegate.reference.barriers import alignment, measures, tracker, values
from tidegate.reference.barriers.values import Config, Event, Kind, Mode, Observation, State
from tidegate.reference.model import InvalidInputError, Outcome, rejected

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """No checkpoint yet, every channel open, the clock at 0."""
    if config.kind is Kind.AT_LEAST_ONCE:
        return (values.Tracking(config),)
    return (values.Alignment(config, unaligned=config.kind is Kind.UNALIGNED),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    check_event(state.config, event)
    if isinstance(event, values.Processed | values.Measure):
        if isinstance(event, values.Processed):
            return (measures.on_processed(state, event),)
        return (measures.on_measure(state),)
    if isinstance(event, values.Close):
        return (on_close(state),)
    if isinstance(event, values.Advance | values.Delay):
        heard = False
    elif state.closed:
        return rejected(state, "BARR-23")
    elif not 0 <= event.channel < state.config.channels or event.channel in state.ended:
        return rejected(state, "BARR-7")
    else:
        heard = isinstance(state, values.Alignment) and event.channel in state.blocked
    is_measured = state.config.extension == values.MEASURES
    outcome: Outcome[values.Tracking, Observation] | Outcome[values.Alignment, Observation]
    if isinstance(state, values.Tracking):
        outcome = on_tracked(state, event)
        outcome = measures.track(state, event, outcome) if is_measured else outcome
    else:
        outcome = on_aligned(state, event)
        outcome = measures.measure(state, event, outcome) if is_measured else outcome
    shown = attrs.evolve(outcome, rules=(*outcome.rules, "BARR-8")) if heard else outcome
    return (cast("Outcome[State, Observation]", shown),)


def check_event(config: Config, event: Event) -> None:
    unaligned = isinstance(event, values.Barrier) and event.mode is Mode.UNALIGNED
    if unaligned and config.kind in (Kind.ALIGNED, Kind.AT_LEAST_ONCE):
        raise InvalidInputError(f"a handler of kind {config.kind} gets no unaligned barriers")
    if isinstance(event, values.Delay) and config.extension != values.LATE_TIMERS:
        raise InvalidInputError("delay belongs to the extension late_timers")
    if isinstance(event, values.Processed | values.Measure) and config.extension != values.MEASURES:
        raise InvalidInputError(f"{event.type} belongs to the extension measures")
    if isinstance(event, values.Close) and config.extension != values.CLOSING:
        raise InvalidInputError("close belongs to the extension closing")


def on_close(state: State) -> Outcome[State, Observation]:
    """BARR-23: without a word, whatever is pending."""
    if isinstance(state, values.Tracking):
        return Outcome(attrs.evolve(state, closed=True), (), ("BARR-23",))
    return Outcome(attrs.evolve(state, closed=True, timer=None), (), ("BARR-23",))


def on_aligned(state: values.Alignment, event: Event) -> Outcome[values.Alignment, Observation]:
    match event:
        case values.Barrier():
            return alignment.on_barrier(state, event)
        case values.Announcement():
            return alignment.on_announcement(state, event)
        case values.Cancel():
            return alignment.on_cancel(state, event)
        case values.EndOfPartition():
            return alignment.on_end_of_partition(state, event)
        case values.Advance():
            return alignment.on_advance(state, event)
        case values.Delay():
            return alignment.on_delay(state, event)
        case values.Processed() | values.Measure() | values.Close():
            raise AssertionError(event)


def on_tracked(state: values.Tracking, event: Event) -> Outcome[values.Tracking, Observation]:
    match event:
        case values.Barrier():
            return tracker.on_barrier(state, event)
        case values.Cancel():
            return tracker.on_cancel(state, event)
        case values.EndOfPartition():
            return tracker.on_end_of_partition(state, event)
        case values.Announcement() | values.Advance() | values.Delay() | values.Processed() | values.Measure():
            return Outcome(state, (), ("BARR-10",))
        case values.Close():
            raise AssertionError(event)
