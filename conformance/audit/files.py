"""A run in one worker: its files are read batch by batch, and the kernels see every batch once."""

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from tidegate.conformance.audit.outcomes import Outcome
from tidegate.conformance.audit.sources import Footer, LogFileError, open_file
from tidegate.properties.kernels import Chunk, Layout, OutgrownError, audit_run, make_chunk, skipped
from tidegate.properties.kernels.findings import MOST
from tidegate.traces.runlog import COLUMNS, MalformedLogError

#: So many rows are looked at together.
BATCH = 2**18
WORDS = ["run", "task", "dir", "kind", "key"]


def read_batches(path: str, run: str, size: int = BATCH) -> Iterator[Any]:
    parquet: Any = import_module("pyarrow.parquet")
    arrow: Any = import_module("pyarrow")
    try:
        system, place = open_file(path)
        with parquet.ParquetFile(place, filesystem=system, read_dictionary=WORDS, pre_buffer=False) as file:
            for batch in file.iter_batches(size, columns=list(COLUMNS), use_threads=False):
                check_run(path, batch, run)
                yield batch
    except (arrow.ArrowException, OSError) as error:
        raise LogFileError(path, f"cannot be read to its end: {error}") from error


def check_run(path: str, batch: Any, run: str) -> None:
    column = batch.column("run")
    column = column.dictionary_encode() if not hasattr(column, "dictionary") else column
    runs = [one for one in column.dictionary.to_pylist() if one != run]
    others = [one for one in runs if one in set(column.unique().to_pylist())] if runs else []
    if others or column.null_count:
        named = repr(others[0]) if others else "none"
        raise LogFileError(path, f"has rows of run {named}, and says that it is of run {run!r}: a file is of one run")


def read_chunks(footers: Sequence[Footer], size: int = BATCH) -> Callable[[Layout], Iterator[Chunk]]:
    """Files with rows of different subtasks are read in turn, those that go on with a run after the others."""

    def chunks(layout: Layout) -> Iterator[Chunk]:
        for batch, path in deal_batches(footers, size):
            try:
                yield make_chunk(batch, layout)
            except MalformedLogError as error:
                raise LogFileError(path, str(error)) from error

    return chunks


def deal_batches(footers: Sequence[Footer], size: int) -> Iterator[tuple[Any, str]]:
    first = [one for one in footers if one.first_step == 0]
    later = sorted((one for one in footers if one.first_step), key=lambda one: one.first_step)
    waiting = [(one.path, read_batches(one.path, one.run, size)) for one in first]
    while waiting:
        going_on = []
        for path, batches in waiting:
            batch = next(batches, None)
            if batch is not None:
                yield batch, path
                going_on.append((path, batches))
        waiting = going_on
    for footer in later:
        yield from ((batch, footer.path) for batch in read_batches(footer.path, footer.run, size))


def audit_files(footers: Sequence[Footer], most: int = MOST, size: int = BATCH) -> Outcome:
    """One run. Whatever is wrong with its files costs this run only."""
    outcome = Outcome(footers[0].run, tuple(one.path for one in footers))
    try:
        layout = Layout(footers[0].job)
        complete = all(one.complete for one in footers)
        chunks = read_chunks(footers, max(size // len(footers), 2**14))
        outcome.tallies = audit_run(footers[0].job, chunks, complete=complete, most=most)
        outcome.skipped = skipped(layout)
        outcome.rows = sum(one.rows for one in footers)
    except (LogFileError, MalformedLogError, OutgrownError) as error:
        outcome.problem = describe_problem(error, footers)
    except Exception as error:  # noqa: BLE001 - a file that breaks us must not cost the others their results
        outcome.problem = f"{footers[0].path}: {type(error).__name__}: {error}\n{traceback.format_exc()}"
    return outcome


def describe_problem(error: Exception, footers: Sequence[Footer]) -> str:
    where = footers[0].path if len(footers) == 1 else f"run {footers[0].run} of {len(footers)} files"
    if isinstance(error, LogFileError):
        return str(error)
    if isinstance(error, OutgrownError):
        return f"{where}: {error}: audit it with --path shuffle"
    return f"{where}: {error}"


def by_run(footers: Iterable[Footer]) -> list[list[Footer]]:
    runs: dict[str, list[Footer]] = {}
    for footer in footers:
        runs.setdefault(footer.run, []).append(footer)
    return list(runs.values())
