"""What the channels of a gate does: where it starts, and what each event leads to."""

import attrs

from tidegate.reference import elements
from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.input.input_channels import values
from tidegate.reference.input.input_channels.requests import next_local_delay, next_remote_wait
from tidegate.reference.input.input_channels.values import Cause, Config, Event, Item, Location, Observation, State
from tidegate.reference.model import Outcome, rejected
from tidegate.reference.tuples import replace

Seen = tuple[Observation, ...]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing was asked for."""
    return (State(config, tuple(map(values.Channel, config.locations))),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case values.RequestPartitions():
            return on_request_partitions(state)
        case values.TaskEvent(event=number):
            return on_task_event(state, number)
        case values.Close():
            released = tuple(attrs.evolve(channel, waiting=(), scheduled=False) for channel in state.channels)
            return (Outcome(attrs.evolve(state, channels=released, closed=True), (), ("GATE-24",)),)
    if not 0 <= event.channel < len(state.channels):
        return rejected(state, "GATE-19")
    return on_channel(state, event, event.channel, state.channels[event.channel])


def on_channel(
    state: State, event: Event, index: int, channel: values.Channel
) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case values.Update(location=location):
            return on_update(state, index, location)
        case values.Register():
            registered = attrs.evolve(channel, registered=True)
            return (Outcome(with_channel(state, index, registered), (), ("GATE-22",)),)
        case values.Retry():
            if not channel.scheduled:
                return rejected(state, "GATE-22")
            asked, seen = request(state.config, index, attrs.evolve(channel, scheduled=False))
            return (Outcome(with_channel(state, index, asked), seen, ("GATE-22",)),)
        case values.NotFound():
            return on_not_found(state, index, channel)
        case values.Arrive(sequence=sequence, item=item):
            return on_arrive(state, index, sequence, item)
        case values.Fail(cause=cause):
            if state.closed or channel.location is Location.UNKNOWN:
                return rejected(state, "GATE-23")
            failed, seen = fail(index, channel, cause)
            return (Outcome(with_channel(state, index, failed), seen, ("GATE-23",)),)
    return on_read(state, index, channel)


def on_request_partitions(state: State) -> tuple[Outcome[State, Observation], ...]:
    if state.requested:
        return (Outcome(state, (), ("GATE-19",)),)
    if state.closed:
        return rejected(state, "GATE-19")
    channels, seen = request_all(state)
    unknown = any(channel.location is Location.UNKNOWN for channel in channels)
    rules = ("GATE-19", "GATE-20", "GATE-22") if unknown else ("GATE-19", "GATE-22")
    return (Outcome(attrs.evolve(state, channels=channels, requested=True), seen, rules),)


def request_all(state: State) -> tuple[tuple[values.Channel, ...], Seen]:
    """Each channel in turn, up to one whose first look is final, as it is without retries (GATE-22)."""
    channels = state.channels
    seen: Seen = ()
    for index, channel in enumerate(state.channels):
        asked, shown = request(state.config, index, channel)
        channels = replace(channels, index, asked)
        seen += shown
        if asked.location is Location.LOCAL and not (asked.connected or asked.scheduled):
            break
    return channels, seen


def on_update(state: State, index: int, location: Location) -> tuple[Outcome[State, Observation], ...]:
    channel = state.channels[index]
    if state.closed or channel.location is not Location.UNKNOWN:
        return (Outcome(state, (), ("GATE-21",)),)
    if state.pending and (not state.requested or (location is Location.LOCAL and not channel.registered)):
        return rejected(state, "GATE-20")
    channel = attrs.evolve(channel, location=location)
    asked: Seen = ()
    if state.requested:
        channel, asked = request(state.config, index, channel)
    seen = (*asked, *(values.Sent(index, number) for number in state.pending))
    state = with_channel(state, index, channel)
    if is_all_known(state):
        state = attrs.evolve(state, pending=())
    return (Outcome(state, seen, ("GATE-21", "GATE-20")),)


def request(config: Config, index: int, channel: values.Channel) -> tuple[values.Channel, Seen]:
    """GATE-19 … GATE-22: a remote channel sends its request; a local one looks, and may have to look again."""
    if channel.location is Location.UNKNOWN:
        return channel, ()
    if channel.location is Location.REMOTE:
        return attrs.evolve(channel, connected=True), (values.Request(index),)
    if channel.registered:
        return attrs.evolve(channel, connected=True), (values.Notified(index),)
    delay = next_local_delay(channel.waited, config.initial, config.maximum)
    if delay is None:
        return fail(index, channel, Cause.PARTITION_NOT_FOUND)
    return attrs.evolve(channel, waited=delay, scheduled=True), (values.RetryIn(index, delay),)


def on_not_found(state: State, index: int, channel: values.Channel) -> tuple[Outcome[State, Observation], ...]:
    asking = channel.location is Location.REMOTE and channel.connected and channel.error is None
    if not asking or state.closed:
        return rejected(state, "GATE-22")
    waited = next_remote_wait(channel.waited, state.config.timeout, state.config.maximum)
    if waited is None:
        failed, seen = fail(index, channel, Cause.PARTITION_NOT_FOUND)
        return (Outcome(with_channel(state, index, failed), seen, ("GATE-22", "GATE-23")),)
    return (
        Outcome(
            with_channel(state, index, attrs.evolve(channel, waited=waited)), (values.Request(index),), ("GATE-22",)
        ),
    )


def on_arrive(state: State, index: int, sequence: int, item: Item) -> tuple[Outcome[State, Observation], ...]:
    channel = state.channels[index]
    if not channel.connected or (state.closed and channel.location is Location.LOCAL):
        return rejected(state, "GATE-24")
    recycled: Seen = () if item is Item.EMPTY else (values.Recycled(index),)
    if channel.location is Location.LOCAL:
        longer = attrs.evolve(channel, waiting=(*channel.waiting, item))
        return (Outcome(with_channel(state, index, longer), (values.Notified(index),), ("GATE-25", "GATE-3")),)
    if state.closed and (sequence == channel.expected or item is Item.EMPTY):
        return (Outcome(state, recycled, ("GATE-24",)),)
    if sequence != channel.expected:
        failed, seen = fail(index, channel, Cause.REORDERED)
        return (Outcome(with_channel(state, index, failed), (*recycled, *seen), ("GATE-24", "GATE-23")),)
    channel = attrs.evolve(channel, expected=sequence + 1)
    if item is Item.EMPTY:
        return (Outcome(with_channel(state, index, channel), (), ("GATE-25", "GATE-24")),)
    signal: Seen = () if channel.waiting else (values.Notified(index),)
    longer = attrs.evolve(channel, waiting=(*channel.waiting, item))
    return (Outcome(with_channel(state, index, longer), signal, ("GATE-24", "GATE-3")),)


def fail(index: int, channel: values.Channel, cause: Cause) -> tuple[values.Channel, Seen]:
    """GATE-23: the first error stays, and the gate is told as if there were data."""
    if channel.error is not None:
        return channel, ()
    return attrs.evolve(channel, error=cause), (values.Notified(index),)


def on_read(state: State, index: int, channel: values.Channel) -> tuple[Outcome[State, Observation], ...]:
    if state.closed or channel.location is Location.UNKNOWN:
        return rejected(state, "GATE-20")
    if channel.error is not None:
        return (Outcome(state, (values.Failed(index, channel.error),), ("GATE-23",)),)
    if not channel.connected:
        return rejected(state, "GATE-19")
    waiting = channel.waiting
    while waiting[:1] == (Item.EMPTY,):
        waiting = waiting[1:]
    skipped = ("GATE-25",) if waiting != channel.waiting else ("GATE-24",)
    shorter = with_channel(state, index, attrs.evolve(channel, waiting=waiting[1:]))
    if not waiting:
        return (Outcome(shorter, (elements.Nothing(),), skipped),)
    return (Outcome(shorter, (values.Delivered(index, waiting[0], more=len(waiting) > 1),), skipped),)


def on_task_event(state: State, number: int) -> tuple[Outcome[State, Observation], ...]:
    known = [channel for channel in state.channels if channel.location is not Location.UNKNOWN]
    if state.closed or not all(one.connected and one.error is None for one in known):
        return rejected(state, "GATE-20")
    seen = tuple(values.Sent(index, number) for index, channel in enumerate(state.channels) if channel.connected)
    pending = state.pending if is_all_known(state) else (*state.pending, number)
    return (Outcome(attrs.evolve(state, pending=pending), seen, ("GATE-20",)),)


def is_all_known(state: State) -> bool:
    return all(channel.location is not Location.UNKNOWN for channel in state.channels)


def with_channel(state: State, index: int, channel: values.Channel) -> State:
    return attrs.evolve(state, channels=replace(state.channels, index, channel))


# --- claims ---------------------------------------------------------------------------------------------------

Transition = Outcome[State, Observation]


@always("GATE-19")
def requests_once(before: State, event: Event, outcome: Transition) -> bool:
    """A channel sends one request, unless it was not found."""
    asked = [seen.channel for seen in outcome.observations if isinstance(seen, values.Request)]
    return isinstance(event, values.NotFound) or not any(before.channels[index].connected for index in asked)


@always("GATE-21")
def known_channels_stay(before: State, _event: Event, outcome: Transition) -> bool:
    """A channel is replaced only while unknown."""
    pairs = zip(before.channels, outcome.state.channels, strict=True)
    return all(old.location in (Location.UNKNOWN, new.location) for old, new in pairs)


@always("GATE-23")
def first_error_stays(before: State, _event: Event, outcome: Transition) -> bool:
    """The first error of a channel stays."""
    pairs = zip(before.channels, outcome.state.channels, strict=True)
    return all(old.error in (None, new.error) for old, new in pairs)


@always("GATE-24", "GATE-25")
def no_gap(before: State, event: Event, outcome: Transition) -> bool:
    """Numbers go up one by one, with what arrives."""
    pairs = zip(before.channels, outcome.state.channels, strict=True)
    steps = [new.expected - old.expected for old, new in pairs]
    return not any(steps) or (isinstance(event, values.Arrive) and max(steps) == sum(steps) == 1)


@invariant("GATE-25", "GATE-20")
def nothing_of_no_length(state: State) -> bool:
    """Nothing of no length waits on a remote channel, and an unknown channel has neither asked nor received."""
    return all(
        (channel.location is Location.LOCAL or Item.EMPTY not in channel.waiting)
        and (channel.location is not Location.UNKNOWN or not (channel.connected or channel.waiting))
        for channel in state.channels
    )


@invariant("GATE-20")
def events_wait_for_the_unknown(state: State) -> bool:
    """Task events are kept only as long as a channel is unknown."""
    return not (state.pending and is_all_known(state))


@sometimes("GATE-20")
def events_reach_who_becomes_known(_before: State, event: Event, outcome: Transition) -> bool:
    """A task event that was kept is sent to a channel that becomes known."""
    return isinstance(event, values.Update) and any(isinstance(seen, values.Sent) for seen in outcome.observations)


@sometimes("GATE-24")
def a_gap_is_noticed(_before: State, _event: Event, outcome: Transition) -> bool:
    """Something was lost on the way to a remote channel."""
    return any(channel.error is Cause.REORDERED for channel in outcome.state.channels)
