"""The task, rule by rule."""

import attrs
import pytest

from tests.reference.walking import begin, claim, law_holds, seen, walk
from tests.reference.walking import last as walking_last
from tidegate.reference.elements import MAX, Watermark
from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.reference.task import execution_states, submission, values
from tidegate.reference.task.execution_states import TaskState, compare_and_set, compute_followers
from tidegate.reference.task.step import STEPS
from tidegate.reference.task.submission import Edge

INVOKED = "start " + "proceed " * STEPS.index("finish_partitions")


USUAL = {"operators": 2, "outputs": 1}


def last(trace, **config):
    return walk("task", USUAL | config, trace)[-1].observations


def changes(trace):
    seen = (one for outcome in walk("task", USUAL, trace) for one in outcome.observations)
    return [one.state.value for one in seen if isinstance(one, values.Changed)]


@pytest.mark.rule("TASK-1", "TASK-4")
def test_task_4_the_steps_of_a_life():
    outcomes = walk("task", USUAL, INVOKED + "drain ack0 proceed proceed")
    steps = [seen.name for outcome in outcomes for seen in outcome.observations if isinstance(seen, values.StepTaken)]
    assert tuple(steps) == STEPS
    assert changes(INVOKED + "drain ack0 proceed proceed") == ["deploying", "initializing", "running", "finished"]
    assert outcomes[-1].observations == (
        values.Changed(TaskState.FINISHED),
        values.Released(),
        values.Reported(TaskState.FINISHED),
    )
    assert outcomes[6].observations == (values.Changed(TaskState.INITIALIZING), values.StepTaken("restore"))


@pytest.mark.rule("TASK-3")
@pytest.mark.parametrize(
    ("trace", "seen"),
    [
        ('cancel"created" start', (values.Changed(TaskState.CANCELED), values.Reported(TaskState.CANCELED))),
        ('fail"created" start', (values.Reported(TaskState.FAILED),)),
        ("start start", (Rejected(),)),
        ('fail"created" start start', (Rejected(),)),
        ("proceed", (Rejected(),)),
        ("throw", (Rejected(),)),
        ("start throw proceed", (Rejected(),)),
    ],
)
def test_task_3_the_thread_starts_once(trace, seen):
    assert last(trace) == seen
    assert walk("task", USUAL, trace)[-1].rules == ("TASK-3",)


@pytest.mark.rule("TASK-2")
@pytest.mark.parametrize(
    ("trace", "seen", "rules"),
    [
        ('cancel"created"', (values.Changed(TaskState.CANCELING),), ("TASK-1",)),
        (
            'start cancel"created"',
            (values.Lost(TaskState.DEPLOYING), values.Changed(TaskState.CANCELING)),
            ("TASK-2", "TASK-1"),
        ),
        ('start throw cancel"deploying"', (values.Lost(TaskState.FAILED),), ("TASK-2", "TASK-1")),
        ('start cancel"deploying" fail"deploying"', (values.Lost(TaskState.CANCELING),), ("TASK-2", "TASK-1")),
        ('start throw fail"failed"', (), ("TASK-2", "TASK-1")),
        ('cancel"scheduled"', (Rejected(),), ("TASK-1",)),
        ('fail"reconciling"', (Rejected(),), ("TASK-1",)),
        (
            INVOKED + 'fail"initializing"',
            (values.Lost(TaskState.RUNNING), values.Changed(TaskState.FAILED), values.InvokableCancelled()),
            ("TASK-2", "TASK-1", "TASK-5"),
        ),
    ],
)
def test_task_2_who_loses_looks_again(trace, seen, rules):
    outcome = walk("task", USUAL, trace)[-1]
    assert (outcome.observations, outcome.rules) == (seen, rules)


@pytest.mark.rule("TASK-5")
@pytest.mark.parametrize(
    ("trace", "final"),
    [
        ("start throw", "failed"),
        ("start throw-cancelled", "canceled"),
        ('start cancel"deploying" throw', "canceled"),
        ('start fail"deploying" throw-cancelled', "failed"),
        ('start cancel"deploying" proceed proceed', "canceled"),
        ('start fail"deploying" proceed proceed', "failed"),
        (INVOKED + 'drain ack0 proceed cancel"running" proceed', "canceled"),
    ],
)
def test_task_5_how_an_exception_ends_it(trace, final):
    assert last(trace)[-2:] == (values.Released(), values.Reported(TaskState(final)))
    assert changes(trace).count(final) == 1


