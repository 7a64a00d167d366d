"""Audits on Spark, by files and by channels: the same findings as without it."""

import shutil

import pytest

from tests.conformance.audit.comparing import WANTED, checked, found, planted
from tidegate.conformance.audit import blocks
from tidegate.conformance.audit.local import audit_here
from tidegate.conformance.audit.on_spark import audit_by_files
from tidegate.conformance.audit.planning import plan
from tidegate.conformance.audit.shuffle import audit_by_channel
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
