"""An exam of Spark's own event time, in words, as Markdown, as JSON, and as files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import attrs

from tidegate.conformance.engines.spark.native.engine import POLICIES
from tidegate.conformance.engines.spark.native.traces import Counted
from tidegate.conformance.exits import CONCLUSIONS, Exit
from tidegate.conformance.judging.event_time.differences import Difference
from tidegate.conformance.judging.event_time.exam import UNEXPLAINED, Exam, Judged
from tidegate.conformance.judging.event_time.model import WAYS, Way
from tidegate.conformance.reports.summary import RED, Paint, colour_of, plain
from tidegate.properties.runlog import INVARIANTS, Status
from tidegate.traces.codec import encode
from tidegate.traces.runlog import write_runlog

FORMAT = "tidegate-event-time/1"
HEADER = ("invariant", *(f"policy {policy}" for policy in POLICIES))
NOTATION = (
    "0r11 is a record of time 11 from source 0, 1i source 1 turns idle, 1a is active again, 0e ends; "
    "| begins the next micro-batch. Records are numbered from #1."
)


# --- parts ----------------------------------------------------------------------------------------------------


def table(exam: Exam) -> list[tuple[str, ...]]:
    """A row per invariant: its verdicts under each policy."""
    return [
        (invariant.id, *(describe_verdicts(exam, policy, place) for policy in POLICIES))
        for place, invariant in enumerate(INVARIANTS)
    ]


def describe_verdicts(exam: Exam, policy: str, place: int) -> str:
    counts = exam.verdicts(policy, place)
    if not counts:
        return "not run"
    if counts[Status.SKIPPED]:
        run = next(one for one in exam.runs if one.order.policy == policy)
        return f"skipped: {run.verdicts[place].reason}"
    words = {Status.FAILED: "violated", Status.PASSED: "passed", Status.UNDETERMINED: "undetermined"}
    return ", ".join(f"{counts[status]} {word}" for status, word in words.items() if counts[status])


def describe_capabilities(exam: Exam) -> str:
    said = {name.replace("_", " "): value for name, value in encode(exam.declared.capabilities).items()}
    return ", ".join(f"{name} {say(value)}" for name, value in said.items())


def say(value: Any) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def describe_counts(counts: Counted) -> str:
    return f"counts {describe_records(counts.counted)}; emits {describe_records(counts.fired)}"


def describe_records(numbers: frozenset[int]) -> str:
    """Records are numbered by their place in the trace, from 1."""
    return ", ".join(f"#{number + 1}" for number in sorted(numbers)) or "none"


def describe_ways(ways: tuple[Way, ...]) -> str:
    return "; ".join(f"{way.says} ({', '.join(way.rules)})" for way in ways)


def describe_drawn(exam: Exam, policy: str) -> str:
    runs = exam.drawn(policy)
    often = Counter(way.name for one in runs for way in one.ways)
    differ = sum(one.spark != one.flink for one in runs)
    strange = sum(UNEXPLAINED in one.wrongs for one in runs)
    because = ", ".join(f"{way.name} {often[way.name]}" for way in WAYS[policy] if often[way.name])
    text = f"policy {policy}: {len(runs)} other traces, {differ} differ from Flink, {strange} not as declared"
    return f"{text}; what accounts for them: {because}" if because else text


def conclusion(exam: Exam) -> str:
    declared, outcome = exam.declared, CONCLUSIONS[exam.exit_code]
    runs = f"{len(exam.runs)} runs in {exam.seconds:.1f} s"
    text = f"{declared.name} {declared.version} is {outcome} with what it declares: {runs}"
    if exam.exit_code is Exit.CONFORMANT:
        text += f", {len(exam.shown())} shortest differences from Flink, none unexplained"
    return text


def remarks(exam: Exam) -> list[str]:
    said = [f"Not run: {order.name}, `{order.trace}`: {reason}." for order, reason in exam.not_run]
    if not exam.complete:
        said.append("The run was interrupted: this is what was known by then.")
    return said


# --- wholes ---------------------------------------------------------------------------------------------------


def difference_as_text(difference: Difference, run: Judged) -> str:
    lines = [
        f"policy {difference.policy}: Spark {difference.kind}",
        f"  trace    {difference.trace}",
        f"  Spark    {describe_counts(run.spark)}",
        f"  Flink    {describe_counts(run.flink)}",
    ]
    words = ["because", *["and"] * len(difference.ways)]
    lines += [f"  {word:<8} {describe_ways((way,))}" for word, way in zip(words, difference.ways, strict=False)]
    return "\n".join(lines)


def example_as_text(exam: Exam, key: tuple[str, str]) -> str:
    """What is wrong with the engine, on the shortest trace that was found."""
    policy, wrong = key
    run = exam.examples[key]
    statement = {one.id: one.statement for one in INVARIANTS}.get(wrong, "Spark does not count as it declares.")
    lines = [f"policy {policy}: {wrong}", f"  {statement}", f"  trace    {run.order.trace}"]
    if wrong == UNEXPLAINED:
        lines.append(f"  declared {describe_counts(run.predicted)}")
        lines.append(f"  declares {describe_ways(WAYS[policy])}")
    else:
        lines.append(f"  broken   {run.wrongs[wrong]}")
    lines.append(f"  Spark    {describe_counts(run.spark)}")
    lines.append(f"  Flink    {describe_counts(run.flink)}")
    return "\n".join(lines)


def as_json(exam: Exam, engine: str) -> dict[str, Any]:
    declared = exam.declared
    return {
        "format": FORMAT,
        "engine": engine,
        "implementation": {"name": declared.name, "version": declared.version, "language": declared.language},
        "capabilities": encode(declared.capabilities),
        "policies": {policy: [attrs.asdict(way) for way in WAYS[policy]] for policy in declared.policies},
        "seed": exam.seed,
        "cases": exam.cases,
        "conclusion": CONCLUSIONS[exam.exit_code],
        "exit": int(exam.exit_code),
        "complete": exam.complete,
        "seconds": round(exam.seconds, 3),
        "runs": [run_as_json(run) for run in exam.runs],
        "not_run": [{"run": order.name, "trace": str(order.trace), "reason": why} for order, why in exam.not_run],
        "invariants": [
            {"id": name, "policy": policy, "outcome": outcome}
            for name, *outcomes in table(exam)
            for policy, outcome in zip(POLICIES, outcomes, strict=True)
        ],
        "differences": [
            {"kind": difference.kind, **run_as_json(run), "rules": rules_of(difference)}
            for difference, run in exam.shown()
        ],
        "violations": [
            {"policy": policy, "wrong": wrong, **run_as_json(run)} for (policy, wrong), run in exam.examples.items()
        ],
    }


def rules_of(difference: Difference) -> list[str]:
    return list(dict.fromkeys(rule for way in difference.ways for rule in way.rules))


def run_as_json(run: Judged) -> dict[str, Any]:
    return {
        "run": run.order.name,
        "policy": run.order.policy,
        "trace": str(run.order.trace),
        "spark": counts_as_json(run.spark),
        "declared": counts_as_json(run.predicted),
        "flink": counts_as_json(run.flink),
        "because": [way.name for way in run.ways],
        "wrongs": run.wrongs,
    }


def counts_as_json(counts: Counted) -> dict[str, list[int]]:
    return {"counted": [n + 1 for n in sorted(counts.counted)], "put_out": [n + 1 for n in sorted(counts.fired)]}


def as_markdown(exam: Exam, engine: str) -> str:
    lines = [f"# Event time of `{engine}`", "", conclusion(exam) + ".", "", f"Declared: {describe_capabilities(exam)}."]
    lines += ["", "| " + " | ".join(HEADER) + " |", "|---|" + "---|" * len(POLICIES)]
    lines += ["| " + " | ".join(line) + " |" for line in table(exam)]
    lines += ["", *(f"- {remark}" for remark in remarks(exam))]
    for key in exam.examples:
        lines += ["", f"## Wrong: {key[1]}, policy {key[0]}", "", "```", example_as_text(exam, key), "```"]
    lines += ["", "## Where it differs from Flink", "", NOTATION, "", *difference_table(exam), ""]
    lines += [f"- {describe_drawn(exam, policy)}." for policy in POLICIES]
    return "\n".join(lines) + "\n"


def difference_table(exam: Exam) -> list[str]:
    """The shortest traces, each with what Spark and Flink made of it, in Markdown."""
    lines = ["| policy | Spark … | trace | Spark | Flink | because |", "|---|---|---|---|---|---|"]
    for one, run in exam.shown():
        trace = str(one.trace).replace("|", r"\|")
        counts = f"{describe_counts(run.spark)} | {describe_counts(run.flink)}"
        lines.append(f"| `{one.policy}` | {one.kind} | `{trace}` | {counts} | {describe_ways(one.ways)} |")
    return lines


@attrs.frozen
class ToldExam:
    """An exam of the engine of this name, as the command line shows it."""

    exam: Exam
    engine: str

    def text(self, paint: Paint = plain) -> str:
        exam, declared = self.exam, self.exam.declared
        rows = [(HEADER, "bold"), *((row, "") for row in table(exam))]
        widths = [max(map(len, column)) for column in zip(*(row for row, _style in rows), strict=True)]
        lines = [paint(f"{declared.name} {declared.version} ({declared.language})", "bold")]
        lines += [f"declares {describe_capabilities(exam)}", ""]
        lines += [paint("  ".join(map(str.ljust, row, widths)), style) for row, style in rows]
        told = [(example_as_text(exam, key), f"bold {RED}") for key in exam.examples]
        told.append((f"Where it differs from Flink, on the shortest traces. {NOTATION}", "bold"))
        told += [(difference_as_text(difference, judged), "bold") for difference, judged in exam.shown()]
        for title, _newline, rest, style in ((*text.partition("\n"), style) for text, style in told):
            lines += ["", paint(title, style), *[rest] * bool(rest)]
        lines += ["", *(describe_drawn(exam, policy) for policy in POLICIES), *remarks(exam)]
        return "\n".join([*lines, paint(conclusion(exam), f"bold {colour_of(exam.exit_code)}")])

    def markdown(self) -> str:
        return as_markdown(self.exam, self.engine)

    def json(self) -> dict[str, Any]:
        return as_json(self.exam, self.engine)


# --- files ----------------------------------------------------------------------------------------------------


def write_report(folder: Path, exam: Exam, engine: str) -> None:
    """report.jsonl, junit.xml and summary.md, and the log of each run, in Parquet, in the folder `runs`."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    whole = as_json(exam, engine)
    runs = whole.pop("runs")
    with (folder / "report.jsonl").open("w", encoding="utf-8") as file:
        head = {name: whole.pop(name) for name in ("format", "engine", "seed")}
        for line in (head, *runs, {"runs": len(runs), **whole}):
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    (folder / "junit.xml").write_bytes(as_junit(exam, engine))
    (folder / "summary.md").write_text(as_markdown(exam, engine), encoding="utf-8")
    for run in exam.runs:
        write_runlog(folder / "runs" / f"{run.order.name}.parquet", run.log)


