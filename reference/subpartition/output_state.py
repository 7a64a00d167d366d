"""What is saved of an output: the data that a barrier overtakes in the queue of a subpartition.

A barrier that may time out waits in its place like any other. If it is read in time, nothing of the output needs to be
saved. If not, it is made to overtake, and what was queued before it is part of the checkpoint. Who saves is promised
the data when the barrier is queued, and gets it, or hears that it failed, later.

Choices. PipelinedSubpartition of Flink 2.3. Data comes in whole buffers, numbered from 0. Who is woken is SUBP-14.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.elements import Checkpoint, Long, Nothing, Position, at_least
from tidegate.reference.model import Component, Outcome, rejected

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """A subpartition with a reader. There is nothing to be said of it."""


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Data:
    number: int


@attrs.frozen
class Other:
    """An event that is no barrier."""


@attrs.frozen
class Waiting:
    """A barrier that may time out, in its place."""

    checkpoint: Long


@attrs.frozen
class State:
    """`urgent` are the checkpoints of barriers that have overtaken; `promised` is that of the promise that is open."""

    config: Config
    urgent: tuple[Long, ...] = ()
    queue: tuple[Data | Other | Waiting, ...] = ()
    written: int = 0
    promised: Long | None = None
    blocked: bool = False
    released: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class WriteData:
    """A buffer is queued."""

    type: ClassVar[str] = "data"


@attrs.frozen
class WriteEvent:
    """An event that is no barrier is queued."""

    type: ClassVar[str] = "event"


@attrs.frozen
class WriteBarrier:
    """A barrier is queued: one that overtakes at once, or one that may time out."""

    type: ClassVar[str] = "barrier"
    checkpoint: Checkpoint = attrs.field(validator=at_least(0))
    unaligned: Annotated[bool, "It overtakes at once; otherwise it may time out."]


@attrs.frozen
class TimeOut:
    """The barrier of a checkpoint has waited for too long."""

    type: ClassVar[str] = "timeout"
    checkpoint: Checkpoint = attrs.field(validator=at_least(0))


@attrs.frozen
class AbortCheckpoint:
    """A checkpoint is given up."""

    type: ClassVar[str] = "abort"
    checkpoint: Checkpoint = attrs.field(validator=at_least(0))


@attrs.frozen
class Poll:
    """The reader takes what is next."""

    type: ClassVar[str] = "poll"


@attrs.frozen
class Resume:
    """The reader goes on behind a barrier."""

    type: ClassVar[str] = "resume"


@attrs.frozen
class Release:
    """The subpartition is not needed any more."""

    type: ClassVar[str] = "release"


@attrs.frozen
class CountQueued:
    """Somebody asks how much is queued."""

    type: ClassVar[str] = "measure"


Event = WriteData | WriteEvent | WriteBarrier | TimeOut | AbortCheckpoint | Poll | Resume | Release | CountQueued

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Saved:
    """These buffers are part of the checkpoint."""

    type: ClassVar[str] = "saved"
    checkpoint: Checkpoint
    data: Annotated[tuple[Position, ...], "The numbers of the buffers, in their order."]


@attrs.frozen
class SavingFailed:
    """What was promised to be part of the checkpoint will not come."""

    type: ClassVar[str] = "saving_failed"
    checkpoint: Checkpoint


@attrs.frozen
class GotData:
    """A buffer is read."""

    type: ClassVar[str] = "data"
    number: Annotated[Position, "Buffers are numbered from 0 as they are written."]


@attrs.frozen
class GotEvent:
    """An event that is no barrier is read."""

    type: ClassVar[str] = "event"


@attrs.frozen
class GotBarrier:
    """A barrier is read."""

    type: ClassVar[str] = "barrier"
    checkpoint: Checkpoint
    unaligned: Annotated[bool, "It overtakes data."]


@attrs.frozen
class Queued:
    """How many buffers and events are queued."""

    type: ClassVar[str] = "queued"
    count: Position


Observation = Saved | SavingFailed | GotData | GotEvent | GotBarrier | Queued | Nothing
Seen = Outcome[State, Observation]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing is queued, and nothing promised."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Seen, ...]:
    match event:
        case WriteData() | WriteEvent() | WriteBarrier():
            return rejected(state, "SAVE-6") if state.released else (write(state, event),)
        case TimeOut():
            return (time_out(state, event.checkpoint),)
        case AbortCheckpoint():
            if state.promised != event.checkpoint:
                return (Outcome(state, (), ("SAVE-5",)),)
            return (Outcome(attrs.evolve(state, promised=None), (SavingFailed(event.checkpoint),), ("SAVE-5",)),)
        case Poll():
            return (poll(state),)
        case Resume():
            if not state.blocked:
                return rejected(state, "SAVE-2")
            return (Outcome(attrs.evolve(state, blocked=False), (), ("SAVE-2",)),)
        case Release():
            failed = () if state.promised is None else (SavingFailed(state.promised),)
            released = attrs.evolve(state, urgent=(), queue=(), promised=None, released=True)
            return (Outcome(released, failed, ("SAVE-6",)),)
        case CountQueued():
            return (Outcome(state, (Queued(len(state.urgent) + len(state.queue)),), ("SAVE-7",)),)


def write(state: State, event: WriteData | WriteEvent | WriteBarrier) -> Seen:
    if isinstance(event, WriteData):
        queue = (*state.queue, Data(state.written))
        return Outcome(attrs.evolve(state, queue=queue, written=state.written + 1), (), ("SAVE-1",))
    if isinstance(event, WriteEvent):
        return Outcome(attrs.evolve(state, queue=(*state.queue, Other())), (), ("SAVE-1",))
    checkpoint = event.checkpoint
    if event.unaligned:
        overtaken = numbers_of(state.queue)
        saved = (Saved(checkpoint, overtaken),) if overtaken else ()
        return Outcome(attrs.evolve(state, urgent=(*state.urgent, checkpoint)), saved, ("SAVE-1",))
    failed = () if state.promised is None else (SavingFailed(state.promised),)
    queued = attrs.evolve(state, queue=(*state.queue, Waiting(checkpoint)), promised=checkpoint)
    return Outcome(queued, failed, ("SAVE-4",) if failed else ("SAVE-2",))


def numbers_of(queue: tuple[Data | Other | Waiting, ...]) -> tuple[int, ...]:
    return tuple(one.number for one in queue if isinstance(one, Data))


def time_out(state: State, checkpoint: Long) -> Seen:
    """Only a barrier that is still queued, and still promised, has anything to overtake."""
    if state.promised != checkpoint:
        return Outcome(state, (), ("SAVE-3",))
    place = state.queue.index(Waiting(checkpoint))
    before, behind = state.queue[:place], state.queue[place + 1 :]
    after = attrs.evolve(state, urgent=(*state.urgent, checkpoint), queue=before + behind, promised=None)
    return Outcome(after, (Saved(checkpoint, numbers_of(before)),), ("SAVE-3",))


def poll(state: State) -> Seen:
    if state.urgent:
        checkpoint, *rest = state.urgent
        got = GotBarrier(checkpoint, unaligned=True)
        return Outcome(attrs.evolve(state, urgent=tuple(rest)), (got,), ("SAVE-1",))
    if state.blocked or not state.queue:
        return Outcome(state, (Nothing(),), ("SAVE-2",))
    first, *others = state.queue
    after = attrs.evolve(state, queue=tuple(others))
    if isinstance(first, Data):
        return Outcome(after, (GotData(first.number),), ("SAVE-1",))
    if isinstance(first, Other):
        return Outcome(after, (GotEvent(),), ("SAVE-1",))
    in_time = state.promised == first.checkpoint
    saved: tuple[Observation, ...] = (Saved(first.checkpoint, ()),) if in_time else ()
    after = attrs.evolve(after, blocked=True, promised=None if in_time else state.promised)
    return Outcome(after, (*saved, GotBarrier(first.checkpoint, unaligned=False)), ("SAVE-2",))


# --- claims ---------------------------------------------------------------------------------------------------


@invariant("SAVE-2", "SAVE-3")
def what_is_promised_is_queued(state: State) -> bool:
    """The barrier that a promise was made for is in its place."""
    return state.promised is None or Waiting(state.promised) in state.queue


@always("SAVE-1", "SAVE-3")
def what_is_saved_is_still_to_be_read(_before: State, _event: Event, outcome: Seen) -> bool:
    """Data that is saved is behind the barrier then, and is read after it."""
    saved = [number for seen in outcome.observations if isinstance(seen, Saved) for number in seen.data]
    return set(saved) <= set(numbers_of(outcome.state.queue))


@always("SAVE-4", "SAVE-5", "SAVE-6")
def a_promise_is_kept_or_broken_once(before: State, event: Event, outcome: Seen) -> bool:
    """A promise that ends is heard of once, and no other is."""
    ended = [
        seen.checkpoint
        for seen in outcome.observations
        if isinstance(seen, SavingFailed) or (isinstance(seen, Saved) and not isinstance(event, WriteBarrier))
    ]
    is_over = before.promised is not None and outcome.state.promised != before.promised
    same_again = isinstance(event, WriteBarrier) and not event.unaligned and before.promised is not None
    return ended == ([before.promised] if (is_over or same_again) and not before.released else [])


@sometimes("SAVE-3")
def a_barrier_overtakes_data(_before: State, event: Event, outcome: Seen) -> bool:
    """A barrier that has waited for too long overtakes data, which is saved."""
    return isinstance(event, TimeOut) and any(isinstance(seen, Saved) and seen.data for seen in outcome.observations)


@sometimes("SAVE-2")
def a_barrier_is_read_in_time(_before: State, event: Event, outcome: Seen) -> bool:
    """A barrier is read in time, and nothing is saved."""
    return isinstance(event, Poll) and any(isinstance(seen, Saved) for seen in outcome.observations)


COMPONENT = Component.of(__name__, title="What is saved of an output")
