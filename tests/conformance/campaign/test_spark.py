"""Campaigns on Spark, in one process and on a real cluster, with parties to them killed in the middle."""

import json
import signal
import subprocess
import uuid

import pyarrow.parquet as pq
import pytest

from tests.conformance.campaign.campaigns import ENGINES, command, in_one_process, summary_of, tidegate
from tests.conformance.engines.conftest import MARK, survivors_in_the_end
from tests.processes import PATIENCE, launch, wait_until
from tests.spark_cluster import start_cluster
from tidegate.conformance.exits import Exit

CASES, CHUNK, SEED = 2000, 25, 7
HELD = f"{ENGINES}:Held"
CAMPAIGN = ("--engine", HELD, "--cases", CASES, "--chunk", CHUNK, "--seed", SEED)


def chunks_in(out):
    return list(out.glob("chunks/*.parquet"))


def workers_in(out):
    rows = [row for path in chunks_in(out) for row in pq.read_table(path, columns=["worker"]).to_pylist()]
    return {row["worker"] for row in rows} - {None}


@pytest.mark.long
def test_a_driver_that_is_killed_loses_nothing(tmp_path, monkeypatch):
    out, mark = tmp_path / "out", uuid.uuid4().hex
    hold = tmp_path / "hold"
    hold.touch()
    monkeypatch.setenv("TIDEGATE_HOLD", str(hold))
    arguments = (*CAMPAIGN, "--master", "local[2]", "--out", out)
    with launch(command(*arguments), env={MARK: mark}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        wait_until(lambda: len(chunks_in(out)) >= 5, driver)
        driver.send_signal(signal.SIGKILL)
    hold.unlink()
    assert not survivors_in_the_end(mark)
    done_before = len(chunks_in(out))
    assert 5 <= done_before < CASES // CHUNK
    assert not (out / "summary.json").exists()

    again = tidegate(*arguments)
    assert again.returncode == Exit.VIOLATIONS, again.stderr
    found, about = summary_of(out)
    assert about["chunks_resumed"] == done_before
    assert found == in_one_process(HELD, ("valve",), CASES, SEED)


def test_a_worker_of_the_cluster_that_is_killed_loses_nothing(tmp_path, monkeypatch):
    out, hold = tmp_path / "out", tmp_path / "hold"
    hold.touch()
    monkeypatch.setenv("TIDEGATE_HOLD", str(hold))
    with start_cluster(tmp_path / "cluster", workers=2) as cluster:
        arguments = (*CAMPAIGN, "--master", cluster.master, "--out", out, "--format", "json")
        with launch(command(*arguments), env=cluster.environment, stderr=None) as driver:
            wait_until(lambda: len(workers_in(out)) == 2, driver)
            cluster.kill_worker(0)
            assert len(chunks_in(out)) < CASES // CHUNK
            hold.unlink()
            said, _ = driver.communicate(timeout=PATIENCE)
        assert driver.returncode == Exit.VIOLATIONS
    found, about = summary_of(out)
    assert found == in_one_process(HELD, ("valve",), CASES, SEED)
    assert (about["chunks_resumed"], about["chunks_left"]) == (0, 0)
    assert json.loads(said)["cases"] == CASES


def test_a_python_worker_that_is_killed_costs_nothing(tmp_path):
    mark = uuid.uuid4().hex
    done = tidegate(
        "--engine", f"{ENGINES}:KillsItsWorker", "--cases", 100, "--master", "local[1]", "--out", tmp_path / "out",
        "--component", "valve", cwd=tmp_path, **{MARK: mark},
    )  # fmt: skip
    assert (tmp_path / "killed").exists()
    found, _about = summary_of(tmp_path / "out")
    assert found["counts"] == [{"component": "valve", "stage": "generated", "pass": 100}], done.stderr
    assert not survivors_in_the_end(mark)
