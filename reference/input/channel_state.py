"""The state of input channels: what an unaligned checkpoint saves of what waits in them.

A barrier that overtakes is handed out before the data that waits in its channel. That data, sent before the barrier
and not processed yet, becomes part of the checkpoint: what waits when the checkpoint starts, and what comes in
afterwards until the barrier does. A barrier that may time out stays in its place and is announced; it overtakes when it
is told to.

Choices. RemoteInputChannel and ChannelStatePersister of Flink 2.3. A local channel saves only what comes in; what waits
there waits in the subpartition. A gate starts its channels one after the other: when one of them refuses, those before
it have started. Sequence numbers do not overflow here.

On the wire. Everything that arrives on a channel has a sequence number, counted from 0 for each channel.
"""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import (
    Checkpoint,
    Index,
    Length,
    Long,
    Parts,
    Position,
    at_least,
    check_checkpoint,
)
from tidegate.reference.input import saving
from tidegate.reference.input.saving import NONE, Saving, Status
from tidegate.reference.model import Component, Outcome, Rejected, rejected
from tidegate.reference.tuples import replace

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """A gate with several channels."""

    channels: Parts = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    DATA = "data"
    EVENT = "event"
    BARRIER = "barrier"
    ANNOUNCEMENT = "announcement"


@attrs.frozen
class Item:
    kind: Kind
    sequence: int


@attrs.frozen
class Channel:
    """`ahead` are the items that overtake, `queue` the others; `next` is the sequence number of the next arrival."""

    ahead: tuple[Item, ...] = ()
    queue: tuple[Item, ...] = ()
    next: int = 0
    saving: Saving = attrs.field(factory=Saving)


@attrs.frozen
class State:
    config: Config
    channels: tuple[Channel, ...]


# --- events ---------------------------------------------------------------------------------------------------


class Mode(StrEnum):
    """How a barrier was sent: to stay in its place, to be announced, to overtake."""

    ALIGNED = "aligned"
    TIMEOUT = "timeout"
    UNALIGNED = "unaligned"


@attrs.frozen
class Data:
    """A data buffer arrives."""

    type: ClassVar[str] = "data"
    channel: Index


@attrs.frozen
class PlainEvent:
    """An event arrives that is no barrier."""

    type: ClassVar[str] = "event"
    channel: Index


@attrs.frozen
class Barrier:
    """A barrier arrives."""

    type: ClassVar[str] = "barrier"
    channel: Index
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)
    mode: Annotated[
        Mode,
        "How it was sent: `aligned` stays in its place, `timeout` as well but is announced, `unaligned` overtakes.",
    ]


@attrs.frozen
class Poll:
    """The next item of a channel is taken. If there is none, nothing is observed."""

    type: ClassVar[str] = "poll"
    channel: Index


@attrs.frozen
class Prioritize:
    """The barrier with this sequence number is made to overtake."""

    type: ClassVar[str] = "prioritize"
    channel: Index
    sequence: Annotated[
        int,
        "That of the barrier. Any number may be asked for; what is not the latest barrier is refused.",
    ]


@attrs.frozen
class Start:
    """The task has begun a checkpoint: the channels start to save, in ascending order."""

    type: ClassVar[str] = "start"
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)


@attrs.frozen
class Stop:
    """The checkpoint has all its barriers, or is given up: all channels stop saving."""

    type: ClassVar[str] = "stop"
    checkpoint: Checkpoint = attrs.field(validator=check_checkpoint)


Event = Data | PlainEvent | Barrier | Poll | Prioritize | Start | Stop

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Saved:
    """Data of a channel becomes part of a checkpoint. When a checkpoint starts there is one for each channel that has
    data to save, in ascending order.
    """

    type: ClassVar[str] = "saved"
    channel: Position
    checkpoint: Checkpoint
    sequences: Annotated[tuple[Position, ...], "The sequence numbers of the data, in ascending order.", Length(1)]


@attrs.frozen
class Polled:
    """What was taken. An announcement has the sequence number of its barrier."""

    type: ClassVar[str] = "polled"
    kind: Annotated[Kind, "What it is."]
    sequence: Annotated[Position, "Its sequence number; an announcement has that of its barrier."]


@attrs.frozen
class Subsumed:
    """The checkpoint fails: on this channel a newer one is known. The channels behind it are not started."""

    type: ClassVar[str] = "subsumed"
    channel: Position


