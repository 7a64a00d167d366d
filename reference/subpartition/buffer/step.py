"""What the network buffer does: where it starts, and what each event leads to."""

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.model import Outcome, rejected
from tidegate.reference.subpartition.buffer import values
from tidegate.reference.subpartition.buffer.values import Config, Event, Observation, State
from tidegate.reference.tuples import replace

Outcomes = tuple[Outcome[State, Observation], ...]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """An empty buffer, held by its builder alone."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> Outcomes:
    match event:
        case values.Append() | values.Commit() | values.Finish() | values.CloseBuilder() | values.Consume():
            return rejected(state, "SUBP-1") if state.closed else on_builder(state, event)
    if not 0 <= event.consumer < len(state.consumers):
        return rejected(state, "SUBP-1")
    consumer = state.consumers[event.consumer]
    if isinstance(event, values.Recycle):
        return on_recycle(state, event.consumer, consumer)
    if consumer.closed:
        return rejected(state, "SUBP-41")
    match event:
        case values.Copy():
            fresh = values.Consumer(consumer.position, state.finished)
            return (Outcome(attrs.evolve(state, consumers=(*state.consumers, fresh)), (), ("SUBP-40", "SUBP-1")),)
        case values.Inspect():
            known = values.Knowledge(consumer.known_finished, consumer.position < state.committed)
            return (Outcome(state, (known,), ("SUBP-2",)),)
        case values.Build():
            return on_build(state, event.consumer, consumer)
        case values.CloseConsumer():
            closed = with_consumer(state, event.consumer, attrs.evolve(consumer, closed=True))
            return (let_go(state, closed, "SUBP-41"),)


def on_builder(
    state: State, event: values.Append | values.Commit | values.Finish | values.CloseBuilder | values.Consume
) -> Outcomes:
    match event:
        case values.Append():
            return on_append(state, event.data)
        case values.Commit():
            return (Outcome(attrs.evolve(state, committed=len(state.written)), (), ("SUBP-1",)),)
        case values.Finish():
            finished = attrs.evolve(state, committed=len(state.written), finished=True)
            return (Outcome(finished, (values.Written(len(state.written)),), ("SUBP-1",)),)
        case values.CloseBuilder():
            return (let_go(state, attrs.evolve(state, closed=True), "SUBP-41"),)
    if state.consumers:
        return rejected(state, "SUBP-1")
    return (Outcome(attrs.evolve(state, consumers=(values.Consumer(0, state.finished),)), (), ("SUBP-1",)),)


def on_append(state: State, data: bytes) -> Outcomes:
    if state.finished:
        return rejected(state, "SUBP-1")
    taken = data[: state.config.capacity - len(state.written)]
    return (Outcome(attrs.evolve(state, written=state.written + taken), (values.Written(len(taken)),), ("SUBP-1",)),)


def on_build(state: State, index: int, consumer: values.Consumer) -> Outcomes:
    data = state.written[consumer.position : state.committed]
    built = values.Consumer(state.committed, state.finished, consumer.slices + 1)
    learns = state.finished and not consumer.known_finished
    rules = ("SUBP-3", "SUBP-2") if learns else ("SUBP-3",)
    return (Outcome(with_consumer(state, index, built), (values.Slice(data),), rules),)


def on_recycle(state: State, index: int, consumer: values.Consumer) -> Outcomes:
    if not consumer.slices:
        return rejected(state, "SUBP-41")
    less = with_consumer(state, index, attrs.evolve(consumer, slices=consumer.slices - 1))
    return (let_go(state, less, "SUBP-41"),)


def let_go(before: State, after: State, *rules: str) -> Outcome[State, Observation]:
    """SUBP-41: the memory is free once nobody holds it."""
    freed = is_held(before) and not is_held(after)
    return Outcome(after, (values.Recycled(),) if freed else (), rules)


def is_held(state: State) -> bool:
    return not state.closed or any(not consumer.closed or consumer.slices for consumer in state.consumers)


def with_consumer(state: State, index: int, consumer: values.Consumer) -> State:
    return attrs.evolve(state, consumers=replace(state.consumers, index, consumer))


# --- claims ---------------------------------------------------------------------------------------------------


@always("SUBP-3")
def reads_what_was_committed(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A slice continues exactly where the last one of that consumer ended."""
    slices = [seen.data for seen in outcome.observations if isinstance(seen, values.Slice)]
    if not isinstance(event, values.Build) or not slices:
        return not slices
    old, new = before.consumers[event.consumer], outcome.state.consumers[event.consumer]
    seen_before = before.written[: old.position]
    return seen_before + slices[0] == outcome.state.written[: new.position]


@always("SUBP-40")
def readers_are_independent(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No consumer moves another."""
    moved = getattr(event, "consumer", None)
    pairs = enumerate(zip(before.consumers, outcome.state.consumers, strict=False))
    return all(old == new for index, (old, new) in pairs if index != moved)


@always("SUBP-41")
def freed_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The memory is free when the last holder lets go."""
    return (values.Recycled() in outcome.observations) == (is_held(before) and not is_held(outcome.state))


@always("SUBP-1")
def append_only(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What was committed stays, and more of it is only added behind, up to the capacity."""
    after = outcome.state
    return after.written[: before.committed] == before.written[: before.committed] and (
        before.committed <= after.committed <= len(after.written) <= before.config.capacity
    )


@invariant("SUBP-2")
def believed_finished_is_finished(state: State) -> bool:
    """A consumer that takes the buffer for finished is right; the reverse need not hold."""
    return all(state.finished or not consumer.known_finished for consumer in state.consumers)


@sometimes("SUBP-2")
def finished_and_believed_open(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A consumer takes a finished buffer for an open one."""
    return outcome.state.finished and any(not consumer.known_finished for consumer in outcome.state.consumers)
