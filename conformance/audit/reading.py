"""The rows of run logs in batches: each knows its place, so that it can be read again alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from tidegate.conformance.audit.sources import Footer, Group, LogFileError, find_first_step, open_parquet
from tidegate.properties.kernels.columns import as_dictionary, read_entries, read_indices
from tidegate.traces.runlog import COLUMNS, MalformedLogError

#: Rows per batch, and bytes if rows are long.
BATCH = 2**18
BYTES = 2**26
#: Columns that are read as dictionaries.
WORDS = ["run", "task", "dir", "kind", "key"]


@attrs.frozen
class Span:
    """A range of rows of a file, in these row groups."""

    path: str
    groups: tuple[int, ...]
    first: int
    count: int


def group_rows(groups: Sequence[Group], size: int, most: int = BYTES) -> Iterator[tuple[int, ...]]:
    """Row groups to read together: a large one alone, small ones up to the limits of rows and bytes."""
    held: list[int] = []
    rows = bytes_held = 0
    for number, group in enumerate(groups):
        if held and (rows + group.rows > size or bytes_held + group.size > most):
            yield tuple(held)
            held, rows, bytes_held = [], 0, 0
        held.append(number)
        rows, bytes_held = rows + group.rows, bytes_held + group.size
    if held:
        yield tuple(held)


def find_size(group: Group, size: int) -> int:
    """The number of rows of a group that fit into the byte limit, at most `size`."""
    return max(1, min(size, group.rows * BYTES // group.size if group.size > 0 else size))


class Log:
    """An open file."""

    def __init__(self, footer: Footer) -> None:
        self.footer = footer
        self.file = open_parquet(footer.path, read_dictionary=WORDS)

    def read(self, groups: tuple[int, ...], size: int) -> Iterator[tuple[Span, Any]]:
        """Batches with rows of the run, and their places."""
        first = 0
        for batch in self.read_batches(groups, size):
            check_run(self.footer.path, batch, self.footer.run)
            yield Span(self.footer.path, groups, first, len(batch)), batch
            first += len(batch)
        said = sum(self.footer.groups[group].rows for group in groups)
        if first != said:
            raise LogFileError(self.footer.path, f"its footer declares {said:,} rows, but it has {first:,}")

    def read_batches(self, groups: tuple[int, ...], size: int) -> Iterator[Any]:
        columns = [name for name in COLUMNS if name in self.file.schema_arrow.names]
        chosen = {"columns": columns, "use_threads": False}
        if len(groups) == 1:
            fitting = find_size(self.footer.groups[groups[0]], size)
            yield from self.file.iter_batches(fitting, row_groups=list(groups), **chosen)
            return
        table = self.file.read_row_groups(list(groups), **chosen)
        # Each row group has its own dictionaries. They must be valid before Arrow merges them.
        for name in WORDS:
            for column in table.column(name).chunks:
                read_indices(as_dictionary(column), name)
        yield from table.unify_dictionaries().combine_chunks().to_batches(size)


@contextmanager
def opened(footer: Footer) -> Iterator[Log]:
    """Raise LogFileError if the file is gone, or cannot be read to its end."""
    arrow: Any = import_module("pyarrow")
    try:
        log = Log(footer)
        with log.file:
            yield log
    except FileNotFoundError as error:
        raise LogFileError(footer.path, "was there, and is gone") from error
    except MalformedLogError as error:
        raise LogFileError(footer.path, str(error)) from error
    except (arrow.ArrowException, OSError) as error:
        raise LogFileError(footer.path, f"cannot be read to its end: {error}") from error


def read_file(footer: Footer, size: int) -> Iterator[tuple[Span, Any]]:
    with opened(footer) as log:
        for groups in group_rows(footer.groups, size):
            yield from log.read(groups, size)


def check_run(path: str, batch: Any, run: str) -> None:
    column = as_dictionary(batch.column("run"))
    entries, indices = read_entries(column.dictionary, "run"), read_indices(column, "run")
    if column.null_count or entries != [run]:
        met = [entries[at] if at >= 0 else None for at in np.unique(indices).tolist()]
        others = [one for one in met if one != run]
        if others:
            text = f"has rows of run {others[0]!r}, but declares run {run!r}: a file must have one run"
            raise LogFileError(path, text)


def read_run(footers: Sequence[Footer], size: int) -> Iterator[tuple[Span, Any]]:
    """Files with different subtasks are read in turn; files that continue a run come after the others."""
    steps = {one.path: find_first_step(one) if len(footers) > 1 else 0 for one in footers}
    first = [one for one in footers if not steps[one.path]]
    later = sorted((one for one in footers if steps[one.path]), key=lambda one: steps[one.path])
    waiting = [read_file(one, size) for one in first]
    while waiting:
        going_on = []
        for batches in waiting:
            batch = next(batches, None)
            if batch is not None:
                yield batch
                going_on.append(batches)
        waiting = going_on
    for footer in later:
        yield from read_file(footer, size)
