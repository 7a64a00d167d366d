"""Small numbers for the channels and subtasks with rows in a run, so that their state fits into arrays.

A small job is numbered completely. In a large one only channels with rows get a number: a job may declare billions of
channels, and a log with ten rows has ten at most.
"""

import attrs
import numpy as np

from tidegate.properties.kernels.layout import SIDES, Array, Layout
from tidegate.traces.runlog import Channel, MalformedLogError

#: Jobs with at most this many channels, or subtasks, are numbered completely.
FEW = 2**15
#: Limit of channels with rows that a worker holds.
MOST_MET = 2**21


class OutgrownError(Exception):
    """The run is too large to check in pieces, in this order of rows or at all."""


class Numbers:
    """`codes` has the code of each number. `total`: number of possible codes; up to FEW, all are numbered.

    `given`: all existing codes, sorted.
    """

    def __init__(self, total: int, given: Array | None = None) -> None:
        self.is_whole, self.is_closed = total <= FEW and given is None, given is not None
        self.codes: Array = np.arange(total if self.is_whole else 0, dtype=np.int64) if given is None else given
        self._sorted, self._numbers = self.codes, np.arange(len(self.codes))

    def __len__(self) -> int:
        return len(self.codes)

    def find(self, codes: Array) -> Array:
        """The numbers of these codes; new ones get the next."""
        if self.is_whole or not len(codes):
            return codes
        unique, inverse = np.unique(codes, return_inverse=True)
        places = np.searchsorted(self._sorted, unique)
        is_new = places == len(self._sorted)
        is_new[~is_new] = self._sorted[places[~is_new]] != unique[~is_new]
        if is_new.any():
            self.add(unique[is_new])
            places = np.searchsorted(self._sorted, unique)
        return self._numbers[places][inverse]

    def add(self, codes: Array) -> None:
        if self.is_closed:
            raise MalformedLogError("the file has rows that it had not before")
        if len(self.codes) + len(codes) > MOST_MET:
            raise OutgrownError(f"a run has rows of more than {MOST_MET:,} channels or subtasks")
        self.codes = np.concatenate([self.codes, codes])
        self._numbers = np.argsort(self.codes, kind="stable")
        self._sorted = self.codes[self._numbers]


