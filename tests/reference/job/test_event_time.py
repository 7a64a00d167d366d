"""Operators that know event time, in whole jobs: what they add up, and when they forget it."""

import attrs
import pytest

from tests.reference.walking import begin, refuses, run_out, state_after, walk
from tidegate.properties.cases.job import CO_TIMER, IDLE, TIMER, WINDOW, at, make_timed, mark
from tidegate.reference.elements import Direction, Long
from tidegate.reference.job.programs import Edge, Function, Operator, Record
from tidegate.reference.job.step import Action, Choice, compute_results, enabled_turns, is_done, step
from tidegate.reference.model import InvalidInputError
from tidegate.reference.tuples import replace


def add(timestamp, key, value):
    return Record(key, Long(value), Long(timestamp))


def run(config, pick=0):
    """The last state of a run in which the first choice is taken, or the last: then nothing waits for long."""
    *_, (_before, _choice, outcome) = run_out("job", begin("job", config), enabled_turns, pick)
    return outcome.state


def timed_of(state):
    (timed,) = [one.timed for one in state.subtasks if one.timed is not None]
    return timed


@pytest.mark.rule("TIME-1")
@pytest.mark.parametrize("pick", [0, -1])
def test_time_1_a_timer_adds_up_the_values_of_a_key_and_a_timestamp(pick):
    script = (add(1, "a", 1), add(1, "a", 2), add(1, "b", 4), add(2, "a", 8), mark(2))
    assert compute_results(run(make_timed(TIMER, script), pick)).collected == (("a", 3), ("a", 8), ("b", 4))


@pytest.mark.rule("TIME-1")
def test_time_1_both_inputs_are_added_up():
    config = make_timed(CO_TIMER, (add(1, "a", 1), mark(1)), (add(1, "a", 2), IDLE))
    assert compute_results(run(config)).collected == (("a", 3),)


@pytest.mark.rule("TIME-5", "TIME-6", "TIME-7")
def test_time_7_a_window_is_emitted_again_with_what_came_behind_its_end():
    """In windows of 2 with a lateness of 2 the last record is late, and is handed on as it is."""
    script = (add(0, "a", 1), add(1, "a", 2), add(2, "a", 4), mark(1), add(1, "a", 8), mark(3), add(0, "a", 16))
    collected = compute_results(run(make_timed(WINDOW, script, late=True), pick=-1)).collected
    assert collected == (("a", 3), ("a", 4), ("a", 11), ("a", 16))


@pytest.mark.parametrize(("operator", "rule"), [(TIMER, "TIME-1"), (WINDOW, "TIME-5")])
def test_what_becomes_of_a_record_is_named_by_its_operator(operator, rule):
    outcome = walk("job", make_timed(operator, (at(0, "a"),)), "emit0 poll1")[-1]
    assert {"TIME-1", "TIME-5", "TIME-7"} & {*outcome.rules} == {rule}


@pytest.mark.rule("TIME-2")
@pytest.mark.parametrize(("trace", "told"), [("poll1 poll1", None), ("poll1 poll1 fire1", 1)])
def test_time_2_a_watermark_is_handed_on_when_its_timer_has_fired(trace, told):
    state = walk("job", make_timed(TIMER, (at(1, "a"), mark(1))), f"emit0 emit0 {trace}")[-1].state
    assert timed_of(state).time == 1
    assert timed_of(state).told == (-(2**63) if told is None else told)


@pytest.mark.rule("TIME-4")
@pytest.mark.parametrize(
    ("script", "rules"),
    [
        ((at(1, "a"), mark(1)), ["TIME-1"]),
        ((at(1, "a"), at(1, "b"), mark(1)), ["TIME-1", "TIME-1"]),
        ((at(1, "a"), at(2, "b"), mark(2)), ["TIME-4", "TIME-1"]),
    ],
)
def test_time_4_says_which_timer_is_first_where_several_times_are_due(script, rules):
    turns = f"{'emit0 ' * len(script)}{'poll1 ' * len(script)}"
    fired = walk("job", make_timed(TIMER, script), turns + "fire1 " * len(rules))[-len(rules) :]
    assert [{"TIME-1", "TIME-4"} & {*one.rules} for one in fired] == [{rule} for rule in rules]


