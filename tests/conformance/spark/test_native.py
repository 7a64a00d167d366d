"""Spark's own event time: the invariants that it can show, and where it parts from Flink."""

from pathlib import Path

import pytest

from conformance.spark.native.traces import Counted, predict, read_trace
from conformance.spark_page.differences import count_as_specified, find_differences
from conformance.spark_page.facts import POLICIES, run_native
from conformance.spark_page.page import describe_native
from properties.runlog import Status

PAGE = Path(__file__).parent.parent.parent.parent / "docs" / "spark.md"


@pytest.fixture(scope="module")
def facts(spark, tmp_path_factory):
    return run_native(spark, tmp_path_factory.mktemp("native"))


@pytest.mark.parametrize("policy", POLICIES)
def test_invariants_hold_or_are_skipped_for_what_spark_lacks(facts, policy):
    verdicts = {one.invariant: one for one in facts.verdicts[policy]}
    passed = {invariant for invariant, one in verdicts.items() if one.status is Status.PASSED}
    assert passed == {"LOG-WATERMARK", "LOG-ORDER", "LOG-LOSS"}
    skipped = {invariant: one.reason for invariant, one in verdicts.items() if one.status is Status.SKIPPED}
    assert skipped.keys() == verdicts.keys() - passed
    assert "idleness" in skipped["LOG-STATUS"]
    assert "single subtasks" in skipped["LOG-LATE"]


def test_every_shortest_trace_differs_on_spark_itself(facts):
    assert len(facts.differences) == len(find_differences())
    for one in facts.differences:
        assert one.spark == one.predicted, str(one.difference.trace)
        assert one.spark != one.flink, str(one.difference.trace)


def test_the_model_is_right_about_longer_traces(facts):
    assert facts.agrees == dict.fromkeys(POLICIES, True)


def test_the_page_says_what_was_seen(facts):
    assert describe_native(facts) in PAGE.read_text(encoding="utf-8")


# --- without Spark --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "counted", "fired"),
    [
        ("0r11 0r1", {0, 1}, set()),  # source 1 has said nothing yet
        ("0r11 1r11 0r1", {0, 1}, set()),
        ("0r1 0r11 1i", {0, 1}, {0}),
        ("0r1 0i 1i", {0}, set()),
        ("1i 0r1 0r11 1r1", {0, 1}, {0}),
        ("0r1 0e 1e", {0}, {0}),
        ("0r1 0i 0e 1e", {0}, {0}),
        ("0r-5", {0}, set()),
    ],
)
def test_flink_counts_as_a_valve_says(text, counted, fired):
    assert count_as_specified(read_trace(text)) == Counted(frozenset(counted), frozenset(fired))


@pytest.mark.parametrize(
    ("text", "policy", "counted", "fired"),
    [
        ("0r11 | 0r1 | 0r1", "max", {0, 1}, {1}),
        ("0r11 | 0r1 | 0r1", "min", {0, 1, 2}, set()),
        ("0r10 | 0r1", "max", {0, 1}, {1}),
        ("0r9 | 0r1", "max", {0, 1}, set()),
        ("0r-5", "min", set(), set()),
    ],
)
def test_the_model_counts_as_spark_does(text, policy, counted, fired):
    assert predict(read_trace(text), policy) == Counted(frozenset(counted), frozenset(fired))


def test_traces_are_read_and_written():
    for text in ("0r11 1i | 1r1", "0r-5", "0e 1a"):
        assert str(read_trace(text)) == text
    with pytest.raises(ValueError, match="no event"):
        read_trace("0x")
