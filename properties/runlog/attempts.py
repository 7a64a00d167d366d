"""The attempts of a run: where a restore cut each one, and the run without the undone rows.

An attempt starts from a checkpoint. Of the attempt that took the checkpoint, each subtask's rows up to its own snapshot
stay; later rows and the attempts between are undone. The remaining rows, attempt by attempt, form one run: elements in
flight at the checkpoint are sent before it and received after it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from enum import StrEnum

import attrs

from tidegate.traces.runlog import Delivery, Direction, Kind, Row, RunLog


class View(StrEnum):
    """The rows that an invariant checks.

    Each attempt alone, or the kept rows of each; all attempts as one run without the undone rows; or everything.
    """

    ATTEMPTS = "attempts"
    KEPT = "kept"
    SPLICED = "spliced"
    EVERYTHING = "everything"


def see(log: RunLog, view: View) -> list[RunLog]:
    if not log.job.restored or view is View.EVERYTHING:
        return [log]
    attempts = by_attempt(log.rows)
    if view is View.ATTEMPTS:
        return [piece(log, attempts[one], one) for one in sorted(attempts)]
    if view is View.SPLICED and log.job.capabilities.delivery is Delivery.AT_LEAST_ONCE:
        return [attrs.evolve(log, rows=tuple(row for one in sorted(attempts) for row in attempts[one]))]
    kept = keep(log)
    if view is View.KEPT:
        return [piece(log, rows, one) for one, rows in kept.items()]
    return [attrs.evolve(log, rows=tuple(row for rows in kept.values() for row in rows))]


def piece(log: RunLog, rows: Iterable[Row], attempt: int) -> RunLog:
    """Only the last attempt can be complete."""
    return attrs.evolve(log, rows=tuple(rows), complete=log.complete and attempt == find_last(log.job.restores))


def by_attempt(rows: Iterable[Row]) -> dict[int, list[Row]]:
    attempts: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        attempts[row.attempt].append(row)
    return attempts


def find_last(restores: Mapping[int, int | None]) -> int:
    return max(restores, default=0)


def find_home(taken: Mapping[int, set[int]], checkpoint: int, attempt: int) -> int | None:
    """The attempt that took the checkpoint: the last before this one with a snapshot of it."""
    return max((one for one in taken.get(checkpoint, ()) if one < attempt), default=None)


def find_lineage(restores: Mapping[int, int | None], taken: Mapping[int, set[int]]) -> list[tuple[int, int | None]]:
    """The attempts that form the run, in order, with the checkpoint at which each is cut.

    `taken`: the attempts with snapshots of each checkpoint.
    """
    attempt = find_last(restores)
    lineage: list[tuple[int, int | None]] = [(attempt, None)]
    while (checkpoint := restores.get(attempt)) is not None:
        home = find_home(taken, checkpoint, attempt)
        if home is None:
            break
        attempt = home
        lineage.append((attempt, checkpoint))
    return lineage[::-1]


def find_taken(rows: Iterable[Row]) -> dict[int, set[int]]:
    taken: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        if row.kind is Kind.SNAPSHOT and row.value is not None:
            taken[row.value].add(row.attempt)
    return taken


def keep(log: RunLog) -> dict[int, list[Row]]:
    """The remaining rows of each attempt.

    Barriers belong to their attempt: a barrier in flight is not sent again.
    """
    attempts = by_attempt(log.rows)
    kept = {}
    for attempt, checkpoint in find_lineage(log.job.restores, find_taken(log.rows)):
        rows = attempts.get(attempt, [])
        if checkpoint is not None:
            ends = find_ends(rows, checkpoint)
            rows = [row for row in rows if row.step < ends[row.task, row.subtask] and row.kind is not Kind.BARRIER]
        kept[attempt] = rows
    return kept


def find_ends(rows: Iterable[Row], checkpoint: int) -> dict[tuple[str, int], int]:
    """How many steps of each subtask are in the checkpoint: none without a snapshot, unless it had finished."""
    subtasks: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        subtasks[row.task, row.subtask].append(row)
    ends = {}
    for place, mine in subtasks.items():
        cuts = [row.step + 1 for row in mine if row.kind is Kind.SNAPSHOT and row.value == checkpoint]
        ends[place] = cuts[0] if cuts else len(mine) * is_over(mine)
    return ends


def is_over(rows: Iterable[Row]) -> bool:
    """Whether a subtask has ended all its outputs; without outputs, whether it has read the ends of all inputs."""
    elements = [row for row in rows if row.flow is None]
    side = Direction.OUT if any(row.dir is Direction.OUT for row in elements) else Direction.IN
    channels = {row.channel for row in elements if row.dir is side}
    ended = {row.channel for row in elements if row.dir is side and row.kind is Kind.END_OF_PARTITION}
    return bool(channels) and channels == ended
