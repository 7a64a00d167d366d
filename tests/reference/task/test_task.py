"""The task, rule by rule."""

import attrs
import pytest

from tests.reference.walking import begin, claim, last, law_holds, seen, walk
from tidegate.reference.elements import MAX, Watermark
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.task import execution_states, submission, values
from tidegate.reference.task.execution_states import TaskState, compare_and_set, compute_followers
from tidegate.reference.task.step import STEPS
from tidegate.reference.task.submission import Edge

INVOKED = "start " + "proceed " * STEPS.index("finish_partitions")


USUAL = {"operators": 2, "outputs": 1}


@pytest.mark.rule("TASK-1", "TASK-4")
def test_task_4_the_steps_of_a_life():
    outcomes = walk("task", USUAL, INVOKED + "drain ack0 proceed proceed")
    steps = [seen.name for outcome in outcomes for seen in outcome.observations if isinstance(seen, values.StepTaken)]
    assert tuple(steps) == STEPS
    changes = [seen.state for outcome in outcomes for seen in outcome.observations if isinstance(seen, values.Changed)]
    assert changes == ["deploying", "initializing", "running", "finished"]
    assert outcomes[-1].observations == (
        values.Changed(TaskState.FINISHED),
        values.Released(),
        values.Reported(TaskState.FINISHED),
    )
    assert outcomes[6].observations == (values.Changed(TaskState.INITIALIZING), values.StepTaken("restore"))


@pytest.mark.rule("TASK-1")
@pytest.mark.parametrize(
    ("state", "followers"),
    [
        ("created", "scheduled deploying canceling failed"),
        ("deploying", "initializing running canceling canceled failed"),
        ("running", "finished canceling canceled failed"),
        ("canceling", "canceled failed"),
        ("finished", ""),
    ],
)
def test_task_1_what_may_follow(state, followers):
    assert set(compute_followers(TaskState(state))) == set(followers.split())


@pytest.mark.rule("TASK-6")
def test_task_6_stages():
    edges = (Edge(0, 1, blocking=False), Edge(1, 2, blocking=True), Edge(2, 3, blocking=False))
    assert submission.compute_stages(4, edges) == (0, 0, 1, 1)
    assert submission.find_regions(4, edges) == ({0, 1}, {2, 3})
    assert len(submission.compute_deployments((2, 1, 3, 1), edges)) == 7


@pytest.mark.rule("TASK-1", "TASK-2", "TASK-6")
@pytest.mark.parametrize(
    ("name", "module", "function", "mutant"),
    [
        ("every-state-can-end", execution_states, "compute_followers", lambda _state: frozenset((TaskState.CREATED,))),
        ("races-are-like-turns", execution_states, "compare_and_set", lambda _state, _expected, target: (target, True)),
        ("deployed-when-it-can-run", submission, "compute_stages", lambda vertices, _edges: (0,) * vertices),
    ],
)
def test_laws_fail_on_mutants(monkeypatch, name, module, function, mutant):
    monkeypatch.setattr(module, function, mutant)
    assert not law_holds("task", name)


# --- claims, told of what is wrong ----------------------------------------------------------------------------


def test_one_way_back_is_enough_to_enter_a_state_twice(monkeypatch):
    def deploy_again(state):
        return compute_followers(state) | ({TaskState.DEPLOYING} if state is TaskState.RUNNING else set())

    holds = claim("task", "every-state-can-end")
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
    holds = claim("task", "races-are-like-turns")
    assert holds(*race)
    monkeypatch.setattr(execution_states, "compare_and_set", set_anyway)
    assert not holds(*race)


INVOKABLE = {"operators": 1, "outputs": 1, "extension": "invokable"}
UP = "start proceed proceed proceed proceed proceed"


@pytest.mark.rule("TASK-4")
@pytest.mark.parametrize(("steps", "name"), [(0, "load_code"), (2, "copy_files"), (4, "instantiate")])
def test_task_4_nobody_looks_before_some_steps(steps, name):
    begun = "start" + " proceed" * steps
    for event in ('cancel"deploying"', 'fail"deploying"'):
        assert seen("task", INVOKABLE, f"{begun} {event} proceed")[-1] == f"step(name {name})"
        assert "step" not in seen("task", INVOKABLE, f"{begun} {event} proceed proceed")[-1]


@pytest.mark.rule("TASK-5")
def test_task_5_code_is_told_to_stop_once():
    told = [one.count("cancel_invokable") for one in seen("task", INVOKABLE, f"{UP} proceed throw-cancelled throw")]
    assert told[-2:] == [0, 1]
    assert sum(told) == 1
    told = [
        one.count("cancel_invokable") for one in seen("task", INVOKABLE, f'{UP} proceed cancel"running" throw throw')
    ]
    assert sum(told) == 1
    assert "cancel_invokable" not in seen("task", INVOKABLE, f"{UP} throw")[-1]


def test_checkpoints_and_room_belong_to_the_extension():
    with pytest.raises(InvalidInputError, match="extension invokable"):
        seen("task", {"operators": 1, "outputs": 1}, "room")


# --- the last checkpoint --------------------------------------------------------------------------------------

FINAL = {"operators": 1, "outputs": 0, "extension": "final_checkpoint"}


@pytest.mark.rule("TASK-13")
@pytest.mark.parametrize("event", ["checkpoint1", "savepoint1", "complete1", "abort1"])
@pytest.mark.parametrize(
    "trace", ["", "start", f"{UP} proceed", f'{INVOKED}cancel"running"', f"{INVOKED}throw", INVOKED + "EXTRA"]
)
def test_task_13_only_a_task_that_runs_takes_part(trace, event):
    trace = trace.replace("EXTRA", "drain checkpoint1 complete1 proceed")
    assert last("task", FINAL, f"{trace} {event}") == ("rejected", "TASK-13")


