"""The folder of a report: report.jsonl grows while the run goes on; pages and junit.xml come with its end.

report.jsonl is the source of truth: a header, a line for each verdict, a footer. Without its footer it is of a run that
did not end.
"""

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tidegate.conformance.judging.result import Result
from tidegate.conformance.judging.trial import Observer, Tally
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.findings import describe
from tidegate.conformance.reports.junit import as_junit

FORMAT = "tidegate-report/2"


class Report(Observer):
    """Writes each verdict as it comes, so that a run that dies has left what it knew."""

    def __init__(self, folder: Path, engine: str, seed: int = 0, command: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.note = self._line = partial(make_line, engine=engine)
        self._folder, self._seed, self._command = folder, seed, command
        self._count = 0
        self._file = (folder / "report.jsonl").open("w", encoding="utf-8", buffering=1)
        self._write(as_line({"format": FORMAT, "engine": engine, "seed": seed}))

    def see(self, verdict: Verdict) -> None:
        self._add([self._line(verdict)])

    def see_component(self, component: str, tally: Tally, notes: list[str]) -> None:  # noqa: ARG002 - the lines say it all
        self._add(notes)

    def finish(self, result: Result) -> None:
        self._write(as_line({"verdicts": self._count, "complete": result.complete, "exit": int(result.exit_code)}))
        with (self._folder / "report.jsonl").open(encoding="utf-8") as lines:
            write_pages(self._folder, result, lines, self._seed, self._command)

    def _add(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._count += 1
            self._write(line)

    def _write(self, line: str) -> None:
        self._file.write(line + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def write_pages(folder: Path, result: Result, lines: Iterable[str], seed: int, command: str = "") -> None:
    """A result as junit.xml, summary.md and index.html; `lines` are those of its findings."""
    from tidegate.conformance.web.report import make_page  # noqa: PLC0415 - it knows all components, and takes long

    (folder / "junit.xml").write_bytes(as_junit(result))
    (folder / "summary.md").write_text(result.markdown(), encoding="utf-8")
    (folder / "index.html").write_text(make_page(result, lines, seed, command), encoding="utf-8")


def make_line(verdict: Verdict, engine: str) -> str:
    if verdict.status not in (Status.PASS, Status.SKIP):
        return as_line(describe(verdict, engine).json())
    case = verdict.case
    return as_line(
        {"case": case.name, "component": case.component, "stage": verdict.stage, "verdict": str(verdict.status)}
    )


def as_line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