@pytest.mark.rule("TASK-7")
def test_task_7_the_end_of_data():
    finished = (values.OperatorFinished(0), values.OperatorFinished(1))
    ends = (values.DataEnded(0, drain=True), values.DataEnded(1, drain=True))
    assert last(INVOKED + "drain", outputs=2) == (Watermark(MAX), *finished, *ends)
    assert last(INVOKED + "stop", outputs=1) == (values.DataEnded(0, drain=False),)
    assert last(INVOKED + "drain stop") == (Rejected(),)
    assert last("start drain") == (Rejected(),)


@pytest.mark.rule("TASK-8")
@pytest.mark.parametrize(
    ("trace", "seen"),
    [
        ("proceed", (Rejected(),)),
        ("ack0", (Rejected(),)),
        ("drain proceed", (Rejected(),)),
        ("drain ack0 proceed", (Rejected(),)),
        ("drain ack0 ack0", (Rejected(),)),
        ("drain ack2", (Rejected(),)),
        ("drain ack0 ack1", ()),
        (
            "drain ack1 ack0 proceed",
            (values.StepTaken("finish_partitions"), values.PartitionEnded(0), values.PartitionEnded(1)),
        ),
    ],
)
def test_task_8_the_output_ends_when_all_have_acknowledged(trace, seen):
    assert last(INVOKED + trace, outputs=2) == seen


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


@pytest.mark.rule("TASK-9")
@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("trigger:taken", "declined(reason not_ready)"),
        (f"{UP} proceed trigger:taken", "declined(reason not_ready)"),
        (f"{UP} proceed proceed trigger:taken", "nothing"),
        (f"{UP} proceed proceed trigger:refused", "declined(reason failure)"),
        (f"{UP} proceed proceed trigger:failed", "declined(reason failure)"),
        (f"{UP} proceed proceed trigger:closing", "declined(reason closing)"),
        (f"{UP} proceed proceed throw trigger:taken", "declined(reason not_ready)"),
    ],
)
def test_task_9_checkpoints_are_declined(trace, told):
    assert seen("task", INVOKABLE, trace)[-1] == told


@pytest.mark.rule("TASK-10")
def test_task_10_only_a_task_that_runs_is_held_up():
    assert seen("task", INVOKABLE, "no-room")[-1].endswith("false)")
    assert seen("task", INVOKABLE, f"{UP} proceed no-room")[-1].endswith("true)")
    assert seen("task", INVOKABLE, f"{UP} proceed room")[-1].endswith("false)")
    assert seen("task", {**INVOKABLE, "outputs": 0}, f"{UP} proceed no-room")[-1].endswith("false)")


@pytest.mark.rule("TASK-11")
@pytest.mark.parametrize("meanwhile", ['cancel"failed"', 'fail"failed"'])
def test_task_11_what_happens_while_it_cleans_up_changes_nothing(meanwhile):
    *_, failed, nothing, cleaned = seen("task", INVOKABLE, f"{UP} proceed proceed throw {meanwhile} proceed")
    assert (failed, nothing) == ("state(state failed)", "nothing")
    assert cleaned == "step(name clean_up), cancel_invokable, writer_closed, released, final(state failed)"


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


@pytest.mark.rule("TASK-7")
def test_task_7_outputs_of_a_task_that_was_cancelled_are_gone():
    shown = seen("task", INVOKABLE, f'{UP} proceed proceed cancel"running" drain')[-1]
    assert shown.endswith("finish(operator 0)")


@pytest.mark.rule("TASK-12")
def test_task_12_there_is_no_writer_before_there_is_code():
    assert "writer" not in seen("task", INVOKABLE, "start proceed proceed proceed proceed proceed throw")[-1]
    shown = seen("task", INVOKABLE, 'start proceed proceed proceed proceed proceed cancel"deploying" proceed throw')[-1]
    assert shown == "writer_closed, released, final(state canceled)"


@pytest.mark.rule("TASK-11", "TASK-12")
def test_task_11_code_is_cleaned_up_once_it_is_there():
    assert seen("task", INVOKABLE, "start proceed throw")[-1] == "state(state failed), released, final(state failed)"
    cancelled = seen("task", INVOKABLE, f'{UP} cancel"deploying" proceed proceed')[-2:]
    assert cancelled == ["state(state canceled)", "step(name clean_up), writer_closed, released, final(state canceled)"]


