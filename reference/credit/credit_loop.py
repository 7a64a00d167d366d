"""The closed loop: senders, the wire, one gate that receives, and a scheduler that may do anything at any time.

Each event is one choice of the scheduler: which producer writes, which message arrives, when the consumer reads, when
the network thread announces credit. The two ends are the components `credit_sender` and `credit_receiver`; the wire
keeps the messages of a channel in order. Each choice uses something up, so every run is finite. It is enough that no
run ends early: then everything written is read in the end, whatever the scheduler does.

Choices. Each channel has a producer and a connection of its own, always writable. The consumer reads a channel until
it meets a barrier, and resumes all channels when it has met the barrier on each of them.

On the wire. Each event is one choice of the scheduler; one that is not possible now is rejected. Each channel has a
producer and a connection of its own, always writable. The consumer reads a channel until it meets a barrier, and
resumes all channels when it has met one on each.
"""

from enum import StrEnum
from functools import lru_cache
from itertools import product, starmap
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.credit import backpressure
from tidegate.reference.credit import credit_receiver as receiver
from tidegate.reference.credit import credit_sender as sender
from tidegate.reference.credit.buffers import ChannelBuffers, compute_available
from tidegate.reference.credit.readers import Backlog, BufferSent, MessageKind
from tidegate.reference.elements import Buffers, Count, Counted, Index, Parts, Position, at_least
from tidegate.reference.model import Component, Order, Outcome, Rejected, Symmetry, rejected
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.values import Flush, Resume
from tidegate.reference.tuples import rearrange, replace, sorting

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """`data` buffers and `barriers` to be written on each channel; `output` buffers that each producer has."""

    channels: Parts = attrs.field(validator=at_least(1))
    exclusive: Annotated[Buffers, "Exclusive buffers of each channel, which are its first credit."] = attrs.field(
        validator=at_least(0)
    )
    floating: Annotated[Count, "Floating buffers of the gate.", Counted.BUFFERS] = attrs.field(validator=at_least(1))
    data: Annotated[Buffers, "Data buffers to be written on each channel."] = attrs.field(validator=at_least(0))
    barriers: Annotated[Buffers, "Barriers to be written on each channel."] = attrs.field(
        default=0, validator=at_least(0)
    )
    output: Annotated[Count, "Buffers that each producer has.", Counted.BUFFERS] = attrs.field(
        default=2, validator=at_least(1)
    )


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Link:
    """One channel: its sender, what is still to be written, what is on the wire both ways, what waits to be read."""

    sender: sender.State
    data: int
    barriers: int
    down: tuple[BufferSent | Backlog, ...] = ()
    up: tuple[receiver.Credit | receiver.ResumeMessage, ...] = ()
    inbox: tuple[MessageKind, ...] = ()
    aligned: bool = False


@attrs.frozen
class State:
    config: Config
    links: tuple[Link, ...]
    receiver: receiver.State


# --- events ---------------------------------------------------------------------------------------------------


class Action(StrEnum):
    """What the scheduler can let happen on a channel."""

    WRITE = "write"  # the producer writes a data buffer
    BARRIER = "barrier"  # the producer writes a barrier
    FLUSH = "flush"  # the producer's flusher comes round
    DELIVER = "deliver"  # the next message of the sender arrives
    CONSUME = "consume"  # the consumer reads the next item, and is done with it
    ANNOUNCE = "announce"  # the receiver's network thread builds the credit message
    DELIVER_CREDIT = "deliver_credit"  # the next message of the receiver arrives


@attrs.frozen
class Choice:
    """The scheduler lets this happen on a channel."""

    type: ClassVar[str] = "choice"
    channel: Index
    action: Annotated[
        Action,
        "`write`: the producer writes a data buffer. `barrier`: it writes a barrier. `flush`: its flusher comes "
        "round. `deliver`: the next message of the sender arrives. `consume`: the consumer reads the next item, and "
        "is done with it. `announce`: the network thread of the receiver builds the credit message. "
        "`deliver_credit`: the next message of the receiver arrives.",
    ]


Event = Choice

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Consumed:
    """The consumer has read an item."""

    type: ClassVar[str] = "consumed"
    channel: Position
    kind: Annotated[MessageKind, "A barrier is an event."]


@attrs.frozen
class Overrun:
    """Data has arrived for which there is no buffer. A right engine never shows it."""

    type: ClassVar[str] = "overrun"
    channel: Position


