"""The receiving end of a connection: messages find their channels, and what channels have to say goes out in turn.

Several channels share a connection. A message for which no channel waits is dropped, and its producer must stop. An
error of one channel fails that channel; an error of the connection fails all of them.

Choices. CreditBasedPartitionRequestClientHandler and NettyPartitionRequestClient of Flink 2.3. There are always
floating buffers left, and nothing is read: of the buffers that `credit_receiver` manages only their numbers are here.
Connections are not reused.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import Counted, Index, Parts, Position, at_least, between
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.tuples import replace

#: The largest backlog, and the most parts of a message: so floating buffers last.
MOST = 5

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """How many channels may share the connection, and how many buffers each has for itself."""

    channels: Annotated[Parts, "How many channels may share the connection."] = attrs.field(validator=at_least(1))
    exclusive: Annotated[int, "How many buffers each channel has for itself.", Counted.BUFFERS] = attrs.field(
        validator=between(0, MOST)
    )


# --- state ----------------------------------------------------------------------------------------------------


class Cause(StrEnum):
    """Whose fault it is: the channel's own, this end of the connection, the other end."""

    OWN = "own"
    LOCAL = "local"
    REMOTE = "remote"


class Break(StrEnum):
    """How a connection breaks: by an error here, reset or closed by the other end, or by an error that it tells."""

    ERROR = "error"
    RESET = "reset"
    CLOSED = "closed"
    FATAL = "fatal"


@attrs.frozen
class Channel:
    """It `holds` buffers: `free` of them are for data to come, and `credit` of those are not announced yet."""

    requested: bool = False
    released: bool = False
    failed: bool = False
    queued: int = 0
    holds: int = 0
    free: int = 0
    required: int = 0
    credit: int = 0


@attrs.frozen
class State:
    """`waiting`: channels with credit to announce, in turn. `left`: the last channel has been released, and a new one
    needs a new connection.
    """

    config: Config
    channels: tuple[Channel, ...]
    opened: bool = False
    writable: bool = True
    broken: bool = False
    left: bool = False
    waiting: tuple[int, ...] = ()


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class OpenConnection:
    """The connection is there."""

    type: ClassVar[str] = "open"


@attrs.frozen
class RequestPartition:
    """A channel asks for its partition."""

    type: ClassVar[str] = "request"
    channel: Index


@attrs.frozen
class DataArrives:
    """A message with data. With `parts` it has so many buffers in one; 0 is a plain buffer."""

    type: ClassVar[str] = "data"
    channel: Index
    parts: Annotated[int, "How many buffers the message has in one; 0 is a plain buffer."] = attrs.field(
        validator=between(0, MOST)
    )
    backlog: Annotated[int, "The backlog that it tells."] = attrs.field(validator=between(0, MOST))


@attrs.frozen
class DataIsNotSaved:
    """A plain buffer of which a checkpoint has to save a copy, which fails."""

    type: ClassVar[str] = "unsaved"
    channel: Index


@attrs.frozen
class BacklogArrives:
    """A message that announces a backlog."""

    type: ClassVar[str] = "backlog"
    channel: Index
    backlog: Annotated[int, "The backlog."] = attrs.field(validator=between(1, MOST))


@attrs.frozen
class NotFoundArrives:
    """A message that there is no such partition."""

    type: ClassVar[str] = "not_found"
    channel: Index


@attrs.frozen
class ErrorArrives:
    """A message that something went wrong with the partition of a channel."""

    type: ClassVar[str] = "error"
    channel: Index


@attrs.frozen
class CancelRequest:
    """Somebody has the request of a channel cancelled; -1 is no channel."""

    type: ClassVar[str] = "cancel"
    channel: Annotated[Index, "The number of a channel; -1 is no channel. One that does not exist: observe `rejected`."]


@attrs.frozen
class ReleaseChannel:
    """A channel is not needed any more."""

    type: ClassVar[str] = "release"
    channel: Index


@attrs.frozen
class SetWritable:
    """Whether the connection takes more to send."""

    type: ClassVar[str] = "writable"
    value: Annotated[bool, "Whether it does."]


@attrs.frozen
class BreakConnection:
    """The connection breaks."""

    type: ClassVar[str] = "break"
    how: Annotated[Break, "By an error here, reset or closed by the other end, or by an error that it tells."]


@attrs.frozen
class MeasureChannel:
    """Somebody asks what a channel has, and what memory all of them hold."""

    type: ClassVar[str] = "measure"
    channel: Index


Message = DataArrives | DataIsNotSaved | BacklogArrives | NotFoundArrives | ErrorArrives
OfChannel = RequestPartition | Message | ReleaseChannel | MeasureChannel
Event = OpenConnection | CancelRequest | SetWritable | BreakConnection | OfChannel

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Requested:
    """A request goes out, with the credit that the channel has at first."""

    type: ClassVar[str] = "requested"
    channel: Position
    credit: Annotated[Position, "The credit that the channel has at first."]


@attrs.frozen
class CreditSent:
    """Credit is announced to the producer."""

    type: ClassVar[str] = "credit"
    channel: Position
    amount: Annotated[Position, "How much."]


