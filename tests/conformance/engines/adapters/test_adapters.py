"""Each adapter that is installed: a job of it, killed where it can be."""

from importlib.util import find_spec

import pytest

from tidegate.conformance import kinds
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.kinds import ADAPTERS, resolve_jobs


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_job(name):
    if find_spec(ADAPTERS[name][0]) is None:
        pytest.skip(f"{name} is not installed: `make adapters` installs it and runs a job of it")
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
