"""Writes an audit: a page, a summary, all violations as JSON lines and Parquet, and excerpts as run logs."""

from importlib import import_module
from pathlib import Path
from typing import Any

from tidegate.conformance.audit import forms
from tidegate.conformance.audit.excerpts import write_excerpts
from tidegate.conformance.audit.outcomes import Report
from tidegate.conformance.audit.page import make_page
from tidegate.conformance.audit.sources import show_path
from tidegate.conformance.engines.text import printable

FILES = ("report.jsonl", "summary.md", "violations.parquet", "index.html")
EXCERPTS = "excerpts"


def write_report(folder: Path, report: Report, command: str = "") -> list[Path]:
    """Write FILES and excerpts/, and replace older ones. Returns the paths of the excerpts.

    Raises
    ------
    OSError
        Not everything could be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*(folder / name for name in FILES), *(folder / EXCERPTS).glob("[0-9]*-LOG-*.parquet")):
        old.unlink(missing_ok=True)
    with (folder / "report.jsonl").open("w", encoding="utf-8") as file:
        whole = forms.as_json(report)
        for line in (
            {"format": forms.FORMAT, "path": report.path, "events": report.rows},
            *({"type": "invariant", **one} for one in whole["invariants"]),
            *({"type": "violation", **one} for one in whole["violations"]),
            *({"type": "problem", **one} for one in whole["problems"]),
            {"type": "footer", "exit": whole["exit"], "violations": len(whole["violations"])},
        ):
            file.write(forms.as_line(line) + "\n")
    (folder / "summary.md").write_text(forms.as_markdown(report), encoding="utf-8")
    write_violations(folder / "violations.parquet", report)
    paths = write_excerpts(folder / EXCERPTS, report.excerpts)
    (folder / "index.html").write_text(make_page(report, paths, command), encoding="utf-8")
    return paths


def write_violations(path: Path, report: Report) -> None:
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    short, long, text = arrow.int32(), arrow.int64(), arrow.string()
    columns = {"run": text, "file": text, "invariant": text, "edge": short, "producer": short, "consumer": short}
    columns |= {"dir": text, "kind": text, "position": long, "step": long, "message": text, "attempt": short}
    lines = []
    for outcome in report.outcomes:
        files = ",".join(printable(show_path(path)) for path in outcome.paths)
        for one in (finding for tally in outcome.tallies.values() for finding in tally.findings):
            place = outcome.run, files, one.invariant, *one.channel, str(one.direction), str(one.kind)
            lines.append((*place, one.position, one.step, one.message, one.attempt))
    schema = arrow.schema(list(columns.items()))
    parquet.write_table(
        arrow.Table.from_pylist([dict(zip(columns, line, strict=True)) for line in lines], schema), path
    )
