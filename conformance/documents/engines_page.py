"""The page of engines: which promises each engine keeps, from stored reports of runs under faults.

A report is the `summary.json` of `tidegate jobs --report`. All figures on the page come from reports. Only `notes` and
`known` of a report are written by hand: `known` maps each kind of failure to the page that explains it.
"""

import json
from pathlib import Path
from typing import Any

from tidegate.conformance.judging.jobs import draws
from tidegate.conformance.reports.writing import write_whole
from tidegate.properties.runlog import Status
from tidegate.traces.files import TraceFileError
from tidegate.traces.strict_json import JsonError, read_json

Json = dict[str, Any]

MADE = "<!-- Written by `tidegate generate engines-page` from the reports in docs/engines. Do not edit. -->"
#: Each promise, with its invariants.
PROMISES = {
    "no loss": ("LOG-LOSS",),
    "no duplication": ("LOG-LOSS",),
    "order": ("LOG-ORDER",),
    "keys meet": ("LOG-ROUTE",),
    "watermarks": ("LOG-WATERMARK",),
    "lateness": ("LOG-LATE", "LOG-MADE-LATE"),
    "idleness": ("LOG-STATUS",),
    "recovery": ("LOG-RECOVER",),
    "results": ("LOG-RESULT",),
}
INTRODUCTION = """\
Whole jobs on released engines, killed and restored while they run where that is possible. The table shows what their
[run logs](run-logs.md) say, with the number of logs. *skipped* is not *passed*: the engine, or our adapter, does not
show it. *by results*: the engine does not number its checkpoints; it was restored and committed the results that the
specification expects. Each command draws the same jobs and faults again, unless the draws have changed since its
report; but no two runs of them are the same. So *passed* refers to one run of each job, and each failure has a
[command that runs its job until it fails](#each-failure-again), with its failure rate.

A page of the [findings](findings/index.md) explains each failure; it stays a failure.
"""
AGAIN = """\
## Each failure again

Each failed job ran again. *again* says in how many of those runs it broke the rule once more; the first failure is not
counted, since it selected the job. The command runs the job until it breaks the rule, and prints the number of that run
(exit code 1), or that all runs passed (exit code 0): then the failure is not reproduced. *missed* is the chance of
that on an equally busy machine, with a uniform prior for the rate (the rule of succession). The command asks for enough
runs to bring it to 1 % or less, [at most 2,000](reports.md#whole-jobs).
"""
BROKER = (
    "On the mock broker of librdkafka, which has no transactions: at least once, and a record that is read "
    "again may be counted again. The coordinator of its consumer groups is ours: a group has one member at a time."
)
UNDER_FAULTS = ", under faults"
#: The last commit of each earlier version of draws.
DRAWN_BY = {1: "d4e64a0"}
#: Notes that a report cannot contain itself, by kind of engine.
LIMITS = {
    "bytewax": "Records are counted once; results may be emitted again.",
    "quix": BROKER,
    "faust": BROKER,
    "beam": (
        "The direct runner, which promises no order and has no checkpoints; watermarks are visible "
        "only through the results of windows."
    ),
    "flink": (
        "On a MiniCluster, with some settings that are off by default; nothing is killed. The specification "
        "replays every subtask, including sums and sinks."
    ),
    f"flink{UNDER_FAULTS}": (
        "On a MiniCluster: TaskManagers are stopped, tasks fail, and jobs are restored with another parallelism, from "
        "savepoints and retained checkpoints. Run logs show records, timers, clocks and the commits of sinks."
    ),
    "flink-cluster": (
        "The programs and settings of `flink`, in processes that are killed. For a job that may be killed, events of "
        "single channels (watermarks, statuses, barriers) are not shown; records, timers and clocks are."
    ),
    "spark": (
        "The semantics built on Structured Streaming. The query is stopped, loses a worker, or fails "
        "after a write, and restarts from its checkpoint; it shows what it commits."
    ),
    "spark-native": (
        "Spark's own event time and windows; only results are shown. The delay of each stream is as long as "
        "its disorder. A query ends between two micro-batches, and restarts from its checkpoint."
    ),
}


def read_reports(folder: Path) -> list[Json]:
    return [read_report(path) for path in sorted(folder.glob("*.json"))]


