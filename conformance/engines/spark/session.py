"""The Spark session of every Spark engine, job and test."""

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

#: Small data, many small jobs: the fixed costs matter, so they are as low as possible.
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
#: These are useful only if driver and executors are one process; a cluster knows its own network.
LOCAL_SETTINGS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
SHORT_LIVED = {"spark.driver.defaultJavaOptions": " ".join(ONE_COMPILER)}


def check_master(master: str) -> None:
    """Raise BadOptionError for a master that Spark would refuse only with a stack trace."""
    if not _MASTER.fullmatch(master):
        raise BadOptionError(
            f"'{printable(master)}' is not a Spark master",
            "a master is local, local[2], local[*], yarn, or an address such as spark://host:7077 or k8s://host:443",
        )


def make_session(master: str = LOCAL, name: str = "tidegate", settings: dict[str, str] | None = None) -> "SparkSession":
    """The session of this process, made if there is none; `settings` are added to ours.

    Raises
    ------
    BadOptionError
        The master is invalid.
    CannotStartError
        PySpark or Java is missing, Java is too old, or Spark does not start there.
    """
    check_master(master)
    check_spark()
    # Only users of Spark pay for it.
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master(master).appName(name)
    local = LOCAL_SETTINGS if master.startswith("local") else {}
    # Otherwise the workers are whatever `python3` is on PATH, which may lack our libraries.
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if local or "PYSPARK_PYTHON" not in os.environ:  # a cluster may have it elsewhere
        os.environ["PYSPARK_PYTHON"] = sys.executable
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # otherwise Spark warns about the host name
    for key, value in {**SETTINGS, **local, **(settings or {})}.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        # Java's first lines are the call site; the exception itself follows.
        said = [line for line in str(error).splitlines() if line.startswith(("java.", "org.", ": "))] or [str(error)]
        raise CannotStartError(f"Spark does not start on {printable(master)}: {printable(said[0])}") from error
    logging.getLogger("py4j").setLevel(logging.ERROR)
    return session


@contextmanager
def borrow_session(master: str, name: str, settings: dict[str, str] | None = None) -> Iterator["SparkSession"]:
    """A session for a while. An existing one, as in a notebook, is not ours to stop."""
    check_spark()
    from pyspark.sql import SparkSession  # noqa: PLC0415

    was_there = SparkSession.getActiveSession() is not None
    session = make_session(master, name, settings)
    try:
        yield session
    finally:
        if not was_there:
            session.stop()
