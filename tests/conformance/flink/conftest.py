"""One Flink for all tests of the adapters: a process, and in it a JVM, cost seconds."""

import pytest

from conformance.flink.engine import FlinkEngine


@pytest.fixture(scope="session")
def flink():
    with FlinkEngine("2.3.0") as engine:
        yield engine
