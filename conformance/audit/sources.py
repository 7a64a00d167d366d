"""The files of an audit: finding them, and reading their footers before any row."""

import os
import stat
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.audit.metadata import list_metadata
from tidegate.conformance.engines.text import printable
from tidegate.traces.codec import decode
from tidegate.traces.runlog import COLUMNS, INTEGERS, OPTIONAL, Job
from tidegate.traces.strict_json import read_json

#: Largest job description in bytes: some ten thousand edges.
MOST_OF_JOB = 2**22
KNOWN = ("run", "job", "complete")


class LogFileError(Exception):
    """A file that cannot be audited; the message names it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{printable(path)}: {printable(message)}")
        self.path = path
        self.message = message

    def __reduce__(self) -> tuple[type["LogFileError"], tuple[str, str]]:
        return LogFileError, (self.path, self.message)


@attrs.frozen
class Group:
    """A row group of a file: its rows, and their uncompressed size."""

    rows: int
    size: int


@attrs.frozen
class Footer:
    path: str
    run: str
    job: Job
    complete: bool
    groups: tuple[Group, ...]

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups)


# --- finding files --------------------------------------------------------------------------------------------


def open_file(path: str) -> tuple[Any, str]:
    """An Arrow file system, and the path on it. `s3a` is Spark's name for S3."""
    filesystems: Any = import_module("pyarrow.fs")
    if "://" not in path:
        return filesystems.LocalFileSystem(), path
    system, place = filesystems.FileSystem.from_uri(path.replace("s3a://", "s3://", 1))
    return system, place


def find_files(path: str) -> Iterator[str | LogFileError]:
    """The Parquet files of a path or URL, sorted: itself, or those below it; and errors for unreadable ones."""
    try:
        yield from find_remote_files(path) if "://" in path else find_local_files(path)
    except LogFileError as error:
        yield error
    except (import_module("pyarrow").ArrowException, OSError, ValueError) as error:
        yield LogFileError(path, f"cannot be opened: {error}")


def find_remote_files(path: str) -> Iterator[str]:
    filesystems: Any = import_module("pyarrow.fs")
    system, place = open_file(path)
    info = system.get_file_info(place)
    if info.type == filesystems.FileType.NotFound:
        raise LogFileError(path, "no such file or folder")
    if info.type == filesystems.FileType.File:
        yield path
        return
    found = system.get_file_info(filesystems.FileSelector(place, recursive=True))
    names = sorted(one.path for one in found if one.is_file and one.path.endswith(".parquet"))
    if not names:
        raise LogFileError(path, "the folder has no *.parquet files")
    prefix = path.split("://", maxsplit=1)[0] + "://" if not path.startswith("file:") else ""
    yield from (prefix + name for name in names)


def find_local_files(path: str) -> Iterator[str | LogFileError]:
    if not os.path.lexists(path):
        raise LogFileError(path, "no such file or folder")
    if not Path(path).is_dir():
        yield check_local_file(path)
        return
    found = sorted(walk(path, ()), key=lambda one: one.path if isinstance(one, LogFileError) else one)
    if not found:
        raise LogFileError(path, "the folder has no *.parquet files")
    yield from found


def walk(folder: str, above: tuple[str, ...]) -> Iterator[str | LogFileError]:
    """Follows links, but not in circles. `above`: the real paths of the parent folders."""
    real = os.path.realpath(folder)
    if real in above:
        yield LogFileError(folder, f"is a link that leads back to {real}")
        return
    try:
        names = [os.path.join(folder, name) for name in os.listdir(folder)]  # noqa: PTH118, PTH208 - names may be no text
    except OSError as error:
        yield LogFileError(folder, f"cannot be listed: {error.strerror}")
        return
    for path in names:
        if os.path.isdir(path):  # noqa: PTH112 - of links in a circle it says no, where a Path raises
            yield from walk(path, (*above, real))
        elif path.endswith(".parquet"):
            yield check_local_file(path)


def check_local_file(path: str) -> str | LogFileError:
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        what = "is a link that leads nowhere" if Path(path).is_symlink() else "cannot be opened"
        return LogFileError(path, f"{what}: {error.strerror}")
    # Opening a pipe would wait for a writer.
    return path if stat.S_ISREG(mode) else LogFileError(path, "is not a regular file")


# --- footers --------------------------------------------------------------------------------------------------


def read_footer(path: str) -> Footer:
    """Raise LogFileError if the file is not a run log."""
    arrow: Any = import_module("pyarrow")
    try:
        with open_parquet(path) as file:
            check_schema(path, file.schema_arrow)
            return make_footer(path, file)
    except FileNotFoundError as error:
        raise LogFileError(path, "was there, and is gone") from error
    except (arrow.ArrowException, OSError) as error:
        raise LogFileError(path, f"is not a Parquet file, or is cut short: {error}") from error
    except UnicodeEncodeError as error:
        raise LogFileError(path, "its own name is not UTF-8") from error
    except UnicodeDecodeError as error:
        raise LogFileError(path, f"is not a run log: a name in it is not UTF-8: {error}") from error


