"""Whole jobs in corners that no trace comes to."""

import pytest

from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.credit import subpartitions
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.job import COMPONENT
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.programs import Barrier, Config, Edge, Function, Operator, Record, Wire
from tidegate.reference.job.states import Overrun
from tidegate.reference.job.step import Action, Choice, enabled, is_done, is_stuck, start, step
from tidegate.reference.model import InvalidInputError, Rejected

CLAIMS = {claim.name: claim for claim in COMPONENT.claims}


def run(config):
    """Always the first choice that there is: the state before it, the choice, what came of it."""
    (state,) = start(config)
    while choices := enabled(state):
        (outcome,) = step(state, choices[0])
        yield state, choices[0], outcome
        state = outcome.state


def test_an_operator_has_a_subtask():
    with pytest.raises(InvalidInputError):
        Operator(2, "out", Function.SINK, 0)


def make_job(*script, parallelism=1, wire=None):
    """A source, and a sink that is not chained to it."""
    operators = (Operator(1, "in", Function.SOURCE, 1, (script,)), Operator(2, "out", Function.SINK, parallelism))
    return Config(operators, (Edge(1, 2, Partitioner.REBALANCE),), wire)


def choose(config, *choices):
    (state,) = start(config)
    for action, at in choices:
        (outcome,) = step(state, Choice(action, at))
        state = outcome.state
    return outcome


RECORD = Record("a", Long(1), Long(1))


def test_a_checkpoint_comes_once():
    with pytest.raises(InvalidInputError):
        make_job(Barrier(1), Barrier(1))


def test_rebalance_begins_at_the_first_channel():
    (row,) = choose(make_job(RECORD, parallelism=3), (Action.EMIT, 0)).observations
    assert row.consumer == 0


def test_a_task_with_one_input_combines_nothing():
    rules = choose(make_job(Watermark(Long(1))), (Action.EMIT, 0), (Action.POLL, 1)).rules
    assert "VALVE-4" in rules
    assert not any(rule.startswith("COMB") for rule in rules)


@pytest.mark.parametrize(
    ("action", "at", "rule"),
    [
        *((Action.EMIT, 2, "CREDIT-30"), (Action.EMIT, -1, "CREDIT-30"), (Action.POLL, 0, "CREDIT-30")),
        *((Action.FLUSH, 1, "CREDIT-20"), (Action.FLUSH, -1, "CREDIT-20"), (Action.DELIVER, 0, "CREDIT-20")),
    ],
)
def test_what_cannot_be_chosen_is_refused_by_the_rule_of_tasks_or_of_channels(action, at, rule):
    config = make_job(RECORD, RECORD, wire=Wire(100, 0, 1, 2))
    assert choose(config, (Action.EMIT, 0), (Action.FLUSH, 0)).observations != (Rejected(),)
    outcome = choose(config, (Action.EMIT, 0), (action, at))
    assert (outcome.observations, outcome.rules) == ((Rejected(),), (rule,))


def test_a_job_is_done_when_all_of_it_is_and_not_stuck_before_or_after():
    states = [before for before, _choice, _outcome in run(make_job(RECORD))]
    assert not any(is_done(state) or is_stuck(state) for state in states)
    *_, (_before, _choice, outcome) = run(make_job(RECORD))
    assert is_done(outcome.state)
    assert not is_stuck(outcome.state)


def test_buffers_go_from_producer_to_consumer_and_credit_the_other_way():
    rows = [row for *_, outcome in run(make_job(RECORD, wire=Wire(100, 0, 1, 2))) for row in outcome.observations]
    seen = {(row.kind, row.dir, row.task) for row in rows if row.kind in ("buffer", "credit")}
    buffers = {("buffer", "out", "in"), ("buffer", "in", "out")}
    assert seen == buffers | {("credit", "out", "out"), ("credit", "in", "in")}


