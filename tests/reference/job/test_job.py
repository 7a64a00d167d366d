"""Whole jobs: what becomes of a program, what tasks do with elements, and small jobs explored whole."""

from random import Random

import attrs
import pytest

from tests.reference.credit.spoiling import announce_nothing, forget_to_wait, keep_buffers_while_blocked
from tests.reference.walking import begin, claim, run_out, walk
from tidegate.properties.cases import job as strategy
from tidegate.properties.drawing.cases import draw_case
from tidegate.properties.explorer.exploring import explore
from tidegate.properties.runlog import Status as Passed
from tidegate.properties.runlog import check
from tidegate.properties.runlog.recording import make_log
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.credit import buffers
from tidegate.reference.elements import MAX, Long, Status, StatusChange, Watermark
from tidegate.reference.job import COMPONENT
from tidegate.reference.job import step as job_step
from tidegate.reference.job.channels import decode, encode
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.functions import apply
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import Barrier, Config, Edge, Function, Operator, Record, Wire
from tidegate.reference.job.states import Overrun
from tidegate.reference.model import InvalidInputError, Rejected
from tidegate.reference.subpartition import queue as queues
from tidegate.traces.codec import decode_case, encode_case
from tidegate.traces.notation.text import read_trace, write_trace

IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)
HASH = Partitioner.HASH


def rec(key, timestamp=1, value=1):
    return Record(key, Long(value), Long(timestamp))


def mark(timestamp):
    return Watermark(Long(timestamp))


def source(*scripts, number=1, name="in"):
    return Operator(number, name, Function.SOURCE, len(scripts), scripts)


def count_words(*scripts, parallelism=2, wire=None):
    """Sources, a sum of what they say, a sink chained to it."""
    operators = (
        source(*scripts),
        Operator(2, "sum", Function.SUM, parallelism),
        Operator(3, "out", Function.SINK, parallelism),
    )
    return Config(operators, (Edge(1, 2, HASH), Edge(2, 3)), wire)


def run(config, pick=0):
    return [outcome for *_, outcome in run_out("job", begin("job", config), job_step.enabled, pick)]


def after(config, trace):
    """The outcome of the last choice."""
    return walk("job", config, trace)[-1]


# --- what becomes of a program --------------------------------------------------------------------------------


def test_word_count_has_two_tasks_and_four_channels():
    layout = compute_layout(make_word_count())
    assert [(task.name, task.parallelism, task.first) for task in layout.tasks] == [
        ("lines -> words", 2, 0),
        ("count -> print", 2, 2),
    ]
    assert [(route.source, route.target, route.place) for route in layout.routes] == [
        (0, 2, 0),
        (1, 2, 1),
        (0, 3, 0),
        (1, 3, 1),
    ]
    assert layout.chained == {1: (2,), 2: (), 3: (4,), 4: ()}
    assert [edge.max_parallelism for edge in layout.edges] == [128]


def test_channels_of_a_pointwise_edge_are_dealt_out():
    operators = (source((), ()), Operator(2, "out", Function.SINK, 3))
    layout = compute_layout(Config(operators, (Edge(1, 2, Partitioner.RESCALE),)))
    assert [(route.producer, route.consumer) for route in layout.routes] == [(0, 0), (0, 1), (1, 2)]
    assert [place.channels for place in layout.places] == [(), (), (0,), (1,), (2,)]


@pytest.mark.parametrize("wire", [None, Wire(16, 0, 1, 1), Wire(7, 2, 1, 2), Wire(1, 1, 1, 1), Wire(1000, 2, 8, 10)])
@pytest.mark.parametrize("last", [False, True])
def test_word_count_counts_words(wire, last):
    outcomes = run(make_word_count(wire), pick=-1 if last else 0)
    seen = [row for outcome in outcomes for row in outcome.observations]
    state = outcomes[-1].state
    assert job_step.is_done(state)
    results = job_step.compute_results(state)
    assert results.totals == ((3, "be", 2), (3, "not", 1), (3, "or", 1), (3, "to", 2))
    assert results.collected == (("be", 1), ("be", 2), ("not", 1), ("or", 1), ("to", 1), ("to", 2))
    kinds = {one.kind for one in seen}
    assert ("buffer" in kinds, "credit" in kinds) == (wire is not None, wire is not None)


