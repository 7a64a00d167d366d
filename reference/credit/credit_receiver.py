"""The credit receiver: the channels of one gate, the buffers they have, and the credit they grant for them.

A receiver promises a buffer before data is sent, and the promise is credit. What it has promised it must keep, so a
channel counts what it has not announced yet, and announces it whenever the network thread gets to it. How buffers are
shared between the channels stands in `buffers`.

Choices. Flink 2.3: RemoteInputChannel. The sequence number that a message must carry is a matter of the gate. With the
extension `failures` the network thread cannot be told of the credit of a channel whose connection broke; once that was
tried, nothing comes on the channel any more.

On the wire. All buffers are free at the start.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.credit import buffers
from tidegate.reference.credit.buffers import BufferKind, Change, ChannelBuffers, Gate, compute_available
from tidegate.reference.elements import Amount, Buffers, Count, Counted, Index, Parts, Position, at_least, one_of
from tidegate.reference.model import Component, InvalidInputError, Order, Outcome, Rejected, Symmetry, rejected
from tidegate.reference.tuples import rearrange, sorting

FAILURES = "failures"
EXTENSIONS = (FAILURES,)

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """With the extension `failures` connections may break, and channels may be released."""

    channels: Parts = attrs.field(validator=at_least(1))
    exclusive: Annotated[Buffers, "Buffers of each channel alone."] = attrs.field(validator=at_least(0))
    floating: Annotated[Count, "Buffers that the channels share.", Counted.BUFFERS] = attrs.field(validator=at_least(1))
    extension: Annotated[
        str | None,
        "With `failures` there are events `fail` and `release`. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    config: Config
    gate: Gate


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Data:
    """A data buffer comes in. Rejected if no buffer is free or the backlog is negative."""

    type: ClassVar[str] = "data"
    channel: Index
    backlog: Annotated[
        Amount,
        "How many data buffers wait at the sender. A negative number is rejected: every message says how many "
        "(CREDIT-4).",
    ]


@attrs.frozen
class PlainEvent:
    """An event arrives that does not block; `backlog` data buffers wait at the sender. Rejected if the backlog is
    negative.
    """

    type: ClassVar[str] = "event"
    channel: Index
    backlog: Annotated[Amount, "How many data buffers wait at the sender. A negative number is rejected."]


@attrs.frozen
class Backlog:
    """The sender announces that `backlog` data buffers wait. Rejected if it is below 1."""

    type: ClassVar[str] = "backlog"
    channel: Index
    backlog: Annotated[Amount, "How many data buffers wait at the sender. Below 1 it is rejected."]


@attrs.frozen
class Recycle:
    """The consumer is done with the oldest data buffer of the channel that is still in use. Rejected if there is
    none.
    """

    type: ClassVar[str] = "recycle"
    channel: Index


@attrs.frozen
class Announce:
    """The network thread gets to build the channel's credit message."""

    type: ClassVar[str] = "announce"
    channel: Index


@attrs.frozen
class Barrier:
    """A blocking event arrives: the sender sends nothing more until it is told to resume."""

    type: ClassVar[str] = "barrier"
    channel: Index


@attrs.frozen
class Resume:
    """The channel resumes; accepted whether or not a barrier came."""

    type: ClassVar[str] = "resume"
    channel: Index


@attrs.frozen
class Fail:
    """The connection of the channel breaks: the network thread cannot be told of its credit any more. Rejected if it is
    released. With the extension `failures`.
    """

    type: ClassVar[str] = "fail"
    channel: Index


@attrs.frozen
class Release:
    """The channel is released; a second time nothing happens. With the extension `failures`."""

    type: ClassVar[str] = "release"
    channel: Index


OfFailures = Fail | Release
Event = Data | PlainEvent | Backlog | Recycle | Announce | Barrier | Resume | OfFailures

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Notify:
    """The channel gained credit that is to be announced. On `recycle` it may be another than that of the event."""

    type: ClassVar[str] = "notify"
    channel: Position


@attrs.frozen
class Credit:
    """The credit message goes out."""

    type: ClassVar[str] = "credit"
    channel: Position
    amount: Annotated[Count, "How much, all that has gathered."]


@attrs.frozen
class ResumeMessage:
    """The sender is told to resume."""

    type: ClassVar[str] = "resume"
    channel: Position


class Told(StrEnum):
    """Who learns of a failure: whoever brought the buffer, or whoever reads the channel."""

    CALLER = "caller"
    READER = "reader"


@attrs.frozen
class Failed:
    """The channel fails. Those that a reader is told of come last, by channel. With the extension `failures`."""

    type: ClassVar[str] = "failed"
    channel: Position
    told: Annotated[Told, "Who learns of it: the thread that brought the buffer, or the reader of the channel."]


