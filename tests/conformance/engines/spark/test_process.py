"""The engine `spark` as users meet it: in a process of its own, and on a machine without Java."""

import subprocess
import sys
from unittest import mock

import pytest

from tests.paths import PYTHONPATH
from tidegate.conformance.cli import tour
from tidegate.conformance.cli.main import main
from tidegate.conformance.engines.spark.process import SparkEngine
from tidegate.conformance.exits import Exit
from tidegate.conformance.kinds import resolve


def tidegate(*args, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tidegate", *args],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": PYTHONPATH, **environment},
    )


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def test_run_in_a_process_of_its_own_that_leaves_no_files(tmp_path):
    words = ("run", "--engine", "spark", "--master", "local[1]", "--component", "wiring", "--stage", "directed")
    done = tidegate(*words, TMPDIR=str(tmp_path), SPARK_SUBMIT_OPTS=f"-Djava.io.tmpdir={tmp_path}")
    assert "20" in done.stdout
    # Only the directed cases were run, which exercise all three rules.
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_java_it_cannot_start(tmp_path):
    done = tidegate("run", "--engine", "spark", PATH=str(tmp_path))
    assert done.returncode == 69
    assert "need Java, and there is none" in done.stderr
    assert "JAVA_HOME" in done.stderr


def test_java_home_that_is_none_is_said(tmp_path):
    done = tidegate("run", "--engine", "spark", JAVA_HOME=str(tmp_path))
    assert done.returncode == 69


def test_the_tour_says_that_spark_is_left_out(no_java, monkeypatch, capsys):
    right, wrong = (mock.Mock(exit_code=one) for one in (Exit.CONFORMANT, Exit.VIOLATIONS))
    monkeypatch.setattr(tour, "run_and_show", mock.Mock(side_effect=[right, wrong]))
    assert main(["run"]) == 0
    assert "Left out: the Spark engines need Java" in capsys.readouterr().out


def test_the_master_reaches_the_process():
    assert "spark://host:7077" in SparkEngine("spark://host:7077").command
    assert "local[*]" in resolve("spark").command


def test_its_limits_give_a_batch_time():
    limits = resolve("spark", case_timeout=None).limits
    assert limits.case_timeout > 60
    assert limits.window > 1000
    assert resolve("spark", case_timeout=5.0).limits.case_timeout == 5.0
