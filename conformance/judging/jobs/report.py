"""What whole jobs have shown: in words, as Markdown, as JSON, and as files."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import attrs

from tidegate.conformance.engines.text import command_line
from tidegate.conformance.judging.jobs.judging import tell_job
from tidegate.conformance.judging.jobs.run import Found, JobsResult, encode_case
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status
from tidegate.conformance.reports.summary import Paint, Summary, plain
from tidegate.properties.runlog import Status as Checked
from tidegate.traces.codec import encode

FORMAT = "tidegate-jobs/1"


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
            *(f"warning: {problem}" for problem in result.problems),
        ]
        return Summary(
            title=f"Whole jobs of `{result.engine}`",
            header=("invariant", *map(str, Checked), "why skipped"),
            rows=rows,
            findings=findings,
            notes=tuple(notes),
            conclusion=f"{about.name} {about.version} is {result.conclusion}: "
            f"{counts['jobs']} jobs in {result.seconds:.1f} s, {result.violations} violations",
            exit_code=result.exit_code,
        )

    def text(self, paint: Paint = plain) -> str:
        return self.summary().text(paint)

    def markdown(self) -> str:
        return self.summary().markdown()

    def json(self) -> dict[str, Any]:
        return as_json(self.result)


def tell_found(result: JobsResult, kind: str, found: Found) -> str:
    wrongs = [f"  {wrong}" for wrong in found.small.wrongs[:3]]
    lines = [f"{kind}: {result.kinds[kind]} jobs. The smallest that was found:"]
    lines += [f"  {line}" for line in tell_job(found.small.case).splitlines()]
    return "\n".join([*lines, *wrongs, f"  reproduce {command_of(result, found)}"])


def command_of(result: JobsResult, found: Found) -> str:
    """The job that showed it first, drawn again."""
    number = found.first.case.name.rpartition("-")[2]
    words = [
        "tidegate",
        "jobs",
        "--engine",
        result.engine,
        "--seed",
        str(result.seed),
        "--first",
        number,
        "--jobs",
        "1",
    ]
    return command_line([*words, *(["--faults", str(result.faults)] if result.faults else [])])


def as_json(result: JobsResult) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "engine": result.engine,
        "implementation": result.description.implementation,
        "declared": encode_abilities(result),
        "seed": result.seed,
        "faults": result.faults,
        "conclusion": result.conclusion,
        "exit": int(result.exit_code),
        "seconds": round(result.seconds, 3),
        **{name: result.counts[name] for name in ("jobs", "explained", "rows", "records")},
        "statuses": {str(status): result.counts[status] for status in Status if result.counts[status]},
        "invariants": {name: {str(key): n for key, n in one.items()} for name, one in result.invariants.items()},
        "skipped": dict(result.reasons),
        "problems": list(result.problems),
        "findings": {
            kind: {"jobs": result.kinds[kind], "reproduce": command_of(result, found), **encode_case(found.small)}
            for kind, found in result.found.items()
        },
    }


def encode_abilities(result: JobsResult) -> Any:
    return encode(result.description.jobs)


# --- files ----------------------------------------------------------------------------------------------------

FILES = ("report.jsonl", "junit.xml", "summary.md", "summary.json", "index.html")


def write_report(folder: Path, result: JobsResult) -> None:
    """report.jsonl, junit.xml, summary.md, summary.json; the log of each run stands there already, in `runs`."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = as_json(result)
    (folder / "summary.json").write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    with (folder / "report.jsonl").open("w", encoding="utf-8") as file:
        head = {name: whole.pop(name) for name in ("format", "engine", "seed")}
        for line in (head, *result.jobs, whole):
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    (folder / "junit.xml").write_bytes(as_junit(result))
    (folder / "summary.md").write_text(ToldJobs(result).markdown(), encoding="utf-8")


def as_junit(result: JobsResult) -> bytes:
    """A test for each job."""
    root = ET.Element("testsuites", name=f"tidegate {result.engine}")
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
