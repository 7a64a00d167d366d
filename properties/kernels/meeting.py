"""Matches the rows at both ends of channels in order: the first sent with the first received, and so on.

As long as both ends agree, which is nearly always, the rows of all channels of a chunk are paired at once. Rows without
a partner wait, so that memory holds the elements in flight.
"""

import attrs
import numpy as np

from tidegate.properties.kernels.layout import Array
from tidegate.properties.kernels.segments import count_up, sort_stably

#: A waiting row. `sort`: see columns. `flag`: sent in time, or received late.
ROW = np.dtype([*((name, np.int64) for name in ("channel", "name", "sort", "position", "step")), ("flag", np.bool_)])
NOBODY = np.empty(0, dtype=ROW)


@attrs.frozen(eq=False)
class Meeting:
    """The channels of a chunk at both ends. Places count the waiting rows first, then the ordered chunk.

    The rows of an end are two runs: waiting rows, and rows of the chunk. `starts` and `counts` have both per channel:
    [sent or received][waiting or new, by channel].
    """

    channels: Array
    waiting: tuple[Array, Array]
    starts: tuple[Array, Array]
    counts: tuple[Array, Array]

    @property
    def common(self) -> Array:
        """How many rows of each channel have a partner."""
        return np.asarray(np.minimum(*(counts.sum(axis=1) for counts in self.counts)))

    def pair(self, chosen: Array) -> tuple[Array, Array]:
        """The places of the pairs of the selected channels, at either end."""
        wanted = np.where(chosen, self.common, 0)
        return self.take_first(0, wanted), self.take_first(1, wanted)

    def take_first(self, direction: int, wanted: Array) -> Array:
        starts, counts = self.starts[direction], self.counts[direction]
        waited = np.minimum(counts[:, 0], wanted)
        lengths = np.stack([waited, wanted - waited], axis=1).reshape(-1)
        return count_up(starts.reshape(-1), lengths)

    def take_rest(self, direction: int, done: Array) -> Array:
        """The places after the paired rows of each channel."""
        starts, counts = self.starts[direction], self.counts[direction]
        waited = np.minimum(counts[:, 0], done)
        gone = np.stack([waited, done - waited], axis=1)
        return count_up((starts + gone).reshape(-1), (counts - gone).reshape(-1))


@attrs.define(eq=False)
class Waiting:
    """Rows that were sent and not received yet, and rows that were received and not sent yet, sorted by channel."""

    rows: tuple[Array, Array] = (NOBODY, NOBODY)

    def __len__(self) -> int:
        return sum(map(len, self.rows))

    def meet(self, channels: Array, starts: Array, counts: Array) -> Meeting:
        """Combine with the rows of a chunk, at the places of `Ordered.runs_of`."""
        all_starts, all_counts = [], []
        offset = len(self)
        for direction, before in enumerate((0, len(self.rows[0]))):
            held = self.rows[direction]["channel"]
            first, behind = np.searchsorted(held, channels), np.searchsorted(held, channels, "right")
            all_starts.append(np.stack([first + before, starts[direction] + offset], axis=1))
            all_counts.append(np.stack([behind - first, counts[direction]], axis=1))
        return Meeting(channels, self.rows, (all_starts[0], all_starts[1]), (all_counts[0], all_counts[1]))

    def join(self, column: str, new: Array) -> Array:
        """A column over all places of a meeting: the waiting rows, then the ordered chunk."""
        if not len(self):
            return new
        return np.concatenate([self.rows[0][column].astype(new.dtype), self.rows[1][column].astype(new.dtype), new])

    def keep(self, rows: tuple[Array, Array], met: Array) -> None:
        """Replace the waiting rows of the channels in the meeting."""
        self.rows = (self.replace(0, rows[0], met), self.replace(1, rows[1], met))

    def replace(self, direction: int, rows: Array, met: Array) -> Array:
        held = self.rows[direction]
        others = held[~np.isin(held["channel"], met)] if len(held) else held
        if not len(others):
            return rows
        joined = np.concatenate([others, rows])
        return joined.take(sort_stably(joined["channel"]))
