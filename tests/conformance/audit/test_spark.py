"""Audits on Spark, by files and by channels: the same findings as without it."""

import os
import shutil

import pytest

from tests.conformance.audit.comparing import WANTED, checked, found, planted
from tidegate.conformance.audit import blocks, on_spark
from tidegate.conformance.audit.auditing import Options, audit
from tidegate.conformance.audit.local import audit_here
from tidegate.conformance.audit.on_spark import audit_by_files
from tidegate.conformance.audit.planning import plan
from tidegate.conformance.audit.shuffle import Shuffle, audit_by_channel
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.exits import Exit
from tidegate.conformance.synthetic.planning import make_tasks, write_on_spark

pytest.importorskip("pyspark")


def findings(outcomes):
    return sorted(
        (one.run, finding) for one in outcomes for tally in one.tallies.values() for finding in tally.findings
    )


def test_by_files(spark, faulty):
    outcomes = list(audit_by_files(spark, plan([str(faulty)]), WANTED))
    assert found(outcomes) == planted(faulty)
    here = list(audit_here(plan([str(faulty)]), WANTED))
    assert findings(outcomes) == findings(here)
    assert checked(outcomes) == checked(here)


@pytest.mark.parametrize("logs", ["faulty", "spread_out"])
def test_by_channels(spark, request, logs):
    """Also of a channel that has lost elements and swapped others, which needs a second look."""
    folder = request.getfixturevalue(logs)
    outcomes = list(audit_by_channel(spark, plan([str(folder)]), WANTED))
    assert found(outcomes) == planted(folder)
    here = list(audit_here(plan([str(folder)]), WANTED))
    assert findings(outcomes) == findings(here)
    assert [one.rows for one in outcomes] == [one.rows for one in here]


@pytest.mark.parametrize(("numbers", "parts"), [(100, 1024), (1000, 4)])
def test_by_channels_in_many_buckets(spark, spread_out, monkeypatch, numbers, parts):
    """Every channel is far larger than a bucket, or many channels share one."""
    monkeypatch.setattr(blocks, "NUMBERS", numbers)
    monkeypatch.setattr(blocks, "MOST_PARTS", parts)
    outcomes = list(audit_by_channel(spark, plan([str(spread_out)]), WANTED))
    assert found(outcomes) == planted(spread_out)
    assert findings(outcomes) == findings(audit_here(plan([str(spread_out)]), WANTED))


@pytest.mark.parametrize("wild", [-(2**63), -1, 2**41, 2**63 - 1])
def test_a_position_that_cannot_be_costs_only_its_run(spark, faulty, tmp_path, wild):
    parquet = pytest.importorskip("pyarrow.parquet")
    first, second = sorted(faulty.glob("*.parquet"))
    shutil.copy(first, tmp_path / "good.parquet")
    table = parquet.read_table(second)
    positions = table.column("position").to_pylist()
    positions[1000::1000] = [wild] * len(positions[1000::1000])
    column = table.schema.get_field_index("position")
    table = table.set_column(column, table.schema.field(column), [positions])
    parquet.write_table(table, tmp_path / "bad.parquet")
    good, bad = sorted(audit_by_channel(spark, plan([str(tmp_path)]), WANTED), key=lambda one: one.problem)
    assert "is missing, comes twice or is out of order" in bad.problem
    assert (good.problem, bad.tallies) == ("", {})
    assert set(found([good])) == {key for key in planted(faulty) if key[0] == good.run}


@pytest.mark.parametrize("numbers", [2**16, 100])
def test_by_channels_where_a_run_goes_on_in_another_file(spark, faulty, tmp_path, monkeypatch, numbers):
    monkeypatch.setattr(blocks, "NUMBERS", numbers)
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(min(faulty.glob("*.parquet")))
    middle = len(table) // 2
    for name, part in (("b", table[:middle]), ("a", table[middle:])):
        parquet.write_table(part, tmp_path / f"{name}.parquet", row_group_size=10_000)
    (outcome,) = audit_by_channel(spark, plan([str(tmp_path)]), WANTED)
    assert set(found([outcome])) == {key for key in planted(faulty) if key[0] == outcome.run}


