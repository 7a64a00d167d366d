"""Output of an audit: a table, the first violations, and everything as JSON."""

import json
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.audit.excerpts import Excerpt
from tidegate.conformance.audit.outcomes import NAMES, Report
from tidegate.conformance.engines.text import printable, unformatted
from tidegate.conformance.exits import Exit
from tidegate.properties.kernels.findings import Finding
from tidegate.properties.runlog import INVARIANTS
from tidegate.traces.runlog import OWN, Row

FORMAT = "tidegate-audit/1"
#: Names and keys are cut at this many characters.
NAME = 100
HEADER = ("invariant", "checked", "violated", "skipped")


def table(report: Report) -> list[tuple[str, str, str, str]]:
    """Rows checked, violations, skipped runs."""
    lines = []
    for name in NAMES:
        tally = report.tally(name)
        lines.append((name, f"{tally.checked:,}", f"{tally.violated:,}", f"{report.skipped(name):,}"))
    return lines


def conclusion(report: Report) -> str:
    runs = len(report.outcomes) - len(report.problems)
    text = f"{runs} run{'' if runs == 1 else 's'}, {report.rows:,} events: "
    if report.violated:
        text += f"{report.violated:,} violations"
    elif report.exit is Exit.CONFORMANT:
        text += "all that was checked holds"
    else:
        text += "undetermined"
    return text + (f"; {len(report.problems)} could not be audited" if report.problems else "")


def remarks(report: Report) -> list[str]:
    notes = [f"run {printable(one.run, NAME)} has no events." for one in report.empty]
    notes += [f"{name} was skipped: {reason}." for name in NAMES for reason in report.reasons(name)]
    notes += [f"{name} met nothing to check." for name in report.unexercised()]
    return notes


def describe_place(run: str, finding: Finding) -> str:
    edge, producer, consumer = finding.channel
    side = "sent" if finding.direction == "out" else "received"
    attempt = f", attempt {finding.attempt}" if finding.attempt else ""
    where = f"edge {edge} from {producer} to {consumer}, {side}, position {finding.position}"
    if edge == OWN:
        where = f"{printable(finding.task, NAME)}/{producer}, step {finding.step}"
    return f"run {printable(run, NAME)}{attempt}, {where}"


def describe_row(row: Row, finding: Finding) -> str:
    edge, producer, consumer = row.channel
    fields = {"timestamp": row.timestamp, "key": row.key, "id": row.id, "value": row.value}
    shown = " ".join(f"{name} {printable(str(value), NAME)}" for name, value in fields.items() if value is not None)
    is_it = (row.dir, row.channel, row.kind, row.position) == (
        finding.direction, finding.channel, finding.kind, finding.position
    )  # fmt: skip
    where = f"{'>' if is_it else ' '} {printable(row.task, NAME)}/{row.subtask} step {row.step}"
    return f"{where} {row.dir} {edge}/{producer}/{consumer} {row.kind} {shown}".rstrip()


def as_text(excerpt: Excerpt, path: Path | None) -> str:
    finding = excerpt.finding
    statement = next(one.statement for one in INVARIANTS if one.id == finding.invariant)
    lines = [
        f"{finding.invariant}: {finding.message}",
        f"  {statement}",
        f"  {describe_place(excerpt.log.run, finding)}",
    ]
    lines += [f"  {describe_row(row, finding)}" for row in excerpt.around]
    if path is not None and excerpt.repeats:
        lines.append(f"  reproduce tidegate audit --local --only {finding.invariant} {path}")
    elif path is not None:
        lines.append(f"  excerpt   {path} (too short to show it on its own)")
    return "\n".join(lines)


def as_json(report: Report) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "path": report.path,
        "exit": int(report.exit),
        "events": report.rows,
        "invariants": [
            {
                "id": name,
                "checked": report.tally(name).checked,
                "violated": report.tally(name).violated,
                "skipped": report.skipped(name),
            }
            for name in NAMES
        ],
        "violations": [
            {"run": one.run, **attrs.asdict(finding)}
            for one in report.outcomes
            for tally in one.tallies.values()
            for finding in tally.findings
        ],
        "problems": [{"files": list(one.paths), "problem": one.problem} for one in report.problems],
        "remarks": remarks(report),
    }


def as_markdown(report: Report) -> str:
    lines = ["| " + " | ".join(HEADER) + " |", "|---|--:|--:|--:|"]
    lines += ["| " + " | ".join(line) + " |" for line in table(report)]
    lines += ["", conclusion(report), *(f"- {unformatted(one)}" for one in remarks(report))]
    lines += [f"- not audited: {unformatted(one.problem)}" for one in report.problems]
    for outcome in report.outcomes:
        for tally in outcome.tallies.values():
            told = ((one, f"{one.message} ({describe_place(outcome.run, one)})") for one in tally.findings[:5])
            lines += [f"- {one.invariant}: {unformatted(text)}" for one, text in told]
    return "\n".join(lines) + "\n"


def as_line(value: Any, indent: int | None = None) -> str:
    """JSON in ASCII, so that names and keys of a log cannot control a terminal."""
    return json.dumps(value, indent=indent)
