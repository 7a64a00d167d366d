"""The jars of a Flink version, from PyPI by pip alone.

The Python packages of Flink contain all of its jars. One archive is downloaded into a temporary folder of the cache,
the few jars that are needed are extracted, and the folder gets its final name only when it is complete: a failure
leaves nothing behind.
"""

import contextlib
import errno
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import IO

from tidegate.conformance.engines.errors import EngineError
from tidegate.conformance.engines.flink.cache import (
    damage_of,
    flink_folder,
    folder_of,
    is_fetched,
    is_version,
    sql_folder_of,
    version_key,
)

#: The versions that the suite is tested with.
TESTED = ("1.12.5", "1.14.6", "1.17.0", "1.17.2", "1.20.5", "2.1.0", "2.2.1", "2.3.0")
#: Since this release the jars have a package of their own.
_FIRST_WITH_LIBRARIES = (1, 13)
_FIRST_WITH_WHEELS = (70, 1)
_ROOM = 900 * 1024 * 1024
_WANTED = re.compile(r"(?:^|/)lib/((?:flink-dist|flink-shaded-zookeeper|log4j|slf4j)[^/]*\.jar)$")
_WANTED_BY_SQL = re.compile(
    r"(?:^|/)lib/((?:flink-table-(?:api-java-uber|planner-loader|runtime)|flink-cep)-[^/]*\.jar)$"
)
_NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|name resolution|ConnectTimeoutError|ReadTimeoutError|ProxyError"
    r"|Network is unreachable|Connection refused|Connection reset|Connection broken|SSLError|HTTP error 5\d\d",
    re.IGNORECASE,
)
_NO_SUCH_VERSION = re.compile(r"No matching distribution|Could not find a version|HTTP error 404")

#: Receives the number of bytes so far, and the current step.
Progress = Callable[[int, str], None]


class FetchError(EngineError):
    """The jars could not be fetched: what happened, and what to do about it."""

    code = "fetch"


def fetch(version: str, progress: Progress = lambda _size, _doing: None) -> Path:
    """The folder with the jars of the version, fetched if missing; those of SQL get a folder of their own."""
    if not is_version(version):
        raise FetchError(f"'{version}' is not a version of Flink", f"a version is three numbers, such as {TESTED[-1]}")
    is_whole = is_fetched(version) and damage_of(version) is None
    if is_whole and sql_folder_of(version).is_dir():
        return folder_of(version)
    try:
        if not is_whole:
            for folder in (folder_of(version), sql_folder_of(version)):
                shutil.rmtree(folder, ignore_errors=True)
        flink_folder().mkdir(parents=True, exist_ok=True)
        check_room()
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=flink_folder()) as scratch:
            archive = download(version, Path(scratch), progress)
            jars, sql = Path(scratch) / "jars", Path(scratch) / "sql"
            extract(archive, jars, sql, progress)
            publish(sql, sql_folder_of(version))
            publish(jars, folder_of(version))
    except OSError as error:
        raise explain(error) from error
    return folder_of(version)


def explain(error: OSError) -> FetchError:
    if error.errno == errno.ENOSPC:
        return no_room("the disk is full")
    hint = "let TIDEGATE_CACHE point to a writable folder"
    return FetchError(f"the cache {flink_folder()} cannot be used: {error.strerror or error}", hint)


def no_room(message: str) -> FetchError:
    hint = f"make {_ROOM // 1024**2} MB free, or let TIDEGATE_CACHE point to a disk that has them"
    return FetchError(f"{message}: {flink_folder()}", hint)


def check_room() -> None:
    free = shutil.disk_usage(flink_folder()).free
    if free < _ROOM:
        raise no_room(f"only {free // 1024**2} MB are free for the cache")


def download(version: str, scratch: Path, progress: Progress) -> Path:
    """Let pip download the archive. Its temporary files go below `scratch`, too, whose size shows the progress."""
    target = scratch / "archive"
    errors = scratch / "pip.log"
    with errors.open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - pip, with arguments of our own
            pip_command(version, target),
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": str(scratch)},
        )
        try:
            while process.poll() is None:
                progress(size_of(scratch), "downloading")
                time.sleep(0.2)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    archives = list(target.glob("*")) if target.is_dir() else []
    if process.returncode != 0 or len(archives) != 1:
        raise explain_pip(version, errors.read_text(encoding="utf-8", errors="replace"))
    return archives[0]


def pip_command(version: str, target: Path) -> list[str]:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", "--retries", "2", "--dest", str(target)]
    if version_key(version)[:2] >= _FIRST_WITH_LIBRARIES:
        # Some are source archives: pip builds their metadata, without fetching what that needs if it is installed.
        return [*command, *(["--no-build-isolation"] if can_build() else []), f"apache-flink-libraries=={version}"]
    # These have wheels only for the Pythons of their time; their content is the same for all.
    command += ["--only-binary=:all:", "--python-version", "3.7", "--implementation", "cp"]
    return [*command, "--platform", "manylinux1_x86_64", f"apache-flink=={version}"]


def can_build() -> bool:
    """Whether the installed setuptools can make a wheel without further packages."""
    try:
        return version_key(metadata.version("setuptools"))[:2] >= _FIRST_WITH_WHEELS
    except (metadata.PackageNotFoundError, ValueError):
        return False


def explain_pip(version: str, output: str) -> FetchError:
    last = tuple(line for line in output.splitlines() if line.strip())[-5:]
    if "No module named pip" in output:
        return FetchError("pip is not installed", "install it with: python -m ensurepip")
    if "No space left on device" in output:
        return no_room("the disk is full")
    if _NO_NETWORK.search(output):
        return FetchError(
            f"Flink {version} could not be downloaded: no network", "is the package index reachable?", last
        )
    if _NO_SUCH_VERSION.search(output):
        hint = f"tried versions are {', '.join(TESTED)}; before 1.13.6 not every release is on PyPI"
        return FetchError(f"PyPI has no Flink {version}", hint)
    return FetchError(f"Flink {version} could not be downloaded", "pip said why:", last)


def extract(archive: Path, target: Path, sql: Path, progress: Progress) -> None:
    """Extract the needed jars from a wheel or a source archive."""
    target.mkdir()
    sql.mkdir()
    try:
        for name, stream in wanted_members(archive):
            folder = target if _WANTED.search(f"lib/{name}") else sql
            with stream, (folder / name).open("wb") as jar:
                shutil.copyfileobj(stream, jar, 1024 * 1024)
            progress(size_of(target), "unpacking")
        dist = next(target.glob("flink-dist*.jar"), None)
        if dist is None or not zipfile.is_zipfile(dist):
            raise FetchError(f"there is no flink-dist in {archive.name}", "this version is not packaged as others are")
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise FetchError(f"the archive {archive.name} is broken: {error}", "fetch it again") from error


def wanted_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if found := find_wanted(name):
                    yield found.group(1), wheel.open(name)
        return
    with tarfile.open(archive) as source:
        for member in source:
            found = find_wanted(member.name)
            stream = source.extractfile(member) if found else None
            if found and stream is not None:
                yield found.group(1), stream


def find_wanted(name: str) -> re.Match[str] | None:
    return _WANTED.search(name) or _WANTED_BY_SQL.search(name)


def publish(jars: Path, target: Path) -> None:
    """Give it the final name at once. A concurrent fetch has the same result."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        jars.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def size_of(folder: Path) -> int:
    total = 0
    for place, _folders, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # pip moves its files while we look
                total += (Path(place) / name).stat().st_size
    return total
