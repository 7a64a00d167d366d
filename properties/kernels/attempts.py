"""Runs with several attempts: each alone, its kept rows, all as one run, and the checkpoint of each.

Such a run is held in memory, since only its last rows tell which of the first were undone.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, RECEIVED, Chunk
from tidegate.properties.kernels.disagreement import rank_within
from tidegate.properties.kernels.findings import Finding, Tally, find
from tidegate.properties.kernels.layout import (
    BARRIER,
    BUFFER,
    DIRECTIONS,
    END_OF_PARTITION,
    NONE,
    RESTORED,
    SIDES,
    SNAPSHOT,
    Array,
)
from tidegate.properties.kernels.numbering import Numbering, OutgrownError
from tidegate.properties.kernels.sides import show
from tidegate.properties.runlog.attempts import find_home, find_last, find_lineage
from tidegate.traces.runlog import Delivery

#: Limit of rows of a run with several attempts that a worker holds.
MOST_ROWS = 20_000_000
COLUMNS = ("step", "subtask", "channel", "what", "position", "timestamp", "id", "value", "key", "attempt")


def join(chunks: Iterable[Chunk]) -> Chunk | None:
    """None of none."""
    held, rows = [], 0
    for chunk in chunks:
        held.append(chunk)
        rows += len(chunk)
        if rows > MOST_ROWS:
            raise OutgrownError(f"a run with several attempts has more than {MOST_ROWS:,} rows")
    if not held:
        return None
    arrow: Any = import_module("pyarrow")
    keys: list[Any] = []
    shifted = []
    for chunk in held:
        known = sum(len(one) for one in keys)
        shifted.append(np.where(chunk.key >= 0, chunk.key.astype(np.int64) + known, -1))
        keys += [] if chunk.keys is None else [chunk.keys.cast(arrow.string())]
    columns = {name: np.concatenate([getattr(one, name) for one in held]) for name in COLUMNS if name != "key"}
    return Chunk(**columns, key=np.concatenate(shifted), keys=arrow.concat_arrays(keys) if keys else None)


def take(chunk: Chunk, places: Array) -> Chunk:
    return Chunk(**{name: getattr(chunk, name)[places] for name in COLUMNS}, keys=chunk.keys)


@attrs.frozen(eq=False)
class Recounted:
    """Selected rows of a run, renumbered; findings use the original numbers."""

    before: Chunk
    chunk: Chunk

    def restore(self, finding: Finding, numbering: Numbering) -> Finding:
        channel = int(numbering.number_channels(np.array([numbering.layout.code_of(finding.channel)]))[0])
        side = channel * SIDES + DIRECTIONS.index(finding.direction)
        (place,) = np.flatnonzero((self.chunk.side == side) & (self.chunk.position == finding.position))
        old = self.before
        assert old.attempt is not None
        position, step, attempt = (int(column[place]) for column in (old.position, old.step, old.attempt))
        return attrs.evolve(finding, position=position, step=step, attempt=attempt)


def recount(chunk: Chunk) -> Recounted:
    step, position = rank_within(chunk.subtask), rank_within(chunk.side)
    return Recounted(chunk, attrs.evolve(chunk, step=step, position=position))


class Attempts:
    """A run: all its rows."""

    def __init__(self, numbering: Numbering, chunk: Chunk) -> None:
        self.numbering, self.chunk = numbering, chunk
        self.restores = numbering.layout.job.restores
        assert chunk.attempt is not None
        self.attempt: Array = chunk.attempt
        self.kind = chunk.what & KIND
        self.last = find_last(self.restores)
        snapshots = np.flatnonzero(self.kind == SNAPSHOT)
        self.taken: dict[int, set[int]] = defaultdict(set)
        #: The rows of the snapshots by attempt, subtask and checkpoint.
        self.snapshots: dict[tuple[int | None, int, int | None], list[int]] = defaultdict(list)
        for place in snapshots[chunk.value[snapshots] != NONE].tolist():
            attempt, checkpoint = int(self.attempt[place]), int(chunk.value[place])
            self.taken[checkpoint].add(attempt)
            self.snapshots[attempt, int(chunk.subtask[place]), checkpoint].append(place)

    def each(self) -> Iterator[tuple[int, Chunk]]:
        for attempt in np.unique(self.attempt).tolist():
            yield attempt, take(self.chunk, np.flatnonzero(self.attempt == attempt))

    def each_kept(self) -> Iterator[tuple[int, Recounted]]:
        for attempt, places in self.find_kept():
            yield attempt, recount(take(self.chunk, places))

    def spliced(self) -> Recounted:
        if self.numbering.layout.job.capabilities.delivery is Delivery.AT_LEAST_ONCE:
            return recount(take(self.chunk, np.argsort(self.attempt, kind="stable")))
        return recount(take(self.chunk, np.concatenate([places for _attempt, places in self.find_kept()])))

    def find_kept(self) -> list[tuple[int, Array]]:
        kept = []
        for attempt, checkpoint in find_lineage(self.restores, self.taken):
            places = np.flatnonzero(self.attempt == attempt)
            if checkpoint is not None:
                subtasks = self.chunk.subtask[places]
                ends = np.zeros(len(self.numbering.subtasks), dtype=np.int64)
                for subtask in np.unique(subtasks).tolist():
                    ends[subtask] = self.find_end(attempt, subtask, checkpoint)
                is_kept = (self.chunk.step[places] < ends[subtasks]) & (self.kind[places] != BARRIER)
                places = places[is_kept]
            kept.append((attempt, places))
        return kept

    def find_end(self, attempt: int, subtask: int, checkpoint: int) -> int:
        cuts = self.snapshots.get((attempt, subtask, checkpoint))
        if cuts:
            return int(self.chunk.step[cuts[0]]) + 1
        mine = self.rows_of(attempt, subtask)
        return len(mine) * self.is_over(mine)

    def rows_of(self, attempt: int, subtask: int) -> Array:
        return np.flatnonzero((self.attempt == attempt) & (self.chunk.subtask == subtask))

    def is_over(self, places: Array) -> bool:
        """As in the fold."""
        elements = places[self.kind[places] < BUFFER]
        is_sent = self.chunk.what[elements] < RECEIVED
        side = elements[is_sent] if is_sent.any() else elements
        ended = side[self.kind[side] == END_OF_PARTITION]
        channels = self.chunk.channel
        return bool(len(side)) and np.array_equal(np.unique(channels[side]), np.unique(channels[ended]))

    # --- recovery ---------------------------------------------------------------------------------------------

    def find_wrong_restores(self, tally: Tally) -> None:
        subtasks = np.unique(self.chunk.subtask).tolist()
        for attempt, checkpoint in sorted(self.restores.items()):
            home = None if checkpoint is None else find_home(self.taken, checkpoint, attempt)
            for subtask in subtasks:
                rows = self.rows_of(attempt, subtask)
                if not len(rows):
                    continue
                tally.checked += 1
                saved = self.snapshots.get((home, subtask, checkpoint), [])
                if not saved and home is not None and self.is_over(self.rows_of(home, subtask)):
                    continue
                found = list(self.find_wrong_restore(rows, saved, checkpoint))
                tally.add(len(found), map(self.describe, found))

    def find_wrong_restore(self, rows: Array, saved: list[int], checkpoint: int | None) -> Iterator[tuple[int, str]]:
        value, id_of = self.chunk.value, self.chunk.id
        for row in rows[self.kind[rows] == RESTORED].tolist():
            if checkpoint is None or self.chunk.step[row] > 0:
                yield row, f"checkpoint {show(value[row])} is restored where the attempt does not begin with it"
        if checkpoint is None:
            return
        first = int(rows[0])
        for row in saved[1:]:
            yield row, f"a second snapshot is taken of checkpoint {checkpoint}"
        if self.kind[first] != RESTORED:
            yield first, f"the attempt goes on from checkpoint {checkpoint}, and the subtask restores nothing"
        elif value[first] != checkpoint:
            yield first, f"checkpoint {show(value[first])} is restored, and not {checkpoint}"
        elif not saved:
            yield first, f"checkpoint {checkpoint} is restored, of which the subtask has taken no snapshot"
        elif NONE not in (id_of[first], id_of[saved[0]]) and id_of[first] != id_of[saved[0]]:
            text = f"state {id_of[first]} is restored, and {id_of[saved[0]]} was saved in checkpoint {checkpoint}"
            yield first, text

    def describe(self, found: tuple[int, str]) -> Finding:
        (told,) = find(self.chunk, self.numbering, "LOG-RECOVER", [found])
        return attrs.evolve(told, attempt=int(self.attempt[found[0]]))
