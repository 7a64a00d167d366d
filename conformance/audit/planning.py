"""What to audit, and on which path: a run in one worker, or its rows dealt out by channel."""

from collections.abc import Iterable

import attrs

from tidegate.conformance.audit.files import by_run
from tidegate.conformance.audit.outcomes import Outcome
from tidegate.conformance.audit.sources import Footer, LogFileError, find_files, read_footer

FILES, SHUFFLE = "files", "shuffle"


@attrs.frozen
class Work:
    """Runs with the files of each, what cannot be audited, and the path that fits."""

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
    for path in paths:
        try:
            files = find_files(path)
        except LogFileError as error:
            refused.append(Outcome("", (path,), problem=str(error)))
            continue
        for file in files:
            try:
                footers.append(read_footer(file))
            except LogFileError as error:
                refused.append(Outcome("", (file,), problem=str(error)))
    runs, foreign = split_foreign(by_run(footers))
    chosen, reason = choose_path(runs)
    return Work(runs, refused + foreign, chosen, reason)


def split_foreign(runs: list[list[Footer]]) -> tuple[list[list[Footer]], list[Outcome]]:
    """Files that call themselves the same run must be of the same job."""
    kept, refused = [], []
    for run in runs:
        if all(one.job == run[0].job for one in run):
            kept.append(run)
        else:
            text = f"{run[0].path} and {len(run) - 1} more are of the run {run[0].run!r}, but of different jobs"
            refused.append(Outcome(run[0].run, tuple(one.path for one in run), problem=text))
    return kept, refused


def choose_path(runs: list[list[Footer]]) -> tuple[str, str]:
    for run in runs:
        if len(run) > 1:
            return SHUFFLE, f"run {run[0].run} spans {len(run)} files"
        if run[0].outgrows:
            return SHUFFLE, f"{run[0].path} is too large for rows that are not in the order of events"
    return FILES, "one run is one file"
