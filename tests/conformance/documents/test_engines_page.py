"""The page of engines is what its reports say."""

import json
import shlex
from collections import Counter
from pathlib import Path

import pytest

from tidegate.conformance.cli.main import main
from tidegate.conformance.documents.engines_page import (
    MOST_ITEMS,
    PROMISES,
    make_page,
    name_engine,
    read_reports,
    take_report,
    tell_failures,
    tell_promise,
)
from tidegate.conformance.judging.jobs import draws
from tidegate.conformance.judging.jobs.again import Again, runs_needed
from tidegate.properties.runlog import INVARIANTS
from tidegate.traces.files import TraceFileError

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
        assert report["draws"] in range(1, draws.VERSION + 1)


def test_a_report_of_earlier_draws_says_who_draws_its_jobs():
    report = next(one for one in read_reports(DOCS / "engines"))
    old, new = make_page([report | {"draws": 1}]), make_page([report | {"draws": draws.VERSION}])
    assert "These jobs use draws 1: commit " in old
    assert "These jobs use draws" not in new


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
        assert {*report.get("findings", {}), *report.get("earlier", {})} == set(known)
        assert all((DOCS / page).is_file() for page in known.values())


def test_each_failure_has_a_command_that_shows_it_again_and_its_rate():
    reports = read_reports(DOCS / "engines")
    page = make_page(reports)
    for report in reports:
        failures = report.get("failures", [])
        kinds = Counter(one["kind"] for one in failures)
        assert kinds == {kind: found["jobs"] for kind, found in report["findings"].items()}
        assert len({one["job"] for one in failures}) == report["statuses"].get("fail", 0)
        for one in failures:
            words = shlex.split(one["reproduce"])
            options = dict(zip(words[2::2], words[3::2], strict=True))
            assert words[:2] == ["tidegate", "jobs"]
            assert (options["--engine"], options["--seed"]) == (report["engine"], str(report["seed"]))
            assert options.get("--faults", "0") == str(report["faults"])
            assert (options["--first"], options["--jobs"]) == (one["job"].rpartition("-")[2], "1")
            assert options["--rule"] == one["kind"].split(" ")[1]
            again = Again(one["again"], Counter({options["--rule"]: one["failed"]}))
            most, missed = runs_needed(again, options["--rule"])
            assert one["again"] >= 5
            assert (options["--until-fail"], one["missed"]) == (str(most), round(missed, 4))
            assert f"`{one['reproduce']}`" in page


def test_a_report_is_taken_with_what_was_written_by_hand(tmp_path, capsys):
    engine = "python:tests.conformance.judging.jobs.wrong_engines:EveryThird"
    run, kept = tmp_path / "run", tmp_path / "kept"
    words = ["--jobs", "1", "--first", "4", "--until-fail", "3", "--again", "6", "--report", str(run)]
    main(["jobs", "--engine", engine, *words])
    kept.mkdir()
    page = ["generate", "engines-page", "--reports", str(kept), "--out", str(tmp_path / "page.md"), "--take", str(run)]
    assert main(page) == 0
    (path,) = kept.glob("*.json")
    assert path.name == "python-1.0.0.json"
    report = json.loads(path.read_text())
    assert "| job-0-4 | fail LOG-LOSS | 2 of 6 | " in (tmp_path / "page.md").read_text()
    path.write_text(json.dumps(report | {"notes": ["By hand."], "known": {"fail LOG-LOSS": "x.md"}, "rows": -1}))
    capsys.readouterr()
    assert main(page) == 0
    assert json.loads(path.read_text()) == report | {"notes": ["By hand."], "known": {"fail LOG-LOSS": "x.md"}}
    assert str(path) in capsys.readouterr().out


def test_of_some_jobs_run_again_only_rates_are_taken(tmp_path):
    def failure(job, kind, failed):
        return {"job": job, "kind": kind, "again": 5, "failed": failed, "reproduce": "x", "missed": 0.005}

    (report,) = [one for one in read_reports(DOCS / "engines") if name_engine(one) == "flink:2.3.0, under faults"]
    kept = tmp_path / "flink-2.3.0-faults.json"
    kept.write_text(json.dumps(report | {"failures": [failure("job-1-42", "fail LOG-LOSS", 0)]}))
    news = [failure("job-1-42", "fail LOG-LOSS", 3), failure("job-1-72", "fail LOG-LOSS", 4), failure("x", "fail Y", 1)]
    part = report | {"jobs": 2, "rows": 3, "failures": news}
    (tmp_path / "summary.json").write_text(json.dumps(part))
    taken = json.loads(take_report(tmp_path, tmp_path).read_text())
    assert taken == report | {"failures": news[:2]}
    (tmp_path / "summary.json").write_text(json.dumps(part | {"seed": 2}))
    with pytest.raises(TraceFileError, match="do not belong to the 200 jobs"):
        take_report(tmp_path, tmp_path)


def test_what_an_earlier_run_has_violated_is_not_forgotten(tmp_path):
    (report,) = [one for one in read_reports(DOCS / "engines") if name_engine(one) == "flink:2.3.0, under faults"]
    old = {
        "findings": {"fail LOG-ORDER": {"jobs": 2, "items": 1}},
        "date": "2026-01-02",
        "known": {"fail LOG-ORDER": "x"},
    }
    (tmp_path / "flink-2.3.0-faults.json").write_text(json.dumps(report | old))
    (tmp_path / "summary.json").write_text(json.dumps(report))
    for _twice in range(2):
        taken = json.loads(take_report(tmp_path, tmp_path).read_text())
    assert taken["earlier"] == {"fail LOG-ORDER": {"jobs": 2, "date": "2026-01-02"}}
    passed = report["invariants"]["LOG-ORDER"]["passed"]
    assert tell_promise("order", report) == f"passed in {passed}, per channel"
    assert tell_promise("order", taken) == f"passed in {passed}, and **violated** in an earlier run ([known](x))"
    assert "- fail LOG-ORDER, 2 jobs of a run of 2026-01-02, none of this one: [x](x)" in tell_failures(taken)
    (tmp_path / "summary.json").write_text(json.dumps(report | {"findings": old["findings"]}))
    assert "fail LOG-ORDER" not in json.loads(take_report(tmp_path, tmp_path).read_text())["earlier"], (
        "it is told again"
    )


def test_the_report_of_a_run_that_did_not_end_is_not_taken(tmp_path):
    report = next(one for one in read_reports(DOCS / "engines"))
    (tmp_path / "summary.json").write_text(json.dumps(report | {"complete": False}))
    with pytest.raises(TraceFileError, match="--resume"):
        take_report(tmp_path, tmp_path)


def test_programs_that_were_not_made_small_are_left_to_their_command(tmp_path):
    report = next(one for one in read_reports(DOCS / "engines"))
    found = {"jobs": 1, "reproduce": "x", "program": {}}
    found = {"small": {**found, "items": MOST_ITEMS}, "large": {**found, "items": MOST_ITEMS + 1}}
    (tmp_path / "summary.json").write_text(json.dumps(report | {"findings": found}))
    taken = json.loads(take_report(tmp_path, tmp_path).read_text())
    assert ["program" in taken["findings"][size] for size in ("small", "large")] == [True, False]


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
