"""`tidegate smoke`: a first look at an engine, for whoever is writing one."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.conformance.engines.errors import CannotStartError
    from tidegate.conformance.judging.smoke import Remark, Smoked
    from tidegate.conformance.judging.verdicts import Verdict
    from tidegate.conformance.reports.findings import Finding

NAME = "smoke"
HELP = "a first look at an engine: handshake, one case of each declared component, and how well it keeps the protocol"
EXAMPLE = """tidegate smoke --engine "exec:python3 examples/python/engine.py"
  tidegate smoke --engine python:my_package.engine:Mine --strict    (warnings count as violations)"""

CONCLUSIONS = {0: "the smoke test is passed", 1: "the smoke test is failed", 2: "undetermined"}
COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_engine_options, add_format

    add_engine_options(parser)
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.engines.errors import CannotStartError
    from tidegate.conformance.judging.smoke import smoke
    from tidegate.conformance.kinds import resolve

    if args.engine is None:
        args.parser.error("smoke needs an --engine to look at")
    # The harness itself is never strict here: it would refuse to send the probes, which break the schemas on purpose.
    with_limits = resolve(args.engine, case_timeout=args.timeout, start_timeout=args.start_timeout)
    try:
        with with_limits as engine:
            smoked = smoke(engine, args.engine, strict=args.strict)
    except CannotStartError as error:
        return show_no_start(args, error)
    {"json": show_json, "markdown": show_markdown, "pretty": show_pretty}[args.format](smoked)
    return smoked.exit()


def show_no_start(args: argparse.Namespace, error: "CannotStartError") -> int:
    from tidegate.conformance.judging.smoke import by_hand
    from tidegate.conformance.judging.verdicts import Exit

    again = by_hand(args.engine)
    if args.format == "json":
        fields = {"message": error.message, "hint": error.hint, "stderr": list(error.stderr), "by_hand": again}
        said = {"engine": args.engine, "exit": int(Exit.CANNOT_START), "error": fields}
        print(json.dumps(said, indent=2, ensure_ascii=False))
    print(f"tidegate: {error}", file=sys.stderr)
    if again:
        print(f"by hand: {again}", file=sys.stderr)
    return Exit.CANNOT_START


def findings(smoked: "Smoked") -> "list[tuple[Finding, str]]":
    """Each case that went wrong, with the shell line that shows it without the harness."""
    import attrs

    from tidegate.conformance.judging.runner import Encoder
    from tidegate.conformance.judging.smoke import by_hand
    from tidegate.conformance.judging.verdicts import VIOLATIONS
    from tidegate.conformance.reports.findings import describe

    found = []
    for verdict in smoked.verdicts:
        if verdict.status in VIOLATIONS:
            finding = describe(verdict, smoked.engine)
            if verdict.violation is None:
                # No step failed, and the case was not shrunken to the one that matters: no rule is to blame yet.
                finding = attrs.evolve(finding, rules=(), trail=())
            found.append((finding, by_hand(smoked.engine, Encoder().request(verdict.case))))
    return found


def finding_as_text(finding: "Finding", again: str) -> str:
    from tidegate.conformance.reports.findings import as_text

    return as_text(finding) + (f"\n  by hand  {again}" if again else "")


def conclusion(smoked: "Smoked") -> str:
    about = smoked.description
    counts = {"component": len(smoked.verdicts)}
    counts |= {level: sum(one.level == level for one in smoked.remarks) for level in ("error", "warning")}
    shown = ", ".join(f"{count} {what}{'s' * (count != 1)}" for what, count in counts.items())
    return f"{about.name} {about.version} ({about.language}): {CONCLUSIONS[smoked.exit()]}, {shown}"


def notes(smoked: "Smoked") -> list[str]:
    said = []
    if not smoked.verdicts and not smoked.untried:
        said.append("Nothing was tried: the engine declares nothing that the specification knows.")
    said += [f"{name}: not tried, no case is of the declared kinds and semantics." for name in smoked.untried]
    return said


def show_json(smoked: "Smoked") -> None:
    import attrs

    about = smoked.description
    said = {
        "engine": smoked.engine,
        "implementation": {"name": about.name, "version": about.version, "language": about.language},
        "declared": list(about.components),
        "conclusion": CONCLUSIONS[smoked.exit()],
        "exit": int(smoked.exit()),
        "cases": [verdict_as_json(one) for one in smoked.verdicts],
        "not_tried": list(smoked.untried),
        "findings": [{**attrs.asdict(finding), "by_hand": again} for finding, again in findings(smoked)],
        "remarks": [attrs.asdict(one) for one in smoked.remarks],
    }
    print(json.dumps(said, indent=2, ensure_ascii=False))


def verdict_as_json(verdict: "Verdict") -> dict[str, Any]:
    case = verdict.case
    return {"component": case.component, "case": case.name, "events": len(case.events), "verdict": str(verdict.status)}


def show_markdown(smoked: "Smoked") -> None:
    from tidegate.conformance.engines.text import printable

    lines = [f"# Smoke test of `{printable(smoked.engine)}`", "", conclusion(smoked) + ".", ""]
    if smoked.verdicts:
        lines += ["| component | case | events | verdict |", "|---|---|---:|---|"]
    for verdict in smoked.verdicts:
        one = verdict_as_json(verdict)
        lines.append(f"| {one['component']} | {one['case']} | {one['events']} | {one['verdict']} |")
    lines += ["", *(f"- {note}" for note in notes(smoked)), *(f"- {remark_as_text(one)}" for one in smoked.remarks)]
    for finding, again in findings(smoked):
        text = finding_as_text(finding, again).replace("```", "'''")
        lines += ["", f"## {finding.title}", "", "```", text, "```"]
    print("\n".join(lines))


def remark_as_text(remark: "Remark") -> str:
    return f"{remark.level}: {remark.place}: {remark.message}" + (f" ({remark.hint})" if remark.hint else "")


def show_pretty(smoked: "Smoked") -> None:
    from rich.markup import escape
    from rich.table import Table

    from tidegate.conformance.cli.console import console
    from tidegate.conformance.cli.session import paint

    out = console()
    table = Table("component", "case", "events", "verdict", box=None, header_style="bold", pad_edge=False)
    for verdict in smoked.verdicts:
        one = verdict_as_json(verdict)
        table.add_row(one["component"], escape(one["case"]), str(one["events"]), paint(verdict.status, one["verdict"]))
    if smoked.verdicts:
        out.print(table)
    for finding, again in findings(smoked):
        title, *rest = finding_as_text(finding, again).split("\n")
        out.print(f"\n[bold red]{escape(title)}[/]")
        print("\n".join(rest))
    if smoked.remarks:
        out.print()
    for remark in smoked.remarks:
        out.print(f"[bold {COLOURS[remark.level]}]{remark.level}[/] {escape(f'{remark.place}: {remark.message}')}")
        if remark.hint:
            out.print(escape(f"  hint: {remark.hint}"))
        if remark.reproduce:
            print(f"  by hand: {remark.reproduce}")
    out.print()
    for note in notes(smoked):
        out.print(escape(note))
    colour = {0: "green", 1: "red", 2: "yellow"}[int(smoked.exit())]
    out.print(f"[bold {colour}]{escape(conclusion(smoked))}[/]")
