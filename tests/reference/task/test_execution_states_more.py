"""The claims about the states of a task refuse what they are there to refuse."""

from tidegate.reference.claims import claims_in
from tidegate.reference.task import execution_states
from tidegate.reference.task.execution_states import TaskState, compare_and_set, compute_followers

CLAIMS = {law.name: law for law in claims_in(execution_states)}


def test_one_way_back_is_enough_to_enter_a_state_twice(monkeypatch):
    def deploy_again(state):
        return compute_followers(state) | ({TaskState.DEPLOYING} if state is TaskState.RUNNING else set())

    holds = CLAIMS["every-state-can-end"].holds
    assert holds(TaskState.RUNNING)
    monkeypatch.setattr(execution_states, "compute_followers", deploy_again)
    assert not holds(TaskState.RUNNING)
    assert not holds(TaskState.DEPLOYING)
    assert holds(TaskState.SCHEDULED)


def test_who_loses_a_race_and_sets_the_state_all_the_same_is_refused(monkeypatch):
    """Both have read that it runs; the first wins, and the second sets the state although it says that it lost."""

    def set_anyway(state, expected, target):
        return target, compare_and_set(state, expected, target)[1]

    race = (TaskState.RUNNING, (TaskState.CANCELING, TaskState.FINISHED), (0, 1, 0, 1))
    holds = CLAIMS["races-are-like-turns"].holds
    assert holds(*race)
    monkeypatch.setattr(execution_states, "compare_and_set", set_anyway)
    assert not holds(*race)