@pytest.mark.parametrize(
    ("function", "records"),
    [
        (Function.MAP, [("a b", 6)]),
        (Function.FLAT_MAP, [("a", 1), ("b", 1)]),
        (Function.FILTER, [("a b", 3)]),
        (Function.SUM, [("a b", 8)]),
        (Function.UNION, [("a b", 3)]),
        (Function.JOIN, [("a b", 3)]),
        (Function.SINK, []),
    ],
)
def test_functions(function, records):
    operator = Operator(7, "op", function)
    totals, results = apply(operator, ((6, "a b", 1), (7, "a b", 5)), rec("a b", 4, 3))
    assert [(one.key, one.value) for one in results] == records
    assert all(one.timestamp == 4 for one in results)
    assert totals == ((6, "a b", 1), (7, "a b", 8 if function is Function.SUM else 5))


def test_filter_drops_what_is_not_positive():
    assert apply(Operator(1, "op", Function.FILTER), (), rec("a", value=0)) == ((), ())


@pytest.mark.parametrize("element", [attrs.evolve(rec("ä b", -3, -1), id=2**40), mark(-(2**63)), IDLE, ACTIVE])
def test_elements_pass_through_bytes(element):
    assert decode(encode(element)) == element


# --- programs that are none -----------------------------------------------------------------------------------

SINK = Operator(2, "out", Function.SINK)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Operator(1, "in", Function.SOURCE, 2, ((),)),
        lambda: Operator(1, "in", Function.MAP, 1, ((),)),
        lambda: source((mark(2), mark(2))),
        lambda: source((Watermark(MAX),)),
        lambda: Edge(1, 2, Partitioner.SHUFFLE),
        lambda: Edge(1, 2, None, -1),
        lambda: Config((source(()), attrs.evolve(SINK, name="in")), (Edge(1, 2),)),
        lambda: Config((source(()), SINK), (Edge(1, 2), Edge(1, 2, HASH))),
        lambda: Config((source(()), SINK), (Edge(1, 2, None, 1),)),
        lambda: Config((source(()), SINK), ()),
        lambda: Config((source(()), SINK, Operator(3, "more", Function.MAP)), (Edge(1, 2), Edge(2, 3))),
        lambda: Config((source(()), Operator(2, "join", Function.JOIN)), (Edge(1, 2),)),
        lambda: Config((source((), ()), SINK), (Edge(1, 2, Partitioner.FORWARD),)),
        lambda: Config((source((Barrier(1),), ()), SINK), (Edge(1, 2),)),
        lambda: Config((source((Barrier(2), Barrier(1))), SINK), (Edge(1, 2),)),
        lambda: Barrier(0),
        lambda: Wire(0, 0, 1),
        lambda: Wire(1, -1, 1),
        lambda: Wire(1, 0, 0),
        lambda: Wire(1, 0, 1, 0),
        lambda: Config((source(()), SINK), (Edge(1, 2),), semantics="flink-1"),
    ],
)
def test_programs_are_checked(make):
    with pytest.raises(InvalidInputError):
        make()


# --- single choices -------------------------------------------------------------------------------------------


def shown(outcome):
    return [(one.task, one.subtask, one.dir, one.consumer, one.kind, one.timestamp) for one in outcome.observations]


@pytest.mark.rule("PART-6")
def test_a_record_goes_to_the_owner_of_its_key():
    outcome = after(count_words((rec("a"), rec("c"))), "emit0 emit0")
    assert shown(outcome) == [("in", 0, "out", 0, "record", 1)]
    assert outcome.observations[0].key == "c"
    assert outcome.observations[0].id == 3
    assert "PART-6" in outcome.rules


@pytest.mark.rule("VALVE-5")
def test_a_watermark_waits_for_the_slowest_channel():
    operators = (source((mark(3),), (mark(5),)), Operator(2, "mid", Function.MAP), Operator(3, "out", Function.SINK, 2))
    config = Config(operators, (Edge(1, 2), Edge(2, 3)))
    first = after(config, "emit1 poll2")
    assert shown(first) == [("mid", 0, "in", 0, "watermark", 5)]
    second = after(config, "emit1 poll2 emit0 poll2")
    assert shown(second) == [
        ("mid", 0, "in", 0, "watermark", 3),
        ("mid", 0, "out", 0, "watermark", 3),
        ("mid", 0, "out", 1, "watermark", 3),
    ]
    assert "VALVE-5" in second.rules


