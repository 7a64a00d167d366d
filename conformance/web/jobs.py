"""The page of whole jobs: a single file that opens from disk, with the smallest job for each kind of failure.

A space-time diagram shows the engine's run log, and below it a run of the specification with the same program.
"""

import html
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from tidegate import __version__
from tidegate.conformance.documents.job_story import choose
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.jobs.drawing import JobCase
from tidegate.conformance.judging.jobs.explanation import Wrong
from tidegate.conformance.judging.jobs.judging import Judged, tell_job
from tidegate.conformance.judging.jobs.report import ToldJobs, show_again
from tidegate.conformance.judging.jobs.run import Found, JobsResult
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.reports.summary import Summary
from tidegate.conformance.web.one_file import as_data, bundle, make_file
from tidegate.conformance.web.playing import MAX_EVENTS
from tidegate.conformance.web.report import describe_rules
from tidegate.conformance.web.runs import describe_run
from tidegate.conformance.web.serving import HOST, PORT
from tidegate.properties.runlog import INVARIANTS
from tidegate.properties.runlog.recording import record
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import Config
from tidegate.reference.job.step import Choice, enabled, start, step
from tidegate.traces.codec import encode
from tidegate.traces.notation.text import write_trace
from tidegate.traces.runlog import Row, RunLog

#: Limits: problems shown per job, jobs listed, jobs drawn.
MOST_WRONGS = 10
MOST_LISTED = 2000
MOST_DRAWN = 20
#: Length of an address that every browser opens.
LONGEST_LINK = 30_000


def make_page(result: JobsResult, command: str = "") -> str:
    """Facts of a run with jobs that are drawn from a seed and shrunk if they fail."""
    counts = result.counts
    facts = {
        "engine": result.engine,
        "calls itself": f"{result.description.name} {result.description.version}",
        "jobs": f"{counts['jobs']:,} in {result.seconds:.1f} s",
        "rows": f"{counts['rows']:,}",
        "explained": f"{counts['explained']:,} of them, subtask by subtask",
        "seed": str(result.seed),
        "faults per job": f"up to {result.faults}" if result.faults else "none",
    }
    findings = [describe_found(result, kind, found) for kind, found in result.found.items()]
    listed = [
        [one["job"], one["status"], *first_of(one["wrongs"]), tell_rate(result, one)]
        for one in result.jobs
        if one["status"] != Status.PASS
    ]
    return write_page(ToldJobs(result).summary(), facts, findings, listed, command)


def tell_rate(result: JobsResult, job: dict[str, Any]) -> str:
    """How often it breaks the first rule, if it was run again."""
    again, wrongs = result.again.get(job["job"]), job["wrongs"]
    return f"fails in {again.failed[wrongs[0]['rules'][0]]} of {again.runs}" if again and wrongs else ""


def first_of(wrongs: Sequence[Any]) -> tuple[str, str]:
    return (wrongs[0]["rules"][0], printable(wrongs[0]["message"])) if wrongs else ("", "")


def write_page(summary: Summary, facts: dict[str, str], findings: list[Any], listed: list[Any], command: str) -> str:
    statements = {one.id: one.statement for one in INVARIANTS}
    data: dict[str, Any] = {
        "conclusion": printable(summary.conclusion),
        "exit": int(summary.exit_code),
        "facts": [[name, printable(value)] for name, value in {**facts, "suite": f"tidegate {__version__}"}.items()],
        "command": printable(command),
        "notes": [printable(note) for note in summary.notes],
        "header": summary.header,
        "rows": summary.rows,
        "findings": findings,
        "jobs": listed[:MOST_LISTED],
        "left": max(0, len(listed) - MOST_LISTED),
        "rules": {**describe_rules(), **{name: {"text": text} for name, text in statements.items()}},
    }
    body = f"""<main id="main"><h1>{html.escape(data["conclusion"])}</h1>
<noscript>This page needs JavaScript; summary.md does not.</noscript></main>
<script type="application/json" id="jobs">{as_data(data)}</script>"""
    return make_file("jobs", data["conclusion"], body, bundle("jobs.js"))


# --- findings -----------------------------------------------------------------------------------------------------


def describe_found(result: JobsResult, kind: str, found: Found) -> dict[str, Any]:
    small = found.small
    case = small.case
    shown = show_again(result, found.first.case.name, kind)
    program: dict[str, Any] = {"graph": None, "link": None, "expected": None}
    if isinstance(case, JobCase):
        choices = run_anyhow(case.config)
        expected = record(case.config, choices) if choices is not None else None
        program = {
            "graph": describe_graph(case.config),
            "link": link_to(case.config, choices or ()),
            "expected": draw("A run of the specification", expected, set()),
        }
    return {
        **program,
        "title": kind,
        "count": result.kinds[kind],
        "wrongs": [describe_wrong(one) for one in small.wrongs[:MOST_WRONGS]],
        "program": [printable(line) for line in tell_job(case).splitlines()],
        "settings": as_words(case.settings),
        "faults": [as_words(one) for one in case.faults],
        "reproduce": shown.command,
        "again": shown.words,
        "json": json.dumps({"program": case.as_json(), "settings": case.settings, "faults": list(case.faults)}),
        "seen": draw(f"What {result.description.name} showed", small.log, find_wrong(small)),
    }


def describe_wrong(wrong: Wrong) -> dict[str, Any]:
    return {
        "rules": wrong.rules,
        "message": printable(wrong.message),
        "seen": printable(wrong.seen),
        "expected": wrong.expected,
    }


def find_wrong(judged: Judged) -> set[Row]:
    """The wrong rows: those of the problems, and those at which invariants do not hold."""
    if judged.log is None:
        return set()
    found = {wrong.row for wrong in judged.wrongs if wrong.row is not None}
    broken = {verdict.invariant for verdict in judged.verdicts if verdict.violations}
    return found.union(*(rows_of(judged.log, name) for name in broken))


def rows_of(log: RunLog, broken: str) -> set[Row]:
    invariant = next(one for one in INVARIANTS if one.id == broken)
    return {row for row, _message in invariant.find_all(log)}


def draw(title: str, log: RunLog | None, wrong: set[Row]) -> dict[str, Any] | None:
    return describe_run(printable(title), log.job, log.rows, wrong) if log is not None and log.rows else None


def describe_graph(config: Config) -> dict[str, Any]:
    program = encode(config)
    names = ("id", "function", "parallelism")
    return {
        "operators": [
            {"name": printable(one["name"], 100)} | {name: one[name] for name in names} for one in program["operators"]
        ],
        "edges": program["edges"],
        "tasks": [list(task.operators) for task in compute_layout(config).tasks],
    }


def as_words(values: dict[str, Any]) -> dict[str, str]:
    return {printable(str(name)): printable(as_word(value)) for name, value in values.items()}


def as_word(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def run_anyhow(config: Config) -> list[Choice] | None:
    """The choices of a scheduler; None if there are too many to show."""
    (state,) = start(config)
    chosen: list[Choice] = []
    while choices := enabled(state):
        if len(chosen) == MAX_EVENTS:
            return None
        chosen.append(choose(choices, len(chosen)))
        state = step(state, chosen[-1])[0].state
    return chosen


def link_to(config: Config, choices: Sequence[Choice]) -> str:
    """Link to the program in the playground, with a schedule of the specification if the address has room."""
    place = f"http://{HOST}:{PORT}/#job?config={quote(json.dumps(encode(config), separators=(',', ':')), safe='')}"
    whole = f"{place}&trace={quote(write_trace('job', choices), safe='')}&at=0"
    return next((link for link in (whole, place) if len(link) <= LONGEST_LINK), "")
