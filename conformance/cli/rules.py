"""`tidegate rules`: the registry."""

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.reference.rules import Rule

NAME = "rules"
HELP = "list the rules of the specification, all or those of a component"
EXAMPLE = """tidegate rules valve
  tidegate rules --status"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("component", nargs="?", help="a component (valve, partitioner, …) or a prefix (VALVE, PART, …)")
    parser.add_argument(
        "--status",
        action="store_true",
        help="how many rules of each prefix are judged, internal, not modelled",
    )
    parser.add_argument("--format", choices=("pretty", "json", "markdown"), default="pretty", help="how to print")


def run(args: argparse.Namespace) -> int:
    if args.status:
        return print_status(args)
    from tidegate.conformance.documents.explaining import describe_judging
    from tidegate.reference.rules import all_rules

    wanted = args.component
    rules = [
        rule
        for rule in all_rules().values()
        if wanted is None or wanted in rule.components or wanted.upper() == rule.prefix
    ]
    if not rules:
        known = sorted({name for rule in all_rules().values() for name in (*rule.components, rule.prefix)})
        args.parser.error(f"no rules of {wanted!r}; there are rules of {', '.join(known)}")
    if args.format == "json":
        import attrs

        print(json.dumps([attrs.asdict(rule) for rule in rules], indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        print("| rule | level | judged | text |\n|---|---|---|---|")
        for rule in rules:
            print(f"| {rule.id} | {rule.level} | {describe_judging(rule)} | {rule.text} |")
    else:
        print_by_floor(rules)
    return 0


def print_by_floor(rules: "list[Rule]") -> None:
    """The core first: what any engine can be held to."""
    from rich.markup import escape
    from rich.table import Table

    from tidegate.conformance.cli.console import console
    from tidegate.conformance.documents.explaining import describe_judging
    from tidegate.reference.components import Floor, floor_of

    for floor in Floor:
        table = Table("rule", "level", "judged", "text", box=None, header_style="bold", pad_edge=False, title=floor)
        for rule in (one for one in rules if floor_of(one.components) is floor):
            table.add_row(f"[cyan]{rule.id}[/]", rule.level, describe_judging(rule), escape(rule.text))
        if table.row_count:
            console().print(table)


def print_status(args: argparse.Namespace) -> int:
    """The table of the registry: to which rules engines are held, which are internal, what is left out."""
    from tidegate.conformance.documents.explaining import rule_status

    rows = rule_status()
    if args.format == "json":
        import attrs

        print(json.dumps([attrs.asdict(row) for row in rows], indent=2))
        return 0
    print("| prefix | rules | judged | internal | not modelled |")
    print("|---|---:|---:|---:|---:|")
    for row in rows:
        print(f"| {row.prefix} | {row.rules} | {row.judged} | {row.internal} | {row.out_of_scope} |")
    return 0