def check_schema(path: str, schema: Any) -> None:
    types: Any = import_module("pyarrow").types
    counts = Counter(schema.names)
    missing = [name for name in COLUMNS if not counts[name] and name not in OPTIONAL]
    if missing:
        raise LogFileError(path, f"is not a run log: it has no column {', '.join(missing)}")
    doubled = [name for name in COLUMNS if counts[name] > 1]
    if doubled:
        raise LogFileError(path, f"is not a run log: it has column {', '.join(doubled)} more than once")
    for name in filter(counts.__contains__, COLUMNS):
        kind = schema.field(name).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        wanted = f"int{INTEGERS[name]}" if name in INTEGERS else "string"
        right = types.is_integer(kind) if name in INTEGERS else types.is_string(kind) or types.is_large_string(kind)
        if not right:
            raise LogFileError(path, f"is not a run log: column {name} is {kind}, not {wanted}")


def make_footer(path: str, file: Any) -> Footer:
    known = read_metadata(path, file)
    if len(known["job"]) > MOST_OF_JOB:
        size = f"{len(known['job']):,} characters, more than {MOST_OF_JOB:,}"
        raise LogFileError(path, f"its metadata describe the job in {size}")
    try:
        job = decode(read_json(known["job"]), Job, "job")
        complete = read_json(known["complete"])
    except ValueError as error:
        raise LogFileError(path, f"its metadata say nothing sensible about the job: {error}") from error
    if not isinstance(complete, bool):
        raise LogFileError(path, f"its metadata say complete is {known['complete']}, which is neither true nor false")
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    sizes = tuple(Group(group.num_rows, group.total_byte_size) for group in groups)
    return Footer(path, known["run"], job, complete, sizes)


def read_metadata(path: str, file: Any) -> dict[str, str]:
    """The entries that we need, each once."""
    counts = Counter(key for key, _value in list_metadata(file.schema_arrow))
    doubled = [name for name in KNOWN if counts[name.encode()] > 1]
    if doubled:
        raise LogFileError(path, f"is not a run log: its metadata have {', '.join(doubled)} more than once")
    entries: dict[bytes, bytes] = file.metadata.metadata or {}
    missing = [name for name in KNOWN if name.encode() not in entries]
    if missing:
        raise LogFileError(path, f"is not a run log: its metadata lack {', '.join(missing)}")
    try:
        return {name: entries[name.encode()].decode() for name in KNOWN}
    except UnicodeDecodeError as error:
        raise LogFileError(path, f"is not a run log: its metadata are not UTF-8: {error}") from error


def open_parquet(path: str, **options: Any) -> Any:
    parquet: Any = import_module("pyarrow.parquet")
    system, place = open_file(path)
    return parquet.ParquetFile(place, filesystem=system, pre_buffer=False, **options)


def read_ranges(file: Any, name: str) -> Iterator[tuple[Any, Any] | None]:
    """The smallest and largest value of a column in each row group, if the file has valid statistics."""
    column = file.schema_arrow.names.index(name)
    for group in range(file.metadata.num_row_groups):
        # For an unreadable column pyarrow crashes the process instead of raising an error.
        next(file.iter_batches(1, row_groups=[group], columns=[name], use_threads=False), None)
        yield read_range(file.metadata.row_group(group).column(column).statistics)


def read_range(statistics: Any) -> tuple[Any, Any] | None:
    if statistics is None or not statistics.has_min_max:
        return None
    try:
        return statistics.min, statistics.max
    except ValueError:  # text that is not UTF-8
        return None


def find_first_step(footer: Footer) -> int:
    """The smallest step in the file; 0 if unknown, since most files begin with it."""
    ranges = find_ranges(footer, "step")
    return min((int(one[0]) for one in ranges if one is not None), default=0) if None not in ranges else 0


def is_interleaved(footer: Footer) -> bool:
    """Whether every row group has both directions, so that rows of both ends of a channel are close."""
    return not any(one is not None and one[0] == one[1] for one in find_ranges(footer, "dir"))


def find_ranges(footer: Footer, name: str) -> list[tuple[Any, Any] | None]:
    """Empty if the file cannot be read: reading its rows will report the error."""
    arrow: Any = import_module("pyarrow")
    try:
        with open_parquet(footer.path) as file:
            return list(read_ranges(file, name))
    except (arrow.ArrowException, OSError, ValueError):
        return []


def show_path(path: str) -> str:
    """The shortest path from the current folder."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
