"""The rows of a chunk sorted by side, for the kernels of channels."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from tidegate.properties.kernels.columns import KIND, Chunk
from tidegate.properties.kernels.findings import Finding
from tidegate.properties.kernels.layout import BUFFER, DIRECTIONS, KINDS, SIDES, Array
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.segments import find_runs, find_starts, measure, sort_stably

#: Flag of a received late record, beside the kind of a row.
LATE = 32


class Ordered:
    """Places count in this order; `order` has the place of each row in the chunk. `codes` are the sides of its runs."""

    def __init__(self, chunk: Chunk, numbering: Numbering, late: Array) -> None:
        self.chunk, self.numbering = chunk, numbering
        side = chunk.side
        self.order = sort_stably(side)
        self.codes, self.starts, self.lengths = find_runs(side, self.order, numbering.sides)
        what = chunk.what
        if len(late):
            what = what.copy()
            what[late] |= LATE
        self.what = what.take(self.order)
        self.position = chunk.position.take(self.order)

    @cached_property
    def marks(self) -> "Marks":
        """The elements that are not records: few."""
        places = np.flatnonzero(self.what & KIND)
        kinds = self.what.take(places) & KIND
        is_element = kinds < BUFFER
        return Marks(self, places[is_element], kinds[is_element])

    def runs_of(self, flow: int) -> tuple[Array, Array, Array]:
        """The channels with rows of a flow, the first place at either end, and the number of rows."""
        mine = np.flatnonzero(self.codes % SIDES // 2 == flow)
        ends = self.codes[mine]
        channels = ends // SIDES
        firsts = find_starts(channels)
        row = np.repeat(np.arange(len(firsts)), measure(firsts, len(mine)))
        starts = np.zeros((2, len(firsts)), dtype=np.int64)
        counts = np.zeros((2, len(firsts)), dtype=np.int64)
        starts[ends % 2, row] = self.starts[mine]
        counts[ends % 2, row] = self.lengths[mine]
        return channels[firsts], starts, counts

    def find(self, invariant: str, places: Iterable[int], message: Callable[[int], str]) -> Iterator[Finding]:
        """Findings at these places; the message gets the index of the place."""
        for turn, place in enumerate(places):
            row = int(self.order[place])
            yield Finding(
                invariant,
                self.numbering.channel_at(int(self.chunk.channel[row])),
                DIRECTIONS[self.chunk.direction_at(row)],
                KINDS[self.chunk.kind_at(row)],
                int(self.chunk.position[row]),
                int(self.chunk.step[row]),
                message(turn),
            )


class Marks:
    """Elements that are not records, sorted by side. `end`: a channel has two, out and in."""

    def __init__(self, rows: Ordered, places: Array, kinds: Array) -> None:
        self.places, self.kind = places, kinds
        at = rows.order.take(places)
        chunk = rows.chunk
        self.end = chunk.channel.take(at).astype(np.int64) * 2 + (rows.what.take(places) >> 4 & 1)
        self.timestamp, self.value = chunk.timestamp.take(at), chunk.value.take(at)

    def pick(self, chosen: Array) -> tuple[Array, Array]:
        """The selected marks as places, and where the runs of their ends begin."""
        which = np.flatnonzero(chosen)
        return which, find_starts(self.end[which])
