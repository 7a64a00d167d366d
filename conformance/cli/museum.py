"""`tidegate museum`: the kill matrix, or the stories."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.conformance.judging.kill_matrix import Row

NAME = "museum"
HELP = "run the suite on the museum's wrong engines: which stage catches which, and does it name the broken rule"
EXAMPLE = """tidegate museum --component valve --every-stage
  tidegate museum --out docs/museum.md --results museum.jsonl
  tidegate museum --blame --component valve
  tidegate museum --stories"""
PAGE = """# The kill matrix

Every wrong engine of the museum against the default run, written by `make museum`. The figures of a stage are the
engines that it catches first. *Named first*: the counterexample names the broken rule first. *Blamed first*: the
failures together lead to the broken rule, with a museum that lacks the engine itself. `make museum` also writes a
page with a row for each engine, `build/museum/index.html`; `make site` publishes it as `museum/`.
`tidegate museum --component valve` prints the rows of a component; `--every-stage` runs each stage on its own.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    parser.add_argument("--component", metavar="C", help="only the wrong engines of this component")
    parser.add_argument("--mutant", metavar="NAME", help="only this wrong engine")
    options.add_cases(parser, options.USUAL_CASES, "wrong engine")
    parser.add_argument(
        "--jobs",
        type=options.whole(1, options.MOST_JOBS),
        metavar="N",
        help="number of processes (default: one per core)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write a Markdown page with the catches per component to this file"
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="save rows in this file as they finish; rows of unchanged code are not run again",
    )
    parser.add_argument(
        "--every-stage", action="store_true", help="run every stage on its own, instead of stopping at the first catch"
    )
    parser.add_argument(
        "--blame",
        action="store_true",
        help="only find which rule the failures of each are blamed on, by the museum without it (minutes for all)",
    )
    parser.add_argument("--stories", action="store_true", help="list the wrong engines and their stories, run nothing")
    options.add_seed(parser)
    options.add_page(parser)
    options.add_format(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.engines.museum.catalog import all_mutants

    mutants = [
        one for one in all_mutants() if args.component in (None, one.component) and args.mutant in (None, one.name)
    ]
    if not mutants:
        args.parser.error("no such wrong engine; `tidegate museum --stories` lists them")
    if args.stories:
        return tell(args, mutants)
    names = [one.name for one in mutants]
    return tell_blame(args, names) if args.blame else try_all(args, names)


def tell(args: argparse.Namespace, mutants: list[Any]) -> int:
    import attrs

    if args.format == "json":
        print(json.dumps([attrs.asdict(one) for one in mutants], indent=2, ensure_ascii=False))
        return 0
    print("| wrong engine | rule | origin | story |\n|---|---|---|---|")
    for one in mutants:
        print(f"| {one.name} | {one.rule} | {one.origin} | {one.story} |")
    return 0


def tell_blame(args: argparse.Namespace, names: list[str]) -> int:
    from functools import partial

    from tidegate.conformance.judging.kill_matrix import blame_all, by_component, sum_up_blame
    from tidegate.conformance.judging.suite import Budget

    rows: list[Row] = []
    for some in by_component(partial(blame_all, budget=Budget(args.cases, args.seed)), names, args.jobs):
        rows += some
        for row in some:
            if row.blamed not in (None, *row.breaks):
                print(f"{row.mutant} breaks {', '.join(row.breaks)}; {row.blamed} is blamed", flush=True)
    print(sum_up_blame(rows))
    return 0


def try_all(args: argparse.Namespace, names: list[str]) -> int:
    """Rows are printed as they come, so that an interrupted matrix keeps its finished rows."""
    from concurrent.futures.process import BrokenProcessPool

    from tidegate.conformance.cli.console import show_progress
    from tidegate.conformance.engines.museum.catalog import find
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.kill_matrix import begin_table, make_matrix, show_row
    from tidegate.conformance.judging.suite import Budget
    from tidegate.conformance.reports.writing import CannotWriteError
    from tidegate.conformance.stopping import STOP

    if args.results is not None and args.results.exists() and not args.results.is_file():
        args.parser.error(f"--results: {args.results} is not a file")
    budget = Budget(args.cases, args.seed)
    kept = Kept(args.results, f"{budget} {args.every_stage}", {find(name).component for name in names})
    rows = {name: row for name, row in kept.rows.items() if name in names}
    quiet = args.format == "json" or args.out is not None
    if not quiet:
        print("\n".join([begin_table(), *map(show_row, rows.values())]), flush=True)
    unwritable = False
    try:
        with show_progress(args) as tell:
            STOP.arm()
            left = [name for name in names if name not in rows]
            for some in make_matrix(left, budget, every=args.every_stage, workers=args.jobs):
                kept.add(some)
                rows |= {row.mutant: row for row in some}
                free = sum(not row.kills for row in rows.values())
                tell(f"{len(rows)} of {len(names)} wrong engines tried, {free} not caught")
                if not quiet:
                    print("\n".join(map(show_row, some)), flush=True)
            STOP.disarm()
    except (KeyboardInterrupt, BrokenProcessPool, CannotWriteError) as stopped:
        why = {KeyboardInterrupt: "interrupted", BrokenProcessPool: "a process that tries wrong engines died"}
        print(f"tidegate: {why.get(type(stopped), stopped)}; these are the rows until then", file=sys.stderr)
        unwritable = isinstance(stopped, CannotWriteError)
    code = publish(args, [rows[name] for name in names if name in rows], len(names))
    return Exit.CANNOT_WRITE if unwritable else code


def publish(args: argparse.Namespace, rows: "list[Row]", wanted: int) -> int:
    """Print, write and judge the finished rows of the chosen wrong engines."""
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.kill_matrix import count_by_component, sum_up, summary_of
    from tidegate.conformance.reports.writing import write_whole, writing

    if args.format == "json":
        import attrs

        print(json.dumps([attrs.asdict(row) for row in rows], indent=2))
    else:
        print(f"\n{sum_up(rows)}")
    if args.out is not None and len(rows) < wanted:
        print(f"tidegate: {args.out} is unchanged: not every wrong engine was run", file=sys.stderr)
    elif args.out is not None:
        page = [PAGE, sum_up(rows), "", count_by_component(rows)]
        with writing(args.out):
            write_whole(args.out, "\n".join([*page, ""]).encode())
    if args.report is not None:
        from tidegate.conformance.cli.console import get_command
        from tidegate.conformance.web.told import write_page

        write_page(args.report, "museum", summary_of(rows), command=get_command())
    if not all(row.kills for row in rows):
        return Exit.VIOLATIONS
    return Exit.CONFORMANT if len(rows) == wanted else Exit.UNDETERMINED


class Kept:
    """Rows of an earlier matrix in a file, one line each, written as they finish.

    Each line is sealed with a digest of its sources: a changed line is ignored.
    """

    def __init__(self, file: Path | None, asked: str, components: set[str]) -> None:
        from tidegate.conformance.judging.made_of import digest_sources

        self._file = file
        matrix = "tidegate.conformance.judging.kill_matrix"
        digests = {name: digest_sources(name, matrix) for name in components} if file is not None else {}
        self._made_of = {name: f"{asked} {digest}" for name, digest in digests.items()}
        self.rows = dict(self._read()) if file is not None and file.exists() else {}

    def _read(self) -> "Iterator[tuple[str, Row]]":
        from tidegate.conformance.judging.kill_matrix import Kill, Row
        from tidegate.traces.strict_json import read_json

        assert self._file is not None
        for text in self._file.read_bytes().splitlines():
            try:
                line = read_json(text)
                if line.pop("seal") == self._seal(line):
                    kills = tuple(Kill(**{**kill, "rules": tuple(kill["rules"])}) for kill in line["kills"])
                    yield line["mutant"], Row(**{**line, "kills": kills, "breaks": tuple(line["breaks"])})
            except (ValueError, TypeError, AttributeError, LookupError):
                continue  # cut short, or not written by us

    def add(self, rows: "list[Row]") -> None:
        import attrs

        from tidegate.conformance.reports.writing import writing

        if self._file is not None:
            told = [attrs.asdict(row) for row in rows]
            with writing(self._file), self._file.open("a", encoding="utf-8") as file:
                file.write("\n")  # the line before may be incomplete
                file.writelines(json.dumps({**row, "seal": self._seal(row)}) + "\n" for row in told)

    def _seal(self, row: dict[str, Any]) -> str:
        from hashlib import sha256

        made_of = self._made_of[row["component"]]
        return sha256(f"{made_of}\n{json.dumps(row, sort_keys=True)}".encode()).hexdigest()
