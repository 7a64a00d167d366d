"""Whom to blame: a twin that gives the same wrong answers, or the likeliest rule; and state that leaks."""

import shlex
from functools import partial

import attrs
import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.museum.catalog import all_mutants, find
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.blame import WEIGHTS, answers_of, blame, by_subject, failures_among, probes_of
from tidegate.conformance.judging.kill_matrix import catch, make_small
from tidegate.conformance.judging.run import Candidate, replay, run
from tidegate.conformance.judging.shrink import LEAK, SecondTime, shrink_findings, worth_shrinking
from tidegate.conformance.judging.suite import Budget, Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.findings import describe
from tidegate.properties.drawing.directed import directed
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


def test_who_passes_all_probes_is_blamed_for_what_failed_in_the_run():
    """Some bugs show in long traces only, which are no probes."""
    verdicts = list(answers_of(find("valve-always-flushes"), probes_of("valve")))
    failing = [verdict for verdict in verdicts if verdict.status is Status.FAIL]
    run_only = [attrs.evolve(one, case=attrs.evolve(one.case, name=f"run {one.case.name}")) for one in failing]

    def passing(cases):
        return [Verdict(case, "probe", Status.PASS) for case in cases]

    assert blame("valve", passing) is None
    found = blame("valve", passing, run_only)
    assert (found.twin, "VALVE-10" in found.rules[:2]) == (None, True)


def test_what_was_made_small_speaks_before_the_rest():
    """Long traces have many rules at work; those that are left in the smallest ones are the likely ones."""
    mutant = find("union-eight-members-finish")
    # With this seed the long traces speak for another rule.
    failures = catch(mutant, "generated", Budget(seed=2)).failures
    small = [make_small(mutant, one) for one in worth_shrinking(failures)]
    assert max(len(one.case.events) for one in small) < min(len(one.case.events) for one in failures)
    found = partial(blame, mutant.component, partial(answers_of, mutant), failures, without=[mutant.name])
    assert found().rules[0] not in mutant.rules
    assert found(small=small).rules[0] == mutant.rule


def test_directed_traces_that_fail_speak_for_the_rules_that_they_are_about():
    about = {one.case.name: one.case.rules for one in directed("valve")}
    row = failures_among(answers_of(find("valve-always-flushes"), probes_of("valve")))
    failed = [name for name in about if name in row]
    scores = by_subject("valve", about.keys(), row)
    assert "VALVE-13" in scores, "where a flush must not come"
    assert set(scores) == {rule for name in failed for rule in about[name]}
    assert max(scores.values()) <= WEIGHTS["subject"]
    assert by_subject("valve", about.keys(), {}) == {}
    assert by_subject("valve", (), row) == {}, "what was not asked says nothing"


def test_nobody_is_blamed_for_nothing():
    assert run(Candidate(f"{MUSEUM}:Right"), Budget(5, stages=("generated",)), components=["valve"]).blames == ()


@pytest.mark.parametrize(("engine", "leaks"), [("ValveLastSurvivesCase", True), ("ValveNeverFlushes", False)])
def test_state_that_leaks_from_case_to_case_is_called_that(engine, leaks):
    cases = [read_case("valve", {"channels": 1}, trace, trace) for trace in ("0w5", "0w4 0w5 0i", "0w3 0i", "0w2 0i")]
    found = replay(Candidate(f"{MUSEUM}:{engine}"), [*cases, read_case("valve", {"channels": 2}, "0w5 0i 1i", "last")])
    (first, *more) = found.counterexamples
    assert (not more and not found.blames) == leaks, "one finding for all, and no rule is to blame"
    assert ("valve: state leaks from case to case" in first.text()) == leaks


def test_a_leak_is_shown_by_a_case_that_is_played_twice(capsys):
    """What the finding says to reproduce it fails, as often as one likes, and in the smallest way."""
    engine = f"{MUSEUM}:ValveLastSurvivesCase"
    found = run(Candidate(engine), Budget(40, stages=("directed",)), components=["valve"])
    (leak,) = found.counterexamples
    command, *words = shlex.split(leak.finding.reproduce)
    assert (command, words[-2:]) == ("tidegate", ["--times", "2"])
    assert len(leak.verdict.case.events) == 1
    assert main(words) == Exit.VIOLATIONS
    shown = capsys.readouterr().out
    assert "valve: state leaks from case to case" in shown
    assert main(words[:-2]) == Exit.CONFORMANT


def test_state_that_other_cases_have_left(monkeypatch):
    """Where a case does not fail behind itself, others have to come before it."""
    monkeypatch.setattr(SecondTime, "run", Runner.run)
    cases = [read_case("valve", {"channels": 1}, trace, trace) for trace in ("0w5", "0w4 0i")]
    (leak,) = replay(Candidate(f"{MUSEUM}:ValveLastSurvivesCase"), cases).counterexamples
    assert (leak.times, LEAK in leak.text()) == (None, True)


def test_relations_between_cases_come_behind_a_leak_that_explains_them():
    def make():
        return InProcess(Engine("valve-last-survives-case"))

    cases = [read_case("valve", {"channels": 1}, trace, trace) for trace in ("0w5", "0w4 0w5 0i", "0w3 0i")]
    planned = [Planned("generated", case) for case in cases]
    failing = [one for one in Runner(make()).run(planned) if one.status is Status.FAIL]
    related = Verdict(cases[0], "metamorphic", Status.FAIL, message="It is not so for the other.")
    assert [one.is_relation for one in (related, *failing)] == [True, False, False]
    (leak,) = shrink_findings(make(), [related, *failing], make)
    assert (leak.verdict.is_relation, leak.times) == (False, 2)
    (alone,) = shrink_findings(make(), [related], make)
    assert describe(alone.verdict, "exec:it").reproduce.endswith("--component valve --stage metamorphic")
