"""Reads complete reports into a column per engine, with a cell per component.

A report without a footer comes from a run that did not end. It is refused, with its file name.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.engines.text import printable
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs import report as jobs
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Status
from tidegate.conformance.reports.folder import FORMAT, LINES
from tidegate.reference.components import PATH
from tidegate.traces.codec import show
from tidegate.traces.files import TraceFileError, read_lines

GOOD, KNOWN, BAD, OPEN = "good", "known", "bad", "open"
WORDS: dict[int, tuple[str, str]] = {
    Exit.CONFORMANT: ("conformant", GOOD),
    Exit.VIOLATIONS: ("not conformant", BAD),
}
#: The row of whole jobs, which are not a component.
JOBS = "whole jobs"
ROWS = (*(place.name for place in PATH), JOBS)
EXPECTED = "expected: "
STATUSES = frozenset(map(str, Status))
#: Known reasons for failing cases, per component.
MOST_REASONS = 1000


@attrs.frozen
class Cell:
    """The results of a component's cases: `known` counts expected failures by their reason.

    `example` is the first case that failed unexpectedly, in a few words.
    """

    passed: int = 0
    wrong: int = 0
    open: int = 0
    known: dict[str, int] = attrs.Factory(dict)
    example: str = ""

    @property
    def explained(self) -> int:
        return sum(self.known.values())

    @property
    def total(self) -> int:
        return self.passed + self.wrong + self.open + self.explained

    @property
    def tone(self) -> str:
        return BAD if self.wrong else OPEN if self.open else KNOWN if self.known else GOOD

    @property
    def text(self) -> str:
        if self.wrong:
            return f"{self.wrong:,} of {self.total:,}"
        if self.open:
            return f"{self.open:,} open"
        return f"{self.total:,}, {self.explained:,} known" if self.known else f"{self.total:,}"


@attrs.frozen
class Read:
    """A complete report, without components that did not run."""

    path: Path
    engine: str
    seed: str
    exit_code: int
    complete: bool
    cells: dict[str, Cell]
    semantics: dict[str, tuple[str, ...]]
    generated: int
    day: date


@attrs.frozen
class Column:
    """Reports of one engine without common components."""

    reports: tuple[Read, ...]

    @property
    def engine(self) -> str:
        return self.reports[0].engine

    @property
    def complete(self) -> bool:
        return all(report.complete for report in self.reports)

    @property
    def conclusion(self) -> tuple[str, str]:
        codes = {report.exit_code for report in self.reports}
        worst = Exit.VIOLATIONS if Exit.VIOLATIONS in codes else max(codes)
        return WORDS.get(worst, ("undetermined", OPEN))

    def find(self, row: str) -> tuple[Cell, Read] | None:
        return next(((report.cells[row], report) for report in self.reports if row in report.cells), None)


def make_columns(reports: Iterable[Read]) -> list[Column]:
    """In order of first appearance; a report that repeats a component of an earlier one starts a new column."""
    columns: list[Column] = []
    for report in reports:
        own = [at for at, column in enumerate(columns) if column.engine == report.engine]
        if own and not any(columns[own[-1]].find(row) for row in report.cells):
            columns[own[-1]] = Column((*columns[own[-1]].reports, report))
        else:
            columns.append(Column((report,)))
    return columns


def rows_of(columns: Iterable[Column]) -> list[str]:
    columns = list(columns)
    return [row for row in ROWS if any(column.find(row) for column in columns)]


# --- reading ----------------------------------------------------------------------------------------------------


def read_report(path: Path) -> Read:
    """A report of a run or of whole jobs, by its folder or its file."""
    file = path / LINES if path.is_dir() else path
    lines = read_lines(file)
    number, header = next(lines, (0, None))
    if not isinstance(header, dict) or header.get("format") not in tuple(READERS):
        raise TraceFileError(file, 1, f'the header must say "format": "{FORMAT}", or "{jobs.FORMAT}" for whole jobs')
    tally = READERS[header["format"]](file)
    for number, value in lines:
        if tally.footer is not None:
            raise TraceFileError(file, number, "a line after the footer")
        tally.take(number, value)
    if tally.footer is None:
        raise TraceFileError(file, number, "the report ends without its footer: its run did not end")
    tally.check(number)
    return Read(
        path=file.parent,
        engine=printable(str(header.get("engine", ""))),
        seed=printable(show(header.get("seed", 0)), 40),
        exit_code=tally.footer["exit"],
        complete=tally.footer.get("complete", True),
        cells={row: cell for row in ROWS if (cell := tally.cell(row)).total},
        semantics=read_semantics(tally.footer.get("semantics")),
        generated=max(tally.generated.values(), default=0),
        day=datetime.fromtimestamp(file.stat().st_mtime, UTC).date(),
    )


def read_semantics(given: Any) -> dict[str, tuple[str, ...]]:
    """The engine's declarations, without invalid ones."""
    if not isinstance(given, dict):
        return {}
    return {row: tuple(sorted(map(str, given[row]))) for row in ROWS if isinstance(given.get(row), list)}


