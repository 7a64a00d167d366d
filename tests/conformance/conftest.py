"""What tests of engines share: the versions of Flink that they need, brought by whoever needs them first."""

import fcntl

import pytest

from conformance.flink.cache import cache_folder, is_fetched
from conformance.flink.fetch import fetch


@pytest.fixture(scope="session")
def flink_version():
    """Ask for a version, and it is in the cache; workers that ask at the same time wait for each other."""

    def have(version):
        cache_folder().mkdir(parents=True, exist_ok=True)
        with (cache_folder() / f"fetching-{version}").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_fetched(version):
                fetch(version)
        return version

    return have
