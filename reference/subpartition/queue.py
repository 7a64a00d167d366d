"""The queue of a pipelined subpartition: what is added, taken and flushed, and what its reader may know of it.

The last data buffer may be open: the producer still writes into it. What is known of the others follows from that:
they are finished, since the producer finishes a buffer before it opens the next. Whether the last one is finished
the queue knows only from the time it was added or last read (`known_finished`).

Choices. A credit sender reads from the same queue, into which it puts finished buffers only. Flink:
PipelinedSubpartition, BufferConsumer, PrioritizedDeque.
"""

from enum import StrEnum

import attrs


class ItemKind(StrEnum):
    """What an item is; `none` stands where there is no item."""

    NONE = "none"
    DATA = "data"
    EVENT = "event"
    END_OF_DATA = "end_of_data"
    BARRIER = "barrier"
    RECOVERY_COMPLETION = "recovery_completion"
    ALIGNED_WATERMARK = "aligned_watermark"
    PRIORITY = "priority"
    END_OF_PARTITION = "end_of_partition"


#: The events that stop the reader until it resumes (SUBP-13).
BLOCKING = (ItemKind.BARRIER, ItemKind.RECOVERY_COMPLETION, ItemKind.ALIGNED_WATERMARK)


@attrs.frozen
class Item:
    """`data` is what was written into a buffer, or into the open one since it was last read; events need none."""

    kind: ItemKind
    data: bytes = b""
    finished: bool = True
    known_finished: bool = True

    @property
    def is_data(self) -> bool:
        return self.kind is ItemKind.DATA

    @property
    def is_empty(self) -> bool:
        return self.is_data and not self.data


@attrs.frozen
class Queue:
    """`sequence` is the number that the next item taken will have."""

    items: tuple[Item, ...] = ()
    flush_requested: bool = False
    blocked: bool = False
    finished: bool = False
    released: bool = False
    sequence: int = 0


EMPTY = Queue()


# --- what the producer does ----------------------------------------------------------------------------------


def open_buffer(data: bytes) -> Item:
    return Item(ItemKind.DATA, data, finished=False, known_finished=False)


def is_open(queue: Queue) -> bool:
    """Whether the producer still writes into the last buffer."""
    return bool(queue.items) and not queue.items[-1].finished


def add(queue: Queue, item: Item) -> Queue:
    """SUBP-14: a priority event goes in front, behind earlier ones; everything else to the end."""
    ahead = count_priority(queue) if item.kind is ItemKind.PRIORITY else len(queue.items)
    return attrs.evolve(queue, items=(*queue.items[:ahead], item, *queue.items[ahead:]))


def append(queue: Queue, data: bytes) -> Queue:
    last = queue.items[-1]
    return attrs.evolve(queue, items=(*queue.items[:-1], attrs.evolve(last, data=last.data + data)))


def finish_buffer(queue: Queue) -> Queue:
    """SUBP-2: the buffer is finished, and the queue is not told."""
    return attrs.evolve(queue, items=(*queue.items[:-1], attrs.evolve(queue.items[-1], finished=True)))


def flush(queue: Queue) -> tuple[Queue, bool]:
    """SUBP-7: the queue with the request recorded, if there is something to flush, and whether that wakes."""
    if not queue.items or queue.flush_requested:
        return queue, False
    lone_with_data = [item.is_empty for item in queue.items] == [False]
    requested = len(queue.items) > 1 or lone_with_data
    return attrs.evolve(queue, flush_requested=requested), lone_with_data and not queue.blocked


def finish(queue: Queue) -> Queue:
    """SUBP-17: nothing can be added behind the end of the partition."""
    return attrs.evolve(add(queue, Item(ItemKind.END_OF_PARTITION)), finished=True)


def release(queue: Queue) -> Queue:
    """SUBP-18: what is queued is given up; a flush request and a barrier's hold stay as they are."""
    return attrs.evolve(queue, items=(), released=True)


# --- what the reader may know --------------------------------------------------------------------------------


def count_data(queue: Queue) -> int:
    return sum(item.is_data for item in queue.items)


def count_priority(queue: Queue) -> int:
    return sum(item.kind is ItemKind.PRIORITY for item in queue.items)


def count_finished(queue: Queue) -> int:
    """SUBP-5: a lone item counts if it is known to be finished; of several all but the last."""
    if len(queue.items) <= 1:
        return sum(item.known_finished for item in queue.items)
    return len(queue.items) - 1


def is_woken_by_add(after: Queue) -> bool:
    """SUBP-6: only by the item that makes the first finished one, and only if no flush has woken the reader before."""
    return not after.flush_requested and not after.blocked and count_finished(after) == 1


def is_readable(queue: Queue) -> bool:
    """SUBP-10, SUBP-12: whether a reader with credit would find something; after a release a request may linger."""
    return not queue.blocked and (queue.flush_requested or count_finished(queue) > 0)


def is_available(queue: Queue, *, has_credit: bool) -> bool:
    """SUBP-12: without credit an event at the head is enough, and even a blocked queue says yes."""
    return is_readable(queue) if has_credit else is_event_next(queue)


def is_event_next(queue: Queue) -> bool:
    return bool(queue.items) and not queue.items[0].is_data


def compute_next(queue: Queue) -> ItemKind:
    """SUBP-10: the kind of the item that another poll would give."""
    return queue.items[0].kind if is_readable(queue) and queue.items else ItemKind.NONE


def compute_backlog(queue: Queue) -> int:
    """SUBP-11: the data buffers that the reader could take if it had the credit."""
    if queue.blocked or not queue.items:
        return 0
    buffers = count_data(queue)
    if queue.flush_requested or queue.finished or not queue.items[-1].is_data:
        return buffers
    return buffers - 1


# --- what the reader does ------------------------------------------------------------------------------------


def take(queue: Queue, *, keeps_empty: bool) -> tuple[Queue, Item | None]:
    """SUBP-8: the head of the queue, or of an open buffer what was written since; finished empty buffers are skipped.

    SUBP-7: a flush request ends with the last item. SUBP-13: some events block the rest, but for priority events.
    """
    if queue.blocked and not count_priority(queue):
        return queue, None
    if not queue.items:
        return attrs.evolve(queue, flush_requested=False), None
    head, *others = queue.items
    left = tuple(others) if head.finished else (attrs.evolve(head, data=b""),)
    rest = attrs.evolve(queue, items=left, flush_requested=queue.flush_requested and bool(others))
    if head.is_empty and not (head.finished and keeps_empty):
        return take(rest, keeps_empty=keeps_empty) if head.finished else (rest, None)
    blocks = queue.blocked or head.kind in BLOCKING
    return attrs.evolve(rest, blocked=blocks, sequence=queue.sequence + 1), head


def resume(queue: Queue) -> Queue:
    return attrs.evolve(queue, blocked=False)
