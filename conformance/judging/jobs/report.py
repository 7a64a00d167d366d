"""Results of whole jobs: in words, as Markdown, as JSON, and as files."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from xml.etree import ElementTree as ET

import attrs

from tidegate.conformance.engines.text import command_line, printable
from tidegate.conformance.judging.jobs import draws
from tidegate.conformance.judging.jobs.again import Again, runs_needed
from tidegate.conformance.judging.jobs.judging import tell_job
from tidegate.conformance.judging.jobs.run import UNTROUBLED, Found, JobsResult, encode_case, is_settled, number_of
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status
from tidegate.conformance.reports.folder import Lines
from tidegate.conformance.reports.summary import Paint, Summary, plain
from tidegate.conformance.reports.writing import alone, clear, explain, write_whole
from tidegate.properties.runlog import Status as Checked
from tidegate.traces.codec import encode
from tidegate.traces.files import TraceFileError
from tidegate.traces.runlog import RunLog, write_runlog
from tidegate.traces.strict_json import JsonError, read_json

FORMAT = "tidegate-jobs/1"
#: How many jobs are listed one by one.
MOST_TOLD = 20


@attrs.frozen
class ToldJobs:
    """A result as the command line shows it."""

    result: JobsResult

    def summary(self) -> Summary:
        result, about = self.result, self.result.description
        counts = result.counts
        rows: tuple[tuple[str | int, ...], ...] = tuple(
            (name, *[one[status] for status in Checked], result.reasons.get(name, ""))
            for name, one in result.invariants.items()
        )
        findings = tuple(tell_found(result, kind, found) for kind, found in result.found.items())
        statuses = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
        notes = [
            f"{counts['jobs']} jobs: {statuses}; {counts['rows']} rows, {counts['records']} records received.",
            f"{counts['explained']} runs are runs of the specification, subtask by subtask.",
            *tell_faults(result),
            *tell_until(result),
            *["The run was interrupted: this is what was known by then."] * (not result.complete),
            *(f"warning: {problem}" for problem in result.problems),
        ]
        return Summary(
            title=f"Whole jobs of {printable(result.engine)}",
            header=("invariant", *map(str, Checked), "why skipped"),
            rows=rows,
            findings=findings,
            notes=tuple(notes),
            conclusion=f"{about.name} {about.version} is {result.conclusion}"
            f"{f', as far as {result.rule} goes' if result.rule else ''}: "
            f"{counts['jobs']} jobs in {result.seconds:.1f} s, {result.violations} violations",
            exit_code=result.exit_code,
        )

    def text(self, paint: Paint = plain) -> str:
        return self.summary().text(paint)

    def markdown(self) -> str:
        return self.summary().markdown()

    def json(self) -> dict[str, Any]:
        return as_json(self.result)


def tell_faults(result: JobsResult) -> list[str]:
    """A fault that hit nothing tests nothing, and a job that was never restored says nothing about recovery."""
    counts = result.counts
    if not counts["faults"]:
        return []
    told = f"{counts['hits']} of {counts['faults']} faults hit; "
    return [told + f"{counts['restored']} jobs were restored, {counts['restores']} times in all."]


def tell_until(result: JobsResult) -> list[str]:
    """For jobs that run until they fail: in which run they failed, or that they did not."""
    if result.until_fail == 1:
        return []
    by = f" by {result.rule}" if result.rule else ""
    failed = [
        f"{job['job']} fails{by}, in run {job['runs']} of at most {result.until_fail}." for job in result.failures
    ]
    passed = [job for job in result.jobs if job["status"] in UNTROUBLED]
    told = f"{count_jobs(len(passed))} did not fail{by} in {result.until_fail} runs: not reproduced here."
    others = f"{result.counts['others']} runs failed in other ways, or as expected."
    left = [f"and {len(failed) - MOST_TOLD} more jobs that fail."] * (len(failed) > MOST_TOLD)
    return [*failed[:MOST_TOLD], *left, *([told] if passed else []), *([others] if result.counts["others"] else [])]


def count_jobs(count: int) -> str:
    return f"{count} job" if count == 1 else f"{count} jobs"


def tell_found(result: JobsResult, kind: str, found: Found) -> str:
    wrongs = [f"  {wrong}" for wrong in found.small.wrongs[:3]]
    lines = [f"{kind}: {result.kinds[kind]} jobs. The smallest that was found:"]
    lines += [f"  {line}" for line in tell_job(found.small.case).splitlines()]
    shown = show_again(result, found.first.case.name, kind)
    return "\n".join([*lines, *wrongs, f"  reproduce {shown.command}", *([f"  {shown.words}"] if shown.words else [])])


@attrs.frozen
class ShownAgain:
    """The command that runs a job until it fails by the same rule, and its known failure rate."""

    command: str
    again: int
    failed: int
    most: int
    #: that the command does not reproduce it; unknown if the job was not run again
    missed: float | None

    @property
    def rate(self) -> str:
        return f"{self.failed} of {self.again}" if self.again else ""

    @property
    def chance(self) -> str:
        return "" if self.missed is None else f"{self.missed:.2%}"

    @property
    def words(self) -> str:
        told = (
            f"run again, it fails in {self.rate} runs; the chance that {self.most} runs do not show it is {self.chance}"
        )
        return told if self.again else ""


def show_again(result: JobsResult, name: str, kind: str) -> ShownAgain:
    rule = rule_of(kind)
    again = result.again.get(name, Again())
    most, missed = runs_needed(again, rule)
    first = 0 if result.stored else number_of(name)
    command = command_for(result, first, 1, most, rule)
    return ShownAgain(command, again.runs, again.failed[rule], most, missed if again.runs else None)


def rule_of(kind: str) -> str:
    """The rule in a kind of failure, or empty."""
    return next(iter(kind.split(" ")[1:]), "")


def command_for(result: JobsResult, first: int, jobs: int, until_fail: int = 1, rule: str = "", again: int = 0) -> str:
    """Without a number, the command starts with the first job."""
    words = ["tidegate", "jobs", "--engine", result.engine]
    if result.stored is not None:
        words += ["--case", str(result.stored.path)]
    else:
        words += ["--seed", str(result.seed), *(["--first", str(first)] if first or jobs == 1 else [])]
        words += ["--jobs", str(jobs), *(["--faults", str(result.faults)] if result.faults else [])]
    words += ["--until-fail", str(until_fail)] if until_fail > 1 else []
    words += ["--rule", rule] if rule else []
    words += ["--again", str(again)] if again else []
    return command_line(words)


def tell_failures(result: JobsResult) -> Iterator[dict[str, Any]]:
    """Each rule that each job has broken, with the command that reproduces it."""
    for job in result.failures:
        for kind in job.get("kinds", ()):
            shown = show_again(result, job["job"], kind)
            missed = None if shown.missed is None else round(shown.missed, 4)
            yield {
                "job": job["job"],
                "kind": kind,
                "again": shown.again,
                "failed": shown.failed,
                "reproduce": shown.command,
                "missed": missed,
            }


def as_json(result: JobsResult) -> dict[str, Any]:
    return {
        **head_of(result.engine, result.seed, result.faults, result.rule),
        "implementation": result.description.implementation,
        "declared": encode_abilities(result),
        "date": str(datetime.now(UTC).date()),
        "command": command_for(result, result.first, result.asked, result.until_fail, result.rule, result.more),
        **{name: result.counts[name] for name in ("hits", "restored", "restores")},
        "faults_drawn": result.counts["faults"],
        "conclusion": result.conclusion,
        "exit": int(result.exit_code),
        "complete": result.complete,
        "seconds": round(result.seconds, 3),
        **{name: result.counts[name] for name in ("jobs", "runs", "explained", "rows", "records")},
        "statuses": {str(status): result.counts[status] for status in Status if result.counts[status]},
        "invariants": {name: {str(key): n for key, n in one.items()} for name, one in result.invariants.items()},
        "skipped": dict(result.reasons),
        "problems": list(result.problems),
        "findings": {
            kind: {
                "jobs": result.kinds[kind],
                "reproduce": show_again(result, found.first.case.name, kind).command,
                **encode_case(found.small),
            }
            for kind, found in result.found.items()
        },
        "failures": [*tell_failures(result)],
    }


def encode_abilities(result: JobsResult) -> Any:
    return encode(result.description.jobs)


# --- files ----------------------------------------------------------------------------------------------------

LINES, RUNS = "report.jsonl", "runs"
FILES = ("junit.xml", "summary.md", "summary.json", "index.html")


class JobsReport:
    """The folder of a report: report.jsonl and the run logs in `runs` grow job by job; the rest follows at the end.

    A report that cannot be written stops no run: the reason is in `trouble`. With `goes_on`, the run logs of an
    earlier run stay.
    """

    def __init__(self, folder: Path, *, goes_on: bool = False) -> None:
        self.folder = folder
        self._goes_on = goes_on
        self.trouble = ""
        self._lines = Lines(folder / LINES, "")
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with self._noting(self.folder):
            self._stack.enter_context(alone(self.folder, "run"))
            (self.folder / RUNS).mkdir(exist_ok=True)
            old = [f"{RUNS}/{one.name}" for one in (self.folder / RUNS).glob("*.parquet")]
            for error in clear(self.folder, (LINES, *FILES, *([] if self._goes_on else old))):
                raise error
        return self

    def add(self, line: dict[str, Any], logs: Iterable[RunLog] = ()) -> None:
        self._lines.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
        for log in logs:
            path = self.folder / RUNS / f"{log.run}.parquet"
            with self._noting(path):
                write_runlog(path, log)

    def finish(self, files: Mapping[str, Callable[[], bytes]]) -> None:
        self.trouble = self._lines.trouble or self.trouble
        for name, make in files.items():
            with self._noting(self.folder / name):
                write_whole(self.folder / name, make())

    @contextmanager
    def _noting(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.trouble = self.trouble or explain(path, error)

    def __exit__(self, *_error: object) -> None:
        self._lines.close()
        self._stack.close()


def read_jobs(folder: Path, head: dict[str, Any], indexes: range) -> list[dict[str, Any]]:
    """The jobs with these indexes that passed or failed in a report, even an unfinished one; each once.

    Raises
    ------
    TraceFileError
        It is the report of another engine, or of other jobs.
    """
    path = folder / LINES
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else ()):
        try:
            told = read_json(line)
        except JsonError:
            break  # the writer was cut off
        if number == 0 and told != head:
            raise TraceFileError(path, 1, "a report of other jobs; give another folder, or leave --resume out")
        if is_settled(told) and (match := re.fullmatch(f"[a-z]+-{head['seed']}-([0-9]{{1,18}})", told["job"])):
            found |= {told["job"]: told} if int(match[1]) in indexes else {}
    return list(found.values())


def head_of(engine: str, seed: int, faults: int = 0, rule: str = "") -> dict[str, Any]:
    """What a report is about. Reports without `draws` are of the first version: their seeds draw other jobs today."""
    head = {"format": FORMAT, "engine": printable(engine), "draws": draws.VERSION, "seed": seed, "faults": faults}
    return {**head, "rule": rule} if rule else head


def finish_report(report: JobsReport, result: JobsResult, make_page: Callable[[], str]) -> None:
    whole = as_json(result)
    head = head_of(result.engine, result.seed, result.faults, result.rule)
    report.add({name: value for name, value in whole.items() if name not in head})
    report.finish(
        {
            "summary.json": lambda: as_text(whole),
            "junit.xml": lambda: as_junit(result),
            "summary.md": lambda: as_bytes(ToldJobs(result).markdown()),
            "index.html": lambda: as_bytes(make_page()),
        }
    )


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def as_text(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def as_junit(result: JobsResult) -> bytes:
    """A test per job."""
    root = ET.Element("testsuites", name=f"tidegate {printable(result.engine)}")
    suite = ET.SubElement(root, "testsuite", name="jobs", tests=str(len(result.jobs)))
    tags = {Status.FAIL: "failure", Status.XPASS: "failure"}
    failed = errors = 0
    for job in result.jobs:
        test = ET.SubElement(suite, "testcase", classname="jobs", name=job["job"])
        status = Status(job["status"])
        said = "; ".join(f"{', '.join(one['rules'])}: {one['message']}" for one in job["wrongs"])
        if status in VIOLATIONS:
            tag = tags.get(status, "error")
            failed += tag == "failure"
            errors += tag == "error"
            ET.SubElement(test, tag, message=said[:500])
        elif status is not Status.PASS:
            ET.SubElement(test, "skipped", message=said[:500] or str(status))
    suite.set("failures", str(failed))
    suite.set("errors", str(errors))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))
