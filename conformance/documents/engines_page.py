"""The page of engines: what each keeps of what a job is promised, from reports of runs under faults that lie beside it.

A report is the `summary.json` of `tidegate jobs --report`. Nothing on the page is written by hand but the words, and in
a report nothing but `notes`, and `known`: of each kind of failure that it tells, the page that explains it.
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
#: Each promise, and the invariants that it stands on.
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
Whole jobs on released engines, killed and restored while they run where that is possible, and what their
[run logs](run-logs.md) show, by how many logs. *skipped* is not *passed*: the engine, or our adapter, does not show it.
*by results*: an engine that does not number what it saves went on from it, and committed what the specification says.
Each command draws the same jobs and faults again, where the draws are still those of its report; no machine runs them
the same way twice. So *passed* is what one run of each job showed, and each failure has a
[command that runs its job until it fails](#each-failure-again), with how often it does.

What failed is explained by a page of the [findings](findings/index.md), and stays a failure.
"""
AGAIN = """\
## Each failure again

Each job that failed was run again, and *again* says in how many of those runs it broke the rule once more. The run that
failed first is not counted: it is why the job is here. The command runs the job until it breaks the rule, and says in
which run it did (exit code 1), or that it passed each time (exit code 0): then it is not reproduced. *missed* is the
chance of that on a machine as busy as the one that measured, with every rate as likely as any other before (the rule of
succession); as many runs are asked for as bring it to 1 % or less, [at most 2,000](reports.md#whole-jobs).
"""
BROKER = (
    "On the mock broker of librdkafka, which knows nothing of transactions: at least once, and a record that is read "
    "again may be counted again. The coordinator of its consumer groups is ours: a group has one member at a time."
)
UNDER_FAULTS = ", under faults"
#: The last commit with each earlier version of draws.
DRAWN_BY = {1: "d4e64a0"}
#: What a report cannot say of itself, by kind of engine.
LIMITS = {
    "bytewax": "What was counted is counted once; what was handed out may be handed out again.",
    "quix": BROKER,
    "faust": BROKER,
    "beam": (
        "The direct runner, which promises no order and saves nothing that could be restored; watermarks are seen "
        "through windows alone, by results."
    ),
    "flink": (
        "On a MiniCluster, under settings of which some are off by default; nothing is killed. Every subtask is "
        "replayed by the specification, sums and sinks included."
    ),
    f"flink{UNDER_FAULTS}": (
        "On a MiniCluster: TaskManagers are ended, tasks fail, and jobs are restored at other widths, from savepoints "
        "and from checkpoints that were kept. Records, timers and clocks are shown, and what sinks commit."
    ),
    "flink-cluster": (
        "The programs and settings of `flink`, in processes that are killed. Of a job that may be killed, what comes "
        "and goes on single channels (watermarks, statuses, barriers) is not shown: records, timers and clocks are."
    ),
    "spark": (
        "The semantics in Spark's own terms, on Structured Streaming. The query is stopped, loses a worker, or fails "
        "behind a write, and goes on from its checkpoint; what it shows is what it commits."
    ),
    "spark-native": (
        "Spark's own event time and windows, of which results alone are shown; the delay of each stream is as long as "
        "its disorder. A query ends between two micro-batches, and goes on from its checkpoint."
    ),
}


def read_reports(folder: Path) -> list[Json]:
    return [read_report(path) for path in sorted(folder.glob("*.json"))]


def read_report(path: Path) -> Json:
    """Raise TraceFileError where it is none."""
    try:
        report = read_json(path.read_bytes())
        make_page([report])
    except JsonError as error:
        raise TraceFileError(path, 1, str(error)) from None
    except (LookupError, TypeError, AttributeError, ValueError):
        raise TraceFileError(path, 1, "this is no summary.json of `tidegate jobs --report`") from None
    return dict(report)


#: A finding that was not made smaller than this is kept without its program: the command draws it again.
MOST_ITEMS = 100


def take_report(folder: Path, reports: Path) -> Path:
    """Put the report of a run among those of the page; what was written by hand stays as it was in the one before.

    Of some of its jobs, run again, only the failures are taken that it has told: how often they show is what is new.

    Raises
    ------
    TraceFileError
        It is none, or one of a run that did not end.
    """
    path = folder / "summary.json"
    report = read_report(path)
    if not report.get("complete"):
        raise TraceFileError(path, 1, "the run did not end: go on with --resume")
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
    write_whole(place, (json.dumps({**report, **kept}, indent=2) + "\n").encode())
    return place


def find_earlier(before: Json, report: Json) -> Json:
    """What runs before have shown and this one has not, by kind: who wins a race once has not always won it."""
    shown = {
        kind: {"jobs": found["jobs"], "date": before["date"]} for kind, found in before.get("findings", {}).items()
    }
    return {kind: one for kind, one in (before.get("earlier", {}) | shown).items() if kind not in report["findings"]}


def with_rates(path: Path, whole: Json, part: Json) -> Json:
    """The report of all jobs, with what the report of some tells of their failures."""
    names = ("engine", "draws", "seed", "faults")
    if [whole.get(name) for name in names] != [part.get(name) for name in names]:
        raise TraceFileError(path, 1, f"these are none of the {whole['jobs']} jobs of {whole['command']}")
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
    """What became of it in how many logs."""
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
    """Of an engine that does not number what it saves. A job that fails may do so after it was restored."""
    failed = report.get("statuses", {}).get("fail", 0)
    if failed:
        pages = sorted(set(report.get("known", {}).values()))
        return f"**{failed} jobs fail**" + "".join(f" ([known]({page}))" for page in pages)
    is_right = tell_promise("results", report).startswith("passed")
    return f"passed in {report['restored']}, by results" if is_right else "skipped"


def tell_failures(report: Json) -> list[str]:
    """Each kind of them, in how many jobs, and where it is explained."""
    lines = []
    for kind, found in sorted(report.get("findings", {}).items()):
        page = page_of(report, kind)
        lines.append(f"- {kind}, {found['jobs']} jobs: " + (f"[{page}]({page})" if page else "not explained"))
    for kind, found in sorted(report.get("earlier", {}).items()):
        page = page_of(report, kind)
        told = f"- {kind}, {found['jobs']} jobs of a run of {found['date']}, and none of this one: "
        lines.append(told + (f"[{page}]({page})" if page else "not explained"))
    return [*lines, ""] if lines else []


def tell_again(report: Json) -> list[str]:
    """Each failure with the command that shows it again."""
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
    """That the seeds of a report draw other jobs today, and which commit draws those of the report."""
    version = report.get("draws", 1)
    if version == draws.VERSION:
        return []
    return [
        f"The jobs are of draws {version}: commit {DRAWN_BY[version]} draws them, and today a seed draws others.",
        "",
    ]


def tell_limits(report: Json) -> list[str]:
    """Of the engine, and what whoever made the report says about it: what is left out, and why."""
    kind = str(report["engine"]).partition(":")[0]
    limit = LIMITS.get(kind + UNDER_FAULTS * bool(report["faults_drawn"])) or LIMITS.get(kind)
    told = [*([limit] if limit else []), *report.get("notes", ())]
    return [line for one in told for line in ("", one)]


def name_engine(report: Json) -> str:
    """With its version, which an adapter tells. One that has two reports is told apart by what is done to it."""
    kind = str(report["engine"]).partition(":")[0]
    version = report.get("implementation", {}).get("version") or str(report["engine"]).partition(":")[2]
    is_harmed = kind + UNDER_FAULTS in LIMITS and report["faults_drawn"]
    return f"{kind}:{version}{UNDER_FAULTS if is_harmed else ''}"
