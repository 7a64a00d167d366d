"""`tidegate museum`: the kill matrix, or the stories."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.conformance.judging.kill_matrix import Row

NAME = "museum"
HELP = "try the suite on the museum's wrong engines: which stage catches which, and does it name the broken rule"
EXAMPLE = """tidegate museum --component valve
  tidegate museum --out docs/museum.md
  tidegate museum --stories"""
PAGE = """# The kill matrix

Every wrong engine of the museum against the suite, written by `make museum`. *Caught by* is the first stage that
catches it, after so many cases and seconds of that stage alone; *also by* are the others. *Events* is the length of its
shortest counterexample, *names first* the rule that stands first there, *blamed* the rule that all its failures
together lead to, by a museum without the engine itself. A rule in *italics* is one that the engine does not break.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_cases, add_format, add_page, add_seed

    parser.add_argument("--component", metavar="C", help="only the wrong engines of this component")
    parser.add_argument("--mutant", metavar="NAME", help="only this one")
    add_cases(parser, 1000, "wrong engine")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the matrix as a page into this file")
    parser.add_argument("--stories", action="store_true", help="list the wrong engines and their stories; try nothing")
    add_seed(parser)
    add_page(parser)
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
    from tidegate.conformance.cli.console import telling
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.kill_matrix import begin_table, make_matrix, show_row, sum_up, summary_of
    from tidegate.conformance.judging.suite import Budget
    from tidegate.conformance.reports.writing import write_whole, writing
    from tidegate.conformance.stopping import STOP

    rows: list[Row] = []
    quiet = args.format == "json" or args.out is not None
    if not quiet:
        print(begin_table(), flush=True)
    try:
        with telling(args) as tell:
            STOP.arm()
            for row in make_matrix(names, Budget(args.cases, args.seed)):
                rows.append(row)
                caught = f"{sum(not row.kills for row in rows)} not caught"
                tell(f"{len(rows)} of {len(names)} wrong engines tried, {caught}")
                if not quiet:
                    print(show_row(row), flush=True)
            STOP.disarm()
    except KeyboardInterrupt:
        print("tidegate: interrupted; this is what was known by then", file=sys.stderr)
    if args.format == "json":
        import attrs

        print(json.dumps([attrs.asdict(row) for row in rows], indent=2))
    else:
        print(f"\n{sum_up(rows)}")
    if args.out is not None:
        page = [PAGE, sum_up(rows), "", begin_table(), *map(show_row, rows)]
        with writing(args.out):
            write_whole(args.out, "\n".join([*page, ""]).encode())
    if args.report is not None:
        from tidegate.conformance.web.told import write_page

        write_page(args.report, "museum", summary_of(rows))
    if not all(row.kills for row in rows):
        return Exit.VIOLATIONS
    return Exit.CONFORMANT if len(rows) == len(names) else Exit.UNDETERMINED