class Tally:
    """Counts the verdicts of a run."""

    COUNT = "verdicts"

    def __init__(self, file: Path) -> None:
        self.file = file
        self.footer: Any = None
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.known: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.examples: dict[str, str] = {}
        self.generated: Counter[str] = Counter()

    def take(self, number: int, value: Any) -> None:
        if isinstance(value, dict) and "verdicts" in value:
            self.footer = value
        elif isinstance(value, dict) and isinstance(value.get("component"), str):
            if value["component"] in ROWS:
                self.generated[value["component"]] += value.get("stage") == "generated"
            self.count(value["component"], str(value.get("verdict")), str(value.get("message", "")), value)
        else:
            raise TraceFileError(self.file, number, "not a verdict")

    def count(self, row: str, status: str, message: str, value: Any) -> None:
        if row not in ROWS or status not in STATUSES:
            row, status = "", ""  # unknown verdicts are counted together
        self.counts[row][status] += 1
        if status == Status.XFAIL:
            reason = printable(message.removeprefix(EXPECTED))
            is_new = reason not in self.known[row]
            self.known[row]["other reasons" if is_new and len(self.known[row]) >= MOST_REASONS else reason] += 1
        elif status in VIOLATIONS:
            self.examples.setdefault(row, printable(" ".join(tell(value)), 200))

    def check(self, number: int) -> None:
        """Check that the footer is valid, and that its counts match."""
        counted = sum(counts.total() for counts in self.counts.values())
        if type(self.footer[self.COUNT]) is not int or self.footer[self.COUNT] != counted:
            told = f"the footer counts {show(self.footer[self.COUNT])} {self.COUNT}, the report has {counted}"
            raise TraceFileError(self.file, number, told)
        if type(self.footer.get("exit")) is not int or type(self.footer.get("complete", True)) is not bool:
            raise TraceFileError(
                self.file, number, "the footer must have an exit, a number, and complete, true or false"
            )

    def cell(self, row: str) -> Cell:
        own = self.counts[row]
        wrong, left = (sum(own[one] for one in some) for some in (VIOLATIONS, UNDETERMINED))
        return Cell(own[Status.PASS], wrong, left, dict(self.known[row]), self.examples.get(row, ""))


def tell(value: Any) -> Iterator[str]:
    """A failure in a few words: its name, and its broken rules or its message."""
    yield f"{value.get('case') or value.get('job')}:"
    wrongs = value.get("wrongs")
    if isinstance(wrongs, list) and wrongs and isinstance(wrongs[0], dict):
        value = wrongs[0]
    rules = value.get("rules")
    yield ", ".join(map(str, rules)) if isinstance(rules, list) and rules else str(value.get("message", ""))


class JobsTally(Tally):
    """Counts whole jobs."""

    COUNT = "jobs"

    def take(self, number: int, value: Any) -> None:
        if isinstance(value, dict) and "jobs" in value:
            self.footer = value
        elif isinstance(value, dict) and isinstance(value.get("job"), str):
            self.count(JOBS, str(value.get("status")), str(value.get("message", "")), value)
        else:
            raise TraceFileError(self.file, number, "not a job")


READERS: dict[str, type[Tally]] = {FORMAT: Tally, jobs.FORMAT: JobsTally}
