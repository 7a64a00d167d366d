"""The files of an audit: which there are, and what their footers say before a row is read."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate.traces.codec import DecodeError, decode
from tidegate.traces.runlog import COLUMNS, INTEGERS, Job

#: A file of more rows than this must show that its rows are interleaved as they happened.
MOST_IN_ANY_ORDER = 8_000_000


class LogFileError(Exception):
    """A file that cannot be audited; the message names it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message

    def __reduce__(self) -> tuple[type["LogFileError"], tuple[str, str]]:
        return LogFileError, (self.path, self.message)


@attrs.frozen
class Footer:
    """`interleaved`: no row group is of one direction only, so that rows of both ends of a channel lie close."""

    path: str
    run: str
    job: Job
    complete: bool
    rows: int
    first_step: int
    interleaved: bool = True

    @property
    def outgrows(self) -> bool:
        return self.rows > MOST_IN_ANY_ORDER and not self.interleaved


def open_file(path: str) -> tuple[Any, str]:
    """A file system of Arrow's, and the path on it. `s3a` is what Spark calls S3."""
    filesystems: Any = import_module("pyarrow.fs")
    if "://" not in path:
        return filesystems.LocalFileSystem(), path
    system, place = filesystems.FileSystem.from_uri(path.replace("s3a://", "s3://", 1))
    return system, place


def find_files(path: str) -> list[str]:
    """The Parquet files of a path or URL, sorted: itself, or those below it."""
    filesystems: Any = import_module("pyarrow.fs")
    try:
        system, place = open_file(path)
        info = system.get_file_info(place)
    except (OSError, ValueError) as error:
        raise LogFileError(path, f"cannot be opened: {error}") from error
    if info.type == filesystems.FileType.NotFound:
        raise LogFileError(path, "no such file or folder")
    if info.type == filesystems.FileType.File:
        return [path]
    found = system.get_file_info(filesystems.FileSelector(place, recursive=True))
    names = sorted(one.path for one in found if one.is_file and one.path.endswith(".parquet"))
    if not names:
        raise LogFileError(path, "the folder has no *.parquet files")
    prefix = path.split("://", maxsplit=1)[0] + "://" if "://" in path and not path.startswith("file:") else ""
    return [prefix + name for name in names]


def read_footer(path: str) -> Footer:
    parquet: Any = import_module("pyarrow.parquet")
    arrow: Any = import_module("pyarrow")
    try:
        system, place = open_file(path)
        with parquet.ParquetFile(place, filesystem=system) as file:
            check_schema(path, file.schema_arrow)
            return make_footer(path, file.metadata)
    except (arrow.ArrowException, OSError) as error:
        raise LogFileError(path, f"is no Parquet file, or is cut short: {error}") from error


def check_schema(path: str, schema: Any) -> None:
    types: Any = import_module("pyarrow").types
    missing = [name for name in COLUMNS if name not in schema.names]
    if missing:
        raise LogFileError(path, f"is no run log: it has no column {', '.join(missing)}")
    for name in COLUMNS:
        kind = schema.field(name).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        wanted = f"int{INTEGERS[name]}" if name in INTEGERS else "string"
        right = types.is_integer(kind) if name in INTEGERS else types.is_string(kind) or types.is_large_string(kind)
        if not right:
            raise LogFileError(path, f"is no run log: column {name} is {kind}, not {wanted}")


def make_footer(path: str, metadata: Any) -> Footer:
    known = {key.decode(): value.decode() for key, value in (metadata.metadata or {}).items()}
    missing = [name for name in ("run", "job", "complete") if name not in known]
    if missing:
        raise LogFileError(path, f"is no run log: its metadata lacks {', '.join(missing)}")
    try:
        job = decode(json.loads(known["job"]), Job, "job")
        complete = bool(json.loads(known["complete"]))
    except (DecodeError, json.JSONDecodeError) as error:
        raise LogFileError(path, f"its metadata says nothing sensible about the job: {error}") from error
    groups = [group_statistics(metadata.row_group(number)) for number in range(metadata.num_row_groups)]
    return Footer(
        path=path,
        run=known["run"],
        job=job,
        complete=complete,
        rows=metadata.num_rows,
        first_step=min((group["step"][0] for group in groups if "step" in group), default=0),
        interleaved=not any(group["dir"][0] == group["dir"][1] for group in groups if "dir" in group),
    )


def group_statistics(group: Any) -> dict[str, tuple[Any, Any]]:
    """The least and the greatest value of the columns of a row group, where they are known."""
    found = {}
    for number in range(group.num_columns):
        column = group.column(number)
        statistics = column.statistics
        if column.path_in_schema in COLUMNS and statistics is not None and statistics.has_min_max:
            found[column.path_in_schema] = statistics.min, statistics.max
    return found


def show_path(path: str) -> str:
    """As short as it can be written from here."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
