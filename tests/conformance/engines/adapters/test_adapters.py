"""Each adapter that is installed, here or by `make adapters`: a job of it, killed where it can be."""

import subprocess
from importlib.util import find_spec

import pytest

from tests.paths import ROOT
from tidegate.conformance import kinds
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.kinds import ADAPTERS, resolve_jobs

ELSEWHERE = ROOT / ".venv-adapters"


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_job(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try_job(name)
    assert list(tmp_path.iterdir()) == [], "nothing is left where it was called"


def try_job(name):
    if find_spec(ADAPTERS[name][0]) is None:
        if not ELSEWHERE.joinpath(".ready").exists():
            pytest.skip(f"{name} is not installed: `make adapters` installs it and runs a job of it")
        command = [ELSEWHERE / "bin/tidegate", "jobs", "--engine", name, "--jobs", "1", "--seed", "1", "--faults", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == Exit.CONFORMANT, done.stdout + done.stderr
        return
    result = run_jobs(resolve_jobs(name, strict=True), name, 1, seed=1, faults=1)
    assert (result.found, result.exit_code) == ({}, Exit.CONFORMANT)
    assert result.counts["records"] > 0
    assert result.counts["hits"] == result.counts["faults"]
    assert result.invariants["LOG-RESULT"]["passed"] == 1


@pytest.mark.parametrize("name", ADAPTERS)
def test_what_is_missing_is_named(name, monkeypatch):
    monkeypatch.setattr(kinds, "find_spec", lambda _name: None)
    with pytest.raises(CannotStartError) as told:
        resolve_jobs(name)
    assert f"tidegate[{name}]" in told.value.hint
