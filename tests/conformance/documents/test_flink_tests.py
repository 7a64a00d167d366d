"""The table of Flink's own unit tests: every line of it can be believed as far as we can tell."""

from collections import Counter

import pytest

from tidegate.conformance.documents.flink_tests import Coverage, FlinkTest, flink_tests_page, parse, read_tests
from tidegate.reference.rules import all_rules

TESTS = read_tests()


def test_every_method_is_there_once():
    assert max(Counter((one.place, one.method) for one in TESTS).values()) == 1
    assert len(TESTS) >= 700


def test_rules_are_those_of_the_registry():
    assert {rule for one in TESTS for rule in one.rules} <= all_rules().keys()


def test_what_is_covered_names_its_rules_and_what_is_not_says_why():
    assert [one.method for one in TESTS if one.coverage is Coverage.COVERED and (not one.rules or one.why)] == []
    assert [one.method for one in TESTS if one.coverage is not Coverage.COVERED and not one.why] == []
    assert [one.method for one in TESTS if one.coverage is Coverage.PARTLY and not one.rules] == []


def test_rules_that_are_not_modelled_cover_nothing():
    outside = {rule.id for rule in all_rules().values() if rule.out_of_scope}
    assert not [one for one in TESTS if one.coverage is Coverage.COVERED and outside & set(one.rules)]


def test_a_line_is_read():
    assert parse("A", "b", "partly PART-9 PART-10; it; 2.4", {"it": "so it is"}) == FlinkTest(
        "A", "b", Coverage.PARTLY, ("PART-9", "PART-10"), "so it is", later=True
    )
    with pytest.raises(KeyError):
        parse("A", "b", "missing; unknown", {})
    with pytest.raises(ValueError, match="nearly"):
        parse("A", "b", "nearly PART-9", {})


def test_the_page_has_them_all():
    page = flink_tests_page("made")
    assert page.startswith("made\n# Flink's own unit tests\n")
    assert all(f"\n| {one.method} " in page for one in TESTS)
    assert "| testSingleInputDecreasingWatermarksYieldsNoOutput | covered | [VALVE-3](semantics/valve.md) |" in page
