"""Synthetic logs: valid where nothing was planted, and wrong exactly where something was."""

from collections import Counter

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("numpy")

from tests.conformance.audit.conftest import write_logs
from tidegate.conformance.audit.auditing import audit
from tidegate.conformance.cli.main import main
from tidegate.conformance.exits import Exit
from tidegate.conformance.synthetic import restored
from tidegate.conformance.synthetic.faults import MOST, PLANT
from tidegate.conformance.synthetic.files import Task, write_run
from tidegate.conformance.synthetic.job import Plan
from tidegate.conformance.synthetic.planning import (
    PlanningError,
    make_plan,
    make_tasks,
    read_planted,
    spread,
    write_manifest,
)
from tidegate.properties.runlog import Status, check
from tidegate.traces.runlog import OWN_KINDS, Kind, read_runlog


def by_folds(folder):
    found = Counter()
    for path in sorted(folder.glob("*.parquet")):
        log = read_runlog(path)
        for verdict in check(log):
            assert (verdict.status is Status.SKIPPED) is (verdict.invariant in ("LOG-RESULT", "LOG-RECOVER"))
            found.update((log.run, verdict.invariant, one.channel, one.position) for one in verdict.violations)
    return found


def test_a_log_without_faults_is_valid(tmp_path):
    plan = Plan("run", 0, epochs=18, records=64)
    write_run(Task(plan, (), str(tmp_path)))
    assert by_folds(tmp_path) == Counter()
    log = read_runlog(tmp_path / "run.parquet")
    assert log.complete
    assert {row.kind for row in log.rows} == set(Kind) - {Kind.LATENCY_MARKER} - OWN_KINDS
    assert abs(len(log.rows) - plan.events) < plan.events / 20


@pytest.mark.parametrize("name", PLANT)
def test_a_fault_shows_where_its_list_says_and_nowhere_else(tmp_path, name):
    write_logs(tmp_path, 4_000, 1, {name: 2})
    wanted = Counter(
        (run, invariant, channel, position) for run, invariant, channel, _dir, position in read_planted(tmp_path)
    )
    assert len(list(read_planted(tmp_path))) >= 2
    assert by_folds(tmp_path) == wanted


def test_the_same_seed_gives_the_same_files(tmp_path):
    for folder, seed in (("one", 1), ("two", 1), ("three", 2)):
        write_logs(tmp_path / folder, 5_000, 1, {"lost": 1}, seed=seed)
    one, two, three = ((tmp_path / name / "run-0000.parquet").read_bytes() for name in ("one", "two", "three"))
    assert one == two != three


def test_faults_are_spread_over_all_kinds():
    assert spread(50) == {name: 4 if place < 50 - 3 * len(PLANT) else 3 for place, name in enumerate(PLANT)}
    assert sum(spread(7).values()) == 7


def test_too_many_faults_for_a_run_are_refused(tmp_path):
    with pytest.raises(PlanningError, match="room for 4 faults of the kind continued: ask for more runs"):
        make_tasks(tmp_path, 100_000, 1, {"continued": MOST["continued"] + 1}, 0)
    assert len(make_tasks(tmp_path, 100_000, 2, {"continued": 5}, 0)) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("--runs", 10**9),
        ("--events", 10**18),
        ("--events", 10**15, "--runs", 2),
        ("--files", 10**9),
        ("--faults", 10**8),
        ("--faults", f"misrestored={10**8}"),
        ("--faults", "9" * 5000),
    ],
)
def test_more_than_can_be_planned_is_refused(words, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["generate", "log", "--events", "10", "--out", str(tmp_path), *map(str, words)])
    assert ended.value.code == Exit.USAGE
    assert "--faults is a number" in (said := capsys.readouterr().err) or "at most 10,000" in said
    assert not list(tmp_path.iterdir())


def test_a_large_run_has_many_epochs_of_the_same_size():
    small, large = make_plan("run", 0, 10**6, 5), make_plan("run", 0, 10**9, 5)
    assert small.records == large.records == 1000
    assert abs(large.events - 10**9) < 10**5


@pytest.mark.parametrize("name", restored.PLANT)
def test_a_fault_of_a_restored_run_shows_where_its_list_says_and_nowhere_else(tmp_path, name):
    write_manifest(tmp_path, 0, restored.write_restored(tmp_path, {name: 3}, 0))
    wanted = Counter(read_planted(tmp_path))
    assert {invariant for _run, invariant, *_place in wanted} <= {"LOG-RESULT", "LOG-RECOVER"}
    assert sum(wanted.values()) == 3
    found = Counter(
        (log.run, one.invariant, one.channel, "out", one.position)
        for log in map(read_runlog, sorted(tmp_path.glob("*.parquet")))
        for verdict in check(log)
        for one in verdict.violations
    )
    assert found == wanted
    report = audit([tmp_path])
    assert (
        Counter(
            (outcome.run, one.invariant, one.channel, str(one.direction), one.position)
            for outcome in report.outcomes
            for tally in outcome.tallies.values()
            for one in tally.findings
        )
        == wanted
    )


def test_a_restored_run_without_faults_is_valid():
    for seed in range(10):
        statuses = {one.invariant: one.status for one in check(restored.make_run("run", seed))}
        assert Status.FAILED not in statuses.values()
        assert statuses["LOG-RECOVER"] is statuses["LOG-RESULT"] is statuses["LOG-LOSS"] is Status.PASSED