@pytest.mark.parametrize("path", ["files", "shuffle"])
def test_a_bad_file_costs_only_itself(spark, faulty, tmp_path, path):
    parquet = pytest.importorskip("pyarrow.parquet")
    first, second = sorted(faulty.glob("*.parquet"))
    shutil.copy(first, tmp_path / "good.parquet")
    table = parquet.read_table(second)
    parquet.write_table(table.slice(1), tmp_path / "bad.parquet")
    run = audit_by_files if path == "files" else audit_by_channel
    good, bad = sorted(run(spark, plan([str(tmp_path)]), WANTED), key=lambda one: one.problem)
    assert "step 1 is missing" in bad.problem
    assert "run-0001" in bad.problem or "bad.parquet" in bad.problem
    assert (good.problem, bad.tallies) == ("", {})
    wanted = {key for key in planted(faulty) if key[0] == good.run}
    assert set(found([good])) == wanted


def test_logs_written_on_spark_are_those_written_here(spark, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    from tests.conformance.audit.conftest import write_logs

    faults = {"lost": 1, "late": 1}
    seen = []
    written = write_on_spark(spark, make_tasks(tmp_path / "spark", 12_000, 2, faults, 5), seen.append)
    write_logs(tmp_path / "here", 12_000, 2, faults)
    assert [one["run"] for one in seen] == [one["run"] for one in written] == ["run-0000", "run-0001"]
    for one in written:
        (name,) = one["files"]
        assert parquet.read_table(tmp_path / "spark" / name) == parquet.read_table(tmp_path / "here" / name)


# --- what is no log -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile_logs(clean, tmp_path_factory):
    """Every file that is wrong in a way of its own, all in one folder with a right one; and what is said of each."""
    from tests.conformance.audit import hostile

    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("hostile")
    (path,) = clean.glob("*.parquet")
    table = parquet.read_table(path)
    shutil.copy(path, folder / "good.parquet")
    messages = {name: hostile.write_table(table, name, folder) for name in hostile.TABLES}
    messages |= hostile.write_bytes(table, folder) | hostile.write_links(folder)
    parquet.write_table(hostile.renamed(table[:0], "run-empty"), folder / "empty.parquet")
    hostile.write_wide_job(folder, "wide")
    return folder, messages


@pytest.mark.parametrize("path", ["files", "shuffle"])
def test_every_bad_file_is_named_and_costs_only_itself(spark, hostile_logs, path):
    from tests.conformance.audit import hostile

    folder, messages = hostile_logs
    report = audit([folder], Options(spark="local[2]", path=path))
    here = audit([folder])
    assert (report.path, here.path) == (path, "local")
    assert len(report.problems) == len(messages)
    for name, message in messages.items():
        assert message in hostile.find_problem(report, name)
    kept = {one.run: one.tallies for one in report.outcomes if not one.problem}
    assert kept.keys() == {"run-0000", "run-empty", "wide"}
    assert kept == {one.run: one.tallies for one in here.outcomes if not one.problem}
    assert report.exit is here.exit is Exit.UNDETERMINED


def test_a_worker_that_dies_is_no_problem_of_a_file(spark, faulty, monkeypatch):
    monkeypatch.setattr(on_spark, "audit_paths", lambda *_arguments: os._exit(7))
    with pytest.raises(CannotStartError, match="Spark did not finish the audit") as error:
        audit([faulty], Options(spark="local[2]", path="files"))
    assert error.value.hint == "--local does without Spark"


@pytest.mark.parametrize("run", [audit_by_files, audit_by_channel])
def test_a_file_that_vanishes(spark, faulty, tmp_path, run):
    for path in faulty.glob("*.parquet"):
        shutil.copy(path, tmp_path)
    work = plan([str(tmp_path)])
    gone = tmp_path / "run-0001.parquet"
    gone.unlink()
    good, bad = sorted(run(spark, work, WANTED), key=lambda one: one.problem)
    assert f"{gone}: was there, and is gone" in bad.problem
    assert (good.problem, bad.tallies) == ("", {})
    assert set(found([good])) == {key for key in planted(faulty) if key[0] == good.run}


def test_a_file_that_vanishes_between_two_passes(spark, faulty, tmp_path, monkeypatch):
    for path in faulty.glob("*.parquet"):
        shutil.copy(path, tmp_path)
    gone = tmp_path / "run-0001.parquet"
    run_pass = Shuffle.run_pass

    def vanish(self, name, hints, only):
        yield from run_pass(self, name, hints, only)
        gone.unlink(missing_ok=True)

    monkeypatch.setattr(Shuffle, "run_pass", vanish)
    good, bad = sorted(audit_by_channel(spark, plan([str(tmp_path)]), WANTED), key=lambda one: one.problem)
    assert bad.problem == f"{gone}: was there, and is gone"
    assert (good.problem, bad.tallies) == ("", {})
    assert set(found([good])) == {key for key in planted(faulty) if key[0] == good.run}
