"""The places of rows in a run: the steps of subtasks and the positions of channels in each chunk.

It is recorded while the kernels read the chunks, at little cost, so that the rows around a violation can be read again
without the rest.
"""

from collections.abc import Iterable, Iterator

import attrs
import numpy as np

from tidegate.properties.kernels.layout import SIDES, Array

#: Limit of notes for a job with very many channels: beyond it, any chunk may hold a row.
MOST_NOTES = 4_000_000


@attrs.frozen(eq=False)
class Notes:
    """Note of a chunk: the sorted codes of its rows, and the number after the last row of each."""

    codes: Array
    behind: Array

    def find(self, code: int) -> int | None:
        place = int(np.searchsorted(self.codes, code))
        return int(self.behind[place]) if place < len(self.codes) and self.codes[place] == code else None


@attrs.define
class Trail:
    """`is_lost`: there were too many notes to keep."""

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
        """Per distance, the chunks with rows that near, of the subtask by step and of the channel by position.

        None if unknown.
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
    """The chunks with rows of this code: the first number, and the one after the last."""
    first = 0
    for chunk, one in enumerate(notes):
        behind = one.find(code)
        if behind is not None:
            yield chunk, first, behind
            first = behind
