"""One reader of a sender: a subpartition, and the credit that its receiver has granted.

What events do to a reader is the same whether it has a connection for itself (`sender`) or shares one (`connection`).
So it is said here once: the reader afterwards, and whether it is woken. What a wake-up leads to, the connection knows.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import ClassVar

import attrs

from tidegate.reference.claims import law
from tidegate.reference.credit import subpartitions
from tidegate.reference.credit.subpartitions import BUFFERS, Item, Subpartition


class Kind(StrEnum):
    """What a message carries. Barriers and the end of a partition are events."""

    DATA = "data"
    EVENT = "event"


@attrs.frozen
class Send:
    """A message is sent: its sequence number, and how many data buffers wait behind it."""

    type: ClassVar[str] = "send"
    kind: Kind
    sequence: int
    backlog: int


@attrs.frozen
class Backlog:
    """The backlog is announced, apart from any message."""

    type: ClassVar[str] = "backlog"
    backlog: int


@attrs.frozen
class Reader:
    initial_credit: int
    credit: int
    subpartition: Subpartition = attrs.field(factory=Subpartition)


def start_reader(initial_credit: int) -> Reader:
    """CREDIT-1: the request brings as much credit as the channel has exclusive buffers."""
    return Reader(initial_credit, initial_credit)


# --- what is asked of it -------------------------------------------------------------------------------------


def is_available(reader: Reader) -> bool:
    return subpartitions.is_available(reader.subpartition, has_credit=reader.credit > 0)


def is_sendable(reader: Reader) -> bool:
    """CREDIT-19."""
    return not reader.subpartition.blocked and is_available(reader)


def compute_announcement(reader: Reader) -> int:
    """CREDIT-24: the backlog to announce, or 0. CREDIT-25: where credit is given for nothing, there is no need to."""
    if reader.initial_credit > 0 or reader.credit > 0:
        return 0
    return subpartitions.compute_backlog(reader.subpartition)


# --- what happens to it --------------------------------------------------------------------------------------


@attrs.frozen
class Change:
    """What an event did to a reader, and the rules that say so; a refused event did nothing."""

    reader: Reader
    woken: bool
    rules: tuple[str, ...]
    refused: bool = False


def refuse(reader: Reader, *rules: str) -> Change:
    return Change(reader, woken=False, rules=rules, refused=True)


def on_add(reader: Reader, item: Item) -> Change:
    if reader.subpartition.finished:
        return refuse(reader, "SUBP-17")
    after = subpartitions.add(reader.subpartition, item)
    rules = ("SUBP-6", "SUBP-5", "CREDIT-28") if item is Item.EMPTY else ("SUBP-6", "SUBP-5")
    return Change(attrs.evolve(reader, subpartition=after), subpartitions.is_woken_by_add(after), rules)


def on_flush(reader: Reader) -> Change:
    after, woken = subpartitions.flush(reader.subpartition)
    rules = ("SUBP-7", "SUBP-13") if after.blocked else ("SUBP-7",)
    return Change(attrs.evolve(reader, subpartition=after), woken, rules)


def on_finish(reader: Reader) -> Change:
    if reader.subpartition.finished:
        return refuse(reader, "SUBP-17")
    after = subpartitions.finish(reader.subpartition)
    return Change(attrs.evolve(reader, subpartition=after), woken=True, rules=("SUBP-17", "SUBP-6"))


def on_credit(reader: Reader, amount: int) -> Change:
    if amount < 1:
        return refuse(reader, "CREDIT-20")
    rules = ("CREDIT-26", "CREDIT-20") if reader.subpartition.blocked else ("CREDIT-20",)
    return Change(attrs.evolve(reader, credit=reader.credit + amount), woken=True, rules=rules)


def on_resume(reader: Reader) -> Change:
    """CREDIT-26: credit for floating buffers is void, since the receiver gave them back when it met the barrier."""
    if not reader.subpartition.blocked:
        return refuse(reader, "SUBP-13")
    credit = 0 if reader.initial_credit == 0 else reader.credit
    after = attrs.evolve(reader, credit=credit, subpartition=subpartitions.resume(reader.subpartition))
    return Change(after, woken=True, rules=("CREDIT-26", "SUBP-13"))


def read(reader: Reader) -> tuple[Reader, Send | None]:
    """CREDIT-21: one item; data costs one credit. CREDIT-28: without initial credit, empty data is an item too."""
    after, item = subpartitions.take(reader.subpartition, keeps_empty=reader.initial_credit == 0)
    if item is None:
        return attrs.evolve(reader, subpartition=after), None
    is_data = item in BUFFERS
    message = Send(Kind.DATA if is_data else Kind.EVENT, after.sequence - 1, subpartitions.compute_backlog(after))
    return attrs.evolve(reader, credit=reader.credit - is_data, subpartition=after), message


# --- laws -----------------------------------------------------------------------------------------------------


def small_subpartitions() -> Iterator[tuple[Subpartition]]:
    for length in range(4):
        for queue, flush, blocked in product(product(Item, repeat=length), (False, True), (False, True)):
            yield (Subpartition(queue, flush_requested=flush and bool(queue), blocked=blocked),)


@law("SUBP-12", samples=small_subpartitions)
def available_is_what_can_be_taken(subpartition: Subpartition) -> bool:
    """With credit, what is available can be taken. Without, it is an event at the head that counts, blocked or not."""
    _after, item = subpartitions.take(subpartition, keeps_empty=True)
    with_credit = subpartitions.is_available(subpartition, has_credit=True)
    without = subpartitions.is_available(subpartition, has_credit=False)
    unblocked = subpartitions.resume(subpartition)
    return with_credit == (item is not None) and without == subpartitions.is_event_next(unblocked)


@law("SUBP-5", samples=small_subpartitions)
def the_last_is_presumed_open(subpartition: Subpartition) -> bool:
    """All items but the last count as finished; a lone one that is known to be finished counts too."""
    queued = len(subpartition.queue)
    count = subpartitions.compute_finished_count(subpartition)
    return count == queued == 1 or count == max(0, queued - 1)


def small_readers() -> Iterator[tuple[int, Subpartition]]:
    yield from ((credit, sample[0]) for credit, sample in product((0, 1, 2), small_subpartitions()))


@law("CREDIT-28", samples=small_readers)
def credit_for_the_backlog_is_spent(initial_credit: int, subpartition: Subpartition) -> bool:
    """A reader without initial credit spends on empty buffers the credit that they brought; any other skips them.

    Grant what the whole queue calls for, read all of it, and see what is left of the credit.
    """
    backlog = sum(item in BUFFERS for item in subpartition.queue)
    empty = subpartition.queue.count(Item.EMPTY)
    reader = Reader(initial_credit, backlog, attrs.evolve(subpartition, blocked=False))
    while reader.subpartition.queue:
        reader, _message = read(reader)
        reader = attrs.evolve(reader, subpartition=subpartitions.resume(reader.subpartition))
    return reader.credit == (0 if initial_credit == 0 else empty)


@law("SUBP-7", samples=small_subpartitions)
def a_flush_ends_with_the_last_item(subpartition: Subpartition) -> bool:
    """A flush request stands until the last queued item is taken, and is not repeated meanwhile.

    While the request stands the whole backlog is reported; what is added does not wake the reader again.
    """
    after, _woken = subpartitions.flush(attrs.evolve(subpartition, blocked=False))
    buffers = sum(item in BUFFERS for item in after.queue)
    stands = not after.flush_requested or (
        subpartitions.compute_backlog(after) == buffers
        and not subpartitions.is_woken_by_add(subpartitions.add(after, Item.DATA))
        and subpartitions.flush(after) == (after, False)
    )
    while len(after.queue) > 1:
        rest, _item = subpartitions.take(after, keeps_empty=True)
        stands = stands and rest.flush_requested == after.flush_requested
        after = subpartitions.resume(rest)
    last, _item = subpartitions.take(after, keeps_empty=True)
    return stands and not last.flush_requested
