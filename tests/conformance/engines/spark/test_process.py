"""The engine `spark` as users meet it: in a process of its own, and on a machine without Java."""

import argparse
import subprocess
import sys

import pytest

from tidegate.conformance.cli import tour
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.spark import java
from tidegate.conformance.engines.spark.process import SparkEngine
from tidegate.conformance.kinds import resolve


def tidegate(*args, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tidegate.conformance.cli.main", *args],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", **environment},
    )


def make_java(folder, version):
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.fixture
def no_java(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def test_run_in_a_process_of_its_own():
    done = tidegate("run", "--engine", "spark", "--master", "local[1]", "--component", "wiring", "--stage", "directed")
    assert "20" in done.stdout
    # Only the directed cases were run, which exercise all three rules.
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_java_it_cannot_start(tmp_path):
    done = tidegate("run", "--engine", "spark", PATH=str(tmp_path))
    assert done.returncode == 69
    assert "need Java, and there is none" in done.stderr
    assert "JAVA_HOME" in done.stderr


def test_java_home_that_is_none_is_said(tmp_path):
    done = tidegate("run", "--engine", "spark", JAVA_HOME=str(tmp_path))
    assert done.returncode == 69


@pytest.mark.parametrize(("version", "feature"), [("1.8.0_402", 8), ("11.0.22", 11), ("17.0.15", 17), ("25", 25)])
def test_versions_of_java(tmp_path, version, feature):
    assert java.java_version(str(make_java(tmp_path, version) / "bin" / "java")) == feature


def test_an_old_java_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path, "1.8.0_402")))
    with pytest.raises(CannotStartError, match=r"Java 17 or later; .* is version 8"):
        resolve("spark").start()


def test_the_tour_says_that_spark_is_left_out(no_java, tmp_path, capsys):
    args = argparse.Namespace(format="pretty", cases=1, stage=[], report=None)
    assert tour.tour_spark(args, tmp_path) is None
    assert "Left out: the Spark engines need Java" in capsys.readouterr().out


def test_the_master_reaches_the_process():
    assert "spark://host:7077" in SparkEngine("spark://host:7077").command
    assert "local[*]" in resolve("spark").command


def test_its_limits_give_a_batch_time():
    limits = resolve("spark", case_timeout=None).limits
    assert limits.case_timeout > 60
    assert limits.window > 1000
    assert resolve("spark", case_timeout=5.0).limits.case_timeout == 5.0
