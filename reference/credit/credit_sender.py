"""The credit sender: one reader over one pipelined subpartition, on a connection of its own.

Data is sent only against credit, one credit per buffer; events are free. Every message carries the backlog, so that the
receiver can find buffers in time. A reader that starts without credit could never send that first message, so it
announces its backlog. A barrier, once sent, blocks everything behind it until the receiver has aligned and resumes.

Choices. Flink 2.3: PartitionRequestQueue and CreditBasedSequenceNumberingViewReader over a PipelinedSubpartition.
`subpartition/queue.py` has the queue, `readers.py` what each event does to a reader.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.credit import readers
from tidegate.reference.credit.readers import QUEUED, Added, Backlog, BufferSent, MessageKind, Reader, ReaderChange
from tidegate.reference.elements import Amount, Position, at_least
from tidegate.reference.model import Component, Outcome, Rejected, rejected
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.values import Finish, Flush, Resume

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """The credit that the reader starts with."""

    initial_credit: Annotated[Position, "The exclusive buffers of the receiver."] = attrs.field(validator=at_least(0))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`queued`: the reader has something to send and waits for its turn."""

    reader: Reader
    queued: bool = False
    writable: bool = True


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Data:
    """The producer adds a data buffer, non-empty and finished."""

    type: ClassVar[str] = "data"


@attrs.frozen
class PlainEvent:
    """The producer adds an event that neither blocks nor has priority."""

    type: ClassVar[str] = "event"


@attrs.frozen
class Barrier:
    """The producer adds an aligned barrier, which blocks once it is sent."""

    type: ClassVar[str] = "barrier"


@attrs.frozen
class Credit:
    """Credit comes in. An amount below 1 is rejected."""

    type: ClassVar[str] = "credit"
    amount: Annotated[Amount, "How much. Below 1 it is rejected."]


@attrs.frozen
class Writable:
    """The connection starts or stops taking messages."""

    type: ClassVar[str] = "writable"
    value: Annotated[bool, "Whether the connection takes messages now."]


ReaderEvent = Data | PlainEvent | Barrier | Flush | Credit | Resume | Finish
Event = Data | PlainEvent | Barrier | Flush | Credit | Resume | Writable | Finish

#: What the producer's events add to the subpartition.
ADDED: dict[type, Added] = {Data: Added.DATA, PlainEvent: Added.EVENT, Barrier: Added.BARRIER, Finish: Added.END}

# --- observations ---------------------------------------------------------------------------------------------

