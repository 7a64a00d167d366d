"""Fewer schedules of whole jobs: what is left out makes no difference, and jobs are found to do the same."""

import random
from functools import cache

import attrs
import pytest

from tests.sampling import some
from tidegate.properties.cases.job import draw_config, draw_program, make_line, make_middle, mark, rec, thorough
from tidegate.properties.explorer import schedules
from tidegate.properties.explorer.closures import Closure, prefer
from tidegate.properties.explorer.exploring import explore
from tidegate.properties.explorer.schedules import choose, choose_among, close, find_together
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.job import COMPONENT
from tidegate.reference.job.examples import make_word_count
from tidegate.reference.job.programs import Barrier, Wire
from tidegate.reference.job.states import Overrun
from tidegate.reference.job.step import Action, enabled, is_done, step
from tidegate.reference.model import Invariant

JOBS = {
    # A failure touches everything: tests/reference/job/test_recovery.py compares what is followed there with all of it.
    **{
        f"{scope.name} {number}": job
        for scope in thorough()
        for number, job in enumerate(scope.configs)
        if job.recovery is None
    },
    "keyed": make_line((rec("a"), mark(1)), (rec("b"),), kind=Partitioner.HASH, sinks=2),
    "keyed, barriers": make_line((Barrier(1), rec("a")), (rec("a"), Barrier(1)), kind=Partitioner.HASH, sinks=2),
    "two lines": make_middle((rec("a"), Barrier(1), mark(2)), (Barrier(1), rec("b"), mark(1))),
    "wired": make_line((rec("a"),), kind=Partitioner.HASH, sinks=2, wire=Wire(100, 0, 1, 2)),
    "wired barriers": make_line((Barrier(1),), (Barrier(1),), kind=Partitioner.HASH, wire=Wire(64, 0, 1, 1)),
    "wired records": make_line((rec("a"), rec("b")), kind=Partitioner.HASH, wire=Wire(20, 0, 1, 1)),
}


#: Random programs with so few schedules that all can be followed.
DRAWN = (40, 58, 91, 103, 116, 124, 131, 173, 179)
JOBS.update({f"drawn {seed}": draw_program(random.Random(seed), lengths=(1,)) for seed in DRAWN})
each_job = pytest.mark.parametrize("config", some(JOBS.values(), 8), ids=JOBS)


def run(config, choices, component=COMPONENT):
    """What is found, the states that were followed, those in which runs end, and what each choice may show."""
    followed, ends, shown = [], set(), set()

    def alphabet(state):
        followed.append(state)
        chosen = choices(state)
        if not chosen:
            ends.add(state)
        shown.update((one, component.step(state, one)[0].observations) for one in chosen)
        return chosen

    found = explore(component, config, alphabet)
    assert found.complete
    return found, followed, ends, shown


# --- what is left out makes no difference -----------------------------------------------------------------------


def find_difference(state):
    """Why some set is not persistent: one choice outside of it, made first, makes a difference to those within.

    If no single choice does, and the set is as closed as before behind each of them, no sequence of them does.
    """
    possible = enabled(state)
    together = cache(lambda one: find_together(state, possible, one))
    after = {one: step(state, one)[0] for one in possible}
    for other in possible:
        now_possible = enabled(after[other].state)
        now_together = cache(lambda one, other=other, now=now_possible: find_together(after[other].state, now, one))
        for first in possible:
            closed = close(first, together)
            if other in closed:
                continue
            if any((one in possible) != (one in now_possible) for one in closed):
                return "possible or not"
            if any(not closed.issuperset(now_together(one)) for one in closed):
                return "no longer closed"
            for one in closed.intersection(possible):
                (earlier,), (later,) = step(after[one].state, other), step(after[other].state, one)
                seen = (earlier.observations, later.observations)
                if earlier.state != later.state or seen != (after[other].observations, after[one].observations):
                    return "another outcome"
    return None


@each_job
def test_what_is_left_out_touches_nothing_that_is_followed(config):
    _found, states, _ends, _shown = run(config, enabled)
    assert {find_difference(state) for state in states} == {None}


def test_what_is_left_out_of_large_jobs_touches_nothing_that_is_followed():
    draw = random.Random(15)
    for _job in range(20):
        (state,) = COMPONENT.start(draw_config(draw))
        while possible := enabled(state):
            if draw.random() < 0.2:
                assert find_difference(state) is None
            (outcome,) = step(state, draw.choice(possible))
            state = outcome.state


def test_what_is_followed_can_be_made():
    for config in JOBS.values():
        _found, states, _ends, _shown = run(config, choose)
        assert all(set(choose(state)) <= set(enabled(state)) for state in states)
        assert all(bool(choose(state)) == bool(enabled(state)) for state in states)


