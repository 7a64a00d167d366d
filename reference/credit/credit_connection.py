"""One connection that several readers share: whose turn it is to send, and what ends a reader or all of them.

Readers that have something to send stand in a queue. The first sends one item and, if it has more, goes to the end of
the queue: nobody is served twice before everybody was served once. A reader can be cancelled by its receiver or lose
its partition, and the others go on; a failure of the connection itself ends them all.

Choices. Flink 2.3: PartitionRequestQueue. A reader that was cancelled is unknown from then on, to its producer too.

On the wire. Readers that have something to send take turns, one item each. Once the connection has failed nothing
is observed any more.
"""

from enum import StrEnum
from itertools import combinations
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.credit import readers
from tidegate.reference.credit.credit_sender import Writable
from tidegate.reference.credit.readers import Added, MessageKind, Reader, ReaderChange
from tidegate.reference.elements import Count, Index, Position, at_least
from tidegate.reference.model import Component, Outcome, rejected
from tidegate.reference.tuples import replace

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """One reader for each entry; the connection is writable."""

    initial_credits: Annotated[
        tuple[Position, ...],
        "The credit that each reader starts with. The list may be empty.",
    ] = attrs.field(validator=attrs.validators.deep_iterable(at_least(0)))


# --- state ----------------------------------------------------------------------------------------------------


class Life(StrEnum):
    """What has become of a reader."""

    SERVED = "served"
    FAILED = "failed"
    CANCELLED = "cancelled"


@attrs.frozen
class State:
    """`queue`: the readers that have something to send, in the order of their turns."""

    readers: tuple[Reader, ...]
    lives: tuple[Life, ...]
    queue: tuple[int, ...] = ()
    writable: bool = True
    closed: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Add:
    """The producer adds an item to the reader's subpartition; the end of the partition finishes it."""

    type: ClassVar[str] = "add"
    reader: Annotated[
        Index,
        "The number of the reader, from 0. One that is out of range, or was cancelled, is rejected.",
    ]
    item: Annotated[
        Added,
        "`data` is a finished buffer with bytes, `empty` one without, `barrier` blocks once it is sent, and "
        "`end_of_partition` finishes the subpartition.",
    ]


@attrs.frozen
class Flush:
    """The producer of a reader flushes."""

    type: ClassVar[str] = "flush"
    reader: Index


@attrs.frozen
class Credit:
    """Credit for a reader comes in."""

    type: ClassVar[str] = "credit"
    reader: Index
    amount: Annotated[Count, "How much, at least 1."] = attrs.field(validator=at_least(1))


@attrs.frozen
class Resume:
    """The consumer of a reader goes on after a barrier. Rejected when the reader is not blocked."""

    type: ClassVar[str] = "resume"
    reader: Index


@attrs.frozen
class Cancel:
    """The receiver wants nothing more of this reader. A second time, or out of range, nothing happens."""

    type: ClassVar[str] = "cancel"
    reader: Index


@attrs.frozen
class Fail:
    """The reader's partition is released because its producer failed."""

    type: ClassVar[str] = "fail"
    reader: Index


@attrs.frozen
class Break:
    """A message cannot be written, or a handler throws: the connection fails."""

    type: ClassVar[str] = "break"


#: The events of `credit_sender`, each with the number of its reader.
ReaderEvent = Add | Flush | Credit | Resume
Event = ReaderEvent | Cancel | Fail | Writable | Break

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Send:
    """A message of a reader is sent. Barrier and end of partition are events."""

    type: ClassVar[str] = "send"
    reader: Position
    kind: Annotated[MessageKind, "An event costs no credit."]
    sequence: Annotated[Position, "The sequence number, from 0 for each reader."]
    backlog: Annotated[Position, "How many data buffers wait behind it."]


@attrs.frozen
class Backlog:
    """The backlog of a reader is announced, without a buffer."""

    type: ClassVar[str] = "backlog"
    reader: Position
    backlog: Annotated[Count, "How many data buffers wait."]


@attrs.frozen
class ReaderError:
    """One receiver is told that its producer failed."""

    type: ClassVar[str] = "reader_error"
    reader: Position


@attrs.frozen
class Closed:
    """All receivers are told that the connection failed."""

    type: ClassVar[str] = "closed"


