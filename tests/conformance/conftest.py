"""What tests of engines share: a session of Spark, and the versions of Flink, brought by whoever needs them first."""

import fcntl

import pytest

from tidegate.conformance.engines.flink.cache import cache_folder, is_fetched, sql_folder_of
from tidegate.conformance.engines.flink.fetch import fetch
from tidegate.conformance.engines.spark.session import SHORT_LIVED, make_session


@pytest.fixture(scope="session")
def spark():
    """One session for all tests of Spark: starting one costs seconds."""
    pytest.importorskip("pyspark")
    session = make_session("local[2]", "tidegate tests", SHORT_LIVED)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def flink_version():
    """Ask for a version, and it is in the cache; workers that ask at the same time wait for each other."""

    def have(version):
        cache_folder().mkdir(parents=True, exist_ok=True)
        with (cache_folder() / f"fetching-{version}").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (is_fetched(version) and sql_folder_of(version).is_dir()):
                fetch(version)
        return version

    return have