@pytest.mark.parametrize(
    ("name", "job"),
    [
        ("touching_what_is_written", "keyed"),
        ("touching_what_is_polled", "keyed"),
        ("at_gate", "wires 1"),
        ("at_outputs", "wires 2"),
        ("writers_of", "two lines"),
        ("enabling_a_turn", "two lines"),
    ],
)
def test_a_question_that_is_not_asked_is_noticed(monkeypatch, name, job):
    _found, states, _ends, _shown = run(JOBS[job], enabled)
    monkeypatch.setattr(schedules, name, lambda *_arguments: ())
    assert {find_difference(state) for state in states} != {None}


# --- jobs are found to do the same ------------------------------------------------------------------------------


@each_job
def test_every_run_ends_the_same_and_every_choice_shows_the_same(config):
    whole, _states, ends, shown = run(config, enabled)
    found, _states, fewer_ends, fewer_shown = run(config, choose)
    assert fewer_ends == ends
    assert fewer_shown == shown
    assert found.broken == whole.broken == ()
    assert [one.name for one in found.reached] == [one.name for one in whole.reached]
    assert "a-run-comes-to-its-end" in [one.name for one in found.reached]
    assert (found.depth, found.checked) == (whole.depth, whole.checked)
    assert found.states <= whole.states


def test_only_claims_that_single_choices_or_ends_can_break_are_checked():
    """A claim about any other state might be missed, and must not be added without a thought.

    A run that has come to its end stays there, so that the end shows it. Where timers fire nothing is left out. Claims
    about a restore are broken by the schedules that are followed, too: tests/reference/job/test_recovery.py.
    """
    known = {"data-finds-a-buffer", "job-never-stuck", "a-run-comes-to-its-end"}
    known |= {"timers-make-nothing-late", "a-watermark-waits-for-its-timers", "a-status-waits-for-a-watermark"}
    known |= {one.name for one in COMPONENT.claims if any(rule.startswith("RST-") for rule in one.rules)}
    assert {one.name for one in COMPONENT.claims} == known


@pytest.mark.parametrize("left_out", [Action.ANNOUNCE, Action.DELIVER_CREDIT, Action.FLUSH])
@pytest.mark.parametrize("name", [name for name, config in JOBS.items() if config.wire is not None])
def test_a_job_that_gets_stuck_is_found(name, left_out):
    """A scheduler that never makes some choice: where every schedule shows that the job gets stuck, so do fewer."""

    def some(state):
        return tuple(one for one in enabled(state) if one.action is not left_out)

    _found, _states, ends, shown = run(JOBS[name], some)
    _found, _states, fewer_ends, fewer_shown = run(JOBS[name], lambda state: choose_among(state, some(state)))
    assert fewer_ends == ends
    assert fewer_shown == shown


@pytest.mark.parametrize("name", [name for name, config in JOBS.items() if config.wire is not None])
def test_what_must_not_be_seen_is_found(name):
    """A receiver that says it has no buffer whenever all its floating ones are taken."""

    def overrun(state, choice):
        (outcome,) = step(state, choice)
        if choice.action is Action.DELIVER:
            reader = state.layout.routes[choice.at].target
            if state.subtasks[reader].receiver.gate.free == 0:
                return (attrs.evolve(outcome, observations=(*outcome.observations, Overrun(choice.at))),)
        return (outcome,)

    wrong = attrs.evolve(COMPONENT, step=overrun)
    whole, _states, _ends, shown = run(JOBS[name], enabled, wrong)
    found, _states, _ends, fewer_shown = run(JOBS[name], choose, wrong)
    assert [one.name for one in found.broken] == [one.name for one in whole.broken]
    assert fewer_shown == shown


def test_a_broken_claim_is_shown_by_a_shortest_trace():
    """A job in which no credit is announced gets stuck; the reduced alphabet alone need not find the shortest way."""
    config = JOBS["wired-fork 0"]

    def some(_config, state):
        return tuple(one for one in enabled(state) if one.action is not Action.ANNOUNCE)

    stuck = Invariant("stuck", "", (), lambda state: is_done(state) or bool(some(config, state)))
    closure = Closure(
        "deaf",
        attrs.evolve(COMPONENT, claims=(stuck,)),
        (config,),
        some,
        reduced=lambda _config, state: choose_among(state, some(config, state)),
    )
    reduced, whole = closure.explore(config), closure.explore(config, reduction=False)
    assert reduced.broken == whole.broken != ()
    assert reduced.states < whole.states
    (kept,) = prefer((), reduced.broken)
    assert kept == reduced.broken[0], "where the limit came first, any trace is better than none"


def test_there_are_far_fewer_schedules_of_word_count():
    whole, _states, ends, shown = run(make_word_count(), enabled)
    found, _states, fewer_ends, fewer_shown = run(make_word_count(), choose)
    assert found.states < whole.states / 8
    assert (fewer_ends, fewer_shown) == (ends, shown)