Observation = BufferSent | Backlog

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """CREDIT-1: the credit is the initial one. Nothing is queued, the connection is writable."""
    return (State(readers.start_reader(config.initial_credit)),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    match event:
        case Writable(value):
            return (on_writable(state, value=value),)
        case _:
            return on_change(state, on_reader_event(state.reader, event))


def on_change(state: State, change: ReaderChange) -> tuple[Outcome[State, Observation], ...]:
    if change.refused:
        return rejected(state, *change.rules)
    changed = attrs.evolve(state, reader=change.reader)
    if not change.woken:
        return (Outcome(changed, (), change.rules),)
    return (on_wake_up(changed, change.rules),)


def on_reader_event(reader: Reader, event: ReaderEvent) -> ReaderChange:
    match event:
        case Data() | PlainEvent() | Barrier():
            return readers.on_add(reader, ADDED[type(event)])
        case Flush():
            return readers.on_flush(reader)
        case Finish():
            return readers.on_finish(reader)
        case Credit():
            return readers.on_credit(reader, event.amount)
        case Resume():
            return readers.on_resume(reader)


def on_writable(state: State, *, value: bool) -> Outcome[State, Observation]:
    """CREDIT-22: whatever had to wait is sent as soon as the connection is writable."""
    changed = attrs.evolve(state, writable=value)
    if not value or not state.queued:
        return Outcome(changed, (), ("CREDIT-22",))
    return write(changed, ("CREDIT-22",))


def on_wake_up(state: State, because: tuple[str, ...]) -> Outcome[State, Observation]:
    """CREDIT-20: queue the reader if it has something to send, and start to write."""
    if state.queued:
        return Outcome(state, (), ("CREDIT-20", "CREDIT-22", *because))
    if readers.is_available(state.reader):
        return write(attrs.evolve(state, queued=True), ("SUBP-12", *because))
    backlog = readers.compute_announcement(state.reader)
    if backlog:
        return Outcome(state, (Backlog(backlog),), ("CREDIT-24", "SUBP-11", *because))
    if queues.compute_backlog(state.reader.subpartition):
        return Outcome(state, (), ("CREDIT-25", "CREDIT-19", *because))
    return Outcome(state, (), ("CREDIT-19", "SUBP-11", "SUBP-12", *because))


def write(state: State, because: tuple[str, ...]) -> Outcome[State, Observation]:
    """CREDIT-21: while the connection is writable, send item after item until nothing is sendable."""
    if not state.writable:
        return Outcome(state, (), ("CREDIT-22", "CREDIT-20", *because))
    reader, queued = state.reader, state.queued
    messages: list[BufferSent] = []
    while queued:
        reader, message = readers.read(reader)
        if message is not None:
            messages.append(message)
        queued = message is not None and readers.is_sendable(reader)
    if not messages:
        # Queued for an event without having credit, although a barrier blocks it: there is nothing to take.
        return Outcome(attrs.evolve(state, reader=reader, queued=False), (), ("SUBP-12", "SUBP-13", *because))
    ended = ("SUBP-13", "CREDIT-26") if reader.subpartition.blocked else ()
    rules = ("CREDIT-21", "CREDIT-23", "SUBP-11", "CREDIT-19", "SUBP-10", *ended, "CREDIT-20", *because)
    return Outcome(attrs.evolve(state, reader=reader, queued=False), tuple(messages), rules)


# --- claims ---------------------------------------------------------------------------------------------------


@always("SUBP-10", "CREDIT-22", "SUBP-17")
def sent_in_order(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is sent is what was added, in that order and numbered without a gap; the rest stays queued."""
    added = [] if is_refused(outcome) or type(event) not in ADDED else [QUEUED[ADDED[type(event)]]]
    items = [*before.reader.subpartition.items, *added]
    left = outcome.state.reader.subpartition.items
    kinds = [readers.kind_of(item) for item in items[: len(items) - len(left)]]
    sent = [(seen.kind, seen.sequence) for seen in outcome.observations if isinstance(seen, BufferSent)]
    numbered = [(kind, before.reader.subpartition.sequence + place) for place, kind in enumerate(kinds)]
    return sent == numbered and tuple(items[len(sent) :]) == left


@always("CREDIT-21", "CREDIT-19")
def data_costs_credit(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Each data buffer sent costs one credit, events none, and credit is never negative."""
    if is_refused(outcome):
        return outcome.state == before
    granted = event.amount if isinstance(event, Credit) else 0
    kept = 0 if isinstance(event, Resume) and before.reader.initial_credit == 0 else before.reader.credit
    data = sum(isinstance(seen, BufferSent) and seen.kind is MessageKind.DATA for seen in outcome.observations)
    return outcome.state.reader.credit == kept + granted - data >= 0


@always("CREDIT-22", "CREDIT-26")
def sends_only_when_it_may(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Nothing is sent while the connection is not writable or a barrier blocks."""
    blocked = before.reader.subpartition.blocked and not isinstance(event, Resume)
    sent = any(isinstance(seen, BufferSent) for seen in outcome.observations)
    return not sent or (outcome.state.writable and not blocked)


@always("CREDIT-24", "CREDIT-25")
def announces_without_credit(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A backlog is announced only by a reader that started without credit and has none, and never beside a message."""
    announced = any(isinstance(seen, Backlog) for seen in outcome.observations)
    reader = outcome.state.reader
    return not announced or (reader.initial_credit == 0 and reader.credit == 0 and len(outcome.observations) == 1)


@always("CREDIT-23", "SUBP-11")
def backlog_is_what_is_queued(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The backlog reported last is the number of data buffers queued, or one less; 0 behind a barrier."""
    after = outcome.state.reader.subpartition
    queued = 0 if after.blocked else queues.count_data(after)
    reported = [seen.backlog for seen in outcome.observations if isinstance(seen, BufferSent | Backlog)][-1:]
    return all(max(0, queued - 1) <= backlog <= queued for backlog in reported)


def is_refused(outcome: Outcome[State, Observation]) -> bool:
    return any(isinstance(seen, Rejected) for seen in outcome.observations)


@invariant("CREDIT-19", "CREDIT-20", "SUBP-6")
def nothing_sendable_is_left_behind(state: State) -> bool:
    """What can be sent is sent at once, or stands queued until the connection is writable: no wake-up is lost."""
    sendable = readers.is_sendable(state.reader)
    return not (state.queued or sendable) if state.writable else (state.queued or not sendable)


@sometimes("CREDIT-21")
def out_of_credit(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A sender has used up its credit, and more waits."""
    reader = outcome.state.reader
    sent = any(isinstance(seen, BufferSent) for seen in outcome.observations)
    return sent and reader.credit == 0 and bool(reader.subpartition.items)


@sometimes("CREDIT-24")
def a_backlog_is_announced(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A reader without credit asks for some."""
    return any(isinstance(seen, Backlog) for seen in outcome.observations)


COMPONENT = Component.of(__name__, readers, title="The credit sender")