def as_junit(exam: Exam, engine: str) -> bytes:
    """A suite per policy: a test per invariant, one for what is declared, one for each run that did not complete."""
    root = ET.Element("testsuites", name=f"tidegate {engine}")
    outcomes = {name: dict(zip(POLICIES, said, strict=True)) for name, *said in table(exam)}
    for policy in POLICIES:
        suite = ET.SubElement(root, "testsuite", name=f"policy {policy}")
        said = {name: by_policy[policy] for name, by_policy in outcomes.items()}
        for name, outcome in {**said, UNEXPLAINED: describe_drawn(exam, policy)}.items():
            test = ET.SubElement(suite, "testcase", classname=policy, name=name)
            ET.SubElement(test, "system-out").text = outcome
            if (policy, name) in exam.examples:
                ET.SubElement(test, "failure", message=outcome).text = example_as_text(exam, (policy, name))
            elif outcome.startswith("skipped"):
                ET.SubElement(test, "skipped", message=outcome)
        for order, reason in (one for one in exam.not_run if one[0].policy == policy):
            test = ET.SubElement(suite, "testcase", classname=policy, name=order.name)
            ET.SubElement(test, "error", message=reason)
        for kind, tag in (("tests", "."), ("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
            count = len(suite) if tag == "." else sum(test.find(tag) is not None for test in suite)
            suite.set(kind, str(count))
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))
