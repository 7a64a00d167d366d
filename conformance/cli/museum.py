"""`tidegate museum`: the kill matrix, or the stories."""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

NAME = "museum"
HELP = "try the suite on the museum's wrong engines: which stage catches which, and does it name the broken rule"
EXAMPLE = """tidegate museum --component valve
  tidegate museum --stories"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_cases, add_format, add_seed

    parser.add_argument("--component", metavar="C", help="only the wrong engines of this component")
    parser.add_argument("--mutant", metavar="NAME", help="only this one")
    add_cases(parser, 1000, "wrong engine")
    parser.add_argument("--stories", action="store_true", help="list the wrong engines and their stories; try nothing")
    add_seed(parser)
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.engines.museum.catalog import MUTANTS

    mutants = [one for one in MUTANTS if args.component in (None, one.component) and args.mutant in (None, one.name)]
    if not mutants:
        args.parser.error("no such wrong engine; `tidegate museum --stories` lists them")
    if args.stories:
        return tell(args, mutants)
    return try_all(args, [one.name for one in mutants])


def tell(args: argparse.Namespace, mutants: list[Any]) -> int:
    import attrs

    if args.format == "json":
        print(json.dumps([attrs.asdict(one) for one in mutants], indent=2, ensure_ascii=False))
        return 0
    print("| wrong engine | rule | origin | story |\n|---|---|---|---|")
    for one in mutants:
        print(f"| {one.name} | {one.rule} | {one.origin} | {one.story} |")
    return 0


def try_all(args: argparse.Namespace, names: list[str]) -> int:
    """Rows are printed as they come: whoever interrupts a long matrix keeps what is known."""
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.kill_matrix import make_matrix
    from tidegate.conformance.judging.suite import Budget

    rows = []
    show: Callable[[Any], None] = (lambda _row: None) if args.format == "json" else begin_table()
    for row in make_matrix(names, Budget(args.cases, args.seed)):
        rows.append(row)
        show(row)
        if sys.stderr.isatty() and not sys.stdout.isatty():
            print(f"\r{len(rows)}/{len(names)} {row.mutant:60.60}", end="", file=sys.stderr, flush=True)
    if args.format == "json":
        import attrs

        print(json.dumps([attrs.asdict(row) for row in rows], indent=2))
    else:
        print_totals(rows)
    return Exit.CONFORMANT if all(row.kills for row in rows) else Exit.VIOLATIONS


def begin_table() -> Callable[[Any], None]:
    from tidegate.conformance.judging.suite import STAGES

    print("| wrong engine | breaks | " + " | ".join(STAGES) + " | smallest | named | blamed |")
    print("|---|---|" + "---:|" * len(STAGES) + "---:|---|---|", flush=True)

    def show(row: Any) -> None:
        kills = [row.kill(stage) for stage in STAGES]
        cells = [f"{kill.cases} in {kill.seconds:.2f} s" if kill else "-" for kill in kills]
        named = "yes" if row.named else "no"
        blamed = f"{row.blamed or '-'}{'' if row.is_right else ' (wrong)'}"
        print(f"| {row.mutant} | {row.rule} | {' | '.join(cells)} | {row.smallest} | {named} | {blamed} |", flush=True)

    return show


def print_totals(rows: list[Any]) -> None:
    from tidegate.conformance.judging.suite import STAGES

    print()
    for stage in STAGES:
        print(f"- {stage}: {sum(row.kill(stage) is not None for row in rows)} of {len(rows)} caught")
    print(f"- all stages: {sum(bool(row.kills) for row in rows)} of {len(rows)} caught, ", end="")
    print(f"the broken rule named for {sum(row.named for row in rows)},", end=" ")
    print(f"blamed first, by the museum without the engine itself, for {sum(row.is_right for row in rows)}")
