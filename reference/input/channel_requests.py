"""What a task asks of the channels of its gate, and what it learns of them: resume, sizes, checkpoints, measures.

Channels differ. A remote one has what it received, and tells its producer over the connection; a local one reads the
producer's own queue, and holds nothing itself; of an unknown one nobody knows yet where its producer is; and one that
is being recovered reads what a checkpoint had saved. After its release a channel may still be asked.

Choices. SingleInputGate, RemoteInputChannel, LocalInputChannel, UnknownInputChannel and RecoveredInputChannel of Flink
2.3. Channels are read one by one; in which order a gate reads them is `gate`. A barrier has as many bytes as the event
says, the end of a partition 4. Nothing has priority here.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import Count, Index, Length, Position, at_least
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.tuples import replace

# --- config ---------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    REMOTE = "remote"
    LOCAL = "local"
    UNKNOWN = "unknown"
    RECOVERING = "recovering"


READABLE = (Kind.REMOTE, Kind.LOCAL)


@attrs.frozen
class Config:
    """The channels of the gate, none of which has asked for its partition."""

    channels: Annotated[tuple[Kind, ...], "The kinds of the channels, at least one."] = attrs.field(validator=Length(1))


# --- state ----------------------------------------------------------------------------------------------------


class Item(StrEnum):
    DATA = "data"
    BARRIER = "barrier"
    END = "end"


END_BYTES = 4


@attrs.frozen
class Queued:
    item: Item
    bytes: int


@attrs.frozen
class Channel:
    """What is queued, of a local channel at its producer. `backlog` is what the producer said that it still has.

    `left` are the bytes that were queued when a remote channel was released. `over`: the end of the partition has come.
    `blocked`: a local channel has read a barrier. `gone`: the partition of a local channel was released.
    """

    kind: Kind
    queue: tuple[Queued, ...] = ()
    backlog: int = 0
    left: int = 0
    over: bool = False
    blocked: bool = False
    gone: bool = False
    released: bool = False


@attrs.frozen
class State:
    """`requested`: the channels have asked for their partitions."""

    config: Config
    channels: tuple[Channel, ...]
    requested: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class RequestPartitions:
    """All channels ask for their partitions."""

    type: ClassVar[str] = "request"


@attrs.frozen
class DataArrives:
    """A buffer comes from the producer: over the connection, with what is left there, or into its own queue."""

    type: ClassVar[str] = "data"
    channel: Index
    bytes: Annotated[Count, "How many bytes the buffer has."] = attrs.field(validator=at_least(1))
    backlog: Annotated[
        Position,
        "How many buffers the producer still has. Of a local channel only 0: otherwise observe `rejected`.",
    ] = attrs.field(default=0, validator=at_least(0))


@attrs.frozen
class BarrierArrives:
    """An aligned barrier of so many bytes comes from the producer."""

    type: ClassVar[str] = "barrier"
    channel: Index
    bytes: Annotated[int, "How many bytes the barrier has."] = attrs.field(validator=at_least(64))


@attrs.frozen
class EndArrives:
    """The end of the partition comes from the producer."""

    type: ClassVar[str] = "end"
    channel: Index


@attrs.frozen
class ReadChannel:
    """The next item of a channel is read."""

    type: ClassVar[str] = "read"
    channel: Index


@attrs.frozen
class ResumeChannel:
    """A channel that a barrier has blocked may go on."""

    type: ClassVar[str] = "resume"
    channel: Index


@attrs.frozen
class AnnounceSize:
    """The size that buffers should have is announced, to one channel or to all."""

    type: ClassVar[str] = "announce"
    size: Annotated[Count, "In bytes."] = attrs.field(validator=at_least(1))
    channel: Annotated[
        Index | None,
        "Without it the size goes to all channels. One that does not exist: observe `rejected`.",
    ] = None


@attrs.frozen
class StartCheckpoint:
    """A checkpoint is to begin in all channels."""

    type: ClassVar[str] = "checkpoint"


@attrs.frozen
class MeasureGate:
    """Somebody asks how much the gate holds."""

    type: ClassVar[str] = "measure"


@attrs.frozen
class ReleasePartition:
    """The producer of a local channel releases its partition."""

    type: ClassVar[str] = "gone"
    channel: Index


@attrs.frozen
class ReleaseChannel:
    """A channel is not needed any more."""

    type: ClassVar[str] = "release"
    channel: Index


OfOneChannel = (
    DataArrives | BarrierArrives | EndArrives | ReadChannel | ResumeChannel | ReleasePartition | ReleaseChannel
)
Event = OfOneChannel | RequestPartitions | AnnounceSize | StartCheckpoint | MeasureGate

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Woken:
    """The gate is told that a channel has something to read."""

    type: ClassVar[str] = "woken"
    channel: Index


@attrs.frozen
class Got:
    """What was read, with its bytes if it is data."""

    type: ClassVar[str] = "got"
    item: Annotated[Item, "What was read."]
    bytes: Annotated[Position | None, "Of data alone."] = None


@attrs.frozen
class Empty:
    """There is nothing to read."""

    type: ClassVar[str] = "empty"


@attrs.frozen
class Cancelled:
    """Whoever reads is to be cancelled."""

    type: ClassVar[str] = "cancelled"


@attrs.frozen
class Resumed:
    """The producer of a remote channel is told that it may go on."""

    type: ClassVar[str] = "resumed"
    channel: Index


@attrs.frozen
class SizeTold:
    """The producer of a channel is told the size."""

    type: ClassVar[str] = "size"
    channel: Index
    size: Count


@attrs.frozen
class Started:
    """The checkpoint has begun in all channels."""

    type: ClassVar[str] = "started"


@attrs.frozen
class Declined:
    """The checkpoint is declined."""

    type: ClassVar[str] = "declined"


@attrs.frozen
class Measured:
    """How many buffers and bytes are queued, and how many buffers are in use or will be."""

    type: ClassVar[str] = "measured"
    queued: Position
    bytes: Position
    in_use: Position


Observation = Woken | Got | Empty | Cancelled | Resumed | SizeTold | Started | Declined | Measured
Seen = tuple[Outcome[State, Observation], ...]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing was asked for, and nothing is queued."""
    return (State(config, tuple(map(Channel, config.channels))),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> Seen:
    number = getattr(event, "channel", None)
    if number is not None and not 0 <= number < len(state.channels):
        return rejected(state, "CHAN-1")
    match event:
        case RequestPartitions():
            return on_request(state)
        case AnnounceSize():
            return on_announce(state, event)
        case StartCheckpoint():
            declines = any(channel.kind not in READABLE for channel in state.channels)
            return (Outcome(state, (Declined() if declines else Started(),), ("CHAN-6",)),)
        case MeasureGate():
            found = dict.fromkeys(compute_measures(state, leftovers=leftovers) for leftovers in (True, False))
            return tuple(Outcome(state, (measured,), ("CHAN-7",)) for measured in found)
        case ReadChannel():
            return on_read(state, event.channel)
        case ResumeChannel():
            return on_resume(state, event.channel)
        case ReleasePartition() | ReleaseChannel():
            return on_release(state, event)
        case _:
            return on_arrival(state, event)


def on_request(state: State) -> Seen:
    if any(channel.kind is Kind.RECOVERING for channel in state.channels):
        return rejected(state, "CHAN-1")
    if state.requested:
        return (Outcome(state, (), ("CHAN-1",)),)
    woken = tuple(Woken(number) for number, channel in enumerate(state.channels) if channel.kind is Kind.LOCAL)
    return (Outcome(attrs.evolve(state, requested=True), woken, ("CHAN-1", "CHAN-2")),)


def on_arrival(state: State, event: DataArrives | BarrierArrives | EndArrives) -> Seen:
    channel = state.channels[event.channel]
    backlog = event.backlog if isinstance(event, DataArrives) else 0
    is_local = channel.kind is Kind.LOCAL
    if channel.kind not in READABLE or channel.over or (backlog if is_local else not state.requested):
        return rejected(state, "CHAN-1")
    if channel.released or channel.gone:
        return (Outcome(state, (), ("CHAN-3",)),)
    queued = make_queued(event)
    after = attrs.evolve(
        channel, queue=(*channel.queue, queued), backlog=backlog, over=channel.over or queued.item is Item.END
    )
    is_heard = not (channel.queue or channel.blocked) and state.requested
    woken = (Woken(event.channel),) if is_heard else ()
    return (Outcome(put(state, event.channel, after), woken, ("CHAN-2",)),)


def make_queued(event: DataArrives | BarrierArrives | EndArrives) -> Queued:
    if isinstance(event, EndArrives):
        return Queued(Item.END, END_BYTES)
    return Queued(Item.BARRIER if isinstance(event, BarrierArrives) else Item.DATA, event.bytes)


def on_read(state: State, number: int) -> Seen:
    channel = state.channels[number]
    if channel.kind is Kind.LOCAL and channel.released:
        return (Outcome(state, (Empty(),), ("CHAN-3",)),)
    if channel.kind not in READABLE or not state.requested:
        return rejected(state, "CHAN-1")
    if channel.released or channel.gone:
        return (Outcome(state, (Cancelled(),), ("CHAN-3",)),)
    if not channel.queue or channel.blocked:
        return (Outcome(state, (Empty(),), ("CHAN-2", "CHAN-4") if channel.blocked else ("CHAN-2",)),)
    first, *rest = channel.queue
    blocks = channel.kind is Kind.LOCAL and first.item is Item.BARRIER
    after = attrs.evolve(channel, queue=tuple(rest), blocked=blocks)
    got = Got(first.item, first.bytes if first.item is Item.DATA else None)
    return (Outcome(put(state, number, after), (got,), ("CHAN-2",)),)


def on_resume(state: State, number: int) -> Seen:
    channel = state.channels[number]
    if channel.released or channel.kind not in READABLE:
        return rejected(state, "CHAN-3" if channel.released else "CHAN-4")
    if channel.kind is Kind.REMOTE:
        if not state.requested:
            return rejected(state, "CHAN-4")
        return (Outcome(state, (Resumed(number),), ("CHAN-4",)),)
    if not channel.blocked:
        return rejected(state, "CHAN-4")
    after = put(state, number, attrs.evolve(channel, blocked=False))
    woken: tuple[Observation, ...] = (Woken(number),) if channel.queue or channel.gone else ()
    # Who wakes for a partition that is gone finds out that it is.
    silent: Seen = (Outcome(after, (), ("CHAN-4",)),) if channel.gone else ()
    return (Outcome(after, woken, ("CHAN-4",)), *silent)


def on_announce(state: State, event: AnnounceSize) -> Seen:
    numbers = range(len(state.channels)) if event.channel is None else (event.channel,)
    asked = [number for number in numbers if event.channel is not None or not state.channels[number].released]
    if any(state.channels[number].released for number in asked):
        return rejected(state, "CHAN-3")
    if not state.requested and any(state.channels[number].kind is Kind.REMOTE for number in asked):
        return rejected(state, "CHAN-5")
    told = [number for number in asked if state.channels[number].kind in READABLE and state.requested]
    return (Outcome(state, tuple(SizeTold(number, event.size) for number in told), ("CHAN-5",)),)


def on_release(state: State, event: ReleasePartition | ReleaseChannel) -> Seen:
    channel = state.channels[event.channel]
    if isinstance(event, ReleasePartition):
        if channel.kind is not Kind.LOCAL or not state.requested or channel.released:
            return rejected(state, "CHAN-3")
        return (Outcome(put(state, event.channel, attrs.evolve(channel, gone=True, queue=())), (), ("CHAN-3",)),)
    if channel.kind is Kind.UNKNOWN:
        return (Outcome(state, (), ("CHAN-3",)),)
    if channel.kind is Kind.RECOVERING or not state.requested:
        return rejected(state, "CHAN-3")
    left = channel.left + sum(one.bytes for one in channel.queue if channel.kind is Kind.REMOTE)
    released = attrs.evolve(channel, released=True, queue=(), left=left)
    return (Outcome(put(state, event.channel, released), (), ("CHAN-3",)),)


def compute_measures(state: State, *, leftovers: bool) -> Measured:
    shown = [channel for channel in state.channels if state.requested]
    queued = sum(len(channel.queue) for channel in shown)
    size = sum(one.bytes for channel in shown if channel.kind is Kind.REMOTE for one in channel.queue)
    size += sum(channel.left for channel in shown if leftovers)
    return Measured(queued, size, count_in_use(state))


def count_in_use(state: State) -> int:
    """Buffers that are queued, and those that the producers will send."""
    return sum(len(channel.queue) + channel.backlog for channel in state.channels if state.requested)


def put(state: State, number: int, channel: Channel) -> State:
    return attrs.evolve(state, channels=replace(state.channels, number, channel))


# --- claims ---------------------------------------------------------------------------------------------------


@invariant("CHAN-3")
def nothing_is_queued_after_the_end_of_a_channel(state: State) -> bool:
    """A channel that is released, or whose partition is gone, holds nothing."""
    return not any(channel.queue for channel in state.channels if channel.released or channel.gone)


@always("CHAN-2", "CHAN-4")
def who_is_woken_has_something_to_read(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The gate is only told of channels that can be read, but for the first request and what is gone."""
    woken = [seen.channel for seen in outcome.observations if isinstance(seen, Woken)]
    channels = [outcome.state.channels[number] for number in woken]
    return isinstance(event, RequestPartitions) or all((one.queue or one.gone) and not one.blocked for one in channels)


@always("CHAN-5")
def released_channels_are_told_nothing(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No size and no resumption goes to the producer of a channel that was released."""
    told = [seen.channel for seen in outcome.observations if isinstance(seen, SizeTold | Resumed)]
    return not any(before.channels[number].released for number in told)


@always("CHAN-7")
def a_buffer_that_is_read_is_one_less(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is read is not in use any more, and nothing else changes by reading."""
    if not isinstance(event, ReadChannel):
        return True
    read = sum(isinstance(seen, Got) for seen in outcome.observations)
    return count_in_use(before) - count_in_use(outcome.state) == read


@sometimes("CHAN-4")
def a_local_channel_wakes_the_gate_when_it_resumes(
    _before: State, event: Event, outcome: Outcome[State, Observation]
) -> bool:
    """Data behind a barrier waits until the channel may go on."""
    return isinstance(event, ResumeChannel) and any(isinstance(seen, Woken) for seen in outcome.observations)


@sometimes("CHAN-6")
def a_checkpoint_is_declined(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A gate may not be ready for a checkpoint."""
    return Declined() in outcome.observations


COMPONENT = Component.of(__name__, title="What is asked of channels")