def test_checkpoints_and_room_belong_to_the_extension():
    with pytest.raises(InvalidInputError, match="extension invokable"):
        seen("task", {"operators": 1, "outputs": 1}, "room")


# --- the last checkpoint --------------------------------------------------------------------------------------

FINAL = {"operators": 1, "outputs": 0, "extension": "final_checkpoint"}
ENDED = "step(name finish_partitions)"


@pytest.mark.rule("TASK-13")
@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("drain", "rejected"),
        ("checkpoint1 drain complete1", "rejected"),
        ("drain checkpoint1", "rejected"),
        ("drain checkpoint1 complete1", ENDED),
        ("checkpoint1 drain checkpoint2 complete1", "rejected"),
        ("checkpoint1 drain checkpoint2 complete1 complete2", ENDED),
        ("drain checkpoint1 checkpoint2 complete2", ENDED),
        ("drain checkpoint1 checkpoint2 complete1", ENDED),
        ("complete5 drain checkpoint3 complete3", "rejected"),
        ("complete5 drain checkpoint5 complete5", "rejected"),
        ("complete0 drain checkpoint0 complete0", "rejected"),
        ("drain checkpoint0 complete0", ENDED),
        ("drain checkpoint1 abort1 complete2", ENDED),
        ("drain checkpoint1 abort2after1", ENDED),
        ("drain checkpoint-1 abort2after-1", "rejected"),
        ("drain checkpoint0 abort2", "rejected"),
        ("drain complete9223372036854775807 checkpoint9223372036854775807", "rejected"),
    ],
)
def test_task_13_a_task_waits_for_its_last_checkpoint(trace, told):
    assert seen("task", FINAL, f"{INVOKED}{trace} proceed")[-1] == told


@pytest.mark.rule("TASK-13", "TASK-8")
def test_task_13_acknowledgements_are_awaited_all_the_same():
    outcomes = walk("task", FINAL | {"outputs": 1}, INVOKED + "drain checkpoint1 complete1 proceed ack0 proceed")
    assert outcomes[-3].rules[0] == "TASK-8"
    assert outcomes[-1].observations == (values.StepTaken("finish_partitions"), values.PartitionEnded(0))


@pytest.mark.rule("TASK-13")
@pytest.mark.parametrize("event", ["checkpoint1", "savepoint1", "complete1", "abort1"])
@pytest.mark.parametrize(
    "trace", ["", "start", f"{UP} proceed", f'{INVOKED}cancel"running"', f"{INVOKED}throw", INVOKED + "EXTRA"]
)
def test_task_13_only_a_task_that_runs_takes_part(trace, event):
    trace = trace.replace("EXTRA", "drain checkpoint1 complete1 proceed")
    assert walking_last("task", FINAL, f"{trace} {event}") == ("rejected", "TASK-13")


@pytest.mark.rule("TASK-14")
@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("stop savepoint2 complete2", ENDED),
        ("savepoint2 complete2 stop", ENDED),
        ("stop checkpoint1 savepoint2 complete1", "rejected"),
        ("stop savepoint2 checkpoint3 complete3", "rejected"),
        ("stop checkpoint1 complete1 savepoint2", ENDED),
        ("stop savepoint2 savepoint2 complete2", ENDED),
        ("stop savepoint2 abort1after2", ENDED),
    ],
)
def test_task_14_a_savepoint_that_stops_the_job_is_the_last(trace, told):
    assert seen("task", FINAL, f"{INVOKED}{trace} proceed")[-1] == told


@pytest.mark.rule("TASK-14")
def test_task_14_a_savepoint_that_is_given_up_fails_the_task():
    failed = "state(state failed), cancel_invokable, released, final(state failed)"
    assert walking_last("task", FINAL, INVOKED + "savepoint2 abort2") == (failed, "TASK-5")
    assert walking_last("task", FINAL, INVOKED + "savepoint2 abort3") == ("nothing", "TASK-14")
    assert walking_last("task", FINAL, INVOKED + "savepoint2 savepoint3") == ("rejected", "TASK-14")
    assert walking_last("task", FINAL, INVOKED + "checkpoint2 abort2") == ("nothing", "TASK-13")


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
