"""The page of an audit: a single file that opens from disk, with a space-time diagram around each violation."""

import html
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate import __version__
from tidegate.conformance.audit import forms
from tidegate.conformance.audit.excerpts import Excerpt, is_found
from tidegate.conformance.audit.outcomes import Report
from tidegate.conformance.audit.sources import LogFileError, open_parquet, read_footer
from tidegate.conformance.engines.text import printable
from tidegate.conformance.web.one_file import as_data, bundle, make_file
from tidegate.conformance.web.runs import MOST_ROWS, describe_row, describe_run, list_tasks, put_in_time
from tidegate.properties.runlog import INVARIANTS
from tidegate.traces.runlog import Row, make_row

#: Rows shown per subtask at the beginning of a run, and rows read from a file for them.
STEPS = 24
MOST_READ = 1_000_000


def make_page(report: Report, paths: Sequence[Path], command: str = "") -> str:
    """`paths` are the paths of the excerpts."""
    whole = forms.as_json(report)
    statements = {one.id: one.statement for one in INVARIANTS}
    data = {
        "suite": __version__,
        "command": printable(command),
        "exit": whole["exit"],
        "events": report.rows,
        "path": report.path,
        "conclusion": forms.conclusion(report),
        "notes": [*forms.remarks(report), *(f"not audited: {printable(one.problem)}" for one in report.problems)],
        "invariants": [{**one, "statement": statements[one["id"]]} for one in whole["invariants"]],
        "excerpts": [describe(one, path) for one, path in zip(report.excerpts, paths, strict=True)],
        "beginning": describe_beginning(report),
    }
    body = f"""<main id="main"><h1>{html.escape(data["conclusion"])}</h1>
<noscript>This page needs JavaScript; summary.md does not.</noscript></main>
<script type="application/json" id="audit">{as_data(data)}</script>"""
    return make_file("audit", data["conclusion"], body, bundle("audit.js"))


def describe(excerpt: Excerpt, path: Path) -> dict[str, Any]:
    finding = excerpt.finding
    title, statement, place, *_rest = forms.as_text(excerpt, None).split("\n")
    command = f"tidegate audit --local --only {finding.invariant} {path}" if excerpt.repeats else ""
    return {
        "invariant": finding.invariant,
        "statement": statement.strip(),
        "place": place.strip(),
        "command": printable(command),
        **describe_run(title, excerpt.log.job, excerpt.log.rows, find_wrong(excerpt)),
    }


def find_wrong(excerpt: Excerpt) -> set[Row]:
    """The wrong rows of an excerpt. An excerpt has its own numbers, so the fold finds them again."""
    invariant = next(one for one in INVARIANTS if one.id == excerpt.finding.invariant)
    found = {row for row, _message in invariant.find_all(excerpt.log)} if excerpt.repeats else set()
    if found:
        return found
    same = {content(row) for row in excerpt.around if is_found(row, excerpt.finding)}
    return {row for row in excerpt.log.rows if content(row) in same}


def content(row: Row) -> Row:
    return attrs.evolve(row, step=0, position=0)


def describe_beginning(report: Report) -> dict[str, Any] | None:
    """The first rows of the first readable run."""
    for outcome in report.outcomes:
        if outcome.rows and not outcome.problem:
            try:
                footer = read_footer(outcome.paths[0])
                rows = read_beginning(footer.path)
            except (LogFileError, OSError, ValueError):
                continue
            title = f"How {printable(outcome.run, forms.NAME)} begins"
            drawn = [describe_row(row, time) for time, row in rows]
            return {"title": title, "tasks": list_tasks(footer.job), "rows": drawn}
    return None


def read_beginning(path: str) -> list[tuple[int, Row]]:
    """The first rows of every subtask, up to the drawing limit; from a large file, only its first rows."""
    compute: Any = import_module("pyarrow.compute")
    file = open_parquet(path)
    if file.metadata.num_rows > MOST_READ:
        lines = next(file.iter_batches(batch_size=MOST_ROWS)).to_pylist()
    else:
        table = file.read()
        lines = table.filter(compute.field("step") < STEPS).to_pylist()
    return put_in_time([make_row(line) for line in lines])[:MOST_ROWS]
