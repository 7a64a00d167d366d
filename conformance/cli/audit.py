"""`tidegate audit`: run logs of any size against the invariants of every run."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

NAME = "audit"
HELP = "check run logs (Parquet) against the invariants that hold of every run; on Spark, or here with --local"
EXAMPLE = """tidegate generate log --events 1000000 --faults 13 --out logs
  tidegate audit --local logs
  tidegate audit logs --master "local[2]" --report report
  tidegate audit s3://bucket/logs --master spark://host:7077"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_format, at_least_zero

    parser.add_argument("paths", nargs="+", metavar="PATH", help="Parquet files, folders of them, or their URLs")
    parser.add_argument("--local", action="store_true", help="in this process: no Spark, no Java")
    parser.add_argument("--master", metavar="URL", help='where Spark runs (default: "local[*]")')
    parser.add_argument(
        "--path",
        choices=("auto", "files", "shuffle"),
        default="auto",
        help="files: a worker reads a run; shuffle: rows go to the worker of their channel (default: what fits)",
    )
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="only this invariant, as LOG-ORDER")
    parser.add_argument("--workers", type=at_least_zero, metavar="N", help="processes of --local (default: all cores)")
    parser.add_argument(
        "--most", type=at_least_zero, default=10_000, metavar="N", help="violations that are told one by one (10,000)"
    )
    parser.add_argument("--show", type=at_least_zero, default=3, metavar="N", help="shown of each invariant (3)")
    add_format(parser)
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="write report.jsonl, summary.md, violations.parquet and excerpts/ into this folder",
    )


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.extras import need

    need("pyarrow", "numpy", extra="spark")
    from tidegate.conformance.audit.outcomes import NAMES
    from tidegate.conformance.audit.planning import plan
    from tidegate.conformance.audit.report import exit_of

    if args.local and (args.master or args.path == "shuffle"):
        args.parser.error("--local is without Spark: it goes with neither --master nor --path shuffle")
    for name in args.only:
        if name not in NAMES:
            args.parser.error(f"no invariant {name!r}; there are {', '.join(NAMES)}")
    work = plan(args.paths)
    audit = collect(args, work)
    excerpts = find_excerpts(args, work, audit)
    show(args, audit, excerpts)
    return int(exit_of(audit))


def collect(args: argparse.Namespace, work: Any) -> Any:
    from tidegate.conformance.audit.outcomes import Audit

    path = args.path if args.path != "auto" else work.path
    outcomes = []
    for outcome in progress(args, audit_runs(args, work, path), len(work.runs)):
        if args.only:
            outcome.tallies = {name: tally for name, tally in outcome.tallies.items() if name in args.only}
            outcome.skipped = {name: why for name, why in outcome.skipped.items() if name in args.only}
        outcomes.append(outcome)
    outcomes.sort(key=lambda one: one.paths)
    return Audit(outcomes + work.refused, "local" if args.local else path)


def audit_runs(args: argparse.Namespace, work: Any, path: str) -> Iterator[Any]:
    if not work.runs:
        return
    if args.local:
        from tidegate.conformance.audit.local import audit_here

        yield from audit_here(work, args.most, args.workers)
        return
    from tidegate.conformance.audit.on_spark import audit_by_files
    from tidegate.conformance.audit.shuffle import audit_by_channel
    from tidegate.conformance.engines.spark.session import LOCAL, borrow_session

    with borrow_session(args.master or LOCAL, "tidegate audit") as session:
        yield from (audit_by_channel if path == "shuffle" else audit_by_files)(session, work, args.most)


def progress(args: argparse.Namespace, outcomes: Iterable[Any], runs: int) -> Iterator[Any]:
    """Runs that are done, on the screen; nothing if standard error is no terminal."""
    if args.format != "pretty" or not sys.stderr.isatty():
        yield from outcomes
        return
    from rich.progress import track

    from tidegate.conformance.cli.console import console

    yield from track(outcomes, "auditing", total=runs, console=console(stderr=True), transient=True)


def find_excerpts(args: argparse.Namespace, work: Any, audit: Any) -> list[tuple[str, Any]]:
    """Of the first violations of each invariant, in the order of the table."""
    from tidegate.conformance.audit.excerpts import make_excerpt
    from tidegate.conformance.audit.outcomes import NAMES

    runs = {run[0].run: run for run in work.runs}
    chosen = []
    for name in NAMES:
        found = [(one.run, f) for one in audit.outcomes for f in one.tallies.get(name, NOTHING).findings[: args.show]]
        chosen += [(run, make_excerpt(runs[run], finding)) for run, finding in found[: args.show]]
    return chosen


class Nothing:
    """The tally of an invariant that was skipped."""

    findings: tuple[Any, ...] = ()


NOTHING = Nothing()


def show(args: argparse.Namespace, audit: Any, excerpts: list[tuple[str, Any]]) -> None:
    from tidegate.conformance.audit import report

    paths: list[Any] = [None] * len(excerpts)
    if args.report is not None:
        paths = report.write_report(args.report, audit, [excerpt for _run, excerpt in excerpts])
    if args.format == "json":
        print(json.dumps(report.as_json(audit), indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        print(report.as_markdown(audit), end="")
    else:
        show_pretty(args, audit, [report.as_text(run, one, at) for (run, one), at in zip(excerpts, paths, strict=True)])


def show_pretty(args: argparse.Namespace, audit: Any, texts: list[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from tidegate.conformance.audit import report
    from tidegate.conformance.cli.console import console

    out = console()
    table = Table(*report.HEADER, box=None, header_style="bold", pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, checked, violated, skipped in report.table(audit):
        table.add_row(name, checked, violated if violated == "0" else f"[red]{violated}[/]", skipped)
    out.print(table)
    for text in texts:
        title, *rest = text.split("\n")
        out.print(f"\n[bold red]{escape(title)}[/]")
        print("\n".join(rest))
    out.print()
    for problem in audit.problems:
        out.print(f"[yellow]not audited[/] {escape(problem.problem.splitlines()[0])}")
    for remark in report.remarks(audit):
        out.print(escape(remark))
    colour = {0: "green", 1: "red"}.get(int(report.exit_of(audit)), "yellow")
    out.print(f"[bold {colour}]{escape(report.conclusion(audit))}[/]")
    if args.report is not None:
        print(f"Report in {args.report}")
