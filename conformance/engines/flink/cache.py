"""The folder of the jars of fetched versions: one folder per version in the cache of Tidegate."""

import os
import re
import zipfile
from functools import cache
from pathlib import Path

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.text import printable

DEFAULT_VERSION = "2.3.0"
MANIFEST = "META-INF/MANIFEST.MF"
#: The jars whose version is checked: the one that runs jobs, and the one that runs SQL.
_TELLING = ("flink-dist", "flink-table-planner")
_VERSION = re.compile(r"[0-9]+(\.[0-9]+){2}")


def cache_folder() -> Path:
    """`TIDEGATE_CACHE`, else `tidegate` in the cache folder of the user, as defined by XDG."""
    own = os.environ.get("TIDEGATE_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "tidegate"


def flink_folder() -> Path:
    return cache_folder() / "flink"


def is_version(text: str) -> bool:
    return _VERSION.fullmatch(text) is not None


def folder_of(version: str) -> Path:
    return flink_folder() / version


def sql_folder_of(version: str) -> Path:
    """The additional jars of SQL: a folder of its own, so that other class paths do not contain them."""
    return cache_folder() / "flink-sql" / version


def has_sql(version: str) -> bool:
    return any(sql_folder_of(version).glob("flink-table-planner-loader*.jar"))


def is_fetched(version: str) -> bool:
    """A folder appears under its final name only when it is complete."""
    return is_version(version) and any(folder_of(version).glob("flink-dist*.jar"))


def check_jars(version: str) -> None:
    """Raise CannotStartError if the jars of a version are missing or damaged."""
    if not is_fetched(version):
        raise CannotStartError(
            f"Flink {version} is not in the cache (fetched: {', '.join(fetched_versions()) or 'none'})",
            f"fetch it with `tidegate flink fetch {version}`",
        )
    if damage := damage_of(version):
        raise CannotStartError(
            f"the jars of Flink {version} in the cache are damaged: {printable(damage)}",
            f"fetch them again with `tidegate flink fetch {version}`",
        )


def damage_of(version: str) -> str | None:
    """What is wrong with the jars of a fetched version: one is incomplete, or belongs to another version."""
    for jar in sorted([*folder_of(version).glob("*.jar"), *sql_folder_of(version).glob("*.jar")]):
        try:
            if not zipfile.is_zipfile(jar):
                return f"{jar} is not a complete jar"
            said = said_version(jar, jar.stat().st_mtime_ns) if jar.name.startswith(_TELLING) else None
        except (OSError, zipfile.BadZipFile, KeyError) as error:
            return f"{jar} cannot be read: {error}"
        if said is not None and said != version:
            return f"{jar} says that it is {said}"
    return None


@cache
def said_version(jar: Path, _changed: int) -> str | None:
    """The version in the manifest of a jar, if it has one."""
    with zipfile.ZipFile(jar) as opened:
        if MANIFEST not in opened.namelist():
            return None
        text = opened.read(MANIFEST).decode("utf-8", "replace")
    found = re.search(r"^Implementation-Version: *(\S+)", text, re.MULTILINE)
    return found[1] if found else None


def fetched_versions() -> list[str]:
    """Oldest first."""
    if not flink_folder().is_dir():
        return []
    found = [folder.name for folder in flink_folder().iterdir() if is_fetched(folder.name)]
    return sorted(found, key=version_key)


def version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
