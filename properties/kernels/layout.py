"""A job as arithmetic: every channel and subtask has a number, and its wiring is computed on demand.

Nothing here grows with the declared parallelism: a log of ten rows costs ten rows, whatever its metadata claim. A
channel has six sides: elements, buffers and credit, each sent and received. After all channels come those of each
subtask to itself, for rows of that subtask alone.
"""

from bisect import bisect_right
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from tidegate.properties.runlog.wired import count_consumers, count_producers
from tidegate.reference.partitioning.wiring import Pattern
from tidegate.traces.runlog import (
    OWN,
    OWN_KINDS,
    Channel,
    Direction,
    Edge,
    Job,
    Kind,
    MalformedLogError,
    count_subtasks,
)

Array = npt.NDArray[Any]

KINDS = tuple(Kind)
RECORD, WATERMARK, STATUS, BARRIER, _LATENCY_MARKER, END_OF_DATA, END_OF_PARTITION, BUFFER, CREDIT = range(9)
SNAPSHOT, RESTORED, RESULT, _LATE, _TIMER, CLOCK = range(9, len(KINDS))
DIRECTIONS = (Direction.OUT, Direction.IN)
OUT, IN = range(2)
#: The flow of each kind: elements, buffers, credit. Rows of a subtask alone use the flow of buffers.
FLOWS = np.array([0] * BUFFER + [1, 2] + [1] * len(OWN_KINDS), dtype=np.int32)
SIDES = 6

#: No value. A log that contains this number is refused.
NONE = -(2**63) + 1

#: Channels are numbered in 64 bits: nine edges from a thousand million subtasks to as many.
MOST_CHANNELS = 2**63 - 1


@attrs.frozen(eq=False)
class Layout:
    job: Job

    def __attrs_post_init__(self) -> None:
        channels = sum(edge.producers * edge.consumers for edge in self.job.edges)
        if channels > MOST_CHANNELS:
            raise MalformedLogError(f"the job declares {channels} channels, more than can be numbered")

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        return self.job.edges

    @cached_property
    def edge_index(self) -> dict[int, int]:
        return {edge.number: index for index, edge in enumerate(self.edges)}

    @cached_property
    def offsets(self) -> Array:
        """The first channel of each edge, then the number of all channels."""
        return np.cumsum([0, *(edge.producers * edge.consumers for edge in self.edges)], dtype=np.int64)

    @cached_property
    def producers(self) -> Array:
        return np.array([edge.producers for edge in self.edges], dtype=np.int64)

    @cached_property
    def consumers(self) -> Array:
        return np.array([edge.consumers for edge in self.edges], dtype=np.int64)

    @cached_property
    def initial_credit(self) -> Array:
        return np.array([edge.initial_credit or 0 for edge in self.edges], dtype=np.int64)

    @property
    def channels(self) -> int:
        return int(self.offsets[-1])

    def channel_at(self, code: int) -> Channel:
        """The channels of each subtask to itself come after all others."""
        if code >= self.channels:
            _task, subtask = self.subtask_at(code - self.channels)
            return OWN, subtask, subtask
        index = int(np.searchsorted(self.offsets, code, "right")) - 1
        producer, consumer = divmod(code - int(self.offsets[index]), self.edges[index].consumers)
        return self.edges[index].number, producer, consumer

    def code_of(self, channel: Channel) -> int:
        edge, producer, consumer = channel
        index = self.edge_index[edge]
        return int(self.offsets[index]) + producer * self.edges[index].consumers + consumer

    # --- wiring -----------------------------------------------------------------------------------------------

    def find_places(self, index: Array, producer: Array, consumer: Array) -> Array:
        """The index of channels among those of their producers; -1 outside the wiring. As PART-15 to PART-17."""
        places = consumer.copy()
        for number, edge in enumerate(self.edges):
            if edge.pattern != Pattern.ALL_TO_ALL:
                mine = np.flatnonzero(index == number)
                places[mine] = find_pointwise_places(edge, producer[mine], consumer[mine])
        return places

    def count_places(self, edge: Edge, producers: Array, which: Array | None = None) -> Array | int:
        """Channels per producer on the edge, or of these producers: a single number if it is the same for all."""
        if (
            edge.pattern == Pattern.ALL_TO_ALL
            or edge.producers >= edge.consumers
            or not edge.consumers % edge.producers
        ):
            return count_consumers(edge, 0)
        unique, inverse = np.unique(producers if which is None else producers.take(which), return_inverse=True)
        return np.array([count_consumers(edge, one) for one in unique.tolist()], dtype=np.int64)[inverse]

    @cached_property
    def strays(self) -> bool:
        """Whether any channel is outside the wiring."""
        return any(
            edge.pattern != Pattern.ALL_TO_ALL and (edge.producers, edge.consumers) != (1, 1) for edge in self.edges
        )

    def count_inputs(self, subtask: int) -> int:
        """How many channels a subtask reads, with or without data."""
        task, number = self.subtask_at(subtask)
        return sum(count_producers(edge, number) for edge in self.edges if edge.target == task)

    def count_outputs(self, subtask: int) -> int:
        """How many channels lead out of a subtask."""
        task, number = self.subtask_at(subtask)
        return sum(count_consumers(edge, number) for edge in self.edges if edge.source == task)

    # --- subtasks ---------------------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of subtasks of each task."""
        return count_subtasks(self.job)

    @cached_property
    def subtasks(self) -> int:
        return sum(self.sizes.values())

    @cached_property
    def tasks(self) -> dict[str, int]:
        """The number of the first subtask of each task."""
        firsts, first = {}, 0
        for task, size in self.sizes.items():
            firsts[task] = first
            first += size
        return firsts

    @cached_property
    def task_of_end(self) -> Array:
        """The first subtask of the source and of the target of each edge."""
        ends = [[self.tasks[edge.source], self.tasks[edge.target]] for edge in self.edges]
        return np.array(ends, dtype=np.int64).reshape(-1, 2)

    def subtask_at(self, code: int) -> tuple[str, int]:
        names, firsts = self._tasks
        place = bisect_right(firsts, code) - 1
        return names[place], code - firsts[place]

    @cached_property
    def _tasks(self) -> tuple[list[str], list[int]]:
        return list(self.tasks), list(self.tasks.values())

    @cached_property
    def readers(self) -> set[str]:
        return {edge.target for edge in self.edges}

    @cached_property
    def of_sources(self) -> Array:
        """Per edge, whether it starts at a task without inputs."""
        return np.array([edge.source not in self.readers for edge in self.edges], dtype=bool)


def find_pointwise_places(edge: Edge, producer: Array, consumer: Array) -> Array:
    producers, consumers = edge.producers, edge.consumers
    if producers >= consumers:
        first, end = consumer * producers // consumers, (consumer + 1) * producers // consumers
        return np.where((producer >= first) & (producer < end), 0, -1)
    first = (producer * consumers + producers - 1) // producers
    count = ((producer + 1) * consumers + producers - 1) // producers - first
    return np.where((consumer >= first) & (consumer < first + count), consumer % count, -1)
