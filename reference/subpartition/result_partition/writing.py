"""What a partition does with all of its subpartitions: opening, filling and finishing buffers, ending, giving up.

Each subpartition is the component of its kind, stepped with events of its own; here they are sent to it and what it
shows is collected.
"""

from collections.abc import Iterable

import attrs

from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.blocking_subpartition import step as blocking
from tidegate.reference.subpartition.blocking_subpartition import values as blocking_values
from tidegate.reference.subpartition.blocking_subpartition.stores import Store
from tidegate.reference.subpartition.queue import ItemKind
from tidegate.reference.subpartition.result_partition.values import Observation, Partition, PartitionKind, Subpartition
from tidegate.reference.subpartition.subpartition import step as pipelined
from tidegate.reference.subpartition.subpartition import values as pipelined_values

#: SUBP-17, SUBP-23: events as bytes.
END_OF_PARTITION = bytes.fromhex("00000000")
END_OF_DATA = bytes.fromhex("00000008")

#: What the producer says to each subpartition.
Told = (
    shared.AddBuffer
    | shared.Append
    | shared.FinishBuffer
    | blocking_values.EndOfData
    | shared.Flush
    | shared.Finish
    | shared.Release
)
OPEN = shared.AddBuffer(b"", finished=False)


@attrs.frozen
class Progress:
    """A partition in the midst of an event, and what has been seen of it."""

    partition: Partition
    seen: tuple[Observation, ...] = ()


def make_partition(kind: PartitionKind, subpartitions: int) -> Partition:
    if kind is PartitionKind.PIPELINED:
        (empty,) = pipelined.start(pipelined_values.Config())
        return Partition((empty,) * subpartitions)
    (unwritten,) = blocking.start(blocking_values.Config(Store.FILE_MMAP))
    return Partition((unwritten,) * subpartitions)


def tell(progress: Progress, indices: Iterable[int], event: Told) -> Progress:
    """Some subpartitions take an event, one after the other; what their readers are told is passed on."""
    subpartitions, seen = list(progress.partition.subpartitions), list(progress.seen)
    for index in indices:
        subpartitions[index], woken = take(subpartitions[index], event)
        if woken:
            views = enumerate(progress.partition.views)
            seen += (shared.DataAvailable(number) for number, view in views if view.subpartition == index)
    return Progress(attrs.evolve(progress.partition, subpartitions=tuple(subpartitions)), tuple(seen))


def take(state: Subpartition, event: Told) -> tuple[Subpartition, bool]:
    """A subpartition behind an event, and whether its reader is told that there are data."""
    if isinstance(state, blocking_values.State):
        return blocking.step(state, event)[0].state, False
    ended = pipelined_values.AddEvent(ItemKind.END_OF_DATA)
    outcome = pipelined.step(state, ended if isinstance(event, blocking_values.EndOfData) else event)[0]
    return outcome.state, pipelined_values.DataAvailable() in outcome.observations


def create_view(state: Subpartition) -> tuple[Subpartition, tuple[str, ...]]:
    """The subpartition with one more view, or as it was if it refuses; and the rules that say so."""
    if isinstance(state, pipelined_values.State):
        opened = pipelined.step(state, shared.CreateView())[0]
        return opened.state, opened.rules
    made = blocking.step(state, shared.CreateView())[0]
    return made.state, made.rules


def poll(state: Subpartition, view: int) -> tuple[Subpartition, object, tuple[str, ...]]:
    if isinstance(state, pipelined_values.State):
        taken = pipelined.step(state, pipelined_values.Poll())[0]
        return taken.state, taken.observations[0], taken.rules
    read = blocking.step(state, shared.Poll(view))[0]
    return read.state, read.observations[0], read.rules


def tell_all(progress: Progress, event: Told) -> Progress:
    return tell(progress, range(len(progress.partition.subpartitions)), event)


def has_open_buffer(state: Subpartition) -> bool:
    if isinstance(state, pipelined_values.State):
        return queues.is_open(state.queue)
    return blocking_values.is_open(state)


def finish_buffers(progress: Progress) -> Progress:
    """The writer's open buffers are finished, shared or not."""
    written = [index for index, state in enumerate(progress.partition.subpartitions) if has_open_buffer(state)]
    progress = tell(progress, written, shared.FinishBuffer())
    return Progress(attrs.evolve(progress.partition, shared=False), progress.seen)


def emit(progress: Progress, index: int, data: bytes) -> Progress:
    """A buffer of one subpartition is opened when there is none, behind the end of a shared one."""
    if progress.partition.shared:
        progress = finish_buffers(progress)
    if not has_open_buffer(progress.partition.subpartitions[index]):
        progress = tell(progress, [index], OPEN)
    return tell(progress, [index], shared.Append(data))


def broadcast(progress: Progress, data: bytes) -> Progress:
    """SUBP-40: one shared buffer, which every subpartition queues for itself."""
    if not progress.partition.shared:
        progress = tell_all(finish_buffers(progress), OPEN)
        progress = Progress(attrs.evolve(progress.partition, shared=True), progress.seen)
    return tell_all(progress, shared.Append(data))


def encode_event(partition: Partition, kind: ItemKind) -> bytes:
    """SUBP-23: the end of data says whether it drains (0) or not (1)."""
    if kind is ItemKind.END_OF_PARTITION:
        return END_OF_PARTITION
    return END_OF_DATA + (b"\x00" if partition.drains else b"\x01")
