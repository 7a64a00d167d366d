"""Checks for a Java that can run Flink or Spark before either starts, because their own error is a stack trace.

JPype loads a library into the process, Spark starts a program: each check finds the Java that would be used.
"""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from tidegate.conformance.engines.errors import CannotStartError

OLDEST_FOR_FLINK = 11
OLDEST_FOR_SPARK = 17
#: For a JVM that lives a few minutes: there, the second compiler costs more than it saves. With
#: one compiler Java reserves 48 MB for code, which hundreds of queries fill; after that queries fail.
ONE_COMPILER = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m")
_VERSION = re.compile(r'(?:^JAVA_VERSION=|version )"(?:1\.)?(\d+)', re.MULTILINE)


def check_flink() -> None:
    """Raise CannotStartError unless JPype is installed and finds a recent enough Java."""
    if find_spec("jpype") is None:
        raise CannotStartError("JPype is not installed", "install it with: pip install 'tidegate[flink]'")
    library = find_library()
    found = version_of(library)
    if found is not None and found < OLDEST_FOR_FLINK:
        raise CannotStartError(f"the Java at {library} is version {found}, too old for Flink", hint(OLDEST_FOR_FLINK))


def check_spark() -> None:
    """Raise CannotStartError unless PySpark is installed and there is a Java that it runs on."""
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise CannotStartError("the Spark engines need PySpark and PyArrow", "pip install 'tidegate[spark]'")
    program = find_program()
    if program is None:
        raise CannotStartError("the Spark engines need Java, and there is none", hint(OLDEST_FOR_SPARK))
    found = version_of(program) or ask_version(program)
    if found is None or found < OLDEST_FOR_SPARK:
        is_what = "reports no version" if found is None else f"is version {found}"
        raise CannotStartError(
            f"Spark needs Java {OLDEST_FOR_SPARK} or later; {program} {is_what}", hint(OLDEST_FOR_SPARK)
        )


def hint(oldest: int) -> str:
    return f"install Java {oldest} or later (17 is tested), and put it on PATH or let JAVA_HOME name its folder"


def find_library() -> Path:
    """The library that JPype would load."""
    import jpype  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

    try:
        return Path(jpype.getDefaultJVMPath())
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException, OSError, ValueError) as error:
        raise CannotStartError(f"no Java found: {str(error).strip()}", hint(OLDEST_FOR_FLINK)) from error


def find_program() -> Path | None:
    """The program that Spark would start: that of JAVA_HOME, or else the one on PATH."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home) / "bin" / "java" if home else shutil.which("java")
    return Path(found) if found and os.access(found, os.X_OK) else None


def version_of(place: Path) -> int | None:
    """The feature release (8 for 1.8.0), from the file `release` of every Java since 7; None if missing."""
    for folder in place.resolve().parents:
        try:
            match = _VERSION.search((folder / "release").read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if match:
            return int(match.group(1))
    return None


def ask_version(program: Path) -> int | None:
    """The same from the output of the program."""
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(done.stderr + done.stdout)
    return int(match.group(1)) if match else None
