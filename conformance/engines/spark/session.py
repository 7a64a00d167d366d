"""The Spark session that every Spark engine, job and test starts from."""

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidegate.conformance.engines.errors import BadOptionError, CannotStartError
from tidegate.conformance.engines.java import ONE_COMPILER, check_spark
from tidegate.conformance.engines.text import printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
_MASTER = re.compile(
    r"local|local\[([1-9][0-9]*|\*)( *, *[1-9][0-9]*)?\]|local-cluster\[[0-9, ]+\]|yarn|[a-z0-9]+://\S+"
)

#: Small data, many small jobs: what costs is fixed, so there is as little of it as possible.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.driver.memory": "2g",
}
#: These make sense only where driver and executors are one process; a cluster knows its own network.
LOCAL_SETTINGS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
SHORT_LIVED = {"spark.driver.defaultJavaOptions": " ".join(ONE_COMPILER)}


def check_master(master: str) -> None:
    """Raise BadOptionError for what Spark would only refuse with a stack trace."""
    if not _MASTER.fullmatch(master):
        raise BadOptionError(
            f"'{printable(master)}' is no master of Spark",
            "a master is local, local[2], local[*], yarn, or an address such as spark://host:7077 or k8s://host:443",
        )


def make_session(master: str = LOCAL, name: str = "tidegate", settings: dict[str, str] | None = None) -> "SparkSession":
    """The session of this process, made if there is none; `settings` come on top of ours.

    Raises
    ------
    BadOptionError
        The master is none.
    CannotStartError
        There is no PySpark, no Java or one that is too old; or Spark does not start there.
    """
    check_master(master)
    check_spark()
    # Only those who ask for Spark pay for it.
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master(master).appName(name)
    local = LOCAL_SETTINGS if master.startswith("local") else {}
    # Without this the workers are whatever `python3` is on PATH, which need not have our libraries.
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if local or "PYSPARK_PYTHON" not in os.environ:  # the machines of a cluster may have theirs elsewhere
        os.environ["PYSPARK_PYTHON"] = sys.executable
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # or Spark warns of the name that it found
    for key, value in {**SETTINGS, **local, **(settings or {})}.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        # What Java says first is where it was called from; the exception itself follows.
        said = [line for line in str(error).splitlines() if line.startswith(("java.", "org.", ": "))] or [str(error)]
        raise CannotStartError(f"Spark does not start on {printable(master)}: {printable(said[0])}") from error
    logging.getLogger("py4j").setLevel(logging.ERROR)
    return session


@contextmanager
def borrow_session(master: str, name: str, settings: dict[str, str] | None = None) -> Iterator["SparkSession"]:
    """A session for a while. One that was there already, as in a notebook, is not ours to stop."""
    check_spark()
    from pyspark.sql import SparkSession  # noqa: PLC0415

    was_there = SparkSession.getActiveSession() is not None
    session = make_session(master, name, settings)
    try:
        yield session
    finally:
        if not was_there:
            session.stop()