Observation = Notify | Credit | ResumeMessage | Failed

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """CREDIT-1: every channel has its exclusive buffers, every floating buffer is free, nothing is wanted yet."""
    channels = (ChannelBuffers(config.exclusive),) * config.channels
    return (State(config, Gate(config.exclusive, channels, config.floating)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "CREDIT-1")
    channel = state.gate.channels[event.channel]
    if isinstance(event, OfFailures):
        if state.config.extension != FAILURES:
            raise InvalidInputError(f"{event.type} belongs to the extension {FAILURES}")
        return on_failures(state, event, channel)
    if channel.released and not isinstance(event, Recycle):
        return rejected(state, "CREDIT-16")
    if channel.failed and not isinstance(event, Recycle):
        return rejected(state, "CREDIT-33")
    match event:
        case Data() | PlainEvent() if event.backlog < 0:
            return rejected(state, "CREDIT-4")
        case Backlog() if event.backlog < 1:
            return rejected(state, "CREDIT-4")
        case Data() if compute_available(channel) == 0:
            return rejected(state, "CREDIT-2")
        case Data():
            return (shown(state, on_data(state.gate, event.channel, event.backlog), event.channel),)
        case PlainEvent():
            free_of_charge = Change(state.gate, rules=("CREDIT-3",))
            change = buffers.learn_backlog(free_of_charge, event.channel, event.backlog)
            return (shown(state, change, event.channel),)
        case Backlog():
            change = buffers.learn_backlog(Change(state.gate), event.channel, event.backlog)
            return (shown(state, change, event.channel),)
        case Barrier():
            return (shown(state, on_barrier(state.gate, event.channel), event.channel),)
        case Recycle() if not channel.held:
            return rejected(state, "CREDIT-8")
        case Recycle():
            own = event.channel if channel.held[0] is BufferKind.EXCLUSIVE else None
            return (shown(state, buffers.recycle(state.gate, event.channel), own),)
        case Announce():
            return (on_announce(state, event.channel),)
        case Resume():
            return (on_resume(state, event.channel),)


def on_data(gate: Gate, index: int, backlog: int) -> Change:
    return buffers.learn_backlog(buffers.take_buffer(gate, index), index, backlog)


def on_barrier(gate: Gate, index: int) -> Change:
    """CREDIT-14: first the channel gives up what it will not need, then it is an event with nothing behind it."""
    change = buffers.learn_backlog(buffers.block(gate, index), index, 0)
    return attrs.evolve(change, rules=("CREDIT-14", *change.rules))


def on_announce(state: State, index: int) -> Outcome[State, Observation]:
    """CREDIT-6: everything that has gathered, in one message; nothing if there is nothing."""
    channel = state.gate.channels[index]
    if channel.unannounced == 0:
        return Outcome(state, (), ("CREDIT-6",))
    gate = buffers.with_channel(state.gate, index, attrs.evolve(channel, unannounced=0))
    return Outcome(State(state.config, gate), (Credit(index, channel.unannounced),), ("CREDIT-6",))


def on_resume(state: State, index: int) -> Outcome[State, Observation]:
    """CREDIT-15: credit gathered for floating buffers is void, since the barrier made the channel return them."""
    message = (ResumeMessage(index),)
    if state.config.exclusive > 0:
        return Outcome(state, message, ("CREDIT-15",))
    gate = buffers.with_channel(state.gate, index, attrs.evolve(state.gate.channels[index], unannounced=0))
    return Outcome(State(state.config, gate), message, ("CREDIT-15",))


def on_failures(state: State, event: OfFailures, channel: ChannelBuffers) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, Release):
        if channel.released:
            return (Outcome(state, (), ("CREDIT-16",)),)
        change = buffers.release(state.gate, event.channel, in_use=len(channel.held))
        rules = ("CREDIT-33", *change.rules) if channel.failed else change.rules
        return (shown(state, attrs.evolve(change, rules=rules), None),)
    if channel.released:
        return rejected(state, "CREDIT-16")
    broken = buffers.with_channel(state.gate, event.channel, attrs.evolve(channel, broken=True))
    return (Outcome(State(state.config, broken), (), ("CREDIT-32",)),)


def shown(state: State, change: Change, caller: int | None) -> Outcome[State, Observation]:
    """Who is notified. CREDIT-32: where that fails, the one that called, or a channel that was handed a buffer."""
    gate = change.gate
    failing = [index for index in change.notified if gate.channels[index].broken]
    notified = tuple(Notify(index) for index in change.notified if index not in failing)
    called = tuple(Failed(index, Told.CALLER) for index in failing if index == caller)
    read = tuple(Failed(index, Told.READER) for index in sorted(failing) if index != caller)
    for index in failing:
        gate = buffers.with_channel(gate, index, attrs.evolve(gate.channels[index], failed=True))
    rules = ("CREDIT-32", *change.rules) if failing else change.rules
    return Outcome(State(state.config, gate), (*notified, *called, *read), rules)


# --- claims ---------------------------------------------------------------------------------------------------


