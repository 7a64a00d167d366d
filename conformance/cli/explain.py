"""`tidegate explain`: a rule with an example, or a component with a trace step by step."""

import argparse
import json
from typing import Any

NAME = "explain"
HELP = (
    "explain a rule: its text, its reason, its source, and an example stepped through; or a component; or a whole job; "
    "or an invariant of run logs"
)
EXAMPLE = """tidegate explain VALVE-13
  tidegate explain LOG-ORDER
  tidegate explain valve
  tidegate explain valve --config '{"channels":3}' --trace "2i 0w20 1w10 0i 2a 1i 2i"
  tidegate explain job"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "subject",
        metavar="RULE|COMPONENT",
        help="the id of a rule, such as VALVE-13; a component, such as valve: its events, its rules and a trace; "
        "the id of an invariant, such as LOG-ORDER: where it is checked, and a log that breaks it; "
        "or `job`: WordCount, one step of its scheduler at a time",
    )
    parser.add_argument("--trace", metavar="TEXT", help="with a component: step through this trace, in short notation")
    parser.add_argument("--config", metavar="JSON", default="{}", help="config of --trace")
    parser.add_argument("--format", choices=("pretty", "json", "markdown"), default="pretty", help="output format")


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.documents.explaining import explain
    from tidegate.reference.components import COMPONENTS
    from tidegate.reference.rules import all_rules

    if args.subject.lower() in COMPONENTS:
        return explain_job(args) if args.subject.lower() == "job" and not args.trace else explain_component(args)
    if args.trace is not None:
        args.parser.error(f"--trace needs a component; {args.subject!r} is not one")
    rule_id = args.subject.upper()
    if rule_id in list_invariants():
        return explain_log(args, rule_id)
    if rule_id not in all_rules():
        every = [*all_rules(), *list_invariants()]
        near = [known for known in every if known.partition("-")[0] == rule_id.partition("-")[0]]
        hint = f"; there are {near[0]} to {near[-1]}" if near else "; `tidegate rules` lists them"
        args.parser.error(f"no rule and no component {args.subject!r}{hint}")
    explanation = explain(rule_id)
    if args.format == "json":
        import attrs

        print(json.dumps(attrs.asdict(explanation), indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        from tidegate.conformance.documents.pages import explanation_as_markdown

        print(explanation_as_markdown(explanation))
    else:
        print_pretty(explanation)
    return 0


def list_invariants() -> list[str]:
    from tidegate.properties.runlog import INVARIANTS

    return [invariant.id for invariant in INVARIANTS]


def explain_log(args: argparse.Namespace, name: str) -> int:
    from tidegate.conformance.documents.invariants import explain_invariant

    explained = explain_invariant(name)
    if args.format == "json":
        import attrs

        print(json.dumps(attrs.asdict(explained), indent=2, ensure_ascii=False))
    else:
        print(explained.markdown() if args.format == "markdown" else explained.text())
    return 0


def explain_job(args: argparse.Namespace) -> int:
    from tidegate.conformance.documents import job_story

    if args.format == "json":
        import attrs

        print(json.dumps([attrs.asdict(step) for step in job_story.steps()], indent=2, ensure_ascii=False))
    else:
        print(job_story.story())
    return 0


def explain_component(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.console import console, painter
    from tidegate.conformance.cli.replay import read_inline
    from tidegate.conformance.documents.explaining import describe_component
    from tidegate.conformance.documents.pages import example_case
    from tidegate.conformance.documents.stepping import compare
    from tidegate.reference.components import COMPONENTS
    from tidegate.traces.codec import encode
    from tidegate.traces.notation.text import write_trace

    component = args.subject.lower()
    case = example_case(COMPONENTS[component]) if args.trace is None else read_inline(args, component)
    steps = list(compare(case)) if case is not None else []
    if args.format == "json":
        import attrs

        print(json.dumps([attrs.asdict(step) for step in steps], indent=2, ensure_ascii=False))
        return 0
    if args.trace is None:
        print("\n".join(describe_component(component)), end="\n\n")
    if case is not None:
        print(f"{component} {json.dumps(encode(case.config))}: {write_trace(component, case.events)}")
    for number, step in enumerate(steps, start=1):
        print(step.text(number, painter(console())))
    return 0


def print_pretty(explanation: Any) -> None:
    from rich.markup import escape
    from rich.table import Table

    from tidegate.conformance.cli.console import console

    out = console()
    rule = explanation.rule
    out.print(f"[bold cyan]{rule.id}[/] ({rule.level}; {', '.join(rule.components)})")
    out.print(escape(rule.text))
    out.print(f"\n[bold]Why[/] {escape(rule.intent)}")
    out.print(f"[bold]Source[/] {escape(explanation.source)}")
    if rule.internal:
        out.print(f"[bold]Internal[/] {escape(rule.internal)}")
    if rule.out_of_scope:
        out.print(f"[bold]Not modelled[/] {escape(rule.out_of_scope)}")
    for place in explanation.places:
        out.print(f"[bold]Code[/] {escape(str(place))}")
    for statement in explanation.statements:
        out.print(f"[bold]Checked[/] {escape(statement)}")
    for title, names in (("Directed traces", explanation.directed), ("Wrong engines", explanation.mutants)):
        if names:
            out.print(f"[bold]{title}[/] {escape(', '.join(names))}")
    if explanation.example is None:
        return
    example = explanation.example
    out.print(f"\n[bold]Example[/] {escape(example.name)}: {example.component} {escape(example.config)}")
    table = Table("event", "seen", "rules", "state afterwards", box=None, header_style="bold", pad_edge=False)
    for step in example.steps:
        style = "bold yellow" if rule.id in step.rules else ""
        table.add_row(
            escape(step.event), escape(step.observations), ", ".join(step.rules), escape(step.state), style=style
        )
    out.print(table)