Observation = Saved | Polled | Subsumed

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Every channel is empty, and no checkpoint is known."""
    return (State(config, (Channel(),) * config.channels),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, Start):
        return (on_start(state, event.checkpoint),)
    if isinstance(event, Stop):
        stopped = tuple(
            attrs.evolve(channel, saving=saving.stop_saving(channel.saving, event.checkpoint))
            for channel in state.channels
        )
        return (Outcome(attrs.evolve(state, channels=stopped), (), ("BARR-20",)),)
    if not 0 <= event.channel < state.config.channels:
        return rejected(state, "BARR-20")
    channel = state.channels[event.channel]
    match event:
        case Data():
            return (on_data(state, event.channel),)
        case PlainEvent():
            return (arrived(state, event.channel, enqueue(channel, Kind.EVENT), "BARR-14"),)
        case Barrier():
            return (on_barrier(state, event),)
        case Poll():
            return (on_poll(state, event.channel),)
        case Prioritize():
            return on_prioritize(state, event)


def on_data(state: State, index: int) -> Outcome[State, Observation]:
    """BARR-14: while the barrier is still to come, what comes in is saved."""
    channel = state.channels[index]
    after = arrived(state, index, enqueue(channel, Kind.DATA), "BARR-14")
    if channel.saving.status is not Status.PENDING:
        return after
    return attrs.evolve(after, observations=(Saved(index, channel.saving.seen, (channel.next,)),))


def on_barrier(state: State, event: Barrier) -> Outcome[State, Observation]:
    before = state.channels[event.channel]
    if event.mode is Mode.UNALIGNED:
        after = attrs.evolve(before, ahead=(*before.ahead, Item(Kind.BARRIER, before.next)), next=before.next + 1)
    else:
        after = enqueue(before, Kind.BARRIER)
        if event.mode is Mode.TIMEOUT:
            after = attrs.evolve(after, ahead=(*after.ahead, Item(Kind.ANNOUNCEMENT, before.next)))
    overtakes = "BARR-15" if event.mode is Mode.UNALIGNED else "BARR-19"
    if saving.is_obsolete(before.saving, event.checkpoint):
        return arrived(state, event.channel, after, overtakes, "BARR-20")
    known = saving.remember_cut(saving.hear_barrier(before.saving, event.checkpoint), event.checkpoint, before.next)
    return arrived(state, event.channel, attrs.evolve(after, saving=known), overtakes)


def on_poll(state: State, index: int) -> Outcome[State, Observation]:
    channel = state.channels[index]
    if channel.ahead:
        first, after = channel.ahead[0], attrs.evolve(channel, ahead=channel.ahead[1:])
    elif channel.queue:
        first, after = channel.queue[0], attrs.evolve(channel, queue=channel.queue[1:])
    else:
        return Outcome(state, (), ("BARR-15",))
    return Outcome(with_channel(state, index, after), (Polled(first.kind, first.sequence),), ("BARR-15",))


def on_prioritize(state: State, event: Prioritize) -> tuple[Outcome[State, Observation], ...]:
    channel = state.channels[event.channel]
    barrier = Item(Kind.BARRIER, event.sequence)
    is_latest = channel.saving.status is Status.RECEIVED and channel.saving.cut == event.sequence
    is_announced = Item(Kind.ANNOUNCEMENT, event.sequence) not in channel.ahead
    if not is_latest or not is_announced or barrier not in channel.queue:
        return rejected(state, "BARR-19")
    queue = tuple(item for item in channel.queue if item != barrier)
    after = attrs.evolve(channel, ahead=(*channel.ahead, barrier), queue=queue)
    return (Outcome(with_channel(state, event.channel, after), (), ("BARR-19", "BARR-15")),)


def on_start(state: State, checkpoint: Long) -> Outcome[State, Observation]:
    begun: list[Channel] = []
    seen: list[Observation] = []
    for index, channel in enumerate(state.channels):
        known = saving.find_cut(channel.saving, checkpoint)
        found = channel if known is None else attrs.evolve(channel, saving=known)
        if known is None or saving.is_subsumed(known, checkpoint):
            channels = (*begun, found, *state.channels[index + 1 :])
            return Outcome(attrs.evolve(state, channels=channels), (*seen, Subsumed(index)), ("BARR-16", "BARR-14"))
        if sequences := compute_overtaken(found):
            seen.append(Saved(index, checkpoint, sequences))
        begun.append(attrs.evolve(found, saving=saving.start_saving(known, checkpoint)))
    return Outcome(attrs.evolve(state, channels=tuple(begun)), tuple(seen), ("BARR-14",))


def compute_overtaken(channel: Channel) -> tuple[int, ...]:
    """BARR-14: the data that waits, up to the barrier if that is here."""
    data = [item.sequence for item in channel.queue if item.kind is Kind.DATA]
    return tuple(sequence for sequence in data if saving.is_before_cut(channel.saving, sequence))


def enqueue(channel: Channel, kind: Kind) -> Channel:
    return attrs.evolve(channel, queue=(*channel.queue, Item(kind, channel.next)), next=channel.next + 1)


def arrived(state: State, index: int, channel: Channel, *rules: str) -> Outcome[State, Observation]:
    return Outcome(with_channel(state, index, channel), (), rules)


def with_channel(state: State, index: int, channel: Channel) -> State:
    return attrs.evolve(state, channels=replace(state.channels, index, channel))


# --- claims ---------------------------------------------------------------------------------------------------


def all_saved(outcome: Outcome[State, Observation]) -> list[Saved]:
    return [seen for seen in outcome.observations if isinstance(seen, Saved)]


@always("BARR-14")
def saves_data_that_waits(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is saved is data that waits in its channel, in the order in which it came."""
    for saved in all_saved(outcome):
        waiting = [item.sequence for item in outcome.state.channels[saved.channel].queue if item.kind is Kind.DATA]
        if list(saved.sequences) != [sequence for sequence in waiting if sequence in saved.sequences]:
            return False
    return True


