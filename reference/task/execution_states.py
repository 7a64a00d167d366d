"""The states of a task, which of them may follow which, and how a state is changed when several want to.

Choices. ExecutionState and Execution (the job manager's copy), Task (the task manager's copy, which skips SCHEDULED).
INITIALIZING is there since 1.13; before, DEPLOYING was followed by RUNNING.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product

from tidegate.reference.claims import law


class TaskState(StrEnum):
    CREATED = "created"
    SCHEDULED = "scheduled"
    DEPLOYING = "deploying"
    INITIALIZING = "initializing"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELING = "canceling"
    CANCELED = "canceled"
    FAILED = "failed"
    RECONCILING = "reconciling"


TERMINAL = frozenset((TaskState.FINISHED, TaskState.CANCELED, TaskState.FAILED))

#: What follows in the course of a task that succeeds.
NEXT = {
    TaskState.CREATED: (TaskState.SCHEDULED, TaskState.DEPLOYING),
    TaskState.SCHEDULED: (TaskState.DEPLOYING,),
    TaskState.DEPLOYING: (TaskState.INITIALIZING, TaskState.RUNNING),
    TaskState.INITIALIZING: (TaskState.RUNNING,),
    TaskState.RUNNING: (TaskState.FINISHED,),
}
#: Where cancelling begins. The task manager cancels a task also before it is started.
CANCELLABLE = (TaskState.CREATED, TaskState.SCHEDULED, TaskState.DEPLOYING, TaskState.INITIALIZING, TaskState.RUNNING)


def compute_followers(state: TaskState) -> frozenset[TaskState]:
    """TASK-1: the states that may follow."""
    if state in TERMINAL:
        return frozenset()
    followers = {TaskState.FAILED, *NEXT.get(state, ())}
    if state in CANCELLABLE:
        followers.add(TaskState.CANCELING)
    if state not in (TaskState.CREATED, TaskState.SCHEDULED, TaskState.RECONCILING):
        followers.add(TaskState.CANCELED)
    if state is TaskState.RECONCILING:
        followers |= set(TaskState) - {TaskState.CREATED, TaskState.RECONCILING}
    return frozenset(followers)


def compare_and_set(state: TaskState, expected: TaskState, target: TaskState) -> tuple[TaskState, bool]:
    """TASK-2: the state afterwards, and whether the race was won."""
    return (target, True) if state is expected else (state, False)


# --- laws -----------------------------------------------------------------------------------------------------


def find_reachable(state: TaskState) -> frozenset[TaskState]:
    reached = frozenset((state,))
    while True:
        more = reached.union(*(compute_followers(one) for one in reached))
        if more == reached:
            return reached
        reached = more


def all_states() -> Iterator[tuple[TaskState]]:
    yield from ((state,) for state in TaskState)


@law("TASK-1", "TASK-2", samples=all_states)
def every_state_can_end(state: TaskState) -> bool:
    """Terminal states are final, every other state may fail, and none is entered twice.

    A terminal state is never left, every other one may fail and leads to a terminal state, none leads back.
    """
    reachable = find_reachable(state)
    if state in TERMINAL:
        return reachable == {state}
    may_fail = TaskState.FAILED in compute_followers(state)
    leads_back = any(state in find_reachable(follower) for follower in compute_followers(state))
    return may_fail and bool(reachable & TERMINAL) and not leads_back


def races_of_two() -> Iterator[tuple[TaskState, tuple[TaskState, ...], tuple[int, ...]]]:
    starts = (TaskState.DEPLOYING, TaskState.RUNNING)
    targets = ((TaskState.FINISHED, TaskState.CANCELING), (TaskState.FAILED, TaskState.FINISHED))
    yield from product(starts, targets, product((0, 1), repeat=6))


@law("TASK-2", samples=races_of_two)
def races_are_like_turns(start: TaskState, targets: tuple[TaskState, ...], order: tuple[int, ...]) -> bool:
    """However two actors race for a state, the changes form one sequence that ends at the first terminal state.

    Each of several actors reads, then sets; who loses reads again and stops at a terminal state or one like its own.
    `order` is who moves, in turn. Whatever it is, the states passed through are a chain of won races, each from the
    state that its winner had read, and no terminal state is left.
    """
    state = start
    read: dict[int, TaskState] = {}
    passed = [state]
    for actor in order:
        if actor not in read:
            read[actor] = state
        elif read[actor] in TERMINAL or read[actor] is targets[actor]:
            continue
        else:
            expected = read.pop(actor)
            state, won = compare_and_set(state, expected, targets[actor])
            if won != (expected is passed[-1]):
                return False
            if won:
                passed.append(state)
    ended = [one for one in passed if one in TERMINAL]
    return len(ended) <= 1 and passed[-1] is state and (not ended or ended[0] is state)
