"""`tidegate audit`: checks run logs of any size against the invariants."""

import argparse
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tidegate.conformance.audit.outcomes import Outcome, Report

NAME = "audit"
HELP = "check run logs (Parquet) against the invariants of every run, on Spark or in this process (--local)"
EXAMPLE = """tidegate generate log --events 1000000 --faults 13 --out logs
  tidegate audit --local logs
  tidegate audit logs --master "local[2]" --report report
  tidegate audit s3://bucket/logs --master spark://host:7077"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_format, at_least_zero, spark_master

    parser.add_argument("paths", nargs="+", metavar="PATH", help="Parquet files, folders or their URLs")
    parser.add_argument("--local", action="store_true", help="run in this process, without Spark and Java")
    parser.add_argument("--master", type=spark_master, metavar="URL", help='where Spark runs (default: "local[*]")')
    parser.add_argument(
        "--path",
        choices=("auto", "files", "shuffle"),
        default="auto",
        help="files: one worker per run; shuffle: rows go to the worker of their channel (default: what fits)",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="only this invariant, such as LOG-ORDER"
    )
    parser.add_argument("--workers", type=at_least_zero, metavar="N", help="processes of --local (default: all cores)")
    parser.add_argument(
        "--most",
        type=at_least_zero,
        default=10_000,
        metavar="N",
        help="violations to list, per run and invariant (10,000)",
    )
    parser.add_argument(
        "--show", type=at_least_zero, default=3, metavar="N", help="violations to show per invariant (3)"
    )
    add_format(parser)
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="write index.html, report.jsonl, summary.md, violations.parquet and excerpts/ into this folder",
    )


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.extras import need

    need("pyarrow", "numpy", extra="audit" if args.local else "spark")
    from tidegate.conformance.audit.auditing import Options, UnknownInvariantError, audit
    from tidegate.conformance.audit.outcomes import NAMES
    from tidegate.conformance.engines.spark.session import LOCAL

    if args.local and (args.master or args.path == "shuffle"):
        args.parser.error("--local runs without Spark: leave out --master and --path shuffle")
    spark = None if args.local else args.master or LOCAL
    try:
        options = Options(frozenset(args.only or NAMES), spark, args.path, args.most, args.show, args.workers)
    except UnknownInvariantError as error:
        args.parser.error(str(error))
    with progress(args) as observe:
        report = audit(args.paths, options, observe)
    show(args, report)
    return int(report.exit)


@contextmanager
def progress(args: argparse.Namespace) -> "Iterator[Callable[[Outcome, int], None]]":
    """Shows finished runs, if standard error is a terminal."""
    if args.format != "pretty" or not sys.stderr.isatty():
        from tidegate.conformance.audit.auditing import ignore

        yield ignore
        return
    from rich.progress import Progress

    from tidegate.conformance.cli.console import console

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("auditing", total=None)
        yield lambda _outcome, runs: bar.update(task, advance=1, total=runs)


def show(args: argparse.Namespace, report: "Report") -> None:
    """Print the result in any case, then raise an error if the report could not be written."""
    from tidegate.conformance.audit import forms, writing
    from tidegate.conformance.cli.console import get_command
    from tidegate.conformance.engines.text import printable
    from tidegate.conformance.reports.writing import CannotWriteError, explain

    paths: list[Path | None] = [None] * len(report.excerpts)
    trouble = ""
    if args.report is not None:
        try:
            paths = [*writing.write_report(args.report, report, get_command())]
        except OSError as error:
            trouble = explain(args.report, error)
    if args.format == "json":
        print(forms.as_line(forms.as_json(report), indent=2))
    elif args.format == "markdown":
        print(forms.as_markdown(report), end="")
    else:
        texts = [forms.as_text(one, path) for one, path in zip(report.excerpts, paths, strict=True)]
        show_pretty(report, texts)
    if trouble:
        raise CannotWriteError(f"the report is not complete: {trouble}")
    if args.report is not None and args.format == "pretty":
        print(f"Report in {printable(str(args.report))}")


def show_pretty(report: "Report", texts: list[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from tidegate.conformance.audit import forms
    from tidegate.conformance.cli.console import console

    out = console()
    table = Table(*forms.HEADER, box=None, header_style="bold", pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, checked, violated, skipped in forms.table(report):
        table.add_row(name, checked, violated if violated == "0" else f"[red]{violated}[/]", skipped)
    out.print(table)
    for text in texts:
        title, *rest = text.split("\n")
        out.print(f"\n[bold red]{escape(title)}[/]")
        print("\n".join(rest))
    out.print()
    for problem in report.problems:
        out.print(f"[yellow]not audited[/] {escape(problem.problem)}")
    for remark in forms.remarks(report):
        out.print(escape(remark))
    colour = {0: "green", 1: "red"}.get(int(report.exit), "yellow")
    out.print(f"[bold {colour}]{escape(forms.conclusion(report))}[/]")
