"""One reader of a sender: a subpartition, and the credit that its receiver has granted.

Each event changes a reader in the same way, whether it has its own connection (`credit_sender`) or shares one
(`credit_connection`). Both use these functions: they return the reader afterwards, and whether it is woken. What a
wake-up leads to depends on the connection.

Choices. The subpartition is pipelined, all buffers are finished before they are added, and there are no priority
events. A barrier stands for all events that block.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import law
from tidegate.reference.elements import Count, Position
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.queue import Queue


class Added(StrEnum):
    """What a producer adds. An empty item is a data buffer without a byte in it; a barrier is an aligned one."""

    DATA = "data"
    EMPTY = "empty"
    EVENT = "event"
    BARRIER = "barrier"
    END = "end_of_partition"


#: The items of the queue for them.
QUEUED = {
    Added.DATA: queues.Item(queues.ItemKind.DATA, b"d"),
    Added.EMPTY: queues.Item(queues.ItemKind.DATA),
    Added.EVENT: queues.Item(queues.ItemKind.EVENT),
    Added.BARRIER: queues.Item(queues.ItemKind.BARRIER),
    Added.END: queues.Item(queues.ItemKind.END_OF_PARTITION),
}


class MessageKind(StrEnum):
    """What a message carries. Barriers and the end of a partition are events."""

    DATA = "data"
    EVENT = "event"


@attrs.frozen
class BufferSent:
    """A buffer is sent. Barrier and end of partition are events; an event costs no credit but takes a number."""

    type: ClassVar[str] = "send"
    kind: Annotated[MessageKind, "What it is."]
    sequence: Annotated[Position, "The sequence number, from 0."]
    backlog: Annotated[Position, "How many data buffers wait behind it."]


@attrs.frozen
class Backlog:
    """The backlog is announced, apart from any message."""

    type: ClassVar[str] = "backlog"
    backlog: Annotated[Count, "How many data buffers wait."]


@attrs.frozen
class Reader:
    initial_credit: int
    credit: int
    subpartition: Queue = queues.EMPTY


def start_reader(initial_credit: int) -> Reader:
    """CREDIT-1: the request brings as much credit as the channel has exclusive buffers."""
    return Reader(initial_credit, initial_credit)


# --- questions about it -------------------------------------------------------------------------------------


def is_available(reader: Reader) -> bool:
    return queues.is_available(reader.subpartition, has_credit=reader.credit > 0)


def is_sendable(reader: Reader) -> bool:
    """CREDIT-19."""
    return not reader.subpartition.blocked and is_available(reader)


def compute_announcement(reader: Reader) -> int:
    """CREDIT-24: the backlog to announce, or 0. CREDIT-25: where credit is given for nothing, there is no need to."""
    if reader.initial_credit > 0 or reader.credit > 0:
        return 0
    return queues.compute_backlog(reader.subpartition)


# --- what happens to it --------------------------------------------------------------------------------------


@attrs.frozen
class ReaderChange:
    """What an event did to a reader, and the rules that say so; a refused event did nothing."""

    reader: Reader
    woken: bool
    rules: tuple[str, ...]
    refused: bool = False


def refuse(reader: Reader, *rules: str) -> ReaderChange:
    return ReaderChange(reader, woken=False, rules=rules, refused=True)


def on_add(reader: Reader, item: Added) -> ReaderChange:
    if reader.subpartition.finished:
        return refuse(reader, "SUBP-17")
    after = queues.add(reader.subpartition, QUEUED[item])
    rules = ("SUBP-6", "SUBP-5", "CREDIT-28") if item is Added.EMPTY else ("SUBP-6", "SUBP-5")
    return ReaderChange(attrs.evolve(reader, subpartition=after), queues.is_woken_by_add(after), rules)


def on_flush(reader: Reader) -> ReaderChange:
    after, woken = queues.flush(reader.subpartition)
    rules = ("SUBP-7", "SUBP-13") if after.blocked else ("SUBP-7",)
    return ReaderChange(attrs.evolve(reader, subpartition=after), woken, rules)


def on_finish(reader: Reader) -> ReaderChange:
    if reader.subpartition.finished:
        return refuse(reader, "SUBP-17")
    after = queues.finish(reader.subpartition)
    return ReaderChange(attrs.evolve(reader, subpartition=after), woken=True, rules=("SUBP-17", "SUBP-6"))


def on_credit(reader: Reader, amount: int) -> ReaderChange:
    if amount < 1:
        return refuse(reader, "CREDIT-20")
    rules = ("CREDIT-26", "CREDIT-20") if reader.subpartition.blocked else ("CREDIT-20",)
    return ReaderChange(attrs.evolve(reader, credit=reader.credit + amount), woken=True, rules=rules)


def on_resume(reader: Reader) -> ReaderChange:
    """CREDIT-26: credit for floating buffers is void, since the receiver gave them back when it met the barrier."""
    if not reader.subpartition.blocked:
        return refuse(reader, "SUBP-13")
    credit = 0 if reader.initial_credit == 0 else reader.credit
    after = attrs.evolve(reader, credit=credit, subpartition=queues.resume(reader.subpartition))
    return ReaderChange(after, woken=True, rules=("CREDIT-26", "SUBP-13"))


def read(reader: Reader) -> tuple[Reader, BufferSent | None]:
    """CREDIT-21: one item; data costs one credit. CREDIT-28: without initial credit, empty data is an item too."""
    after, item = queues.take(reader.subpartition, keeps_empty=reader.initial_credit == 0)
    if item is None:
        return attrs.evolve(reader, subpartition=after), None
    message = BufferSent(kind_of(item), after.sequence - 1, queues.compute_backlog(after))
    return attrs.evolve(reader, credit=reader.credit - item.is_data, subpartition=after), message


def kind_of(item: queues.Item) -> MessageKind:
    return MessageKind.DATA if item.is_data else MessageKind.EVENT


# --- laws -----------------------------------------------------------------------------------------------------


def small_subpartitions() -> Iterator[tuple[Queue]]:
    for length in range(4):
        for queue, flush, blocked in product(product(QUEUED.values(), repeat=length), (False, True), (False, True)):
            yield (Queue(queue, flush_requested=flush and bool(queue), blocked=blocked),)


@law("SUBP-12", samples=small_subpartitions)
def available_is_what_can_be_taken(subpartition: Queue) -> bool:
    """With credit, what is available can be taken. Without, it is an event at the head that counts, blocked or not."""
    _after, item = queues.take(subpartition, keeps_empty=True)
    with_credit = queues.is_available(subpartition, has_credit=True)
    without = queues.is_available(subpartition, has_credit=False)
    unblocked = queues.resume(subpartition)
    return with_credit == (item is not None) and without == queues.is_event_next(unblocked)


@law("SUBP-5", samples=small_subpartitions)
def the_last_is_presumed_open(subpartition: Queue) -> bool:
    """All items but the last count as finished; a lone one that is known to be finished counts too."""
    queued = len(subpartition.items)
    count = queues.count_finished(subpartition)
    return count == queued == 1 or count == max(0, queued - 1)


def small_readers() -> Iterator[tuple[int, Queue]]:
    yield from ((credit, sample[0]) for credit, sample in product((0, 1, 2), small_subpartitions()))


@law("CREDIT-28", samples=small_readers)
def credit_for_the_backlog_is_spent(initial_credit: int, subpartition: Queue) -> bool:
    """A reader without initial credit spends on empty buffers the credit that they brought; any other skips them.

    Grant what the whole queue calls for, read all of it, and see what is left of the credit.
    """
    backlog = queues.count_data(subpartition)
    empty = sum(item.is_empty for item in subpartition.items)
    reader = Reader(initial_credit, backlog, attrs.evolve(subpartition, blocked=False))
    while reader.subpartition.items:
        reader, _message = read(reader)
        reader = attrs.evolve(reader, subpartition=queues.resume(reader.subpartition))
    return reader.credit == (0 if initial_credit == 0 else empty)


@law("SUBP-7", samples=small_subpartitions)
def a_flush_ends_with_the_last_item(subpartition: Queue) -> bool:
    """A flush request stands until the last queued item is taken, and is not repeated meanwhile.

    While the request stands the whole backlog is reported; what is added does not wake the reader again.
    """
    after, _woken = queues.flush(attrs.evolve(subpartition, blocked=False))
    buffers = queues.count_data(after)
    stands = not after.flush_requested or (
        queues.compute_backlog(after) == buffers
        and not queues.is_woken_by_add(queues.add(after, QUEUED[Added.DATA]))
        and queues.flush(after) == (after, False)
    )
    while len(after.items) > 1:
        rest, _item = queues.take(after, keeps_empty=True)
        stands = stands and rest.flush_requested == after.flush_requested
        after = queues.resume(rest)
    last, _item = queues.take(after, keeps_empty=True)
    return stands and not last.flush_requested