def test_a_row_has_the_key_only_of_what_is_keyed_and_says_1_of_what_is_active():
    (row,) = choose(make_job(RECORD), (Action.EMIT, 0)).observations
    assert row.key is None
    statuses = make_job(StatusChange(Status.IDLE), StatusChange(Status.ACTIVE))
    (idle,) = choose(statuses, (Action.EMIT, 0)).observations
    (active,) = choose(statuses, (Action.EMIT, 0), (Action.EMIT, 0)).observations
    assert (idle.value, active.value) == (0, 1)


def test_the_lines_of_word_count_have_no_value_and_its_words_the_times_of_their_lines():
    config = make_word_count()
    lines = [item for script in config.operators[0].scripts for item in script if isinstance(item, Record)]
    assert [(line.key, line.value) for line in lines] == [("to be or", 0), ("not", 0), ("to be", 0)]
    rows = [row for _before, _choice, outcome in run(config) for row in outcome.observations if row.dir == "out"]
    words = [(row.subtask, row.key, row.timestamp) for row in rows if row.kind == "record"]
    assert sorted(words) == [(0, "be", 1), (0, "not", 2), (0, "or", 1), (0, "to", 1), (1, "be", 2), (1, "to", 2)]
    marks = {(row.subtask, row.timestamp) for row in rows if row.kind == "watermark"}
    assert sorted(marks)[:2] == [(0, 1), (0, 2**63 - 1)]
    assert sorted(marks)[2:] == [(1, 2), (1, 2**63 - 1)]


def test_data_that_is_sent_without_credit_finds_no_buffer(monkeypatch):
    script = (Record("a", Long(1), Long(1)), Watermark(Long(1)), Record("a", Long(1), Long(2)))
    operators = (Operator(1, "in", Function.SOURCE, 1, (script,)), Operator(2, "out", Function.SINK))
    config = Config(operators, (Edge(1, 2, Partitioner.REBALANCE),), Wire(8, 0, 1, 8))
    claim = CLAIMS["data-finds-a-buffer"]
    assert all(claim.holds(*one) for one in run(config))
    monkeypatch.setattr(
        subpartitions, "is_available", lambda subpartition, **_credit: subpartitions.is_readable(subpartition)
    )
    broken = next(one for one in run(config) if not claim.holds(*one))
    assert Overrun(0) in broken[2].observations


def make_line(*scripts):
    """Sources, a task in between that reads all of them, and two sinks."""
    operators = (
        Operator(1, "in", Function.SOURCE, len(scripts), scripts),
        Operator(2, "mid", Function.MAP),
        Operator(3, "out", Function.SINK, 2),
    )
    return Config(operators, (Edge(1, 2, Partitioner.REBALANCE), Edge(2, 3)))


def test_one_barrier_is_aligned_at_once_and_several_are_waited_for():
    alone = choose(make_line((Barrier(1),)), (Action.EMIT, 0), (Action.POLL, 1)).rules
    first = choose(make_line((Barrier(1),), (Barrier(1),)), (Action.EMIT, 0), (Action.POLL, 2)).rules
    assert ("BARR-4" in alone, "BARR-3" in alone) == (True, False)
    assert ("BARR-4" in first, "BARR-3" in first) == (False, True)


def test_a_task_ends_its_outputs_when_all_its_channels_have_ended():
    rows = [row for *_, outcome in run(make_line((), ())) for row in outcome.observations if row.task == "mid"]
    for kind in ("end_of_data", "end_of_partition"):
        assert [row.dir for row in rows if row.kind == kind] == ["in", "in", "out", "out"]


@pytest.mark.parametrize(("value", "is_named"), [(1, True), (0, False)])
def test_the_order_of_outputs_is_a_rule_only_where_something_is_put_out(value, is_named):
    operators = (
        Operator(1, "in", Function.SOURCE, 1, ((Record("a", Long(value), Long(1)),),)),
        Operator(2, "kept", Function.FILTER, 1),
        Operator(3, "out", Function.SINK, 1),
        Operator(4, "again", Function.SINK, 1),
    )
    edges = (Edge(1, 2), Edge(2, 3, Partitioner.REBALANCE), Edge(2, 4, Partitioner.REBALANCE))
    assert ("OUT-1" in choose(Config(operators, edges), (Action.EMIT, 0)).rules) == is_named