@attrs.frozen
class Cancelled:
    """The producer of a channel is told to stop."""

    type: ClassVar[str] = "cancelled"
    channel: Position


@attrs.frozen
class StateAsked:
    """The gate asks what has become of the producer."""

    type: ClassVar[str] = "state_asked"
    channel: Position


@attrs.frozen
class ChannelFailed:
    """A channel meets its first error. Several in one step are a set, shown in ascending order."""

    type: ClassVar[str] = "failed"
    channel: Position
    cause: Annotated[Cause, "The channel's own, of this end of the connection, of the other end."]


@attrs.frozen
class CloseSent:
    """The other end is told that nobody is left here."""

    type: ClassVar[str] = "close_sent"


@attrs.frozen
class Closed:
    """The connection is closed from this end."""

    type: ClassVar[str] = "closed"


@attrs.frozen
class Measured:
    """Buffers of a channel that wait to be read, buffers that it requires, and memory that all channels hold."""

    type: ClassVar[str] = "measured"
    queued: Annotated[Position, "Buffers that wait to be read."]
    required: Annotated[Position, "Buffers that it requires."]
    held: Annotated[Position, "Memory that all channels hold, in buffers."]


Observation = Requested | CreditSent | Cancelled | StateAsked | ChannelFailed | CloseSent | Closed | Measured
Seen = Outcome[State, Observation]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """The connection is not there yet. Channels have their own buffers."""
    channel = Channel(holds=config.exclusive, free=config.exclusive)
    return (State(config, (channel,) * config.channels),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Seen, ...]:
    match event:
        case OpenConnection():
            return on_open(state)
        case CancelRequest(channel):
            return on_cancel(state, channel)
        case _ if not state.opened:
            return rejected(state, "CONN-1")
        case SetWritable(value):
            return (send_waiting(attrs.evolve(state, writable=value), ("CONN-5",)),)
        case BreakConnection(how):
            return (on_break(state, Cause.LOCAL if how is Break.ERROR else Cause.REMOTE),)
        case _ if not 0 <= event.channel < state.config.channels:
            return rejected(state, "CONN-1")
        case RequestPartition(channel):
            return on_request(state, channel)
        case ReleaseChannel(channel):
            return on_release(state, channel)
        case MeasureChannel(channel):
            return (on_measure(state, channel),)
        case _:
            return (on_message(state, event),)


def on_open(state: State) -> tuple[Seen, ...]:
    if state.opened:
        return rejected(state, "CONN-1")
    return (Outcome(attrs.evolve(state, opened=True), (), ("CONN-1",)),)


def on_cancel(state: State, number: int) -> tuple[Seen, ...]:
    if not -1 <= number < state.config.channels:
        return rejected(state, "CONN-1")
    return (Outcome(state, tell_to_stop(state, number) if number >= 0 else (), ("CONN-3",)),)


def on_request(state: State, number: int) -> tuple[Seen, ...]:
    channel = state.channels[number]
    if channel.requested or state.broken or state.left:
        return rejected(state, "CONN-1")
    requested = put(state, number, attrs.evolve(channel, requested=True))
    return (Outcome(requested, (Requested(number, state.config.exclusive),), ("CONN-1",)),)


def on_measure(state: State, number: int) -> Seen:
    channel = state.channels[number]
    memory = sum(one.holds for one in state.channels)
    return Outcome(state, (Measured(channel.queued, channel.required, memory),), ("CONN-2", "CONN-4", "CONN-7"))


# --- messages of the other end --------------------------------------------------------------------------------


def on_message(state: State, message: Message) -> Seen:
    number = message.channel
    if state.broken:
        return Outcome(state, (), ("CONN-6",))
    if not is_served(state.channels[number]):
        return drop(state, message)
    match message:
        case NotFoundArrives():
            return Outcome(state, (StateAsked(number),), ("CONN-4", "CONN-3"))
        case ErrorArrives():
            return fail(state, number, Cause.REMOTE)
        case BacklogArrives(_, backlog):
            return gain(state, number, backlog)
        case DataArrives() | DataIsNotSaved():
            return receive(state, message)


def is_served(channel: Channel) -> bool:
    """The channel has asked for its partition, and still needs it."""
    return channel.requested and not channel.released


def drop(state: State, message: Message) -> Seen:
    """CONN-3: nobody waits for the message. The producer must stop, unless it has stopped already."""
    match message:
        case NotFoundArrives():
            return Outcome(state, (), ("CONN-4", "CONN-3"))
        case ErrorArrives():
            return Outcome(state, (), ("CONN-3",))
        case _:
            return Outcome(state, tell_to_stop(state, message.channel), ("CONN-3",))


def tell_to_stop(state: State, number: int) -> tuple[Observation, ...]:
    """CONN-3: the producer of a channel; without a connection nothing can be sent."""
    return (Cancelled(number),) if state.opened and not state.broken else ()


