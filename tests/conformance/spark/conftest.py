"""One Spark session for all tests of Spark: starting one costs seconds."""

import pytest

from conformance.spark.session import make_session


@pytest.fixture(scope="session")
def spark():
    session = make_session("local[2]", "tidegate tests")
    yield session
    session.stop()