@always("BARR-14")
def nothing_behind_the_barrier(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Nothing is saved that came behind the barrier of the checkpoint, and all of the data that waits before it is."""
    if not isinstance(event, Start):
        return True
    saved = {seen.channel: set(seen.sequences) for seen in all_saved(outcome)}
    refused = next((seen.channel for seen in outcome.observations if isinstance(seen, Subsumed)), len(before.channels))
    for index, channel in enumerate(before.channels[:refused]):
        data = {item.sequence for item in channel.queue if item.kind is Kind.DATA}
        due = {one for one in data if one < channel.saving.cut} if channel.saving.barrier == event.checkpoint else data
        if saved.get(index, set()) != due:
            return False
    return not any(index >= refused for index in saved)


@always("BARR-14", "BARR-20")
def saves_while_the_barrier_is_to_come(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Data that arrives is saved exactly while a checkpoint waits for the barrier of its channel."""
    if not isinstance(event, Data) or Rejected() in outcome.observations:
        return True
    channel = before.channels[event.channel]
    is_due = channel.saving.status is Status.PENDING
    due = [Saved(event.channel, channel.saving.seen, (channel.next,))] if is_due else []
    return all_saved(outcome) == due


@always("BARR-15", "BARR-19")
def what_overtakes_is_polled_first(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A poll gives what overtakes before what waits in its place, each in its order."""
    if not isinstance(event, Poll) or Rejected() in outcome.observations:
        return True
    channel = before.channels[event.channel]
    waiting = (*channel.ahead, *channel.queue)
    return outcome.observations == tuple(Polled(one.kind, one.sequence) for one in waiting[:1])


@always("BARR-16")
def an_older_checkpoint_fails(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A checkpoint fails exactly if a channel has a barrier of a newer one."""
    newer = isinstance(event, Start) and any(
        max(one.barrier, one.seen if one.status is Status.RECEIVED else NONE) > event.checkpoint
        for one in (channel.saving for channel in before.channels)
    )
    return any(isinstance(seen, Subsumed) for seen in outcome.observations) == newer


@invariant("BARR-15")
def data_keeps_its_order(state: State) -> bool:
    """Nothing but barriers and announcements overtakes, and what stays is in the order of arrival."""
    ahead = {item.kind for channel in state.channels for item in channel.ahead}
    queues = [[item.sequence for item in channel.queue] for channel in state.channels]
    return ahead <= {Kind.BARRIER, Kind.ANNOUNCEMENT} and all(one == sorted(set(one)) for one in queues)


@sometimes("BARR-14")
def a_channel_saves_part_of_what_waits(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A checkpoint starts on a channel with its barrier, and data behind that is not saved."""
    waiting = [channel.queue[-1] for channel in outcome.state.channels if channel.queue]
    saved = {sequence for seen in all_saved(outcome) for sequence in seen.sequences}
    behind = any(item.kind is Kind.DATA and item.sequence not in saved for item in waiting)
    return isinstance(event, Start) and bool(saved) and behind


@sometimes("BARR-16")
def a_start_is_too_late(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A checkpoint starts where a newer barrier has arrived."""
    return any(isinstance(seen, Subsumed) for seen in outcome.observations)


@sometimes("BARR-19")
def an_announced_barrier_overtakes_data(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A barrier that waited behind data is made to overtake it."""
    if not isinstance(event, Prioritize) or Rejected() in outcome.observations:
        return False
    return before.channels[event.channel].queue[0].sequence < event.sequence


COMPONENT = Component.of(__name__, title="The state of input channels")
