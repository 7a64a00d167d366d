"""What the gate with priorities does: where it starts, and what each event leads to."""

from collections.abc import Iterator
from itertools import product

import attrs

from tidegate.reference.claims import always, invariant, law, sometimes
from tidegate.reference.elements import Nothing
from tidegate.reference.gate import gate
from tidegate.reference.gate.gate import Available, Finished, Poll
from tidegate.reference.gate.priority_gate import queues, values
from tidegate.reference.gate.priority_gate.values import Config, Event, Item, Observation, State
from tidegate.reference.gate.sequence_numbers import is_outdated
from tidegate.reference.model import InvalidInputError, Outcome, rejected

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing has arrived."""
    return (State(config, (values.Channel(config.first),) * config.channels),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, values.OfClosing):
        if state.config.extension != values.CLOSING:
            raise InvalidInputError(f"{event.type} belongs to the extension {values.CLOSING}")
        return (on_closing(state, event),)
    if isinstance(event, Poll):
        return (on_poll(state),)
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "GATE-1")
    match event:
        case values.Arrive(index, item):
            return on_arrive(state, index, item)
        case values.Notify(index):
            return (signalled(state, queues.enqueue(state, index), ("GATE-6", "GATE-1")),)
        case values.NotifyPriority(index, sequence):
            return (on_notify_priority(state, index, sequence),)
        case values.Force(index):
            return (signalled(state, queues.prioritise(state, index), ("GATE-12", "GATE-11")),)


def on_closing(state: State, event: values.OfClosing) -> Outcome[State, Observation]:
    if isinstance(event, values.Close):
        return Outcome(attrs.evolve(state, closed=True), (), ("GATE-28",))
    channels = range(state.config.channels)
    unfinished = tuple(index for index in channels if not queues.is_over(state, index))
    return Outcome(state, (values.Unfinished(unfinished),), ("GATE-16",))


def on_arrive(state: State, index: int, item: Item) -> tuple[Outcome[State, Observation], ...]:
    channel, subpartitions = state.channels[index], state.config.subpartitions
    if state.closed:
        return rejected(state, "GATE-28")
    if channel.ends == subpartitions:
        return rejected(state, "GATE-16")
    if item is Item.END_OF_DATA and channel.data_ends == subpartitions:
        return rejected(state, "GATE-15")
    longer = queues.receive(channel, item)
    arrived = queues.with_channel(state, index, longer)
    urgent_before, urgent_now = queues.count_urgent(channel), queues.count_urgent(longer)
    rules = ("GATE-10",) if item is Item.PRIORITY else ("GATE-14", "GATE-10") if item is Item.BARRIER else ()
    if urgent_now == 1 and urgent_before == 0:
        told = on_notify_priority(arrived, index, channel.expected)
        arrived, rules = told.state, (*rules, *told.rules)
    if not channel.waiting:
        arrived, rules = queues.enqueue(arrived, index), (*rules, "GATE-2")
    return (signalled(state, arrived, (*rules, "GATE-3", "GATE-1")),)


def on_notify_priority(state: State, index: int, sequence: int) -> Outcome[State, Observation]:
    if is_outdated(sequence, state.channels[index].polled):
        return Outcome(state, (), ("GATE-11",))
    return signalled(state, queues.prioritise(state, index), ("GATE-12", "GATE-11"))


def on_poll(state: State) -> Outcome[State, Observation]:
    """GATE-5, GATE-6: the first channel that has something which is not swallowed."""
    if queues.is_finished(state):
        return Outcome(state, (Nothing(),), ("GATE-17", "GATE-4"))
    if state.closed:
        return Outcome(state, (values.Cancelled(),), ("GATE-28",))
    skipped: tuple[str, ...] = ()
    while state.urgent or state.queue:
        index = (*state.urgent, *state.queue)[0]
        state = attrs.evolve(state, urgent=state.urgent[1:], queue=state.queue if state.urgent else state.queue[1:])
        channel = state.channels[index]
        if not channel.waiting:
            skipped = (*skipped, "GATE-6")
            continue
        taken, *rest = channel.waiting
        state = queues.put_back(queues.with_channel(state, index, attrs.evolve(channel, waiting=tuple(rest))), index)
        if queues.is_swallowed(state, index, taken.item):
            skipped = (*skipped, "GATE-18")
            continue
        return hand_out(state, index, taken, skipped)
    return Outcome(attrs.evolve(state, available=False), (Nothing(),), (*dict.fromkeys(skipped), "GATE-4", "GATE-7"))


def hand_out(state: State, index: int, taken: values.Received, skipped: tuple[str, ...]) -> Outcome[State, Observation]:
    rules: tuple[str, ...] = (*dict.fromkeys(skipped), "GATE-5")
    if taken.item in values.OVERTAKING:
        rules = ("GATE-13", *rules) if taken.item is Item.PRIORITY else ("GATE-14", "GATE-13", *rules)
        polled = attrs.evolve(state.channels[index], polled=taken.sequence)
        state = queues.with_channel(state, index, polled)
        state = attrs.evolve(state, priority_available=state.priority_available and bool(state.urgent))
    queued = bool(state.urgent or state.queue)
    seen = values.Polled(index, taken.item, more=queued, more_priority=bool(state.urgent))
    if queues.is_finished(state):
        over = attrs.evolve(state, urgent=(), queue=(), available=True)
        return Outcome(over, (attrs.evolve(seen, more=False), Finished()), ("GATE-17", "GATE-16", *rules))
    return Outcome(attrs.evolve(state, available=queued), (seen,), rules)


def signalled(before: State, after: State, rules: tuple[str, ...]) -> Outcome[State, Observation]:
    """GATE-2, GATE-12: a future is completed when its part of the queue gets its first channel."""
    if len(after.urgent) == 1 and not before.urgent:
        after = attrs.evolve(after, priority_available=True)
    after = attrs.evolve(after, available=after.available or bool(after.urgent or after.queue))
    seen: tuple[Observation, ...] = ()
    if after.priority_available and not before.priority_available:
        seen = (values.PriorityAvailable(),)
    if after.available and not before.available:
        seen = (*seen, Available())
    return Outcome(after, seen, tuple(dict.fromkeys(rules)))


# --- claims ---------------------------------------------------------------------------------------------------


@always("GATE-13", "GATE-12")
def priority_first(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An item with priority at the head of the queue is handed out before all other channels' data."""
    if not isinstance(event, Poll) or not before.urgent or before.closed:
        return True
    first = before.channels[before.urgent[0]].waiting[:1]
    polled = [seen for seen in outcome.observations if isinstance(seen, values.Polled)]
    if not first or first[0].item not in values.OVERTAKING:
        return True
    return [(seen.channel, seen.item) for seen in polled] == [(before.urgent[0], first[0].item)]


