"""A job as tables: every channel, side and subtask has a small number, so that rows can be sorted and looked up by it.

Of a channel there are six sides: elements, buffers and credit, each as handed out and as received.
"""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from tidegate.properties.runlog.invariant import compute_consumers
from tidegate.reference.partitioning.partitioner import Partitioner
from tidegate.traces.runlog import Channel, Direction, Edge, Job, Kind, MalformedLogError

Array = npt.NDArray[Any]

KINDS = tuple(Kind)
RECORD, WATERMARK, STATUS, BARRIER, _LATENCY_MARKER, END_OF_DATA, END_OF_PARTITION, BUFFER, CREDIT = range(len(KINDS))
DIRECTIONS = (Direction.OUT, Direction.IN)
OUT, IN = range(2)
#: The flow of each kind: elements, buffers, credit.
FLOWS = np.array([{Kind.BUFFER: 1, Kind.CREDIT: 2}.get(kind, 0) for kind in KINDS], dtype=np.int32)
SIDES = 6

#: No value. A log that has this very number in it is refused.
NONE = -(2**63) + 1


@attrs.frozen(eq=False)
class Layout:
    job: Job

    def __attrs_post_init__(self) -> None:
        for edge in self.job.edges:
            if edge.partitioner == Partitioner.HASH and not edge.max_parallelism:
                raise MalformedLogError(f"edge {edge.number} is partitioned by hash and has no max_parallelism")

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        return self.job.edges

    @cached_property
    def edge_index(self) -> dict[int, int]:
        return {edge.number: index for index, edge in enumerate(self.edges)}

    @cached_property
    def offsets(self) -> Array:
        """The first channel of each edge, and behind them the number of all channels."""
        return np.cumsum([0, *(edge.producers * edge.consumers for edge in self.edges)]).astype(np.int32)

    @cached_property
    def producers(self) -> Array:
        return np.array([edge.producers for edge in self.edges], dtype=np.int32)

    @cached_property
    def consumers(self) -> Array:
        return np.array([edge.consumers for edge in self.edges], dtype=np.int32)

    def channel_at(self, code: int) -> Channel:
        index = int(np.searchsorted(self.offsets, code, "right")) - 1
        producer, consumer = divmod(code - int(self.offsets[index]), self.edges[index].consumers)
        return self.edges[index].number, producer, consumer

    def code_of(self, channel: Channel) -> int:
        edge, producer, consumer = channel
        index = self.edge_index[edge]
        return int(self.offsets[index]) + producer * self.edges[index].consumers + consumer

    @cached_property
    def edge_of_channel(self) -> Array:
        return np.repeat(np.arange(len(self.edges), dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def place_of_channel(self) -> Array:
        """Where a channel comes among those of its producer; -1 where the wiring has none."""
        places = np.full(int(self.offsets[-1]), -1, dtype=np.int32)
        for edge in self.edges:
            for producer, consumers in compute_consumers(edge).items():
                for place, consumer in enumerate(consumers):
                    places[self.code_of((edge.number, producer, consumer))] = place
        return places

    def consumers_of(self, edge: Edge, producer: int) -> list[int]:
        return compute_consumers(edge)[producer]

    # --- subtasks ---------------------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of subtasks of each task."""
        sizes: dict[str, int] = {}
        for edge in self.edges:
            sizes[edge.source] = max(sizes.get(edge.source, 0), edge.producers)
            sizes[edge.target] = max(sizes.get(edge.target, 0), edge.consumers)
        return sizes

    @cached_property
    def subtasks(self) -> int:
        return sum(self.sizes.values())

    @cached_property
    def tasks(self) -> dict[str, int]:
        """The number of the first subtask of each task."""
        firsts = np.cumsum([0, *self.sizes.values()])
        return dict(zip(self.sizes, map(int, firsts), strict=False))

    @cached_property
    def task_of_end(self) -> Array:
        """The first subtask of the source and of the target of each edge."""
        return np.array([[self.tasks[edge.source], self.tasks[edge.target]] for edge in self.edges], dtype=np.int32)

    def subtask_at(self, code: int) -> tuple[str, int]:
        task = max((first, name) for name, first in self.tasks.items() if first <= code)[1]
        return task, code - self.tasks[task]

    @cached_property
    def readers(self) -> set[str]:
        return {edge.target for edge in self.edges}

    @cached_property
    def inputs(self) -> dict[int, list[int]]:
        """The channels that each subtask reads, whether or not anything comes of them."""
        found: dict[int, list[int]] = {}
        for edge in self.edges:
            for producer, consumers in compute_consumers(edge).items():
                for consumer in consumers:
                    code = self.code_of((edge.number, producer, consumer))
                    found.setdefault(self.tasks[edge.target] + consumer, []).append(code)
        return found

    @cached_property
    def outputs(self) -> dict[int, set[int]]:
        """The channels that lead out of each subtask, by the wiring."""
        found: dict[int, set[int]] = {}
        for edge in self.edges:
            for producer, consumers in compute_consumers(edge).items():
                codes = {self.code_of((edge.number, producer, consumer)) for consumer in consumers}
                found.setdefault(self.tasks[edge.source] + producer, set()).update(codes)
        return found

    def is_source(self, channel: int) -> bool:
        """Whether a channel begins at a task that reads nothing."""
        return self.edges[int(self.edge_of_channel[channel])].source not in self.readers
