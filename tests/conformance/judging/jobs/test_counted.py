"""Jobs on Bytewax: what is judged of them, and, where it is installed, a job that is killed."""

import copy

import pytest

from tidegate.conformance.engines.bytewax import running
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.counted import compute_expected, draw_case, judge, run_counted

CASE = {"name": "small", "scripts": ["aab", "b"]}
#: Two workers, killed when a few records were counted; the second attempt has all of it again, but for what was saved.
ANSWER = {
    "attempts": [
        [["out 0 0 a", "in 0 0 a", "result a 1", "out 0 1 a"], ["out 1 0 b"]],
        [
            ["out 0 1 a", "out 0 2 b", "in 0 1 a", "result a 2"],
            ["out 1 0 b", "in 1 0 b", "result b 1", "in 0 2 b", "result b 2"],
        ],
    ],
    "faults": [{"fault": "kill", "hit": True}],
    "seconds": 1.0,
}


def test_what_is_sent_again_is_no_fault():
    job = judge(CASE, ANSWER)
    assert job.violations == []
    assert job.restores == 1
    passed = {one.invariant for one in job.verdicts if one.status == "passed"}
    assert passed == {"LOG-ORDER", "LOG-LOSS", "LOG-ROUTE", "LOG-RESULT"}


@pytest.mark.parametrize(
    ("worker", "lines", "named"),
    [
        (1, ["out 1 0 b", "in 1 0 b", "result b 1"], {"LOG-LOSS", "LOG-RESULT"}),
        (1, ["out 1 0 b", "in 1 0 b", "result b 1", "in 0 2 b"], {"LOG-RESULT"}),
        (1, ["out 1 0 b", "in 1 0 b", "result b 1", "in 0 2 b", "result b 2", "result b 3"], {"LOG-RESULT"}),
        (0, ["out 0 1 a", "out 0 2 b", "in 0 1 a", "result a 2", "in 0 3 b"], {"LOG-LOSS", "LOG-ROUTE"}),
    ],
    ids=["lost", "not handed out", "counted twice", "invented elsewhere"],
)
def test_what_is_wrong_is_named(worker, lines, named):
    answer = copy.deepcopy(ANSWER)
    answer["attempts"][1][worker] = lines
    assert {one.split(":")[0] for one in judge(CASE, answer).violations} == named


def test_the_records_of_a_key_keep_their_order():
    case = {"name": "small", "scripts": ["aba"]}
    lines = ["out 0 0 a", "out 0 1 b", "out 0 2 a", "in 0 1 b", "result b 1", "in 0 0 a", "result a 1"]
    lines += ["in 0 2 a", "result a 2"]
    answer = {"attempts": [[lines]], "faults": [], "seconds": 1.0}
    assert judge(case, answer).violations == []
    swapped = [
        line.replace("in 0 0", "in 0 x").replace("in 0 2", "in 0 0").replace("in 0 x", "in 0 2") for line in lines
    ]
    violations = judge(case, answer | {"attempts": [[swapped]]}).violations
    assert [one.split(":")[0] for one in violations] == ["LOG-ORDER"]


def test_a_job_that_begins_anew_is_not_restored():
    answer = copy.deepcopy(ANSWER)
    answer["attempts"][1][0][:0] = ["out 0 0 a", "in 0 0 a", "result a 1"]
    job = judge(CASE, answer)
    assert (job.violations, job.restores, job.hits) == ([], 0, 1)


def test_every_count_of_a_key_is_expected():
    assert [(one.key, one.value) for one in compute_expected(CASE)] == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def test_faults_are_part_of_the_case():
    assert draw_case(3, 4, 3) == draw_case(3, 4, 3) != draw_case(3, 5, 3)
    assert {len(draw_case(0, index, 2)["faults"]) for index in range(20)} == {1, 2}
    assert draw_case(0, 0, 0)["faults"] == []


def test_without_bytewax_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(running.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(CannotStartError) as told:
        running.find_version()
    assert "tidegate[bytewax]" in told.value.hint


def test_a_job_that_is_killed():
    pytest.importorskip("bytewax")
    result = run_counted(1, 0, 1)
    assert result.exit_code is Exit.CONFORMANT
    assert result.jobs[0].hits == 1
    assert len(result.jobs[0].logs[0].job.restored) == 1
