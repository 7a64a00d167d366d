"""The folder of a report: report.jsonl grows during the run; pages and junit.xml are written at its end.

report.jsonl is the source of truth: a header, a line for each verdict, a footer. Without a footer, the run did not
end. Workers append their own lines as soon as they have them; at the end the lines are sorted. A report that cannot
be written does not stop the run: `trouble` says what is wrong, and the result is printed as usual.
"""

import contextlib
import json
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import attrs

from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.result import Result
from tidegate.conformance.judging.suite import STAGES
from tidegate.conformance.judging.trial import Observer, Tally
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.findings import describe
from tidegate.conformance.reports.junit import as_junit
from tidegate.conformance.reports.writing import alone, clear, explain, write_whole
from tidegate.properties.drawing.scopes import small, thorough
from tidegate.reference.components import COMPONENTS

FORMAT = "tidegate-report/2"
LINES = "report.jsonl"
PAGES = JUNIT, SUMMARY, PAGE = "junit.xml", "summary.md", "index.html"
_PLACE = re.compile(rb'"case":"([^"]*)","component":"(\w+)","stage":"(\w+)"')
_SCOPE = re.compile(rb"-complete-(.+)-\d{5,}(?:-[a-z].*)?$")
_NUMBER = re.compile(rb"(\d+)$")
_COMPONENTS = {name.encode(): rank for rank, name in enumerate(COMPONENTS)}
_STAGES = {name.encode(): rank for rank, name in enumerate(STAGES)}
#: Sorts behind everything that has a place.
_LAST = 2**64 - 1


@attrs.define
class Lines:
    """Appends to report.jsonl, here or in a worker, line by line; stops at the first error."""

    path: Path
    engine: str
    trouble: str = ""
    _file: int = -1

    def __call__(self, verdict: Verdict) -> None:
        self.write(make_line(verdict, self.engine))

    def write(self, line: str) -> None:
        if self.trouble:
            return
        # Characters that UTF-8 cannot encode become JSON escapes.
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        try:
            if self._file < 0:
                self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            if (written := os.write(self._file, data)) < len(data):
                os.write(self._file, data[written:])  # fails, and says why
        except OSError as error:
            self.trouble = explain(self.path, error)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class Report(Observer):
    """Writes each verdict at once, so that a run that dies leaves its verdicts."""

    def __init__(self, folder: Path, engine: str, seed: int = 0, command: str = "") -> None:
        self.folder = folder
        self._seed, self._command = seed, command
        self._lines, self.elsewhere = Lines(folder / LINES, engine), Lines(folder / LINES, engine)
        self._count = 0
        #: where the workers' lines end; 0 if there are none
        self._workers_end = 0
        self._stack = ExitStack()
        self.trouble = ""

    def __enter__(self) -> Self:
        try:
            self._stack.enter_context(alone(self.folder, "run"))
            for error in clear(self.folder, (LINES, *PAGES)):
                self._note(explain(self.folder, error))
        except OSError as error:
            self._note(explain(self.folder, error))
        self._lines.write(as_line({"format": FORMAT, "engine": printable(self._lines.engine), "seed": self._seed}))
        return self

    def see(self, verdict: Verdict) -> None:
        self._count += 1
        self._lines(verdict)

    def see_component(self, component: str, tally: Tally) -> None:  # noqa: ARG002 - the lines say it all
        self._count += tally.counts.total()
        with contextlib.suppress(OSError):
            self._workers_end = self._lines.path.stat().st_size

    def finish(self, result: Result) -> None:
        try:
            if not self._lines.trouble:
                self._end_lines(result)
        except OSError as error:
            self._note(explain(self.folder, error))
        self._note(self._lines.trouble)
        for trouble in write_pages(self.folder, result, self._read, self._seed, self._command):
            self._note(trouble)

    def _read(self) -> Iterator[str]:
        if not self.trouble:
            with self._lines.path.open(encoding="utf-8") as lines:
                yield from lines

    def _end_lines(self, result: Result) -> None:
        verdicts = put_in_order(self._lines.path, self._workers_end) if self._workers_end else self._count
        if verdicts < self._count and result.complete:
            self._note(f"{self._lines.path}: a worker could not write all of its verdicts")
        self._lines.close()  # the file may have been replaced
        ending = {"verdicts": verdicts, "complete": result.complete, "exit": int(result.exit_code)}
        declared = result.description.components.items()
        dated = {name: sorted(claim.semantics) for name, claim in declared if claim.semantics}
        self._lines.write(as_line(ending | ({"semantics": dated} if dated else {})))

    def _note(self, trouble: str) -> None:
        self.trouble = self.trouble or trouble

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()
        self._stack.close()


def write_pages(
    folder: Path, result: Result, lines: Callable[[], Iterable[str]], seed: int, command: str = ""
) -> list[str]:
    """Write a result as junit.xml, summary.md and index.html; `lines` has its findings. Returns the errors."""
    from tidegate.conformance.web.report import make_page  # noqa: PLC0415 - it knows all components, and takes long

    troubles = []
    pages: dict[str, Callable[[], str]] = {
        JUNIT: lambda: as_junit(result).decode(),
        SUMMARY: result.markdown,
        PAGE: lambda: make_page(result, lines(), seed, command),
    }
    for name, make in pages.items():
        try:
            # Characters that UTF-8 cannot encode are escaped.
            write_whole(folder / name, make().encode("utf-8", "backslashreplace"))
        except OSError as error:
            troubles.append(explain(folder / name, error))
    return troubles


def put_in_order(path: Path, until: int) -> int:
    """Sort the verdicts before this byte into the order of a single process; returns how many there are."""
    starts, places = array("Q"), array("Q")
    with path.open("rb") as file, path.with_name(f"{path.name}.half").open("wb") as ordered:
        ordered.write(file.readline())
        while line := file.readline():
            starts.append(file.tell() - len(line))
            places.append(place_of(line) if starts[-1] < until else _LAST)
        for number in sorted(range(len(starts)), key=places.__getitem__):
            file.seek(starts[number])
            ordered.write(file.readline())
    Path(ordered.name).replace(path)
    return len(starts)


def place_of(line: bytes) -> int:
    """Sort key of a worker's verdict: component, stage, and the scope or index of its case."""
    found = _PLACE.match(line, 1)
    if found is None:
        return _LAST
    case, component, stage = found.groups()
    part = 0
    if stage == b"complete" and (scope := _SCOPE.search(case)):
        part = scope_ranks(component.decode()).get(scope[1].decode(), 0)
    elif stage == b"generated" and (number := _NUMBER.search(case)):
        part = min(int(number[1]), 2**32 - 1)
    return (_COMPONENTS.get(component, 0) << 48) | (_STAGES.get(stage, 0) << 40) | part


@cache
def scope_ranks(component: str) -> dict[str, int]:
    scopes = dict.fromkeys(scope.name for scope in (*small(component), *thorough(component)))
    return {name: rank for rank, name in enumerate(scopes)}


def make_line(verdict: Verdict, engine: str) -> str:
    if verdict.status not in (Status.PASS, Status.SKIP):
        return as_line(describe(verdict, engine).json())
    case = verdict.case
    return as_line(
        {"case": case.name, "component": case.component, "stage": verdict.stage, "verdict": str(verdict.status)}
    )


def as_line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