Observation = Consumed | Overrun

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """CREDIT-1: every sender knows of its receiver's exclusive buffers; nothing is written yet."""
    (one,) = sender.start(sender.Config(config.exclusive))
    (gate,) = receiver.start(receiver.Config(config.channels, config.exclusive, config.floating))
    return (State(config, (Link(one, config.data, config.barriers),) * config.channels, gate),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Choice) -> tuple[Outcome[State, Observation], ...]:
    index = event.channel
    if not 0 <= index < state.config.channels:
        return rejected(state, "CREDIT-1")
    if not is_enabled(state, event):
        return rejected(state, "CREDIT-30" if event.action is Action.WRITE else "CREDIT-20")
    link = state.links[index]
    match event.action:
        case Action.WRITE:
            return (to_sender(state, index, attrs.evolve(link, data=link.data - 1), sender.Data()),)
        case Action.BARRIER:
            return (to_sender(state, index, attrs.evolve(link, barriers=link.barriers - 1), sender.Barrier()),)
        case Action.FLUSH:
            return (to_sender(state, index, link, Flush()),)
        case Action.DELIVER:
            return (on_deliver(state, index),)
        case Action.CONSUME:
            return (on_consume(state, index),)
        case Action.ANNOUNCE:
            return (to_receiver(state, index, link, receiver.Announce(index)),)
        case Action.DELIVER_CREDIT:
            message = link.up[0]
            received = sender.Credit(message.amount) if isinstance(message, receiver.Credit) else Resume()
            return (to_sender(state, index, attrs.evolve(link, up=link.up[1:]), received),)


def on_deliver(state: State, index: int) -> Outcome[State, Observation]:
    link = state.links[index]
    message = link.down[0]
    link = attrs.evolve(link, down=link.down[1:])
    if isinstance(message, Backlog):
        return to_receiver(state, index, link, receiver.Backlog(index, message.backlog))
    link = attrs.evolve(link, inbox=(*link.inbox, message.kind))
    if message.kind is MessageKind.EVENT:
        return to_receiver(state, index, link, receiver.Barrier(index))
    return to_receiver(state, index, link, receiver.Data(index, message.backlog))


def on_consume(state: State, index: int) -> Outcome[State, Observation]:
    link = state.links[index]
    kind, *rest = link.inbox
    link = attrs.evolve(link, inbox=tuple(rest))
    seen = (Consumed(index, kind),)
    if kind is MessageKind.DATA:
        return attrs.evolve(to_receiver(state, index, link, receiver.Recycle(index)), observations=seen)
    state = with_link(state, index, attrs.evolve(link, aligned=True))
    if not all(one.aligned for one in state.links):
        return Outcome(state, seen, ("CREDIT-14",))
    for each, one in enumerate(state.links):
        state = to_receiver(state, each, attrs.evolve(one, aligned=False), receiver.Resume(each)).state
    return Outcome(state, seen, ("CREDIT-15",))


def to_sender(state: State, index: int, link: Link, event: sender.Event) -> Outcome[State, Observation]:
    """The sender takes the event, and what it sends is on the wire."""
    (outcome,) = sender.step(link.sender, event)
    messages = tuple(seen for seen in outcome.observations if not isinstance(seen, Rejected))
    link = attrs.evolve(link, sender=outcome.state, down=(*link.down, *messages))
    return Outcome(with_link(state, index, link), (), outcome.rules)


def to_receiver(state: State, index: int, link: Link, event: receiver.Event) -> Outcome[State, Observation]:
    """The receiver takes the event, and what it sends is on the wire. CREDIT-18: it never has to refuse data."""
    (outcome,) = receiver.step(state.receiver, event)
    messages = [seen for seen in outcome.observations if isinstance(seen, receiver.Credit | receiver.ResumeMessage)]
    link = attrs.evolve(link, up=(*link.up, *messages))
    seen = (Overrun(index),) if Rejected() in outcome.observations else ()
    after = with_link(State(state.config, state.links, outcome.state), index, link)
    return Outcome(after, seen, ("CREDIT-18", *outcome.rules) if isinstance(event, receiver.Data) else outcome.rules)


def with_link(state: State, index: int, link: Link) -> State:
    return State(state.config, replace(state.links, index, link), state.receiver)


# --- what the scheduler may choose ----------------------------------------------------------------------------


def enabled(state: State) -> tuple[Choice, ...]:
    """Every choice that leads on."""
    choices = starmap(Choice, product(range(state.config.channels), Action))
    return tuple(choice for choice in choices if is_enabled(state, choice))


