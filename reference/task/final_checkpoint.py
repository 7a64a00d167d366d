"""The last checkpoint of a task: what it has done is not safe until a checkpoint is complete that has all of it.

Choices. StreamTask with checkpoints after tasks have finished (FLIP-147). What the task is told out of turn, before it
is invoked or when it is not running, is refused: the task manager hands on nothing then.
"""

import attrs

from tidegate.reference.elements import Long
from tidegate.reference.task.values import FINAL, AbortCheckpoint, BeginCheckpoint, Checkpoints, State


def begin(known: Checkpoints, event: BeginCheckpoint, *, data_ended: bool) -> Checkpoints | None:
    """TASK-13, TASK-14: what is known then; nothing if the job is to stop with another savepoint already."""
    if event.stops:
        if known.savepoint not in (None, event.checkpoint):
            return None
        known = attrs.evolve(known, savepoint=event.checkpoint)
    is_first = data_ended and known.first is None
    return attrs.evolve(known, first=event.checkpoint) if is_first else known


def complete(known: Checkpoints, checkpoint: Long) -> Checkpoints:
    """TASK-13, TASK-14: what is not newer than the last says nothing new."""
    if checkpoint <= known.completed:
        return known
    if known.savepoint is None:
        is_last = known.first is not None and checkpoint >= known.first
    else:
        is_last = checkpoint == known.savepoint
    return attrs.evolve(known, completed=checkpoint, is_final=known.is_final or is_last)


def abort(known: Checkpoints, event: AbortCheckpoint) -> Checkpoints:
    """TASK-13: what was completed meanwhile is told with it."""
    return complete(known, event.completed) if event.completed > 0 else known


def is_final(state: State) -> bool:
    """Whether nothing has to be waited for, or no longer."""
    return state.config.extension != FINAL or state.checkpoints.is_final
