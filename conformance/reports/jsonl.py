"""report.jsonl: a header, a line for each verdict, a footer. The source of truth; everything else is derived.

A report without its footer is of a run that did not end, and every reader refuses it.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tidegate.conformance.judging.session import Finished
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.reports.findings import describe

FORMAT = "tidegate-report/1"


class ReportError(Exception):
    """A report that cannot be taken for the whole truth."""


class ReportWriter:
    """Writes each verdict as it comes, so that a run that dies has left what it knew."""

    def __init__(self, path: Path, engine: str, seed: int) -> None:
        self._engine = engine
        self._count = 0
        self._file: IO[str] = path.open("w", encoding="utf-8")
        self._write(as_line({"format": FORMAT, "engine": engine, "seed": seed}))

    def verdict(self, verdict: Verdict) -> None:
        self.lines([make_line(verdict, self._engine)])

    def lines(self, lines: Iterable[str]) -> None:
        """Lines of verdicts that were made elsewhere."""
        for line in lines:
            self._count += 1
            self._write(line)

    def footer(self, finished: Finished) -> None:
        self._write(as_line({"verdicts": self._count, "complete": finished.complete, "exit": int(finished.exit())}))

    def _write(self, line: str) -> None:
        self._file.write(line + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def make_line(verdict: Verdict, engine: str) -> str:
    line: dict[str, Any] = {
        "case": verdict.case.name,
        "component": verdict.case.component,
        "stage": verdict.stage,
        "verdict": str(verdict.status),
    }
    if verdict.status not in (Status.PASS, Status.SKIP):
        finding = describe(verdict, engine)
        line |= {
            "rules": [rule for rule, _text in finding.rules],
            "message": finding.message,
            "config": json.loads(finding.config),
            "trace": finding.trace,
            "step": finding.step,
            "allowed": list(finding.allowed),
            "seen": finding.seen,
            "reproduce": finding.reproduce,
        }
    return as_line(line)


def as_line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_report(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    """Header, verdicts and footer; ReportError for anything less."""
    lines = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            lines.append(json.loads(text))
        except ValueError as error:
            raise ReportError(f"{path}, line {number}: not JSON: {error}") from None
    if not lines or lines[0].get("format") != FORMAT:
        raise ReportError(f'{path}, line 1: the header must say "format": "{FORMAT}"')
    header, *verdicts = lines
    if not verdicts or "verdicts" not in verdicts[-1]:
        raise ReportError(f"{path}, line {len(lines)}: no footer: the run did not end")
    footer = verdicts.pop()
    if footer["verdicts"] != len(verdicts):
        raise ReportError(f"{path}, line {len(lines)}: the footer counts {footer['verdicts']}, not {len(verdicts)}")
    return header, verdicts, footer
