"""Where the jars of fetched versions lie: one folder a version below the cache of Tidegate."""

import os
import re
from pathlib import Path

DEFAULT_VERSION = "2.3.0"
_VERSION = re.compile(r"[0-9]+(\.[0-9]+){2}")


def cache_folder() -> Path:
    """`TIDEGATE_CACHE`, else `tidegate` in the cache folder of the user, as XDG has it."""
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


def is_fetched(version: str) -> bool:
    """A folder appears under its final name only when it is complete."""
    return is_version(version) and any(folder_of(version).glob("flink-dist*.jar"))


def fetched_versions() -> list[str]:
    """Oldest first."""
    if not flink_folder().is_dir():
        return []
    found = [folder.name for folder in flink_folder().iterdir() if is_fetched(folder.name)]
    return sorted(found, key=version_key)


def version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
