"""Where the rows of a run stand: which chunk has which steps of which subtask, which positions of which channel.

It is noted while the kernels see the chunks, and costs next to nothing, so that what lies around a row can be read
again without the rest.
"""

from collections.abc import Iterable, Iterator

import attrs
import numpy as np

from tidegate.properties.kernels.layout import SIDES, Array

#: Of a job with very many channels no more than so many notes are kept: then every chunk may be the one.
MOST_NOTES = 4_000_000


@attrs.frozen(eq=False)
class Notes:
    """Of a chunk: the codes of what it has rows of, sorted, and the number behind the last row of each."""

    codes: Array
    behind: Array

    def find(self, code: int) -> int | None:
        place = int(np.searchsorted(self.codes, code))
        return int(self.behind[place]) if place < len(self.codes) and self.codes[place] == code else None


@attrs.define
class Trail:
    """`is_lost`: there were too many notes."""

    steps: list[Notes] = attrs.Factory(list)
    positions: list[Notes] = attrs.Factory(list)
    count: int = 0
    is_lost: bool = False

    def note(self, steps: Notes, positions: Notes) -> None:
        self.count += len(steps.codes) + len(positions.codes)
        if self.count > MOST_NOTES:
            self.is_lost = True
            self.steps, self.positions = [], []
        if not self.is_lost:
            self.steps.append(steps)
            self.positions.append(positions)

    def find(
        self, subtask: int, step: int, channel: int, position: int, distances: Iterable[int]
    ) -> list[list[int]] | None:
        """For each distance the chunks with rows so near, of the subtask by step and of the channel by position.

        None: any may have them.
        """
        if self.is_lost:
            return None
        sought = [(step, one) for one in find_ranges(self.steps, subtask)]
        for side in range(channel * SIDES, (channel + 1) * SIDES):
            sought += [(position, one) for one in find_ranges(self.positions, side)]
        return [
            sorted(
                {chunk for at, (chunk, first, behind) in sought if first <= at + distance and at - distance < behind}
            )
            for distance in distances
        ]


def find_ranges(notes: list[Notes], code: int) -> Iterator[tuple[int, int, int]]:
    """The chunks that have rows of this code: the first number of these, and the one behind the last."""
    first = 0
    for chunk, one in enumerate(notes):
        behind = one.find(code)
        if behind is not None:
            yield chunk, first, behind
            first = behind