def read_report(path: Path) -> Json:
    """Raise TraceFileError if it is not a report."""
    try:
        report = read_json(path.read_bytes())
        make_page([report])
    except JsonError as error:
        raise TraceFileError(path, 1, str(error)) from None
    except (LookupError, TypeError, AttributeError, ValueError):
        raise TraceFileError(path, 1, "not a summary.json of `tidegate jobs --report`") from None
    return dict(report)


#: A finding with a larger program is stored without it: the command draws it again.
MOST_ITEMS = 100


def take_report(folder: Path, reports: Path) -> Path:
    """Store the report of a run for the page; the handwritten parts of the previous report are kept.

    A report of some jobs, run again, only updates the failure rates of known failures.

    Raises
    ------
    TraceFileError
        It is not a report, or its run did not end.
    """
    path = folder / "summary.json"
    report = read_report(path)
    if not report.get("complete"):
        raise TraceFileError(path, 1, "the run did not end: resume it with --resume")
    for found in report.get("findings", {}).values():
        if found["items"] > MOST_ITEMS:
            found.pop("program", None)
    name = name_engine(report)
    place = reports / f"{name.replace(UNDER_FAULTS, '-faults').replace(':', '-')}.json"
    before = read_report(place) if place.exists() else {}
    if before and report["jobs"] < before["jobs"]:
        report = with_rates(path, before, report)
    kept: Json = {field: before[field] for field in ("known", "notes") if field in before}
    if earlier := find_earlier(before, report):
        kept["earlier"] = earlier
    write_whole(place, write_report({**report, **kept}).encode())
    return place


def write_report(report: Json) -> str:
    """JSON with a line per field and per element of its lists: most is for programs, but notes are written by hand."""
    fields = (f"  {json.dumps(name)}: {write_field(value)}" for name, value in report.items())
    return "{\n" + ",\n".join(fields) + "\n}\n"