@pytest.mark.rule("COMB-2")
def test_a_join_waits_for_both_inputs():
    operators = (
        source((mark(4),)),
        source((mark(6),), number=2, name="other"),
        Operator(3, "join", Function.JOIN),
        Operator(4, "out", Function.SINK, 2),
    )
    config = Config(operators, (Edge(1, 3), Edge(2, 3, None, 1), Edge(3, 4)))
    names = [task.name for task in compute_layout(config).tasks]
    reads = names.index("join")
    emits = [number for number in range(len(names)) if names[number] in ("in", "other")]
    outcome = after(config, f"emit{emits[0]} emit{emits[1]} poll{reads} poll{reads}")
    assert [(one.kind, one.timestamp) for one in outcome.observations if one.dir == "out"] == [("watermark", 4)] * 2
    assert "COMB-2" in outcome.rules


@pytest.mark.rule("OUT-7")
def test_an_idle_source_sends_no_watermark_not_even_the_last():
    seen = [row for outcome in run(count_words((IDLE, mark(1)), parallelism=1)) for row in outcome.observations]
    assert [one.kind for one in seen if one.dir == "out"] == ["status", "end_of_data", "end_of_partition"]


def test_a_barrier_is_sent_on_when_it_was_met_on_all_channels():
    operators = (
        source((Barrier(1), rec("a")), (Barrier(1),)),
        Operator(2, "mid", Function.MAP),
        Operator(3, "out", Function.SINK, 2),
    )
    config = Config(operators, (Edge(1, 2), Edge(2, 3)))
    behind = after(config, "emit0 emit0 poll2")
    assert [one.kind for one in behind.observations] == ["barrier"]
    assert job_step.Choice(job_step.Action.POLL, 2) not in job_step.enabled(behind.state)
    met = after(config, "emit0 emit0 poll2 emit1 poll2")
    assert shown(met)[1:] == [("mid", 0, "out", 0, "barrier", None), ("mid", 0, "out", 1, "barrier", None)]
    assert job_step.Choice(job_step.Action.POLL, 2) in job_step.enabled(met.state)


@pytest.mark.rule("CREDIT-30")
def test_a_task_without_free_buffers_stops():
    config = count_words((rec("a"), rec("a"), rec("a")), parallelism=1, wire=Wire(8, 0, 1, 1))
    outcome = after(config, "emit0 emit0")
    assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CREDIT-30",))
    assert outcome.state.subtasks[0].cursor == 1


@pytest.mark.rule("CREDIT-30")
def test_a_task_beyond_its_pool_stays_stopped():
    config = Config((source((mark(1),)), Operator(2, "out", Function.SINK, 3)), (Edge(1, 2),), Wire(64, 0, 1, 2))
    assert after(config, "emit0 flush0 flush1 emit0").observations == (Rejected(),)
    assert after(config, "emit0 flush0 flush1 flush2 emit0").observations == (Rejected(),)


@pytest.mark.rule("OUT-1")
def test_several_outputs_are_served_in_the_order_of_the_rule():
    operators = (source((rec("a"), mark(1))), Operator(2, "next", Function.MAP), Operator(3, "out", Function.SINK, 2))
    config = Config((*operators, Operator(4, "far", Function.SINK, 2)), (Edge(1, 2), Edge(1, 3), Edge(2, 4)))
    for trace in ("emit0", "emit0 emit0"):
        outcome = after(config, trace)
        assert [seen.edge for seen in outcome.observations] == sorted(seen.edge for seen in outcome.observations)
        assert outcome.rules[-1] == "OUT-1"
    alone = after(make_word_count(), "emit0")
    assert "OUT-1" not in alone.rules


@pytest.mark.parametrize(("function", "value"), [(Function.MAP, -2), (Function.SUM, -(2**63))])
def test_values_wrap_around(function, value):
    _totals, (result,) = apply(Operator(1, "op", function), ((1, "a", Long(1)),), rec("a", value=2**63 - 1))
    assert result.value == value
    assert decode(encode(attrs.evolve(result, id=Long(0)))).value == value