def test_last_checkpoints_belong_to_the_extension():
    for config in ({}, {"extension": "invokable"}):
        with pytest.raises(InvalidInputError, match="extension final_checkpoint"):
            seen("task", USUAL | config, "complete1")


# --- claims, told of what is wrong ----------------------------------------------------------------------------


def holds(name, before, event, after, *shown):
    return claim("task", name)(before, event, Outcome(after, shown, ()))


def make_state(config=None, **changes):
    return attrs.evolve(begin("task", config or USUAL), **changes)


@pytest.mark.rule("TASK-12")
@pytest.mark.parametrize(
    ("times", "was_over", "is_over", "is_right"),
    [
        (0, False, False, True),
        (0, False, True, True),
        (1, False, True, True),
        (2, False, True, False),
        (1, False, False, False),
        (1, True, True, False),
    ],
)
def test_the_writer_is_closed_once_and_by_the_end(times, was_over, is_over, is_right):
    closed = [values.WriterClosed()] * times
    before, after = make_state(INVOKABLE, over=was_over), make_state(INVOKABLE, over=is_over)
    assert holds("the-writer-is-closed-once", before, values.Proceed(), after, *closed) == is_right


@pytest.mark.rule("TASK-13", "TASK-14")
@pytest.mark.parametrize(
    ("data_ended", "known", "is_right"),
    [
        (True, {"first": 2, "completed": 2}, True),
        (True, {"first": 2, "completed": 3}, True),
        (True, {"first": 2, "completed": 1}, False),
        (True, {"completed": 2}, False),
        (False, {"first": 2, "completed": 2}, False),
        (False, {"savepoint": 2, "completed": 2}, True),
        (True, {"first": 1, "savepoint": 2, "completed": 1}, False),
        (True, {"first": 1, "savepoint": 2, "completed": 3}, False),
    ],
)
def test_a_checkpoint_is_the_last_if_it_has_all_or_is_the_savepoint(data_ended, known, is_right):
    name = "what-came-before-the-end-is-not-enough"
    before = make_state(FINAL, data_ended=data_ended)
    final = make_state(FINAL, checkpoints=values.Checkpoints(**known, is_final=True))
    waits = make_state(FINAL, checkpoints=values.Checkpoints(**known))
    assert holds(name, before, values.CompleteCheckpoint(2), final) == is_right
    assert holds(name, before, values.CompleteCheckpoint(2), waits)
    assert holds(name, final, values.CompleteCheckpoint(2), final)
    assert not holds(name, attrs.evolve(final, data_ended=True), values.CompleteCheckpoint(2), waits)


@pytest.mark.rule("TASK-13")
@pytest.mark.parametrize(
    ("config", "is_final", "is_right"), [(FINAL, True, True), (FINAL, False, False), (USUAL, False, True)]
)
def test_partitions_end_when_the_last_checkpoint_is_complete(config, is_final, is_right):
    state = make_state(config, checkpoints=values.Checkpoints(is_final=is_final))
    ends, others = values.StepTaken("finish_partitions"), values.StepTaken("invoke")
    assert holds("the-last-checkpoint-is-complete", state, values.Proceed(), state, ends) == is_right
    assert holds("the-last-checkpoint-is-complete", state, values.Proceed(), state, others)


@pytest.mark.rule("TASK-7", "TASK-8")
@pytest.mark.parametrize(
    ("data_ended", "acknowledged", "is_right"), [(True, {0}, True), (False, {0}, False), (True, (), False)]
)
def test_a_partition_ends_behind_its_data_and_the_acknowledgements(data_ended, acknowledged, is_right):
    state = make_state(data_ended=data_ended, acknowledged=frozenset(acknowledged))
    assert holds("output-ends-in-order", state, values.Proceed(), state, values.PartitionEnded(0)) == is_right
    assert holds("output-ends-in-order", state, values.Proceed(), state)


@pytest.mark.rule("TASK-7")
@pytest.mark.parametrize("shown", [Watermark(MAX), values.OperatorFinished(0)])
@pytest.mark.parametrize(
    ("event", "is_right"),
    [(values.EndOfData(drain=True), True), (values.EndOfData(drain=False), False), (values.Proceed(), False)],
)
def test_event_time_ends_by_a_drain_only(event, shown, is_right):
    assert holds("only-drain-ends-time", make_state(), event, make_state(), shown) == is_right
    assert holds("only-drain-ends-time", make_state(), event, make_state())


@pytest.mark.rule("TASK-5")
@pytest.mark.parametrize(("state", "is_right"), [(TaskState.FAILED, True), (TaskState.RUNNING, False)])
def test_a_thread_ends_in_a_terminal_state(state, is_right):
    before, after = make_state(state=state), make_state(state=state, over=True)
    assert holds("reported-once", before, values.Proceed(), after, values.Reported(state)) == is_right
    assert not holds("reported-once", before, values.Proceed(), after)
    assert not holds("reported-once", after, values.Proceed(), after, values.Reported(state))


@pytest.mark.rule("TASK-11")
@pytest.mark.parametrize("end", ["proceed", "throw"])
def test_what_is_over_cleans_up_no_more(end):
    """Nobody is left to be told anything then."""
    *_, cleaning, over = walk("task", INVOKABLE, f"{UP} proceed throw {end}")
    assert (cleaning.state.cleaning, cleaning.state.untold, cleaning.state.over) == (True, True, False)
    assert (over.state.cleaning, over.state.untold, over.state.over) == (False, False, True)