def receive(state: State, event: DataArrives | DataIsNotSaved) -> Seen:
    """CONN-2: a message takes one buffer of the channel, however many parts it has."""
    number, channel = event.channel, state.channels[event.channel]
    if not channel.free:
        return fail(state, number, Cause.OWN)
    required = max(channel.required - 1, 0)
    taken = attrs.evolve(channel, free=channel.free - 1, required=required)
    match event:
        case DataArrives(_, parts, backlog):
            return gain(put(state, number, queue(taken, parts or 1)), number, backlog)
        case DataIsNotSaved():
            return fail(put(state, number, queue(taken, 1)), number, Cause.OWN)


def queue(channel: Channel, buffers: int) -> Channel:
    return attrs.evolve(channel, queued=channel.queued + buffers)


def gain(state: State, number: int, backlog: int) -> Seen:
    """CONN-2: the channel takes the buffers that it lacks from the floating ones, and announces them as credit."""
    channel = state.channels[number]
    required = backlog + state.config.exclusive
    gained = max(required - channel.free, 0)
    richer = attrs.evolve(
        channel,
        required=required,
        free=channel.free + gained,
        holds=channel.holds + gained,
        credit=channel.credit + gained,
    )
    state = put(state, number, richer)
    rules = ("CONN-2", "CONN-5")
    waits_already = channel.credit > 0
    if not gained or waits_already or channel.failed:
        return Outcome(state, (), rules)
    return send_waiting(attrs.evolve(state, waiting=(*state.waiting, number)), rules)


def send_waiting(state: State, rules: tuple[str, ...]) -> Seen:
    """CONN-5: all waiting channels announce their credit, in turn: as much as each has when its turn comes."""
    if not state.writable or state.broken:
        return Outcome(state, (), rules)
    sent: list[Observation] = []
    for number in state.waiting:
        channel = state.channels[number]
        if not channel.released:
            sent.append(CreditSent(number, channel.credit))
            state = put(state, number, attrs.evolve(channel, credit=0))
    return Outcome(attrs.evolve(state, waiting=()), tuple(sent), rules)


def fail(state: State, number: int, cause: Cause) -> Seen:
    """CONN-4: the first error stays."""
    channel = state.channels[number]
    failure = () if channel.failed else (ChannelFailed(number, cause),)
    return Outcome(put(state, number, attrs.evolve(channel, failed=True)), failure, ("CONN-4",))


def on_release(state: State, number: int) -> tuple[Seen, ...]:
    """CONN-7: the channel returns its memory. Its producer must stop; behind the last channel the connection closes."""
    channel = state.channels[number]
    if not is_served(channel):
        return rejected(state, "CONN-1")
    state = put(state, number, attrs.evolve(channel, released=True, queued=0, holds=0, free=0))
    if any(map(is_served, state.channels)):
        return (Outcome(state, tell_to_stop(state, number), ("CONN-7",)),)
    message = () if state.broken else (CloseSent(),)
    return (Outcome(attrs.evolve(state, left=True), message, ("CONN-7",)),)


def on_break(state: State, cause: Cause) -> Seen:
    """CONN-6: every channel that is served fails, unless it has failed before."""
    if state.broken:
        return Outcome(state, (), ("CONN-6",))
    served = {number for number, one in enumerate(state.channels) if is_served(one)}
    failing = tuple(ChannelFailed(number, cause) for number in sorted(served) if not state.channels[number].failed)
    channels = tuple(attrs.evolve(one, failed=one.failed or n in served) for n, one in enumerate(state.channels))
    broken = attrs.evolve(state, channels=channels, broken=True, waiting=())
    return Outcome(broken, (*failing, Closed()), ("CONN-6", "CONN-4"))


def put(state: State, number: int, channel: Channel) -> State:
    return attrs.evolve(state, channels=replace(state.channels, number, channel))


# --- claims ---------------------------------------------------------------------------------------------------


@invariant("CONN-5")
def nobody_waits_in_vain(state: State) -> bool:
    """While the connection takes more, nothing waits; who waits has something to say, or is gone."""
    waits = all(state.channels[number].credit or state.channels[number].released for number in state.waiting)
    return waits and len(set(state.waiting)) == len(state.waiting) and not (state.waiting and state.writable)


@invariant("CONN-2")
def memory_adds_up(state: State) -> bool:
    """What is free is held, and a channel that is not released has as much as it requires."""
    there = (one for one in state.channels if not one.released)
    return all(one.free <= one.holds for one in state.channels) and all(one.required <= one.free for one in there)


@always("CONN-4")
def one_channel_fails_alone(before: State, event: Event, outcome: Seen) -> bool:
    """What comes for a channel changes nothing of others."""
    if isinstance(event, BreakConnection | SetWritable | OpenConnection):
        return True
    pairs = enumerate(zip(before.channels, outcome.state.channels, strict=True))
    return all(number == event.channel or one == other for number, (one, other) in pairs)


@sometimes("CONN-4")
def a_buffer_that_was_not_saved_stays(_before: State, event: Event, outcome: Seen) -> bool:
    """The channel fails, and what came is still there to be given back once."""
    return isinstance(event, DataIsNotSaved) and outcome.state.channels[event.channel].queued > 0


COMPONENT = Component.of(__name__, title="The receiving end of a connection")
