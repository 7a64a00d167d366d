"""What to audit, and how: a run in one worker, or its rows distributed by channel."""

import os
from collections.abc import Iterable
from pathlib import PurePath

import attrs

from tidegate.conformance.audit.files import by_run
from tidegate.conformance.audit.outcomes import Outcome
from tidegate.conformance.audit.sources import Footer, LogFileError, find_files, is_interleaved, read_footer

FILES, SHUFFLE = "files", "shuffle"
#: A file with more rows must have its rows in the order of events.
MOST_IN_ANY_ORDER = 8_000_000


@attrs.frozen
class Work:
    """Runs with their files, what cannot be audited, and the chosen path."""

    runs: list[list[Footer]]
    refused: list[Outcome]
    path: str
    reason: str

    @property
    def rows(self) -> int:
        return sum(footer.rows for run in self.runs for footer in run)


def plan(paths: Iterable[str]) -> Work:
    footers: list[Footer] = []
    refused: list[Outcome] = []
    known: set[str] = set()
    for file in (file for path in paths for file in find_files(path)):
        try:
            if isinstance(file, LogFileError):
                raise file
            # A file that is found twice counts once.
            real = file if "://" in file else os.path.realpath(file)
            if real not in known:
                known.add(real)
                footers.append(read_footer(file))
        except LogFileError as error:
            refused.append(Outcome("", (error.path,), problem=str(error)))
    runs, foreign = split_foreign(by_run(footers))
    runs, partial = split_partial(runs, refused)
    chosen, reason = choose_path(runs)
    return Work(runs, refused + foreign + partial, chosen, reason)


def split_foreign(runs: list[list[Footer]]) -> tuple[list[list[Footer]], list[Outcome]]:
    """Files of the same run must have the same job."""
    kept, refused = [], []
    for run in runs:
        if all(one.job == run[0].job for one in run):
            kept.append(run)
        else:
            text = f"and {len(run) - 1} more belong to run {run[0].run!r}, but to different jobs"
            problem = str(LogFileError(run[0].path, text))
            refused.append(Outcome(run[0].run, tuple(one.path for one in run), problem=problem))
    return kept, refused


def split_partial(runs: list[list[Footer]], refused: list[Outcome]) -> tuple[list[list[Footer]], list[Outcome]]:
    """A file of a run may be unreadable: then missing rows are not a violation."""
    bad = {str(PurePath(path).parent): path for one in refused for path in one.paths}
    kept, partial = [], []
    for run in runs:
        beside = [bad[folder] for folder in (str(PurePath(one.path).parent) for one in run) if folder in bad]
        if len(run) > 1 and beside:
            text = f"and {len(run) - 1} more belong to run {run[0].run!r}, and so may {beside[0]}, which is refused"
            problem = str(LogFileError(run[0].path, text))
            partial.append(Outcome(run[0].run, tuple(one.path for one in run), problem=problem))
        else:
            kept.append(run)
    return kept, partial


def choose_path(runs: list[list[Footer]]) -> tuple[str, str]:
    for run in runs:
        if len(run) > 1:
            return SHUFFLE, f"run {run[0].run} spans {len(run)} files"
        if run[0].rows > MOST_IN_ANY_ORDER and not is_interleaved(run[0]):
            return SHUFFLE, f"{run[0].path} is too large for rows that are not in the order of events"
    return FILES, "one run is one file"