@attrs.define(eq=False)
class Numbering:
    """Columns with a value per channel number: `place` is -1 outside the wiring.

    `ends`: the subtasks at the source and at the target of each channel, by their codes, one after the other.
    `given`: the codes of all channels and subtasks with rows, if known.
    """

    layout: Layout
    given: tuple[Array, Array] | None = None
    channels: Numbers = attrs.field(init=False)
    subtasks: Numbers = attrs.field(init=False)
    edge: Array = attrs.field(init=False)
    producer: Array = attrs.field(init=False)
    consumer: Array = attrs.field(init=False)
    place: Array = attrs.field(init=False)
    ends: Array = attrs.field(init=False)
    _table: "Table | None" = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        channels, subtasks = self.given or (None, None)
        own = self.layout.subtasks
        self.channels, self.subtasks = Numbers(self.layout.channels + own, channels), Numbers(own, subtasks)
        self.look_up()
        self._table = make_table(self) if self.channels.is_whole else None

    def look_up(self) -> None:
        """Fill the columns for all numbered channels; channels of subtasks to themselves have no edge."""
        layout, codes = self.layout, self.channels.codes
        is_own = codes >= layout.channels
        self.edge = np.searchsorted(layout.offsets[:-1], codes, "right") - 1
        within, consumers = codes - layout.offsets[self.edge], layout.consumers[self.edge]
        self.producer, self.consumer = within // consumers, within % consumers
        self.place = layout.find_places(self.edge, self.producer, self.consumer)
        ends = layout.task_of_end[self.edge]
        ends[:, 0] += self.producer
        ends[:, 1] += self.consumer
        ends[is_own] = (codes[is_own] - layout.channels)[:, np.newaxis]
        self.edge[is_own] = -1
        self.ends = ends.reshape(-1)

    @property
    def sides(self) -> int:
        return len(self.channels) * SIDES

    def find_channels(self, edge: Array, producer: Array, consumer: Array) -> Array:
        """The numbers of channels. Raise MalformedLogError if the job has no such channel."""
        if self._table is not None:
            found = self._table.find(edge, producer, consumer)
            if found is not None:
                return found
        index = find_edges(edge, self.layout)
        wrong = (producer < 0) | (producer >= self.layout.producers[index])
        wrong |= (consumer < 0) | (consumer >= self.layout.consumers[index])
        if wrong.any():
            row = int(np.argmax(wrong))
            raise MalformedLogError(f"edge {edge[row]} has no channel from {producer[row]} to {consumer[row]}")
        codes = self.layout.offsets[index] + producer * self.layout.consumers[index] + consumer
        return self.number_channels(codes)

    def find_own(self, subtasks: Array) -> Array:
        """The numbers of the channels of subtasks to themselves, by the codes of the subtasks."""
        return self.number_channels(subtasks + self.layout.channels)

    def number_channels(self, codes: Array) -> Array:
        known = len(self.channels)
        numbers = self.channels.find(codes)
        if len(self.channels) > known:
            self.look_up()
        return numbers

    def find_subtasks(self, codes: Array) -> Array:
        return self.subtasks.find(codes)

    def channel_at(self, number: int) -> Channel:
        return self.layout.channel_at(int(self.channels.codes[number]))

    def subtask_at(self, number: int) -> tuple[str, int]:
        return self.layout.subtask_at(int(self.subtasks.codes[number]))


def find_edges(numbers: Array, layout: Layout) -> Array:
    """Map edge numbers of a log to places in the job."""
    known = np.array(sorted(layout.edge_index), dtype=np.int64)
    places = np.searchsorted(known, numbers)
    unknown = places == len(known)
    unknown[~unknown] = known[places[~unknown]] != numbers[~unknown]
    if unknown.any():
        raise MalformedLogError(f"edge {numbers[int(np.argmax(unknown))]} is unknown")
    return np.array([layout.edge_index[number] for number in known.tolist()], dtype=np.int64)[places]


@attrs.frozen(eq=False)
class Table:
    """A lookup table for the channels of a small job by edge, producer and consumer; -1 is none."""

    shape: tuple[int, int, int]
    numbers: Array

    def find(self, edge: Array, producer: Array, consumer: Array) -> Array | None:
        """None if a row has no channel; the caller finds the reason."""
        for column, size in zip((edge, producer, consumer), self.shape, strict=True):
            # As an unsigned number, a negative one is too large.
            if len(column) and column.view(np.uint32).max() >= size:
                return None
        # As wide as an index: narrower ones would be converted at each use.
        places = np.multiply(edge, self.shape[1], dtype=np.intp)
        places += producer
        places *= self.shape[2]
        places += consumer
        numbers = self.numbers.take(places)
        return None if len(numbers) and numbers.min() < 0 else numbers


def make_table(numbering: Numbering) -> Table | None:
    """None if large gaps between edge numbers would make the table too large."""
    edges = numbering.layout.edges
    if not edges:
        return None
    shape = (
        max(edge.number for edge in edges) + 1,
        max(edge.producers for edge in edges),
        max(edge.consumers for edge in edges),
    )
    if shape[0] * shape[1] * shape[2] > 2 * FEW:
        return None
    numbers = np.full(shape, -1, dtype=np.int64)
    real = np.flatnonzero(numbering.edge >= 0)
    of_edge = np.array([edge.number for edge in edges])[numbering.edge[real]]
    numbers[of_edge, numbering.producer[real], numbering.consumer[real]] = real
    return Table(shape, numbers.reshape(-1))
