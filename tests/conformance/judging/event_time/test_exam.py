"""Exams of an engine that runs whole jobs: exit codes, examples, reports; on a stand-in, without Spark."""

import json
from xml.etree import ElementTree as ET

import pytest

from tests.conformance.judging.event_time.stand_in import StandIn
from tests.paths import ROOT
from tidegate.conformance.documents.spark_page.page import NATIVE_CASES, describe_native
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.event_time.exam import UNEXPLAINED, examine
from tidegate.conformance.judging.event_time.report import as_json, as_markdown, conclusion, remarks, write_report

PAGE = ROOT / "docs" / "spark.md"


def test_who_does_as_declared_is_conformant():
    exam = examine(StandIn(), cases=5)
    assert exam.exit_code is Exit.CONFORMANT
    assert not exam.examples
    assert len(exam.shown()) == len(exam.differences) > 8
    assert "none unexplained" in conclusion(exam)


def test_the_page_is_what_is_declared():
    """What Spark does is in tests/conformance/spark; here it is the words around it."""
    assert describe_native(examine(StandIn(), cases=NATIVE_CASES)) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("fault", "wrong"), [({"loses": (25,)}, UNEXPLAINED), ({"twice": (25,)}, "LOG-LOSS")])
def test_what_is_wrong_is_shown_on_one_event(fault, wrong):
    """Time 25 stands in a corner of a dozen events, and in no shortest trace."""
    exam = examine(StandIn(**fault), cases=0, most_runs=200)
    assert exam.exit_code is Exit.VIOLATIONS
    assert {key[1] for key in exam.examples} >= {wrong}
    assert {str(run.order.trace) for (_policy, what), run in exam.examples.items() if what == wrong} == {"0r25"}
    assert wrong in as_markdown(exam, "stand-in")


def test_a_lost_record_breaks_an_invariant_too():
    exam = examine(StandIn(loses=(25,)), cases=0)
    assert ("min", "LOG-LOSS") in exam.examples


def test_few_runs_are_spent_on_a_shorter_trace():
    engine = StandIn(twice=(25,))
    exam = examine(engine, cases=0, most_runs=3)
    assert len(engine.orders) <= len(exam.runs) + 3 * len(exam.examples)


def test_what_was_not_run_leaves_it_open():
    exam = examine(StandIn(refuses=("0r-5",)), cases=0)
    assert exam.exit_code is Exit.UNDETERMINED
    assert [order.policy for order, _reason in exam.not_run] == ["min", "max"]
    assert "0r-5" in remarks(exam)[0]
    assert len(exam.shown()) == len(exam.differences) - 2


def test_a_violation_counts_more_than_what_was_not_run():
    assert examine(StandIn(refuses=("0r-5",), loses=(25,)), cases=0).exit_code is Exit.VIOLATIONS


def test_who_interrupts_gets_what_is_known():
    exam = examine(StandIn(interrupts_after=4), cases=0)
    assert len(exam.runs) == 4
    assert exam.exit_code is Exit.UNDETERMINED
    assert "interrupted" in remarks(exam)[0]


def test_nothing_wanted_is_nothing_known():
    exam = examine(StandIn(), cases=0, wanted=lambda _order: False)
    assert exam.exit_code is Exit.UNDETERMINED
    assert all(one["outcome"] == "not run" for one in as_json(exam, "stand-in")["invariants"])


def test_the_report_of_a_wrong_engine(tmp_path):
    exam = examine(StandIn(twice=(25,), refuses=("0r-5",)), seed=3, cases=1)
    write_report(tmp_path, exam, "stand-in")
    suites = ET.fromstring((tmp_path / "junit.xml").read_bytes())  # noqa: S314 - it is ours
    assert {suite.get("failures") for suite in suites} == {"1"}
    assert {suite.get("errors") for suite in suites} == {"1"}
    header, *runs, footer = map(json.loads, (tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines())
    assert header["seed"] == 3
    assert footer["runs"] == len(runs) == len(list((tmp_path / "runs").iterdir()))
    assert footer["exit"] == Exit.VIOLATIONS
    assert {one["wrong"] for one in footer["violations"]} == {"LOG-LOSS"}
    assert [one["reason"] for one in footer["not_run"]] == ["no", "no"]