@pytest.mark.parametrize("trace", ["emit1", "emit-1", "poll0", "poll1", "emit9", "flush0", "deliver-1", "credit7"])
def test_what_cannot_happen_is_refused(trace):
    config = count_words((rec("a"),), parallelism=1)
    (state,) = job_step.start(config)
    outcome = after(config, trace)
    assert (outcome.observations, outcome.state) == ((Rejected(),), state)


def test_a_run_is_replayed_from_its_choices():
    for seed in range(20):
        config, choices = strategy.draw(Random(seed))
        trace = write_trace("job", choices)
        assert read_trace("job", trace) == choices
        assert after(config, trace).state == after(config, trace).state


def test_jobs_are_cases():
    for index in range(20):
        case = draw_case("job", 1, index)
        assert decode_case(encode_case(case), strict=True) == case


# --- small jobs, every interleaving ---------------------------------------------------------------------------

SMALL = {
    "records and watermarks": count_words((rec("a"), mark(1)), (rec("b", 2), rec("a", 2))),
    "watermarks": count_words((mark(1), rec("b", 4)), (mark(2), mark(3))),
    "idleness": count_words((mark(1), IDLE, ACTIVE), (rec("a", 2), mark(2)), parallelism=1),
    "barriers": count_words((rec("a"), Barrier(1)), (Barrier(1), rec("a"))),
    "three tasks": Config(
        (source((rec("a b"),), (mark(3),)), Operator(2, "words", Function.FLAT_MAP), Operator(3, "out", Function.SINK)),
        (Edge(1, 2), Edge(2, 3, HASH)),
    ),
}
WIRED = {
    f"{exclusive} exclusive, {script[0]}": count_words(script[1:], script[1:], parallelism=1, wire=wire)
    for script in (("records", rec("a")), ("barriers", Barrier(1)), ("watermarks", mark(1)))
    for exclusive, wire in ((0, Wire(100, 0, 1, 1)), (1, Wire(100, 1, 1, 1)))
}
WIRED["record across buffers"] = count_words((rec("a"),), parallelism=1, wire=Wire(20, 0, 1, 1))
WIRED["two subtasks"] = count_words((rec("a"),), parallelism=2, wire=Wire(100, 0, 1, 2))


#: Half of what all of them take.
LARGE = ("watermarks", "1 exclusive, records", "1 exclusive, watermarks")


def but_for_large_ones(names):
    return [pytest.param(name, marks=[pytest.mark.long] if name in LARGE else []) for name in names]


@pytest.mark.parametrize("name", but_for_large_ones([*SMALL, *WIRED]))
def test_no_interleaving_gets_stuck(name):
    found = explore(COMPONENT, (SMALL | WIRED)[name], job_step.enabled)
    assert found.complete
    assert found.broken == ()
    assert found.states > 40


def every_log(config):
    """What each subtask may come to see, and the results with it: one for all runs that no subtask can tell apart."""
    (state,) = job_step.start(config)
    homes = {(place.task.name, place.number): index for index, place in enumerate(state.layout.places)}
    # A log is known by a number: that of the log one row shorter, and the last row, lead to it.
    numbers, logs = {}, [()]
    nodes = {(state, (0,) * len(homes))}
    frontier = list(nodes)
    while frontier:
        state, seen = frontier.pop()
        choices = job_step.enabled(state)
        if not choices:
            yield state, [row for number in seen for row in logs[number]]
        for choice in choices:
            (outcome,) = job_step.step(state, choice)
            longer = list(seen)
            for row in outcome.observations:
                home = homes[row.task, row.subtask]
                key = (longer[home], row)
                if key not in numbers:
                    numbers[key] = len(logs)
                    logs.append((*logs[longer[home]], row))
                longer[home] = numbers[key]
            node = outcome.state, tuple(longer)
            if node not in nodes:
                nodes.add(node)
                frontier.append(node)


