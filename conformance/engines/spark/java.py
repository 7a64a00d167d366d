"""Is there a Java that Spark can run on? Asked before Spark is, whose own answer is a stack trace."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from tidegate.conformance.engines.errors import CannotStartError

OLDEST = 17
_HINT = f"install Java {OLDEST} or later and put it on PATH, or let JAVA_HOME name its folder"


def check_spark() -> None:
    """Nothing, if PySpark and a Java that it runs on are there.

    Raises
    ------
    CannotStartError
        One of them is missing or too old, and how to get it.
    """
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise CannotStartError("the Spark engines need PySpark and PyArrow", "pip install 'tidegate[spark]'")
    found = find_java()
    if found is None:
        raise CannotStartError("the Spark engines need Java, and there is none", _HINT)
    version = java_version(found)
    if version is None or version < OLDEST:
        is_what = "says no version" if version is None else f"is version {version}"
        raise CannotStartError(f"Spark needs Java {OLDEST} or later; {found} {is_what}", _HINT)


def find_java() -> str | None:
    """The program that Spark would start: that of JAVA_HOME, or else the one on PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        return str(program) if os.access(program, os.X_OK) else None
    return shutil.which("java")


def java_version(program: str) -> int | None:
    """The feature release: 17 for 17.0.15, 8 for 1.8.0."""
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if found else None
