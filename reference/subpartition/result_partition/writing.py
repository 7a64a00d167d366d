"""What a partition does with all of its subpartitions: opening, filling and finishing buffers, ending, giving up.

Each subpartition is the component of its kind, stepped with events of its own; here they are sent to it and what it
shows is collected.
"""

import attrs

from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition.blocking_subpartition import step as blocking
from tidegate.reference.subpartition.blocking_subpartition import values as blocking_values
from tidegate.reference.subpartition.blocking_subpartition.stores import Store
from tidegate.reference.subpartition.queue import Kind
from tidegate.reference.subpartition.result_partition.values import (
    DataAvailable,
    Observation,
    Partition,
    PartitionKind,
    Subpartition,
)
from tidegate.reference.subpartition.subpartition import step as pipelined
from tidegate.reference.subpartition.subpartition import values as pipelined_values
from tidegate.reference.tuples import replace

#: SUBP-17, SUBP-23: events as bytes.
END_OF_PARTITION = bytes.fromhex("00000000")
END_OF_DATA = bytes.fromhex("00000008")


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


def tell(progress: Progress, index: int, event: str, data: bytes = b"") -> Progress:
    """One subpartition takes an event; what its reader is told is passed on."""
    state = progress.partition.subpartitions[index]
    if isinstance(state, pipelined_values.State):
        outcome = pipelined.step(state, make_pipelined_event(event, data))[0]
        woken = pipelined_values.DataAvailable() in outcome.observations
        after: Subpartition = outcome.state
    else:
        after = blocking.step(state, make_blocking_event(event, data))[0].state
        woken = False
    views = progress.partition.views
    numbers = [number for number, view in enumerate(views) if view.subpartition == index] if woken else []
    seen = (*progress.seen, *map(DataAvailable, numbers))
    return Progress(attrs.evolve(progress.partition, subpartitions=put(progress.partition, index, after)), seen)


def make_pipelined_event(event: str, data: bytes) -> pipelined_values.Event:
    events: dict[str, pipelined_values.Event] = {
        "open": pipelined_values.AddBuffer(b"", finished=False),
        "append": pipelined_values.Append(data),
        "finish_buffer": pipelined_values.FinishBuffer(),
        "end_of_data": pipelined_values.AddEvent(Kind.END_OF_DATA),
        "flush": pipelined_values.Flush(),
        "finish": pipelined_values.Finish(),
        "release": pipelined_values.Release(),
    }
    return events[event]


def make_blocking_event(event: str, data: bytes) -> blocking_values.Event:
    events: dict[str, blocking_values.Event] = {
        "open": blocking_values.AddBuffer(b"", finished=False),
        "append": blocking_values.Append(data),
        "finish_buffer": blocking_values.FinishBuffer(),
        "end_of_data": blocking_values.EndOfData(),
        "flush": blocking_values.Flush(),
        "finish": blocking_values.Finish(),
        "release": blocking_values.Release(),
    }
    return events[event]


def create_view(state: Subpartition) -> tuple[Subpartition, tuple[str, ...]]:
    """The subpartition with one more view, or as it was if it refuses; and the rules that say so."""
    if isinstance(state, pipelined_values.State):
        opened = pipelined.step(state, pipelined_values.CreateView())[0]
        return opened.state, opened.rules
    made = blocking.step(state, blocking_values.CreateView())[0]
    return made.state, made.rules


def poll(state: Subpartition, view: int) -> tuple[Subpartition, object, tuple[str, ...]]:
    if isinstance(state, pipelined_values.State):
        taken = pipelined.step(state, pipelined_values.Poll())[0]
        return taken.state, taken.observations[0], taken.rules
    read = blocking.step(state, blocking_values.Poll(view))[0]
    return read.state, read.observations[0], read.rules


def put(partition: Partition, index: int, state: Subpartition) -> tuple[Subpartition, ...]:
    return replace(partition.subpartitions, index, state)


def tell_all(progress: Progress, event: str, data: bytes = b"") -> Progress:
    for index in range(len(progress.partition.subpartitions)):
        progress = tell(progress, index, event, data)
    return progress


def has_open_buffer(state: Subpartition) -> bool:
    if isinstance(state, pipelined_values.State):
        return queues.is_open(state.queue)
    return blocking_values.is_open(state)


def finish_buffers(progress: Progress) -> Progress:
    """The writer's open buffers are finished, shared or not."""
    for index, state in enumerate(progress.partition.subpartitions):
        if has_open_buffer(state):
            progress = tell(progress, index, "finish_buffer")
    return Progress(attrs.evolve(progress.partition, shared=False), progress.seen)


def emit(progress: Progress, index: int, data: bytes) -> Progress:
    """A buffer of one subpartition is opened when there is none, behind the end of a shared one."""
    if progress.partition.shared:
        progress = finish_buffers(progress)
    if not has_open_buffer(progress.partition.subpartitions[index]):
        progress = tell(progress, index, "open")
    return tell(progress, index, "append", data)


def broadcast(progress: Progress, data: bytes) -> Progress:
    """SUBP-40: one shared buffer, which every subpartition queues for itself."""
    if not progress.partition.shared:
        progress = tell_all(finish_buffers(progress), "open")
        progress = Progress(attrs.evolve(progress.partition, shared=True), progress.seen)
    return tell_all(progress, "append", data)


def encode_event(partition: Partition, kind: Kind) -> bytes:
    """SUBP-23: the end of data says whether it drains (0) or not (1)."""
    if kind is Kind.END_OF_PARTITION:
        return END_OF_PARTITION
    return END_OF_DATA + (b"\x00" if partition.drains else b"\x01")
