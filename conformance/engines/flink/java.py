"""Is there a Java that can run Flink? Asked before any process is started, so that the answer is a sentence."""

import importlib.util
import re
from pathlib import Path

from tidegate.conformance.engines.errors import CannotStartError

OLDEST = 11
_RELEASE = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)
_HINT = f"install a Java of version {OLDEST} or later (17 is tested) and let JAVA_HOME point to it"


def check_java() -> None:
    """Raise CannotStartError unless JPype is installed and finds a Java that is young enough."""
    if importlib.util.find_spec("jpype") is None:
        raise CannotStartError("JPype is not installed", "install it with: pip install 'tidegate[flink]'")
    library = find_library()
    found = version_of(library)
    if found is not None and found < OLDEST:
        raise CannotStartError(f"the Java at {library} is version {found}, too old for Flink", _HINT)


def find_library() -> Path:
    import jpype  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra

    try:
        return Path(jpype.getDefaultJVMPath())
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException, OSError, ValueError) as error:
        raise CannotStartError(f"no Java found: {str(error).strip()}", _HINT) from error


def version_of(library: Path) -> int | None:
    """The major version, from the file `release` that every Java since 7 has; None where there is none to read."""
    for folder in library.resolve().parents:
        try:
            text = (folder / "release").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        match = _RELEASE.search(text)
        if match:
            return int(match.group(1))
    return None