@pytest.mark.parametrize("name", but_for_large_ones(SMALL))
def test_every_interleaving_keeps_all_invariants_and_ends_alike(name):
    results, count = set(), 0
    for state, rows in every_log(SMALL[name]):
        assert job_step.is_done(state)
        results.add(job_step.compute_results(state))
        log = make_log(SMALL[name], rows)
        assert {verdict.status for verdict in check(log)} <= {Passed.PASSED, Passed.SKIPPED}
        count += 1
    assert len(results) == 1
    assert count > 5


# --- what it would be without ---------------------------------------------------------------------------------

TIGHT = Wire(100, 0, 1, 1)
RECORDS = count_words((rec("a"),), (rec("a"),), parallelism=1, wire=TIGHT)
BARRIERS = count_words(
    (rec("a"), Barrier(1), rec("a")), (rec("a"), Barrier(1)), parallelism=1, wire=attrs.evolve(TIGHT, output=2)
)


def have_no_floating_buffer(monkeypatch):
    """The gate has no buffer that it can give to whoever needs one."""
    monkeypatch.setattr(buffers, "request_floating", lambda gate, _index: (gate, 0))


def charge_for_events(monkeypatch):
    """Events need credit, too."""
    monkeypatch.setattr(
        queues, "is_available", lambda subpartition, *, has_credit: has_credit and queues.is_readable(subpartition)
    )


def never_recycle(monkeypatch):
    """The consumer keeps what it has read."""
    monkeypatch.setattr("tidegate.reference.job.tasks.recycle", lambda turn, _number: turn)


def find_stuck(config):
    """The first state that is met, depth first, in which nothing can happen any more; of a right job, its end."""
    seen = set(job_step.start(config))
    stack = list(seen)
    while stack:
        state = stack.pop()
        choices = job_step.enabled(state)
        if not choices and not job_step.is_done(state):
            return state
        for choice in choices:
            (outcome,) = job_step.step(state, choice)
            if outcome.state not in seen:
                seen.add(outcome.state)
                stack.append(outcome.state)
    return state


@pytest.mark.parametrize("config", [RECORDS, BARRIERS])
def test_with_all_of_the_conditions_it_does_not(config):
    assert not job_step.is_stuck(find_stuck(config))


@pytest.mark.rule("CREDIT-4", "CREDIT-9", "CREDIT-14", "CREDIT-24")
@pytest.mark.parametrize(
    ("spoil", "config"),
    [
        (have_no_floating_buffer, RECORDS),
        (charge_for_events, RECORDS),
        (never_recycle, RECORDS),
        (forget_to_wait, RECORDS),
        (keep_buffers_while_blocked, BARRIERS),
        (announce_nothing, RECORDS),
    ],
)
def test_without_any_of_the_six_conditions_a_job_gets_stuck(monkeypatch, spoil, config):
    spoil(monkeypatch)
    assert job_step.is_stuck(find_stuck(config))


# --- corners ---------------------------------------------------------------------------------------------------


def test_an_operator_has_a_subtask():
    with pytest.raises(InvalidInputError):
        Operator(2, "out", Function.SINK, 0)


def make_job(*script, parallelism=1, wire=None):
    """A source, and a sink that is not chained to it."""
    operators = (Operator(1, "in", Function.SOURCE, 1, (script,)), Operator(2, "out", Function.SINK, parallelism))
    return Config(operators, (Edge(1, 2, Partitioner.REBALANCE),), wire)


RECORD = Record("a", Long(1), Long(1))


def test_a_checkpoint_comes_once():
    with pytest.raises(InvalidInputError):
        make_job(Barrier(1), Barrier(1))


def test_rebalance_begins_at_the_first_channel():
    (row,) = after(make_job(RECORD, parallelism=3), "emit0").observations
    assert row.consumer == 0


def test_a_task_with_one_input_combines_nothing():
    rules = after(make_job(Watermark(Long(1))), "emit0 poll1").rules
    assert "VALVE-4" in rules
    assert not any(rule.startswith("COMB") for rule in rules)


