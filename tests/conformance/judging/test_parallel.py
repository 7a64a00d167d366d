"""Components tried at once, each worker with an engine of its own: the result is that of one process."""

import json
import re
import signal
import sys

import pytest

from tests.conformance.reports.reading import read_report
from tests.paths import ROOT
from tests.processes import PATIENCE, launch, tidegate_command, wait_until
from tests.processes import run_tidegate as tidegate
from tidegate.conformance.judging.run import Candidate, run
from tidegate.conformance.judging.suite import Budget, parts_of
from tidegate.conformance.judging.verdicts import Status

ENGINES = "python:tests.conformance.cli.engines"
SMALL = ("--component", "wiring", "--component", "gate", "--component", "valve", "--cases", "40")
QUICK = (*SMALL, "--stage", "directed", "--stage", "golden", "--stage", "generated")

#: With all stages.
TWO = ("--component", "wiring", "--component", "statuses", "--cases", "40")


#: The example, if nobody else runs it.
ALONE = """
import fcntl, runpy, sys
lock = open({lock!r}, "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit("somebody else runs me")
runpy.run_path({example!r}, run_name="__main__")
"""


def result_of(*args):
    done = tidegate("run", *args, "--format", "json")
    found = json.loads(done.stdout)
    return done.returncode, {key: value for key, value in found.items() if key != "seconds"}


@pytest.mark.parametrize(
    ("engine", "code", "options"),
    [
        pytest.param("reference", 0, TWO, marks=pytest.mark.long),
        (f"{ENGINES}:WrongInTwoPlaces", 1, (*QUICK, "--stage", "metamorphic")),
    ],
)
def test_the_result_is_that_of_one_process(engine, code, options):
    alone = result_of("--engine", engine, *options, "--jobs", "1")
    assert alone == result_of("--engine", engine, *options, "--jobs", "3")
    assert alone[0] == code
    assert bool(alone[1]["claims"]) == (code == 0)


@pytest.mark.parametrize("cases", [1, 2001, 10**7, 10**10 + 1])
def test_however_many_cases_parts_are_few_and_leave_none_out(cases):
    parts = [*parts_of("valve", Budget(cases=cases, stages=("generated",)))]
    assert len(parts) <= 1001
    assert [one.first for one in parts] == [0, *(one.cases for one in parts[:-1])]
    assert parts[-1].cases == cases


def test_where_no_process_can_be_started_the_suite_is_tried_here(tmp_path, monkeypatch):
    """Whoever stands in a folder that is gone can start none; with too many processes nobody can."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    result = run(Candidate("reference"), Budget(stages=("directed",)), components=["gate", "valve"], jobs=2)
    assert {component for component, _stage, status in result.counts if status is Status.PASS} == {"gate", "valve"}
    assert "Of 2 more copies of the engine none would start" in result.notes[0]
    assert "No such file" in result.notes[0]


def test_known_failures_are_known_to_every_worker(tmp_path):
    engine = "python:tidegate.conformance.engines.museum.engines:Right"
    expected = tmp_path / "known.txt"
    expected.write_text("case valve-directed-* -- not so\ncase gate-directed-* -- not so\n", encoding="utf-8")
    done = tidegate("run", "--engine", engine, *QUICK, "--jobs", "2", "--expect", expected)
    assert done.returncode == 1
    assert done.stdout.count("it no longer fails") == 2


def test_the_report_has_a_line_for_each_verdict_in_the_order_of_components(tmp_path):
    reports = []
    for jobs in ("1", "2"):
        tidegate("run", "--engine", "reference", *TWO, "--jobs", jobs, "--report", tmp_path / jobs)
        reports.append(read_report(tmp_path / jobs / "report.jsonl"))
    assert reports[0] == reports[1]
    assert len(reports[0][1]) > 120


def test_a_worker_that_dies_costs_its_component_and_nothing_else():
    code, found = result_of("--engine", f"{ENGINES}:KillsItsWorker", *QUICK, "--jobs", "2")
    assert code == 2
    counts = {(row["component"], row["stage"]): row for row in found["counts"]}
    stages = ("directed", "golden", "generated")
    assert [counts["gate", stage] for stage in stages] == [
        {"component": "gate", "stage": stage, "not run": 1} for stage in stages
    ]
    assert {key for key in counts if key[0] != "gate"} == {
        (name, stage) for name in ("valve", "wiring") for stage in stages
    }


def test_an_engine_that_only_starts_once_is_tried_on_one_core_and_that_is_said(tmp_path):
    engine = tmp_path / "engine.py"
    engine.write_text(
        ALONE.format(lock=str(tmp_path / "lock"), example=str(ROOT / "examples" / "python" / "engine.py"))
    )
    command = f"exec:{sys.executable} {engine}"
    done = tidegate("run", "--engine", command, "--stage", "directed", "--jobs", "2")
    assert done.returncode in (0, 2), done.stdout + done.stderr
    assert "Of 2 more copies of the engine none would start, so it took longer: " in done.stdout
    assert re.search(r"^valve +\d+", done.stdout, re.MULTILINE)


def test_an_engine_that_cannot_start_is_told_of_once():
    done = tidegate("run", "--engine", "python:no.such:Engine", *QUICK, "--jobs", "2")
    assert done.returncode == 69
    assert done.stderr.count("tidegate:") == 1


def test_an_interrupt_keeps_what_workers_have_found(tmp_path):
    """One worker tries the valve and then the wiring. The other knows of wrong answers, and waits for more."""
    components = [word for name in ("wiring", "priority_gate", "valve") for word in ("--component", name)]
    options = (*components, "--stage", "golden", "--jobs", "2", "--timeout", "600", "--report", tmp_path)
    report = tmp_path / "report.jsonl"
    with launch(tidegate_command("run", "--engine", f"{ENGINES}:NeverDoneWithPriorities", *options)) as process:
        for component in (b'"wiring"', b'"priority_gate"'):
            wait_until(lambda word=component: report.exists() and word in report.read_bytes(), process)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, err
    assert "interrupted" in out
    assert "priority_gate breaks" in out
    _header, verdicts, footer = read_report(report)
    assert (footer["complete"], footer["exit"]) == (False, 1)
    assert {line["component"] for line in verdicts} == {"valve", "wiring", "priority_gate"}