@always("CREDIT-2", "CREDIT-6", "CREDIT-17")
def promises_only_what_it_has(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The free buffers that the sender knows of grow by what is announced, and shrink by one with each data buffer."""
    if isinstance(event, Release) or (isinstance(event, Barrier | Resume) and before.config.exclusive == 0):
        return True
    taken = isinstance(event, Data) and Rejected() not in outcome.observations
    announced = sum(seen.amount for seen in outcome.observations if isinstance(seen, Credit))
    expected = [compute_promised(channel) for channel in before.gate.channels]
    if 0 <= event.channel < len(expected):
        expected[event.channel] += announced - taken
    return expected == [compute_promised(channel) for channel in outcome.state.gate.channels]


def compute_promised(channel: ChannelBuffers) -> int:
    """The free buffers that the sender knows of."""
    return compute_available(channel) - channel.unannounced


@always("CREDIT-5")
def notifies_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A channel is notified, or fails, exactly when it begins to have something to announce."""
    pairs = enumerate(zip(before.gate.channels, outcome.state.gate.channels, strict=True))
    woken = [index for index, (old, new) in pairs if old.unannounced == 0 < new.unannounced]
    return sorted(seen.channel for seen in outcome.observations if isinstance(seen, Notify | Failed)) == woken


@always("CREDIT-32", "CREDIT-33")
def fails_once_and_alone(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only a channel whose connection broke fails, once; who gives a buffer to another is not told of it."""
    failed = [seen for seen in outcome.observations if isinstance(seen, Failed)]
    notified = [seen.channel for seen in outcome.observations if isinstance(seen, Notify)]
    fresh = all(
        before.gate.channels[seen.channel].broken and not before.gate.channels[seen.channel].failed for seen in failed
    )
    own = all(seen.channel == event.channel for seen in failed if seen.told is Told.CALLER)
    return fresh and own and not any(before.gate.channels[index].broken for index in notified)


@always("CREDIT-11")
def a_backlog_frees_nothing(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No message about the backlog, be it higher or lower, gives a floating buffer back."""
    return not isinstance(event, Data | PlainEvent | Backlog) or outcome.state.gate.free <= before.gate.free


@invariant("CREDIT-7", "CREDIT-8")
def no_buffer_is_lost(state: State) -> bool:
    """Floating buffers are free, with a channel or in use; exclusive ones never leave their channel."""
    channels = state.gate.channels
    floating = state.gate.free + sum(c.floating + c.held.count(BufferKind.FLOATING) for c in channels)
    exclusive = {c.exclusive + c.held.count(BufferKind.EXCLUSIVE) for c in channels if not c.released}
    none_kept = all(c.exclusive == c.floating == 0 for c in channels if c.released)
    return floating == state.config.floating and exclusive <= {state.config.exclusive} and none_kept


@invariant("CREDIT-4", "CREDIT-9", "CREDIT-10")
def who_lacks_a_buffer_waits(state: State) -> bool:
    """A channel with fewer buffers than it requires waits, no channel waits twice, and none beside a free buffer."""
    gate = state.gate
    lacking = {index for index, c in enumerate(gate.channels) if compute_available(c) < c.required and not c.released}
    in_vain = gate.free > 0 and gate.waiting
    return lacking <= set(gate.waiting) and len(set(gate.waiting)) == len(gate.waiting) and not in_vain


@sometimes("CREDIT-9")
def a_buffer_changes_hands(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A floating buffer that one channel gives back goes to another, which waited for it."""
    woken = [seen.channel for seen in outcome.observations if isinstance(seen, Notify)]
    return isinstance(event, Recycle) and any(channel != event.channel for channel in woken)


@sometimes("CREDIT-32")
def a_hand_over_fails(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A channel gives a buffer back, and another one fails."""
    failed = [seen.channel for seen in outcome.observations if isinstance(seen, Failed)]
    return isinstance(event, Recycle) and any(channel != event.channel for channel in failed)


@sometimes("CREDIT-33")
def buffers_of_a_failed_channel_go_on(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The release of a channel that has failed gives another one what it waits for."""
    notified = any(isinstance(seen, Notify) for seen in outcome.observations)
    return isinstance(event, Release) and before.gate.channels[event.channel].failed and notified


# --- symmetry -------------------------------------------------------------------------------------------------


def rearrange_channels(state: State, order: Order) -> State:
    gate = state.gate
    waiting = tuple(order.index(channel) for channel in gate.waiting)
    return State(state.config, attrs.evolve(gate, channels=rearrange(gate.channels, order), waiting=waiting))


def sort_channels(state: State) -> Order:
    """Those that wait first, as they stand in the queue."""
    gate = state.gate
    others = [index for index in range(len(gate.channels)) if index not in gate.waiting]
    ascending = sorting([attrs.astuple(gate.channels[index], recurse=False) for index in others])
    return (*gate.waiting, *rearrange(tuple(others), ascending))


SYMMETRY = Symmetry("channels", "channel", rearrange_channels, sort_channels)

COMPONENT = Component.of(__name__, buffers, title="The credit receiver")
