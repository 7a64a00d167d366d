"""Writing files: complete or not at all, by one process at a time, with the file name in every error."""

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Errors that only writing raises, whatever the file.
UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EPIPE})


class CannotWriteError(Exception):
    """A result cannot be written: where, and why."""


class FolderBusyError(Exception):
    """Another process is writing into this folder."""


def explain(path: Path, error: OSError) -> str:
    return f"{error.filename or path}: cannot be written: {error.strerror or error}"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWriteError(explain(path, error)) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a temporary file beside it and rename that, so that a file of this name is always complete.

    A device or a pipe is written directly: renaming would replace it by a file.
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
    # Do not wait for a pipe that has no reader.
    output = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    with open(output, "wb") as file:  # noqa: PTH123 - it is open
        os.set_blocking(output, True)
        file.write(content)


@contextmanager
def alone(folder: Path, doing: str) -> Iterator[None]:
    """Lock the folder for this process. The lock ends with the process, however that ends."""
    folder.mkdir(parents=True, exist_ok=True)
    # Do not wait if the name is a pipe without a reader.
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
    """Remove the files of an earlier run. Returns what could not be removed, and why."""
    errors = []
    for name in names:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            errors.append(error)
    return errors
