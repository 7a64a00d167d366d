"""The page of engines is what its reports say."""

import shlex
from pathlib import Path

import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.documents.engines_page import (
    PROMISES,
    make_page,
    name_engine,
    read_reports,
    tell_failures,
    tell_promise,
)
from tidegate.properties.runlog import INVARIANTS

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_as_it_would_be_written_now(tmp_path):
    assert (
        main(["generate", "engines-page", "--reports", str(DOCS / "engines"), "--out", str(tmp_path / "page.md")]) == 0
    )
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == (DOCS / "engines.md").read_text(encoding="utf-8")


def test_reports_say_how_they_were_made():
    reports = read_reports(DOCS / "engines")
    assert len(reports) >= 2
    for report in reports:
        assert shlex.split(report["command"])[:4] == ["tidegate", "jobs", "--engine", report["engine"]]
        assert sum(report["statuses"].values()) == report["jobs"]
        assert report["restored"] > report["jobs"] / 2 or not report["faults_drawn"] or not shows_restores(report)
        assert name_engine(report) in make_page(reports)
        assert all(note in make_page(reports) for note in report.get("notes", ()))


def test_two_reports_of_one_engine_are_told_apart():
    report = {"engine": "flink:2.3.0", "faults_drawn": 0}
    assert name_engine(report) == "flink:2.3.0"
    assert name_engine({**report, "faults_drawn": 3}) == "flink:2.3.0, under faults"
    assert name_engine({"engine": "quix", "implementation": {"version": "3"}, "faults_drawn": 3}) == "quix:3"


def shows_restores(report):
    """Whether the log of a run tells its attempts apart."""
    return "record" in report["declared"].get("shows", ["record"]) and report["engine"].partition(":")[0] != "spark"


def test_whatever_failed_has_a_page_that_explains_it():
    for report in read_reports(DOCS / "engines"):
        known = report.get("known", {})
        assert set(report["statuses"]) <= {"pass", "fail"}
        assert bool(report["statuses"].get("fail")) is bool(report.get("findings"))
        assert set(report.get("findings", {})) == set(known)
        assert all((DOCS / page).is_file() for page in known.values())


def test_what_is_known_is_told_and_stays_a_violation():
    promises = {"delivery": "exactly_once", "order_scope": "key"}
    report = {"invariants": {"LOG-LOSS": {"failed": 2}}, "declared": promises, "restored": 0}
    assert tell_promise("no loss", report) == "**violated** in 2"
    report |= {"findings": {"fail LOG-LOSS": {"jobs": 2}, "fail TIME-2": {"jobs": 1}}}
    assert tell_failures(report) == [
        "- fail LOG-LOSS, 2 jobs: not explained",
        "- fail TIME-2, 1 jobs: not explained",
        "",
    ]
    report |= {"known": {"fail LOG-LOSS": "findings/x.md"}}
    assert tell_promise("no loss", report) == "**violated** in 2 ([known](findings/x.md))"
    assert tell_failures(report)[0] == "- fail LOG-LOSS, 2 jobs: [findings/x.md](findings/x.md)"


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({"passed": 3}, "passed in 3"),
        ({"passed": 3, "failed": 1}, "**violated** in 1"),
        ({"skipped": 3}, "skipped"),
        ({"undetermined": 2, "skipped": 1}, "undetermined"),
        ({}, "skipped"),
    ],
)
def test_what_is_not_shown_is_not_passed(counts, told):
    promises = {"delivery": "exactly_once", "order_scope": "key"}
    report = {"invariants": {"LOG-LOSS": counts, "LOG-ORDER": counts}, "declared": promises, "restored": 0}
    assert tell_promise("no loss", report) == tell_promise("no duplication", report) == told
    assert tell_promise("order", report) == (f"{told}, per key" if told == "passed in 3" else told)
    promises["delivery"] = "at_least_once"
    assert tell_promise("no duplication", report) == "not promised"


def test_recovery_is_told_by_results_where_nothing_else_shows_it():
    report = {"invariants": {"LOG-RESULT": {"passed": 4}, "LOG-RECOVER": {"skipped": 4}}, "declared": {}, "restored": 3}
    assert tell_promise("recovery", report) == "passed in 3, by results"
    assert tell_promise("recovery", report | {"restored": 0}) == "skipped"
    failed = report | {"statuses": {"pass": 1, "fail": 3}, "known": {"fail job": "x.md"}}
    assert tell_promise("recovery", failed) == "**3 jobs fail** ([known](x.md))"
    assert tell_promise("recovery", report | {"invariants": {"LOG-RESULT": {"failed": 1}}}) == "skipped"


def test_promises_stand_on_invariants():
    assert {name for names in PROMISES.values() for name in names} < {one.id for one in INVARIANTS}
