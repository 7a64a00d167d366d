"""Synthetic logs that several tests audit."""

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("numpy")

from tidegate.conformance.synthetic.planning import make_tasks, spread, write_here, write_manifest


def write_logs(folder, events, runs, faults, files=1, seed=5):
    written = write_here(make_tasks(folder, events, runs, faults, seed, files), lambda _run: None)
    write_manifest(folder, seed, written)
    return folder


@pytest.fixture(scope="session")
def faulty(tmp_path_factory):
    """Two runs with two faults of every kind, a file each."""
    return write_logs(tmp_path_factory.mktemp("faulty"), 100_000, 2, spread(26))


@pytest.fixture(scope="session")
def clean(tmp_path_factory):
    return write_logs(tmp_path_factory.mktemp("clean"), 10_000, 1, {})


@pytest.fixture(scope="session")
def spread_out(tmp_path_factory):
    """A run over three files, in which channels have both lost and swapped elements."""
    faults = spread(13) | {"lost": 4, "swapped": 4, "doubled": 4}
    return write_logs(tmp_path_factory.mktemp("spread"), 60_000, 1, faults, files=3)
