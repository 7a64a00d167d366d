"""The page of an audit: one file that opens from disk, with the rows around each violation drawn in space and time."""

import html
from collections import Counter, defaultdict, deque
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
from tidegate.properties.runlog import INVARIANTS
from tidegate.traces.runlog import Direction, Job, Kind, Row, make_row

#: Rows that are drawn of an excerpt, around the violation, and of the beginning of a run.
MOST_ROWS = 300
#: Of each subtask at the beginning of a run, and the rows of a file that is read for them.
STEPS = 24
MOST_READ = 1_000_000


def make_page(report: Report, paths: Sequence[Path]) -> str:
    """`paths` are those of the excerpts."""
    whole = forms.as_json(report)
    statements = {one.id: one.statement for one in INVARIANTS}
    data = {
        "suite": __version__,
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
    rows = put_in_time(excerpt.log.rows)
    wrong = find_wrong(excerpt)
    drawn = around(rows, wrong)
    title, statement, place, *_rest = forms.as_text(excerpt, None).split("\n")
    command = f"tidegate audit --local --only {finding.invariant} {path}" if excerpt.repeats else ""
    return {
        "invariant": finding.invariant,
        "title": title,
        "statement": statement.strip(),
        "place": place.strip(),
        "command": printable(command),
        "left": len(rows) - len(drawn),
        "tasks": list_tasks(excerpt.log.job),
        "rows": [describe_row(row, time, is_wrong=row in wrong) for time, row in drawn],
    }


def find_wrong(excerpt: Excerpt) -> set[Row]:
    """The rows of an excerpt at which the violation shows: its numbers are its own, so they are found by the fold."""
    invariant = next(one for one in INVARIANTS if one.id == excerpt.finding.invariant)
    found = {row for row, _message in invariant.find_all(excerpt.log)} if excerpt.repeats else set()
    if found:
        return found
    same = {content(row) for row in excerpt.around if is_found(row, excerpt.finding)}
    return {row for row in excerpt.log.rows if content(row) in same}


def content(row: Row) -> Row:
    return attrs.evolve(row, step=0, position=0)


def around(rows: list[tuple[int, Row]], wrong: set[Row]) -> list[tuple[int, Row]]:
    """As many rows as can be drawn, the first violation in the middle."""
    at = next((number for number, (_time, row) in enumerate(rows) if row in wrong), 0)
    first = max(0, min(at - MOST_ROWS // 2, len(rows) - MOST_ROWS))
    return rows[first : first + MOST_ROWS]


def describe_row(row: Row, time: int, *, is_wrong: bool = False) -> dict[str, Any]:
    """A row as the page draws it: names that are harmless, numbers that a page can hold, statuses by name."""
    described: dict[str, Any] = {
        "time": time,
        "task": printable(row.task, forms.NAME),
        "subtask": row.subtask,
        "step": row.step,
        "dir": row.dir,
        "edge": row.edge,
        "producer": row.producer,
        "consumer": row.consumer,
        "kind": row.kind,
        "key": None if row.key is None else printable(row.key, forms.NAME),
        "attempt": row.attempt,
    }
    described |= {name: as_text(getattr(row, name)) for name in ("timestamp", "id", "value")}
    if row.kind is Kind.STATUS:
        described["status"] = "active" if row.value else "idle"
    return described | ({"wrong": True} if is_wrong else {})


def as_text(number: int | None) -> str | None:
    return None if number is None else str(number)


def put_in_time(rows: Sequence[Row]) -> list[tuple[int, Row]]:
    """Rows of many subtasks, each at a logical time: after the row before it, and after it was sent if it was received.

    Where a log has no such order, which is what some violations are about, a row that waits in vain goes first.
    """
    queues: dict[tuple[int, str, int], deque[Row]] = {}
    for row in sorted(rows, key=lambda one: (one.attempt, one.step)):
        queues.setdefault((row.attempt, row.task, row.subtask), deque()).append(row)
    unsent = Counter(passed(row) for row in rows if row.dir is Direction.OUT)
    sent: defaultdict[Any, deque[int]] = defaultdict(deque)
    clocks: Counter[Any] = Counter()
    placed: list[tuple[int, Row]] = []
    while queues:
        at = next((one for one in queues if can_go(queues[one][0], sent, unsent)), next(iter(queues)))
        row = queues[at].popleft()
        if not queues[at]:
            del queues[at]
        if row.dir is Direction.OUT:
            unsent[passed(row)] -= 1
            sent[passed(row)].append(clocks[at] + 1)
        elif sent[passed(row)]:
            clocks[at] = max(clocks[at], sent[passed(row)].popleft())
        clocks[at] += 1
        placed.append((clocks[at], row))
    return sorted(placed, key=lambda one: one[0])


def passed(row: Row) -> tuple[Any, ...]:
    """What both ends of a channel know of a row."""
    return row.attempt, row.channel, row.kind, row.timestamp, row.key, row.id, row.value


def can_go(row: Row, sent: dict[Any, deque[int]], unsent: Counter[Any]) -> bool:
    return row.dir is Direction.OUT or bool(sent.get(passed(row))) or not unsent[passed(row)]


def describe_beginning(report: Report) -> dict[str, Any] | None:
    """The first rows of the first run that could be read."""
    for outcome in report.outcomes:
        if outcome.rows and not outcome.problem:
            try:
                footer = read_footer(outcome.paths[0])
                rows = read_beginning(footer.path)
            except (LogFileError, OSError, ValueError):
                continue
            title = f"The beginning of run {printable(outcome.run, forms.NAME)}"
            drawn = [describe_row(row, time) for time, row in rows]
            return {"title": title, "tasks": list_tasks(footer.job), "rows": drawn}
    return None


def list_tasks(job: Job) -> list[str]:
    """From where data comes in to where it goes out."""
    tasks = list(dict.fromkeys(name for edge in job.edges for name in (edge.source, edge.target)))
    for _round in tasks:
        for edge in job.edges:
            if tasks.index(edge.source) > tasks.index(edge.target):
                tasks.remove(edge.source)
                tasks.insert(tasks.index(edge.target), edge.source)
    return [printable(name, forms.NAME) for name in tasks]


def read_beginning(path: str) -> list[tuple[int, Row]]:
    """The first rows of every subtask, as far as they can be drawn; of a file that takes long to read, its first."""
    compute: Any = import_module("pyarrow.compute")
    file = open_parquet(path)
    if file.metadata.num_rows > MOST_READ:
        lines = next(file.iter_batches(batch_size=MOST_ROWS)).to_pylist()
    else:
        table = file.read()
        lines = table.filter(compute.field("step") < STEPS).to_pylist()
    return put_in_time([make_row(line) for line in lines])[:MOST_ROWS]