Observation = Send | Backlog | ReaderError | Closed

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    everyone = tuple(readers.start_reader(credit) for credit in config.initial_credits)
    return (State(everyone, (Life.SERVED,) * len(everyone)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if state.closed:
        return (Outcome(state, (), ("CREDIT-29",)),)
    match event:
        case Writable():
            return (write(attrs.evolve(state, writable=event.value), ("CREDIT-22",)),)
        case Break():
            return (Outcome(attrs.evolve(state, queue=(), closed=True), (Closed(),), ("CREDIT-29",)),)
        case _ if not is_known(state, event.reader):
            return (Outcome(state, (), ("CREDIT-27",)),) if isinstance(event, Cancel) else rejected(state, "CREDIT-27")
        case Cancel():
            return (end_reader(state, event.reader, Life.CANCELLED, "CREDIT-27"),)
        case Fail():
            return (end_reader(state, event.reader, Life.FAILED, "CREDIT-29"),)
        case Add() if state.lives[event.reader] is Life.FAILED:
            return (Outcome(state, (), ("CREDIT-29",)),)
        case _:
            return on_change(state, event.reader, on_reader_event(state.readers[event.reader], event))


def on_change(state: State, index: int, change: ReaderChange) -> tuple[Outcome[State, Observation], ...]:
    if change.refused:
        return rejected(state, *change.rules)
    changed = with_reader(state, index, change.reader)
    return (on_wake_up(changed, index, change.rules) if change.woken else Outcome(changed, (), change.rules),)


def on_reader_event(reader: Reader, event: ReaderEvent) -> ReaderChange:
    match event:
        case Add():
            return readers.on_finish(reader) if event.item is Added.END else readers.on_add(reader, event.item)
        case Flush():
            return readers.on_flush(reader)
        case Credit():
            return readers.on_credit(reader, event.amount)
        case Resume():
            return readers.on_resume(reader)


def end_reader(state: State, index: int, life: Life, rule: str) -> Outcome[State, Observation]:
    """A cancelled reader leaves the queue; a failed one stays in it, so that its turn tells the receiver."""
    lives = replace(state.lives, index, life)
    queue = tuple(one for one in state.queue if one != index or life is Life.FAILED)
    ended = attrs.evolve(state.readers[index], subpartition=attrs.evolve(state.readers[index].subpartition, items=()))
    return Outcome(attrs.evolve(with_reader(state, index, ended), lives=lives, queue=queue), (), (rule,))


def on_wake_up(state: State, index: int, because: tuple[str, ...]) -> Outcome[State, Observation]:
    """CREDIT-20: a reader queues at the end, once; if the queue was empty, it starts to write."""
    reader = state.readers[index]
    if index in state.queue:
        return Outcome(state, (), ("CREDIT-20", *because))
    if readers.is_available(reader):
        return write(attrs.evolve(state, queue=(*state.queue, index)), ("CREDIT-20", *because))
    backlog = readers.compute_announcement(reader)
    announcement = (Backlog(index, backlog),) if backlog else ()
    return Outcome(state, announcement, ("CREDIT-24", *because) if backlog else ("CREDIT-19", *because))


def write(state: State, because: tuple[str, ...]) -> Outcome[State, Observation]:
    """CREDIT-21: one item a turn. CREDIT-22: a connection that is not writable leaves the queue as it is."""
    seen: list[Observation] = []
    while state.writable and state.queue:
        index, *rest = state.queue
        state = attrs.evolve(state, queue=tuple(rest))
        reader, message = readers.read(state.readers[index])
        state = with_reader(state, index, reader)
        if message is not None:
            seen.append(Send(index, message.kind, message.sequence, message.backlog))
            if readers.is_sendable(reader):
                state = attrs.evolve(state, queue=(*state.queue, index))
        elif state.lives[index] is Life.FAILED:
            seen.append(ReaderError(index))
    return Outcome(state, tuple(seen), ("CREDIT-21", *because) if state.writable else ("CREDIT-22", *because))


def is_known(state: State, index: int) -> bool:
    return 0 <= index < len(state.readers) and state.lives[index] is not Life.CANCELLED


def with_reader(state: State, index: int, reader: Reader) -> State:
    return attrs.evolve(state, readers=replace(state.readers, index, reader))


# --- claims ---------------------------------------------------------------------------------------------------


@always("CREDIT-21")
def takes_turns(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No reader sends twice while another waits for its turn.

    Whoever sends after the second of two turns of a reader has sent between them too.
    """
    turns = [seen.reader for seen in outcome.observations if isinstance(seen, Send)]
    pairs = [(i, j) for i, j in combinations(range(len(turns)), 2) if turns[i] == turns[j]]
    return all(set(turns[j + 1 :]) <= set(turns[i:j]) for i, j in pairs)


@always("CREDIT-27", "CREDIT-29")
def leaves_the_others_alone(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The end of one reader changes nothing for the others, nor the order of their turns."""
    if not isinstance(event, Cancel | Fail):
        return True
    others = [index for index in range(len(before.readers)) if index != event.reader]
    same = all(before.readers[index] == outcome.state.readers[index] for index in others)
    turns = [[index for index in state.queue if index in others] for state in (before, outcome.state)]
    return same and turns[0] == turns[1]


@invariant("CREDIT-20", "CREDIT-22")
def whoever_can_send_is_queued(state: State) -> bool:
    """A reader with something to send stands in the queue, once; while the connection is writable nobody has to."""
    served = [index for index, life in enumerate(state.lives) if life is Life.SERVED]
    sendable = {index for index in served if readers.is_sendable(state.readers[index])}
    once = len(set(state.queue)) == len(state.queue)
    return state.closed or (once and sendable <= set(state.queue) and not (state.writable and state.queue))


@sometimes("CREDIT-21")
def several_readers_take_turns(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Two readers send one after the other."""
    return len({seen.reader for seen in outcome.observations if isinstance(seen, Send)}) > 1


COMPONENT = Component.of(__name__, title="The connection that readers share")
