"""Files that we leave behind: whole or not at all, by one process at a time, and named where they cannot be written."""

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: What only writing ends with, whatever the file.
UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EPIPE})


class CannotWriteError(Exception):
    """What was found cannot be written: where, and why."""


class FolderBusyError(Exception):
    """Another process writes into this folder."""


def explain(path: Path, error: OSError) -> str:
    return f"{error.filename or path}: cannot be written: {error.strerror or error}"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWriteError(explain(path, error)) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write beside its place and rename into it, so that whatever has its name is whole.

    A device or a pipe stays what it is, and is written to: renamed into its place, a file would be there instead.
    """
    if path.exists() and not path.is_file():
        write_through(path, content)
        return
    half = path.with_name(f"{path.name}.half")
    try:
        half.write_bytes(content)
        half.replace(path)
    except OSError:
        with suppress(OSError):
            half.unlink(missing_ok=True)
        raise


def write_through(path: Path, content: bytes) -> None:
    # Nobody waits for the reader of a pipe that has none.
    output = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    with open(output, "wb") as file:  # noqa: PTH123 - it is open
        os.set_blocking(output, True)
        file.write(content)


@contextmanager
def alone(folder: Path, doing: str) -> Iterator[None]:
    """Make the folder that of this process alone. The lock goes with the process, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    # Where there is a pipe of that name, nobody waits for its reader.
    lock = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o666)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderBusyError(f"{folder}: another {doing} is running here; wait for its end") from None
        yield
    finally:
        os.close(lock)


def clear(folder: Path, names: Iterable[str]) -> list[OSError]:
    """Remove what an earlier run has left; what could not be removed, and why."""
    errors = []
    for name in names:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            errors.append(error)
    return errors
