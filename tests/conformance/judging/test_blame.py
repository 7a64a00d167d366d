"""Whom to blame: a twin that gives the same wrong answers, or the likeliest rule; and state that leaks."""

from functools import partial

import pytest

from tidegate.conformance.engines.museum.catalog import all_mutants
from tidegate.conformance.judging.blame import answers_of, blame
from tidegate.conformance.judging.run import Candidate, replay, run
from tidegate.conformance.judging.shrink import LEAK
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.judging.verdicts import Status
from tidegate.traces.notation.text import read_case

MUSEUM = "python:tidegate.conformance.engines.museum.engines"
#: Components of every sort whose cases are cheap; `make museum` has them all.
SAMPLE = [mutant for mutant in all_mutants() if mutant.component in ("valve", "serializer")]


def test_a_twin_explains_every_failure():
    found = run(Candidate(f"{MUSEUM}:ValveAlwaysFlushes"), Budget(50, stages=("directed", "generated")))
    (cause,) = found.blames
    assert (cause.twin, cause.rules[0]) == ("valve-always-flushes", "VALVE-10")
    assert cause.failures > found.count(Status.FAIL) > 0
    assert (
        f"valve behaves like valve-always-flushes on all {cause.failures} failures compared: VALVE-10" in found.text()
    )


def test_without_its_twin_the_broken_rule_is_blamed_first():
    wrong, tried = [], 0
    for mutant in SAMPLE:
        found = blame(mutant.component, partial(answers_of, mutant), without=[mutant.name])
        if found is not None:
            tried += 1
            assert found.twin != mutant.name
            wrong += [(mutant.name, mutant.rule, found.rules[:3])] * (found.rules[0] not in mutant.rules)
    assert tried > 0.9 * len(SAMPLE)
    assert len(wrong) <= 0.1 * tried, wrong


def test_nobody_is_blamed_for_nothing():
    assert run(Candidate(f"{MUSEUM}:Right"), Budget(5, stages=("generated",)), components=["valve"]).blames == ()


@pytest.mark.parametrize(("engine", "leaks"), [("ValveLastSurvivesCase", True), ("ValveNeverFlushes", False)])
def test_state_that_leaks_from_case_to_case_is_called_that(engine, leaks):
    cases = [read_case("valve", {"channels": 1}, trace, trace) for trace in ("0w5", "0w4 0w5 0i", "0w3 0i", "0w2 0i")]
    found = replay(Candidate(f"{MUSEUM}:{engine}"), [*cases, read_case("valve", {"channels": 2}, "0w5 0i 1i", "last")])
    assert found.counterexamples
    assert {LEAK in one.text() for one in found.counterexamples} == {leaks}