@pytest.mark.rule("TIME-3")
@pytest.mark.parametrize(
    ("behind", "rules"),
    [((), {"TIME-1", "OUT-7"}), ((IDLE,), {"TIME-1", "OUT-7", "OUT-9", "TIME-3"})],
)
def test_time_3_what_waited_behind_the_watermark_goes_on_with_it(behind, rules):
    """Both go through the output of the operator, which remembers that it is idle."""
    script = (at(1, "a"), mark(1), *behind)
    config = make_timed(TIMER, script)
    outcome = walk("job", config, f"{'emit0 ' * len(script)}{'poll1 ' * len(script)}fire1")[-1]
    assert {"TIME-1", "TIME-3", "OUT-7", "OUT-9"} & {*outcome.rules} == rules
    assert outcome.state.subtasks[1].outputs[0].active is (IDLE not in behind)


def test_every_reader_behind_a_timer_hears_of_the_end():
    config = make_timed(TIMER, (at(1, "a"),))
    *others, sink = config.operators
    state = run(attrs.evolve(config, operators=(*others, attrs.evolve(sink, parallelism=2))))
    assert is_done(state)
    assert len(state.subtasks) == 4


@pytest.mark.rule("TIME-1")
def test_what_is_chained_behind_a_timer_has_no_timers_of_its_own():
    """Each sum is mapped as soon as it is emitted."""
    script = (at(1, "a"), at(1, "a"), mark(1))
    timed = make_timed(TIMER, script)
    before, timer, sink = timed.operators
    chained = Operator(20, "double", Function.MAP)
    edges = (timed.edges[0], Edge(timer.id, chained.id), attrs.evolve(timed.edges[1], source=chained.id))
    config = attrs.evolve(timed, operators=(before, timer, chained, sink), edges=edges)
    assert compute_results(run(config)).collected == (("a", 4),)


@pytest.mark.parametrize("operator", [TIMER, WINDOW])
def test_what_nobody_needs_any_longer_is_forgotten(operator):
    """No record is in time any more when event time is over."""
    config = make_timed(operator, (at(1, "a"), at(2, "b"), mark(1)))
    timed = timed_of(run(config))
    assert (timed.timers, timed.sums, timed.held) == ((), (), ())


@pytest.mark.parametrize("wrong", [{"parallelism": 0}, {"size": 0}, {"lateness": -1}, {"size": None}])
def test_a_window_has_a_size_and_somebody_to_add_it_up(wrong):
    right = {"parallelism": 1, "size": 1, "lateness": 0}
    assert Operator(10, "window", Function.WINDOW, **right).lateness == 0
    with pytest.raises(InvalidInputError):
        Operator(10, "window", Function.WINDOW, **{**right, **wrong})


# --- claims -----------------------------------------------------------------------------------------------------

FIRE = Choice(Action.FIRE, 1)


def about_to_fire(told):
    """A timer of 1 is due, and its operator has handed on a watermark."""
    state = state_after("job", make_timed(TIMER, (at(1, "a"), mark(1))), "emit0 emit0 poll1 poll1")
    timer = attrs.evolve(state.subtasks[1], timed=attrs.evolve(state.subtasks[1].timed, told=Long(told)))
    return attrs.evolve(state, subtasks=replace(state.subtasks, 1, timer))


@pytest.mark.rule("TIME-8")
@pytest.mark.parametrize(("told", "is_refused"), [(0, False), (1, True), (2, True)])
def test_time_8_what_a_timer_emits_is_later_than_every_watermark_before_it(told, is_refused):
    before = about_to_fire(told)
    (outcome,) = step(before, FIRE)
    assert refuses("job", "timers-make-nothing-late", before, FIRE, outcome) is is_refused


@pytest.mark.rule("TIME-8")
@pytest.mark.parametrize("changes", [{"dir": Direction.IN}, {"task": "in0"}, {"subtask": 1}])
def test_time_8_is_about_what_the_operator_itself_hands_out(changes):
    before = about_to_fire(0)
    (outcome,) = step(before, FIRE)
    late = attrs.evolve(outcome.observations[0], timestamp=Long(0))
    with_late, with_other = (
        attrs.evolve(outcome, observations=(*outcome.observations, one))
        for one in (late, attrs.evolve(late, **changes))
    )
    assert refuses("job", "timers-make-nothing-late", before, FIRE, with_late)
    assert not refuses("job", "timers-make-nothing-late", before, FIRE, with_other)


@pytest.mark.rule("TIME-2")
@pytest.mark.parametrize(("told", "is_refused"), [(0, False), (1, True), (2, True)])
def test_time_2_no_timer_is_left_behind_a_watermark(told, is_refused):
    before = about_to_fire(0)
    (outcome,) = step(before, FIRE)
    after = attrs.evolve(outcome, state=about_to_fire(told))
    assert refuses("job", "a-watermark-waits-for-its-timers", before, FIRE, after) is is_refused