def is_enabled(state: State, choice: Choice) -> bool:
    link = state.links[choice.channel]
    subpartition = link.sender.reader.subpartition
    match choice.action:
        case Action.WRITE:
            output, queued = state.config.output, queues.count_data(subpartition)
            return link.data > 0 and not backpressure.is_writer_blocked(output - queued, (queued,), output)
        case Action.BARRIER:
            return link.barriers > 0
        case Action.FLUSH:
            return bool(subpartition.items) and not subpartition.flush_requested
        case Action.DELIVER:
            return bool(link.down)
        case Action.CONSUME:
            return bool(link.inbox)
        case Action.ANNOUNCE:
            return state.receiver.gate.channels[choice.channel].unannounced > 0
        case Action.DELIVER_CREDIT:
            return bool(link.up)


def is_done(state: State) -> bool:
    """Everything is written, sent, delivered and read."""
    writing = any(one.data or one.barriers for one in state.links)
    return not writing and not any(one.sender.reader.subpartition.items or one.down or one.inbox for one in state.links)


def is_stuck(state: State) -> bool:
    return not is_done(state) and not enabled(state)


# --- claims ---------------------------------------------------------------------------------------------------


@always("CREDIT-18")
def data_finds_a_buffer(_before: State, _event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """A sender that sends data only against credit never meets a receiver without a buffer."""
    return not any(isinstance(seen, Overrun) for seen in outcome.observations)


@invariant("CREDIT-17")
def credit_is_conserved(state: State) -> bool:
    """The free buffers of a channel are its sender's credit, data and credit on the way, and credit unannounced."""
    sound = all(one.sender.reader.credit >= 0 for one in state.links) and receiver.no_buffer_is_lost.holds(
        state.receiver
    )
    return sound and all(map(is_covered, state.links, state.receiver.gate.channels))


def is_covered(link: Link, channel: ChannelBuffers) -> bool:
    """Without exclusive buffers, a barrier that has arrived leaves stale credit until resume has reached the sender."""
    granted = sum(message.amount for message in link.up if isinstance(message, receiver.Credit))
    in_flight = sum(isinstance(message, BufferSent) and message.kind is MessageKind.DATA for message in link.down)
    promised = link.sender.reader.credit + channel.unannounced + granted + in_flight
    barrier_arrived = link.sender.reader.subpartition.blocked and not link.down
    if barrier_arrived and link.sender.reader.initial_credit == 0:
        return compute_available(channel) <= promised
    return compute_available(channel) == promised


@invariant("CREDIT-4", "CREDIT-9", "CREDIT-14", "CREDIT-24")
def never_stuck(state: State) -> bool:
    """As long as something is to be written or read, something can happen; and no run is endless."""
    return not is_stuck(state)


@sometimes("CREDIT-21", "CREDIT-24")
def a_sender_is_out_of_credit(_before: State, _event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """A sender has no credit for what waits."""
    readers = [link.sender.reader for link in outcome.state.links]
    return any(reader.credit == 0 and bool(reader.subpartition.items) for reader in readers)


@sometimes("CREDIT-4", "CREDIT-9", "CREDIT-14", "CREDIT-24")
def a_run_comes_to_its_end(before: State, _event: Choice, outcome: Outcome[State, Observation]) -> bool:
    """All that was to be written is read, and nothing is left to do."""
    return is_done(outcome.state) and not is_done(before)


# --- symmetry -------------------------------------------------------------------------------------------------


def rearrange_channels(state: State, order: Order) -> State:
    links = tuple(address(link, number) for number, link in enumerate(rearrange(state.links, order)))
    return State(state.config, links, receiver.rearrange_channels(state.receiver, order))


def address(link: Link, channel: int) -> Link:
    """The link as that of another channel: the receiver's messages name it."""
    return attrs.evolve(link, up=tuple(attrs.evolve(message, channel=channel) for message in link.up))


def sort_channels(state: State) -> Order:
    """By whatever is known of a channel; links have no natural order, so it is that of their words."""
    gate = state.receiver.gate
    places = [gate.waiting.index(index) if index in gate.waiting else None for index in range(len(gate.channels))]
    known = zip((address(link, 0) for link in state.links), gate.channels, places, strict=True)
    return sorting([write(one) for one in known])


@lru_cache(1 << 16)
def write(known: tuple[Link, ChannelBuffers, int | None]) -> str:
    """In words, which are the same in every process; hashes are not."""
    return repr(known)


SYMMETRY = Symmetry("channels", "channel", rearrange_channels, sort_channels)

COMPONENT = Component.of(__name__, backpressure, title="The closed loop of credit")
