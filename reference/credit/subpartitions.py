"""A pipelined subpartition as its reader sees it: a queue of items, a flush request, and the barrier that blocks it.

The producer adds items at one end, the reader takes them from the other. The reader is woken sparingly: only by the
item that makes it possible to go on, not by every item. The last buffer of the queue is presumed unfinished, since
the producer usually still writes into it; a flush request says that it is worth sending all the same.

Choices. Every item here is finished before it is added, so the cached flag of a lone item (SUBP-5) is always set.
There are no priority events. Flink: PipelinedSubpartition.
"""

from enum import StrEnum

import attrs


class Item(StrEnum):
    """What is queued. An empty item is a finished data buffer without a byte in it; a barrier is an aligned one."""

    DATA = "data"
    EMPTY = "empty"
    EVENT = "event"
    BARRIER = "barrier"
    END = "end_of_partition"


#: The items that lie in a network buffer, and therefore cost credit and count in the backlog.
BUFFERS = (Item.DATA, Item.EMPTY)


@attrs.frozen
class Subpartition:
    """`sequence` is the number that the next item taken will have."""

    queue: tuple[Item, ...] = ()
    flush_requested: bool = False
    blocked: bool = False
    finished: bool = False
    sequence: int = 0


# --- what the producer does ----------------------------------------------------------------------------------


def add(subpartition: Subpartition, item: Item) -> Subpartition:
    return attrs.evolve(subpartition, queue=(*subpartition.queue, item))


def is_woken_by_add(after: Subpartition) -> bool:
    """SUBP-6: only by the item that makes the first finished one, and only if no flush has woken the reader before."""
    return not after.flush_requested and not after.blocked and compute_finished_count(after) == 1


def flush(subpartition: Subpartition) -> tuple[Subpartition, bool]:
    """SUBP-7: the subpartition with the request recorded, if there is something to flush, and whether it wakes."""
    if not subpartition.queue or subpartition.flush_requested:
        return subpartition, False
    lone = len(subpartition.queue) == 1
    if lone and subpartition.queue[0] is Item.EMPTY:
        return subpartition, False
    return attrs.evolve(subpartition, flush_requested=True), lone and not subpartition.blocked


def finish(subpartition: Subpartition) -> Subpartition:
    """SUBP-17: nothing can be added behind the end of the partition."""
    return attrs.evolve(add(subpartition, Item.END), finished=True)


# --- what the reader asks ------------------------------------------------------------------------------------


def compute_finished_count(subpartition: Subpartition) -> int:
    """SUBP-5: a lone item counts, since it was finished before it was added; otherwise the last is presumed open."""
    queued = len(subpartition.queue)
    return queued if queued <= 1 else queued - 1


def compute_backlog(subpartition: Subpartition) -> int:
    """SUBP-11: the data buffers that the reader could take if it had the credit."""
    if subpartition.blocked or not subpartition.queue:
        return 0
    buffers = sum(item in BUFFERS for item in subpartition.queue)
    last_is_event = subpartition.queue[-1] not in BUFFERS
    if subpartition.flush_requested or subpartition.finished or last_is_event:
        return buffers
    return max(0, buffers - 1)


def is_readable(subpartition: Subpartition) -> bool:
    """SUBP-10: whether the next item could be taken now by a reader that has credit."""
    return not subpartition.blocked and (subpartition.flush_requested or compute_finished_count(subpartition) > 0)


def is_event_next(subpartition: Subpartition) -> bool:
    return bool(subpartition.queue) and subpartition.queue[0] not in BUFFERS


def is_available(subpartition: Subpartition, *, has_credit: bool) -> bool:
    """SUBP-12: without credit an event at the head is enough, and even a blocked subpartition says yes."""
    return is_readable(subpartition) if has_credit else is_event_next(subpartition)


# --- what the reader does ------------------------------------------------------------------------------------


def take(subpartition: Subpartition, *, keeps_empty: bool) -> tuple[Subpartition, Item | None]:
    """The head of the queue, if there is one and no barrier holds it; empty items are skipped unless they are kept.

    SUBP-7: a flush request ends with the last item of the queue. SUBP-13: a barrier that is taken blocks the rest.
    """
    while subpartition.queue and not subpartition.blocked:
        item, *rest = subpartition.queue
        subpartition = attrs.evolve(
            subpartition, queue=tuple(rest), flush_requested=subpartition.flush_requested and bool(rest)
        )
        if item is not Item.EMPTY or keeps_empty:
            taken = attrs.evolve(subpartition, blocked=item is Item.BARRIER, sequence=subpartition.sequence + 1)
            return taken, item
    return attrs.evolve(subpartition, flush_requested=subpartition.flush_requested and subpartition.blocked), None


def resume(subpartition: Subpartition) -> Subpartition:
    return attrs.evolve(subpartition, blocked=False)
