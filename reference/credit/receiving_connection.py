"""The receiving end of a connection: messages find their channels, and what channels have to say goes out in turn.

Several channels share a connection. A message that no channel takes is dropped, and its producer told to stop; what
goes wrong in one channel is told to that channel, and what goes wrong with the connection to all of them.

Choices. CreditBasedPartitionRequestClientHandler and NettyPartitionRequestClient of Flink 2.3. There are always
floating buffers left, and nothing is read: what a channel gains and holds is a small part of `credit_receiver`.
Connections are not used again.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import Counted, Index, Parts, Position, at_least, between
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.tuples import replace

#: So much of backlogs and parts, that floating buffers last.
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
    """`free` of the buffers that it `holds` are for data to come, `credit` of them are not announced yet."""

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
    """`waiting`: channels with something to say, in turn. `left`: the last channel has gone, and a new one needs a new
    connection.
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


OfChannel = (
    RequestPartition
    | DataArrives
    | DataIsNotSaved
    | BacklogArrives
    | NotFoundArrives
    | ErrorArrives
    | ReleaseChannel
    | MeasureChannel
)
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
            if state.opened:
                return rejected(state, "CONN-1")
            return (Outcome(attrs.evolve(state, opened=True), (), ("CONN-1",)),)
        case CancelRequest(channel):
            if not -1 <= channel < state.config.channels:
                return rejected(state, "CONN-1")
            return (Outcome(state, tell_to_stop(state, channel) if channel >= 0 else (), ("CONN-3",)),)
        case _ if not state.opened:
            return rejected(state, "CONN-1")
        case SetWritable(value):
            return (send_waiting(attrs.evolve(state, writable=value), ("CONN-5",)),)
        case BreakConnection(how):
            return (break_all(state, Cause.LOCAL if how is Break.ERROR else Cause.REMOTE),)
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "CONN-1")
    return step_channel(state, event)


def step_channel(state: State, event: OfChannel) -> tuple[Seen, ...]:
    number, channel = event.channel, state.channels[event.channel]
    if isinstance(event, MeasureChannel):
        measured = Measured(channel.queued, channel.required, sum(one.holds for one in state.channels))
        return (Outcome(state, (measured,), ("CONN-2", "CONN-4", "CONN-7")),)
    if isinstance(event, RequestPartition):
        if channel.requested or state.broken or state.left:
            return rejected(state, "CONN-1")
        asked = put(state, number, attrs.evolve(channel, requested=True))
        return (Outcome(asked, (Requested(number, state.config.exclusive),), ("CONN-1",)),)
    if isinstance(event, ReleaseChannel):
        return release(state, number)
    if state.broken:
        return (Outcome(state, (), ("CONN-6",)),)
    is_known = channel.requested and not channel.released
    if isinstance(event, NotFoundArrives):
        return (Outcome(state, (StateAsked(number),) if is_known else (), ("CONN-4", "CONN-3")),)
    if isinstance(event, ErrorArrives):
        return (fail(state, number, Cause.REMOTE) if is_known else Outcome(state, (), ("CONN-3",)),)
    if not is_known:
        return (Outcome(state, tell_to_stop(state, number), ("CONN-3",)),)
    if isinstance(event, BacklogArrives):
        return (gain(state, number, event.backlog),)
    return (receive(state, event),)


def tell_to_stop(state: State, number: int) -> tuple[Observation, ...]:
    """CONN-3: not without a connection."""
    return (Cancelled(number),) if state.opened and not state.broken else ()


def receive(state: State, event: DataArrives | DataIsNotSaved) -> Seen:
    """CONN-2: the memory for a message is one buffer of the channel, however many parts there are."""
    number, channel = event.channel, state.channels[event.channel]
    if not channel.free:
        return fail(state, number, Cause.OWN)
    parts = event.parts or 1 if isinstance(event, DataArrives) else 1
    required = max(channel.required - 1, 0)
    taken = attrs.evolve(channel, free=channel.free - 1, required=required, queued=channel.queued + parts)
    state = put(state, number, taken)
    return gain(state, number, event.backlog) if isinstance(event, DataArrives) else fail(state, number, Cause.OWN)


def gain(state: State, number: int, backlog: int) -> Seen:
    """CONN-2: what the channel lacks it takes from the floating buffers, and has it announced."""
    channel = state.channels[number]
    required = backlog + state.config.exclusive
    gained = max(required - channel.free, 0)
    more = attrs.evolve(
        channel,
        required=required,
        free=channel.free + gained,
        holds=channel.holds + gained,
        credit=channel.credit + gained,
    )
    state = put(state, number, more)
    rules = ("CONN-2", "CONN-5")
    if not gained or channel.credit or channel.failed:
        return Outcome(state, (), rules)
    state = attrs.evolve(state, waiting=(*state.waiting, number))
    return send_waiting(state, rules)


def send_waiting(state: State, rules: tuple[str, ...]) -> Seen:
    """CONN-5: all that waits, in turn; what a channel gained is read when its turn comes."""
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
    told = () if channel.failed else (ChannelFailed(number, cause),)
    return Outcome(put(state, number, attrs.evolve(channel, failed=True)), told, ("CONN-4",))


def release(state: State, number: int) -> tuple[Seen, ...]:
    """CONN-7: its memory goes back."""
    channel = state.channels[number]
    if not channel.requested or channel.released:
        return rejected(state, "CONN-1")
    state = put(state, number, attrs.evolve(channel, released=True, queued=0, holds=0, free=0))
    if any(one.requested and not one.released for one in state.channels):
        return (Outcome(state, tell_to_stop(state, number), ("CONN-7",)),)
    told = () if state.broken else (CloseSent(),)
    return (Outcome(attrs.evolve(state, left=True), told, ("CONN-7",)),)


def break_all(state: State, cause: Cause) -> Seen:
    """CONN-6."""
    if state.broken:
        return Outcome(state, (), ("CONN-6",))
    known = {number for number, one in enumerate(state.channels) if one.requested and not one.released}
    told = tuple(ChannelFailed(number, cause) for number in sorted(known) if not state.channels[number].failed)
    channels = tuple(attrs.evolve(one, failed=one.failed or n in known) for n, one in enumerate(state.channels))
    broken = attrs.evolve(state, channels=channels, broken=True, waiting=())
    return Outcome(broken, (*told, Closed()), ("CONN-6", "CONN-4"))


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
