"""The audit result of the library, which prints itself."""

from collections.abc import Iterable
from os import PathLike
from typing import Any

import attrs

from tidegate.conformance.audit import forms
from tidegate.conformance.audit.auditing import Options, audit
from tidegate.conformance.audit.outcomes import NAMES, Report
from tidegate.conformance.exits import Exit


@attrs.frozen(repr=False)
class AuditResult:
    """The result of an audit. `report` has it per run, with the events around the first violations."""

    report: Report

    @property
    def exit_code(self) -> Exit:
        """0 everything that was checked holds, 1 violations, 2 undetermined, 65 nothing could be read."""
        return self.report.exit

    @property
    def conclusion(self) -> str:
        return forms.conclusion(self.report)

    def text(self) -> str:
        """Counts, the first violations with the events around them, and notes."""
        counts = [f"{name}: {checked} checked, {violated} violated" for name, checked, violated, _ in self.table()]
        excerpts = [forms.as_text(one, None) for one in self.report.excerpts]
        problems = [f"not audited: {one.problem}" for one in self.report.problems]
        return "\n".join([*counts, *excerpts, *problems, *forms.remarks(self.report), self.conclusion])

    def table(self) -> list[tuple[str, str, str, str]]:
        return forms.table(self.report)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Audit: {self.conclusion}>"

    def markdown(self) -> str:
        return forms.as_markdown(self.report)

    def json(self) -> dict[str, Any]:
        return forms.as_json(self.report)


def audit_here(
    paths: Iterable[str | PathLike[str]], only: Iterable[str] = (), show: int = 3, workers: int = 1
) -> AuditResult:
    """Audit without Spark and Java."""
    return AuditResult(audit(paths, Options(frozenset(only) or frozenset(NAMES), show=show, workers=workers)))
