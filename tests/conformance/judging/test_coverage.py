"""Coverage: what a run exercised, what stayed out, and the floor below which nothing is known."""

import json

import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.coverage import Coverage, Wanted, measure, within_reach
from tidegate.conformance.judging.expected import expect
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.judging.judge_fast import Judge
from tidegate.conformance.judging.result import by_rule
from tidegate.traces.codec import encode


def judge_golden(component):
    judge = Judge()
    for case in read_golden(component):
        answers, _rules = expect(case)
        judge.judge(case, [[encode(one) for one in step] for step in answers])
    return judge


def test_what_is_within_reach_is_what_a_right_answer_exercises():
    wanted = within_reach(read_golden("valve"))
    coverage = measure(judge_golden("valve").exercised)
    assert set(wanted.rules) == set(coverage.rules)
    assert set(wanted.pairs) == set(coverage.pairs)
    assert not coverage.missing(wanted)
    assert not coverage.missing_pairs(wanted)


def test_a_rule_below_the_floor_is_missing():
    coverage = Coverage({"A-1": 2, "A-2": 0}, {})
    assert coverage.missing(Wanted(("A-1", "A-2"))) == ("A-2",)
    assert coverage.missing(Wanted(("A-1", "A-2"), floor=3)) == ("A-1", "A-2")


def test_a_pair_is_missing_if_its_rule_was_seen_without_it():
    pairs = {("A-1", ("watermark",)): 4, ("A-1", ()): 0, ("A-2", ()): 0}
    wanted = Wanted(("A-1", "A-2"), tuple(pairs))
    assert Coverage({"A-1": 4, "A-2": 0}, pairs).missing_pairs(wanted) == (("A-1", ()),)


def test_of_many_outcomes_that_did_not_come_a_few_are_told():
    pairs = (*(("A-1", (kind,)) for kind in ("watermark", "status", "record")), ("A-2", ()))
    assert by_rule(pairs, details=False) == ["A-1 (never watermark or 2 others)", "A-2 (never nothing)"]
    assert by_rule(pairs, details=True) == ["A-1 (never watermark or status or record)", "A-2 (never nothing)"]


@pytest.mark.parametrize(("floor", "code"), [(1, Exit.CONFORMANT), (10**9, Exit.UNDETERMINED)])
def test_a_run_below_the_floor_is_undetermined(capsys, floor, code):
    options = ["--component", "gate", "--stage", "golden", "--floor", str(floor), "--format", "json"]
    assert main(["run", "--engine", "reference", *options]) == code
    result = json.loads(capsys.readouterr().out)
    assert set(result["rules_missing"]) == (set(result["rules_exercised"]) if floor > 1 else set())
    assert not result["outcomes_missing"]
    assert {one["rule"] for one in result["outcomes_exercised"]} == set(result["rules_exercised"])