def write_field(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    elements = ",\n".join(f"    {json.dumps(one)}" for one in value)
    return f"[\n{elements}\n  ]"


def find_earlier(before: Json, report: Json) -> Json:
    """Failures of earlier runs that this one does not show, by kind: races do not fail every time."""
    shown = {
        kind: {"jobs": found["jobs"], "date": before["date"]} for kind, found in before.get("findings", {}).items()
    }
    return {kind: one for kind, one in (before.get("earlier", {}) | shown).items() if kind not in report["findings"]}


def with_rates(path: Path, whole: Json, part: Json) -> Json:
    """The report of all jobs, updated by the report of some."""
    names = ("engine", "draws", "seed", "faults")
    if [whole.get(name) for name in names] != [part.get(name) for name in names]:
        raise TraceFileError(path, 1, f"these jobs do not belong to the {whole['jobs']} jobs of {whole['command']}")
    told = {(one["job"], one["kind"]): one for one in whole.get("failures", ())}
    told |= {(one["job"], one["kind"]): one for one in part["failures"] if one["kind"] in whole["findings"]}
    return {**whole, "failures": [*told.values()]}


def make_page(reports: list[Json]) -> str:
    names = [name_engine(report) for report in reports]
    lines = [MADE, "# Engines", "", INTRODUCTION, f"| promise | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    told = {promise: [tell_promise(promise, report) for report in reports] for promise in PROMISES}
    lines += [f"| {promise} | {' | '.join(cells)} |" for promise, cells in told.items()]
    for report in reports:
        lines += [
            "",
            f"## {name_engine(report)}",
            "",
            tell_run(report),
            *tell_limits(report),
            "",
            f"```\n{report['command']}\n```",
            "",
            *tell_draws(report),
        ]
        lines += tell_failures(report)
        lines += [f"- {name}: {reason}" for name, reason in sorted(report["skipped"].items())]
    again = [line for report in reports for line in tell_again(report)]
    return "\n".join([*lines, *(["", AGAIN.rstrip(), *again] if again else [])]) + "\n"


def tell_promise(promise: str, report: Json) -> str:
    """The verdict, with the number of logs."""
    if promise == "no duplication" and report["declared"]["delivery"] == "at_least_once":
        return "not promised"
    counts = [report["invariants"].get(name, {}) for name in PROMISES[promise]]
    wrong = sum(one.get(Status.FAILED, 0) for one in counts)
    if wrong:
        pages = {page_of(report, f"fail {name}") for name in PROMISES[promise]} - {""}
        return f"**violated** in {wrong}" + "".join(f" ([known]({page}))" for page in sorted(pages))
    passed = min(one.get(Status.PASSED, 0) for one in counts)
    earlier = [f"fail {name}" for name in PROMISES[promise] if f"fail {name}" in report.get("earlier", {})]
    if earlier:
        told = f"passed in {passed}, and " if passed else ""
        pages = {page_of(report, kind) for kind in earlier} - {""}
        return f"{told}**violated** in an earlier run" + "".join(f" ([known]({page}))" for page in sorted(pages))
    if promise == "recovery" and not passed and report["restored"]:
        return tell_recovery(report)
    if not passed:
        return "undetermined" if any(one.get(Status.UNDETERMINED) for one in counts) else "skipped"
    scope = report["declared"]["order_scope"] if promise == "order" else ""
    return f"passed in {passed}" + (f", per {scope}" if scope else "")


def tell_recovery(report: Json) -> str:
    """The verdict for an engine that does not number its checkpoints. A failing job may fail after a restore."""
    failed = report.get("statuses", {}).get("fail", 0)
    if failed:
        pages = sorted(set(report.get("known", {}).values()))
        return f"**{failed} jobs fail**" + "".join(f" ([known]({page}))" for page in pages)
    is_right = tell_promise("results", report).startswith("passed")
    return f"passed in {report['restored']}, by results" if is_right else "skipped"


def tell_failures(report: Json) -> list[str]:
    """Each kind of failure, the number of jobs, and the page that explains it."""
    lines = []
    for kind, found in sorted(report.get("findings", {}).items()):
        page = page_of(report, kind)
        lines.append(f"- {kind}, {found['jobs']} jobs: " + (f"[{page}]({page})" if page else "not explained"))
    for kind, found in sorted(report.get("earlier", {}).items()):
        page = page_of(report, kind)
        told = f"- {kind}, {found['jobs']} jobs of a run of {found['date']}, none of this one: "
        lines.append(told + (f"[{page}]({page})" if page else "not explained"))
    return [*lines, ""] if lines else []


def tell_again(report: Json) -> list[str]:
    """Each failure with the command that reproduces it."""
    rows = [
        f"| {one['job']} | {one['kind']} | {one['failed']} of {one['again']} | {tell_chance(one['missed'])} "
        f"| `{one['reproduce']}` |"
        for one in report.get("failures", ())
    ]
    head = [
        "",
        f"### {name_engine(report)}: failures",
        "",
        "| job | kind | again | missed | command |",
        "|---" * 5 + "|",
    ]
    return [*head, *rows] if rows else []


def tell_chance(missed: float | None) -> str:
    return "not measured" if missed is None else f"{missed:.2%}"


def page_of(report: Json, kind: str) -> str:
    return str(report.get("known", {}).get(kind, ""))


def tell_run(report: Json) -> str:
    told = f"{report['date']}: {report['jobs']} jobs, {report['rows']:,} rows"
    if report["faults_drawn"]:
        told += f"; {report['hits']} of {report['faults_drawn']} faults hit, {report['restored']} jobs were restored, "
        told += f"{report['restores']} times in all"
    return f"{told}; {', '.join(f'{count} {status}' for status, count in report['statuses'].items())}."


def tell_draws(report: Json) -> list[str]:
    """A note that the seeds of a report draw other jobs today, with the commit that draws those of the report."""
    version = report.get("draws", 1)
    if version == draws.VERSION:
        return []
    return [
        f"These jobs use draws {version}: commit {DRAWN_BY[version]} draws them; today the same seed draws other jobs.",
        "",
    ]


def tell_limits(report: Json) -> list[str]:
    """Notes about the engine and from the author of the report: what is left out, and why."""
    kind = str(report["engine"]).partition(":")[0]
    limit = LIMITS.get(kind + UNDER_FAULTS * bool(report["faults_drawn"])) or LIMITS.get(kind)
    told = [*([limit] if limit else []), *report.get("notes", ())]
    return [line for one in told for line in ("", one)]


def name_engine(report: Json) -> str:
    """The name with the version, as the adapter reports it. A second report is marked by its faults."""
    kind = str(report["engine"]).partition(":")[0]
    version = report.get("implementation", {}).get("version") or str(report["engine"]).partition(":")[2]
    is_harmed = kind + UNDER_FAULTS in LIMITS and report["faults_drawn"]
    return f"{kind}:{version}{UNDER_FAULTS if is_harmed else ''}"
