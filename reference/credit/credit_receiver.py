"""The credit receiver: the channels of one gate, the buffers they have, and the credit they grant for them.

A receiver promises a buffer before data is sent, and the promise is credit. What it has promised it must keep, so a
channel counts what it has not announced yet, and announces it whenever the network thread gets to it. How buffers are
shared between the channels stands in `buffers`.

Choices. Flink 2.3: RemoteInputChannel. The sequence number that a message must carry is a matter of the gate.
"""

from typing import ClassVar

import attrs

from tidegate.reference.claims import always, claims_in, invariant, sometimes
from tidegate.reference.credit import buffers
from tidegate.reference.credit.buffers import Buffer, Change, Channel, Gate, compute_available
from tidegate.reference.elements import at_least
from tidegate.reference.model import Component, Order, Outcome, Rejected, Symmetry, rejected
from tidegate.reference.tuples import rearrange, sorting

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    channels: int = attrs.field(validator=at_least(1))
    exclusive: int = attrs.field(validator=at_least(0))
    floating: int = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    config: Config
    gate: Gate


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Data:
    """A data buffer arrives; `backlog` more wait at the sender."""

    type: ClassVar[str] = "data"
    channel: int
    backlog: int


@attrs.frozen
class PlainEvent:
    """An event arrives that does not block; `backlog` data buffers wait at the sender."""

    type: ClassVar[str] = "event"
    channel: int
    backlog: int


@attrs.frozen
class Backlog:
    """The sender announces that `backlog` data buffers wait."""

    type: ClassVar[str] = "backlog"
    channel: int
    backlog: int


@attrs.frozen
class Recycle:
    """The consumer is done with the oldest data buffer of the channel that is still in use."""

    type: ClassVar[str] = "recycle"
    channel: int


@attrs.frozen
class Announce:
    """The network thread gets to build the channel's credit message."""

    type: ClassVar[str] = "announce"
    channel: int


@attrs.frozen
class Barrier:
    """A blocking event arrives: the sender sends nothing more until it is told to resume."""

    type: ClassVar[str] = "barrier"
    channel: int


@attrs.frozen
class Resume:
    """The consumer wants the channel to go on."""

    type: ClassVar[str] = "resume"
    channel: int


Event = Data | PlainEvent | Backlog | Recycle | Announce | Barrier | Resume

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Notify:
    """The network thread is told that the channel has credit to announce."""

    type: ClassVar[str] = "notify"
    channel: int


@attrs.frozen
class Credit:
    """The credit message goes out."""

    type: ClassVar[str] = "credit"
    channel: int
    amount: int


@attrs.frozen
class ResumeMessage:
    """The sender is told to resume."""

    type: ClassVar[str] = "resume"
    channel: int


Observation = Notify | Credit | ResumeMessage

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """CREDIT-1: every channel has its exclusive buffers, every floating buffer is free, nothing is wanted yet."""
    channels = (Channel(config.exclusive),) * config.channels
    return (State(config, Gate(config.exclusive, channels, config.floating)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "CREDIT-1")
    channel = state.gate.channels[event.channel]
    match event:
        case Data() | PlainEvent() if event.backlog < 0:
            return rejected(state, "CREDIT-4")
        case Backlog() if event.backlog < 1:
            return rejected(state, "CREDIT-4")
        case Data() if compute_available(channel) == 0:
            return rejected(state, "CREDIT-2")
        case Data():
            return (shown(state, on_data(state.gate, event.channel, event.backlog)),)
        case PlainEvent():
            free_of_charge = Change(state.gate, rules=("CREDIT-3",))
            return (shown(state, buffers.learn_backlog(free_of_charge, event.channel, event.backlog)),)
        case Backlog():
            return (shown(state, buffers.learn_backlog(Change(state.gate), event.channel, event.backlog)),)
        case Barrier():
            return (shown(state, on_barrier(state.gate, event.channel)),)
        case Recycle() if not channel.held:
            return rejected(state, "CREDIT-8")
        case Recycle():
            return (shown(state, buffers.recycle(state.gate, event.channel)),)
        case Announce():
            return (on_announce(state, event.channel),)
        case _:
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


def shown(state: State, change: Change) -> Outcome[State, Observation]:
    notifications = tuple(Notify(index) for index in change.notified)
    return Outcome(State(state.config, change.gate), notifications, change.rules)


# --- claims ---------------------------------------------------------------------------------------------------


@always("CREDIT-2", "CREDIT-6", "CREDIT-17")
def promises_only_what_it_has(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The free buffers that the sender knows of grow by what is announced, and shrink by one with each data buffer."""
    if isinstance(event, Barrier | Resume) and before.config.exclusive == 0:
        return True
    taken = isinstance(event, Data) and Rejected() not in outcome.observations
    announced = sum(seen.amount for seen in outcome.observations if isinstance(seen, Credit))
    expected = [compute_promised(channel) for channel in before.gate.channels]
    if 0 <= event.channel < len(expected):
        expected[event.channel] += announced - taken
    return expected == [compute_promised(channel) for channel in outcome.state.gate.channels]


def compute_promised(channel: Channel) -> int:
    """The free buffers that the sender knows of."""
    return compute_available(channel) - channel.unannounced


@always("CREDIT-5")
def notifies_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A channel is notified exactly when it begins to have something to announce."""
    pairs = enumerate(zip(before.gate.channels, outcome.state.gate.channels, strict=True))
    woken = [index for index, (old, new) in pairs if old.unannounced == 0 < new.unannounced]
    return sorted(seen.channel for seen in outcome.observations if isinstance(seen, Notify)) == woken


@always("CREDIT-11")
def a_backlog_frees_nothing(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No message about the backlog, be it higher or lower, gives a floating buffer back."""
    return not isinstance(event, Data | PlainEvent | Backlog) or outcome.state.gate.free <= before.gate.free


@invariant("CREDIT-7", "CREDIT-8")
def no_buffer_is_lost(state: State) -> bool:
    """Floating buffers are free, with a channel or in use; exclusive ones never leave their channel."""
    channels = state.gate.channels
    floating = state.gate.free + sum(c.floating + c.held.count(Buffer.FLOATING) for c in channels)
    exclusive = {c.exclusive + c.held.count(Buffer.EXCLUSIVE) for c in channels}
    return floating == state.config.floating and exclusive == {state.config.exclusive}


@invariant("CREDIT-4", "CREDIT-9", "CREDIT-10")
def who_lacks_a_buffer_waits(state: State) -> bool:
    """A channel with fewer buffers than it requires waits, no channel waits twice, and none beside a free buffer."""
    gate = state.gate
    lacking = {index for index, c in enumerate(gate.channels) if compute_available(c) < c.required}
    in_vain = gate.free > 0 and gate.waiting
    return lacking <= set(gate.waiting) and len(set(gate.waiting)) == len(gate.waiting) and not in_vain


@sometimes("CREDIT-9")
def a_buffer_changes_hands(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A floating buffer that one channel gives back goes to another, which waited for it."""
    woken = [seen.channel for seen in outcome.observations if isinstance(seen, Notify)]
    return isinstance(event, Recycle) and any(channel != event.channel for channel in woken)


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

COMPONENT = Component(
    name="credit_receiver",
    title="The credit receiver",
    config=Config,
    events=Event,
    observations=Observation,
    start=start,
    step=step,
    claims=claims_in(__name__, buffers),
    symmetry=SYMMETRY,
)