@pytest.mark.parametrize(
    ("choice", "rule"),
    [
        *(("emit2", "CREDIT-30"), ("emit-1", "CREDIT-30"), ("poll0", "CREDIT-30")),
        *(("flush1", "CREDIT-20"), ("flush-1", "CREDIT-20"), ("deliver0", "CREDIT-20")),
    ],
)
def test_what_cannot_be_chosen_is_refused_by_the_rule_of_tasks_or_of_channels(choice, rule):
    config = make_job(RECORD, RECORD, wire=Wire(100, 0, 1, 2))
    assert after(config, "emit0 flush0").observations != (Rejected(),)
    outcome = after(config, f"emit0 {choice}")
    assert (outcome.observations, outcome.rules) == ((Rejected(),), (rule,))


def test_a_job_is_done_when_all_of_it_is_and_not_stuck_before_or_after():
    *before, end = [begin("job", make_job(RECORD)), *(outcome.state for outcome in run(make_job(RECORD)))]
    assert not any(job_step.is_done(state) or job_step.is_stuck(state) for state in before)
    assert job_step.is_done(end)
    assert not job_step.is_stuck(end)


def test_buffers_go_from_producer_to_consumer_and_credit_the_other_way():
    rows = [row for outcome in run(make_job(RECORD, wire=Wire(100, 0, 1, 2))) for row in outcome.observations]
    seen = {(row.kind, row.dir, row.task) for row in rows if row.kind in ("buffer", "credit")}
    buffers = {("buffer", "out", "in"), ("buffer", "in", "out")}
    assert seen == buffers | {("credit", "out", "out"), ("credit", "in", "in")}


def test_a_row_has_the_key_only_of_what_is_keyed_and_says_1_of_what_is_active():
    (row,) = after(make_job(RECORD), "emit0").observations
    assert row.key is None
    statuses = make_job(StatusChange(Status.IDLE), StatusChange(Status.ACTIVE))
    (idle,) = after(statuses, "emit0").observations
    (active,) = after(statuses, "emit0 emit0").observations
    assert (idle.value, active.value) == (0, 1)


def test_the_lines_of_word_count_have_no_value_and_its_words_the_times_of_their_lines():
    config = make_word_count()
    lines = [item for script in config.operators[0].scripts for item in script if isinstance(item, Record)]
    assert [(line.key, line.value) for line in lines] == [("to be or", 0), ("not", 0), ("to be", 0)]
    rows = [row for outcome in run(config) for row in outcome.observations if row.dir == "out"]
    words = [(row.subtask, row.key, row.timestamp) for row in rows if row.kind == "record"]
    assert sorted(words) == [(0, "be", 1), (0, "not", 2), (0, "or", 1), (0, "to", 1), (1, "be", 2), (1, "to", 2)]
    marks = {(row.subtask, row.timestamp) for row in rows if row.kind == "watermark"}
    assert sorted(marks)[:2] == [(0, 1), (0, 2**63 - 1)]
    assert sorted(marks)[2:] == [(1, 2), (1, 2**63 - 1)]


def test_data_that_is_sent_without_credit_finds_no_buffer(monkeypatch):
    script = (Record("a", Long(1), Long(1)), Watermark(Long(1)), Record("a", Long(1), Long(2)))
    operators = (Operator(1, "in", Function.SOURCE, 1, (script,)), Operator(2, "out", Function.SINK))
    config = Config(operators, (Edge(1, 2, Partitioner.REBALANCE),), Wire(8, 0, 1, 8))
    holds = claim("job", "data-finds-a-buffer")
    assert all(holds(*one) for one in run_out("job", begin("job", config), job_step.enabled))
    monkeypatch.setattr(queues, "is_available", lambda subpartition, **_credit: queues.is_readable(subpartition))
    broken = next(one for one in run_out("job", begin("job", config), job_step.enabled) if not holds(*one))
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
    alone = after(make_line((Barrier(1),)), "emit0 poll1").rules
    first = after(make_line((Barrier(1),), (Barrier(1),)), "emit0 poll2").rules
    assert ("BARR-4" in alone, "BARR-3" in alone) == (True, False)
    assert ("BARR-4" in first, "BARR-3" in first) == (False, True)


def test_a_task_ends_its_outputs_when_all_its_channels_have_ended():
    rows = [row for outcome in run(make_line((), ())) for row in outcome.observations if row.task == "mid"]
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
    assert ("OUT-1" in after(Config(operators, edges), "emit0").rules) == is_named
