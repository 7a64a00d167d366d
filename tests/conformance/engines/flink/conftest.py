"""One Flink of each version for all tests of the adapters: a process, and in it a JVM, cost seconds."""

import pytest

from tidegate.conformance.engines.flink.engine import FlinkEngine


@pytest.fixture(scope="session")
def flink(flink_version):
    with FlinkEngine(flink_version("2.3.0")) as engine:
        yield engine


@pytest.fixture(scope="session")
def broken_flink(flink_version):
    """The release with the defect of FLINK-31628."""
    with FlinkEngine(flink_version("1.17.0")) as engine:
        yield engine