@always("GATE-6", "GATE-12")
def available_with_a_queue(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The gate is available exactly while a channel is queued, for nothing or not, and once it is finished."""
    state = outcome.state
    return state.available == (bool(state.urgent or state.queue) or queues.is_finished(state))


@always("GATE-13")
def priority_falls_with_the_last(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Priority is over when an item with priority is polled and no channel with priority is left, and only then."""
    polled = [
        seen for seen in outcome.observations if isinstance(seen, values.Polled) and seen.item in values.OVERTAKING
    ]
    if before.priority_available and not outcome.state.priority_available:
        return bool(polled) and not outcome.state.urgent
    return not polled or bool(outcome.state.urgent) or not outcome.state.priority_available


@always("GATE-18")
def only_the_last_ending(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Of the endings of a shared channel only the last of each kind is handed out.

    When an ending is handed out, as many have arrived as subpartitions share the channel, and none still waits.
    """
    for seen in outcome.observations:
        if isinstance(seen, values.Polled) and seen.item in (Item.END_OF_DATA, Item.END_OF_PARTITION):
            channel = outcome.state.channels[seen.channel]
            arrived = channel.data_ends if seen.item is Item.END_OF_DATA else channel.ends
            waits = any(one.item is seen.item for one in channel.waiting)
            return arrived == outcome.state.config.subpartitions and not waits
    return True


@always("GATE-28")
def nothing_comes_out_of_a_closed_gate(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No item is handed out after the close, and no poll is cancelled before it."""
    polled = any(isinstance(seen, values.Polled) for seen in outcome.observations)
    cancelled = values.Cancelled() in outcome.observations
    return not (polled and before.closed) and (before.closed or not cancelled)


@sometimes("GATE-28")
def closed_before_its_priority_is_polled(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A gate is closed while something with priority waits."""
    return before.priority_available and values.Cancelled() in outcome.observations


@invariant("GATE-10", "GATE-14")
def priority_stands_first(state: State) -> bool:
    """In each channel what has priority stands before what has none."""
    rows = [[one.item in values.OVERTAKING for one in channel.waiting] for channel in state.channels]
    return all(row == sorted(row, reverse=True) for row in rows)


@invariant("GATE-1", "GATE-6")
def nobody_is_missed(state: State) -> bool:
    """No channel is queued twice, and every channel that has something is queued."""
    queued = (*state.urgent, *state.queue)
    waiting = {index for index, channel in enumerate(state.channels) if channel.waiting}
    return len(set(queued)) == len(queued) and waiting <= set(queued)


@sometimes("GATE-13")
def priority_overtakes_another_channel(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """An item with priority is handed out while another channel with data waits in the queue."""
    polled = [seen for seen in outcome.observations if isinstance(seen, values.Polled)]
    waits = any(before.channels[index].waiting for index in before.queue)
    return waits and any(seen.item in values.OVERTAKING for seen in polled)


@sometimes("GATE-11")
def a_notification_comes_too_late(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A notification of priority is ignored, because that item was polled already."""
    if not isinstance(event, values.NotifyPriority) or outcome.state != before or outcome.observations:
        return False
    return is_outdated(event.sequence, before.channels[event.channel].polled)


# --- laws -----------------------------------------------------------------------------------------------------


def plain_traces() -> Iterator[tuple[gate.Event, ...]]:
    arrivals = tuple(gate.Arrive(index, item) for index in range(2) for item in gate.Item)
    yield from product((*arrivals, Poll()), repeat=4)


@law("GATE-5", "GATE-13", samples=plain_traces)
def without_priorities_the_plain_gate(*events: gate.Event) -> bool:
    """Where nothing has priority, it is the plain gate.

    Without priorities, and without notifications for nothing, it shows what the plain gate shows.
    """
    (plain,) = gate.start(gate.Config(2))
    (state,) = start(Config(2))
    for event in events:
        (expected,) = gate.step(plain, event)
        (outcome,) = step(
            state, values.Arrive(event.channel, Item(event.item.value)) if isinstance(event, gate.Arrive) else event
        )
        shown = [
            gate.Polled(one.channel, gate.Item(one.item.value), one.more) if isinstance(one, values.Polled) else one
            for one in outcome.observations
        ]
        if shown != list(expected.observations):
            return False
        plain, state = expected.state, outcome.state
    return True
