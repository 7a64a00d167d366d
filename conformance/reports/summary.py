"""The summary of a run: as text, as Markdown for a CI page, and as JSON."""

from typing import Any

from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.coverage import Pair
from tidegate.conformance.judging.session import Finished
from tidegate.conformance.judging.verdicts import Exit, Status
from tidegate.conformance.reports.findings import as_text, describe

CONCLUSIONS = {
    Exit.CONFORMANT: "conformant",
    Exit.VIOLATIONS: "not conformant",
    Exit.UNDETERMINED: "undetermined",
}


def rows(finished: Finished) -> list[tuple[str, str, dict[str, int]]]:
    """For each component and stage, how many of each verdict."""
    keys = list(dict.fromkeys((component, stage) for component, stage, _result in finished.counts))
    return [
        (component, stage, {str(result): finished.counts[component, stage, result] for result in Status})
        for component, stage in keys
    ]


def conclusion(finished: Finished) -> str:
    description = finished.description
    name = printable(f"{description.name} {description.version}")
    parts = [f"{name} is {CONCLUSIONS[finished.exit()]}: {finished.cases} cases in {finished.seconds:.1f} s"]
    parts += [f"{finished.count(result)} {result}" for result in Status if finished.count(result)]
    return ", ".join(parts)


def remarks(finished: Finished) -> list[str]:
    """What a reader must know beside the counts."""
    said = []
    if not finished.complete:
        said.append("The run was interrupted: this is what was known by then.")
    if finished.missing:
        said.append(f"Exercised too rarely, so nothing is known about them: {counted(finished)}.")
    if finished.missing_pairs:
        said.append(f"Rules that were seen with a part of their outcomes only: {by_rule(finished.missing_pairs)}.")
    said += [f"Expectation {problem}." for problem in finished.expectation_problems]
    if finished.restarts:
        said.append(f"The engine had to be started again {finished.restarts} times.")
    if not finished.cases:
        said.append("No case was run: the engine declares nothing that the specification knows.")
    return said


def counted(finished: Finished) -> str:
    """The rules below the floor, those that were exercised at all with how often."""
    seen = finished.coverage.rules
    return ", ".join(f"{rule} ({seen[rule]} times)" if seen[rule] else rule for rule in finished.missing)


def by_rule(pairs: tuple[Pair, ...]) -> str:
    """`VALVE-3 (never nothing)`: each rule once, with the kinds of outcome that did not come."""
    kinds: dict[str, list[str]] = {}
    for rule, shown in pairs:
        kinds.setdefault(rule, []).append("+".join(shown) or "nothing")
    return ", ".join(f"{rule} (never {' or '.join(names)})" for rule, names in kinds.items())


def as_markdown(finished: Finished) -> str:
    shown = [result for result in Status if finished.count(result)]
    lines = [f"# Conformance of `{printable(finished.engine)}`", "", conclusion(finished) + ".", ""]
    lines.append("| component | stage | " + " | ".join(map(str, shown)) + " |")
    lines.append("|---|---|" + "---:|" * len(shown))
    for component, stage, counts in rows(finished):
        lines.append(f"| {component} | {stage} | " + " | ".join(str(counts[str(result)]) for result in shown) + " |")
    lines += ["", *(f"- {remark}" for remark in [*remarks(finished), *finished.claims])]
    for shrunken in finished.counterexamples:
        finding = describe(shrunken.verdict, finished.engine)
        lines += ["", f"## {finding.title}", "", "```", as_text(finding).replace("```", "'''"), "```"]
    return "\n".join(lines) + "\n"


def as_json(finished: Finished) -> dict[str, Any]:
    import attrs  # noqa: PLC0415

    return {
        "engine": finished.engine,
        "implementation": {
            "name": finished.description.name,
            "version": finished.description.version,
            "language": finished.description.language,
        },
        "conclusion": CONCLUSIONS[finished.exit()],
        "exit": int(finished.exit()),
        "complete": finished.complete,
        "seconds": round(finished.seconds, 3),
        "cases": finished.cases,
        "counts": [
            {"component": c, "stage": s, **{k: v for k, v in counts.items() if v}} for c, s, counts in rows(finished)
        ],
        "counterexamples": [
            {**attrs.asdict(describe(one.verdict, finished.engine)), "replays": one.replays}
            for one in finished.counterexamples
        ],
        "rules_exercised": dict(sorted(finished.coverage.rules.items())),
        "rules_missing": list(finished.missing),
        "outcomes_exercised": [
            {"rule": rule, "observations": list(kinds), "times": times}
            for (rule, kinds), times in sorted(finished.coverage.pairs.items())
        ],
        "outcomes_missing": [{"rule": rule, "observations": list(kinds)} for rule, kinds in finished.missing_pairs],
        "remarks": remarks(finished),
        "claims": list(finished.claims),
    }
