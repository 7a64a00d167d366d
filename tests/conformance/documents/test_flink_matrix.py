"""The page of the version matrix, and the lists of what releases are known to do otherwise."""

from datetime import date

import pytest

from tidegate.conformance.documents.flink_matrix import Cell, as_page, examine_jobs, expectations_of
from tidegate.conformance.engines.flink.fetch import TESTED
from tidegate.conformance.judging.suite import Budget
from tidegate.reference.rules import all_rules

CELLS = [
    Cell("1.17.0", "valve", ("flink-7728",), 90, {"FLINK-31628: the valve dies": 10}, ()),
    Cell("2.3.0", "valve", ("flink-7728",), 100, {}, ()),
    Cell("2.3.0", "gate", (), 49, {}, ("gate-7: GATE-3",)),
]


def test_page_shows_counts_reasons_and_what_is_open():
    page = as_page(CELLS, Budget(100, 7), date(2026, 1, 2))
    assert "on 2026-01-02, seed 7, 100 generated cases" in page
    assert "| valve | 100 / 10 | 100 |" in page
    assert "| gate |  | **50 / 1** |" in page
    assert "- 1.17.0, valve: 10 cases. FLINK-31628: the valve dies." in page
    assert "- **2.3.0, gate: 1 cases that nothing explains**, such as gate-7: GATE-3." in page
    assert "| valve | flink-7728 | 1.17.0, 2.3.0 |" in page


def test_page_without_differences_says_so():
    assert "Nothing.\n" in as_page(CELLS[1:2], Budget(), date(2026, 1, 2))


@pytest.mark.parametrize("version", TESTED)
def test_lists_of_what_is_known_name_rules_that_exist(version):
    for entry in expectations_of(version).entries:
        assert entry.kind != "rule" or entry.pattern in all_rules()


def test_jobs_on_the_release_whose_valve_dies(flink_version):
    """FLINK-31628 takes whole jobs with it, and is told from anything else that may be wrong."""
    cell = examine_jobs(flink_version("1.17.0"), seed=2, jobs=40)
    assert cell.unexplained == ()
    assert any(reason.startswith("FLINK-31628") for reason in cell.explained), cell.explained
