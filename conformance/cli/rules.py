"""`tidegate rules`: the registry, and the invariants of run logs."""

import argparse
import json

NAME = "rules"
HELP = "list the rules of the specification, of all components or one, and the invariants of run logs"
EXAMPLE = """tidegate rules valve
  tidegate rules LOG
  tidegate rules --status"""

#: Prefix of the invariants of run logs.
LOG = "LOG"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "component", nargs="?", help="a component (valve, partitioner, …) or a prefix (VALVE, PART, …; LOG: run logs)"
    )
    parser.add_argument(
        "--status",
        action="store_true",
        help="count the judged, internal and not modelled rules of each prefix",
    )
    parser.add_argument("--format", choices=("pretty", "json", "markdown"), default="pretty", help="output format")


def run(args: argparse.Namespace) -> int:
    if args.status:
        return print_status(args)
    from tidegate.conformance.documents.explaining import describe_judging
    from tidegate.properties.runlog import INVARIANTS
    from tidegate.reference.components import floor_of
    from tidegate.reference.rules import all_rules

    wanted = args.component
    rules = [
        rule
        for rule in all_rules().values()
        if wanted is None or wanted in rule.components or wanted.upper() == rule.prefix
    ]
    invariants = INVARIANTS if wanted is None or wanted.upper() == LOG else ()
    if not rules and not invariants:
        known = sorted({LOG, *(name for rule in all_rules().values() for name in (*rule.components, rule.prefix))})
        args.parser.error(f"no rules of {wanted!r}; there are rules of {', '.join(known)}")
    rows = [(rule.id, rule.level, describe_judging(rule), rule.text) for rule in rules]
    rows += [(one.id, "must", "in run logs", one.statement) for one in invariants]
    if args.format == "json":
        import attrs

        told = [attrs.asdict(rule) for rule in rules]
        told += [{"id": one.id, "level": "must", "text": one.statement} for one in invariants]
        print(json.dumps(told, indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        print("| rule | level | judged | text |\n|---|---|---|---|")
        for row in rows:
            print(f"| {' | '.join(row)} |")
    else:
        floors = [floor_of(rule.components) for rule in rules] + ["run logs"] * len(invariants)
        print_by_floor(list(zip(floors, rows, strict=True)))
    return 0


def print_by_floor(rows: list[tuple[str, tuple[str, str, str, str]]]) -> None:
    """The core first: the rules for any engine."""
    from rich.markup import escape
    from rich.table import Table

    from tidegate.conformance.cli.console import console
    from tidegate.reference.components import Floor

    for title in (*Floor, "run logs"):
        table = Table("rule", "level", "judged", "text", box=None, header_style="bold", pad_edge=False, title=title)
        for name, level, judged, text in (row for floor, row in rows if floor == title):
            table.add_row(f"[cyan]{name}[/]", level, judged, escape(text))
        if table.row_count:
            console().print(table)


def print_status(args: argparse.Namespace) -> int:
    """The table of the registry: rules that engines are judged by, internal ones, and rules that are not modelled."""
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
