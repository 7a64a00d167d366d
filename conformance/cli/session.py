"""What `run` and `replay` have in common: an engine, progress, a result on the screen, a report in a folder."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from conformance.cli.console import console
from conformance.cli.options import make_engine
from conformance.coverage import Wanted
from conformance.engines.base import Description, Engine
from conformance.expectations import Expectations
from conformance.reports.findings import as_text, describe
from conformance.reports.jsonl import ReportWriter
from conformance.reports.junit import as_junit
from conformance.reports.summary import as_json, as_markdown, conclusion, remarks, rows
from conformance.runner import Planned
from conformance.session import Finished, Session
from conformance.verdicts import VIOLATIONS, Result, Verdict


def conduct(
    args: argparse.Namespace,
    plan: Callable[[Description], Iterable[Planned]],
    wanted: Callable[[Description], Wanted] = lambda _description: Wanted(),
    expectations: Expectations | None = None,
    claims: Callable[[Description], Iterable[tuple[str, str]]] = lambda _description: (),
    related: Callable[[Engine, Description], Iterable[Verdict]] = lambda _engine, _description: (),
) -> Finished:
    """Run what is planned against the engine of the options, write the report, and print the result."""
    with make_engine(args) as engine:
        finished = execute(args, engine, plan, wanted, expectations or Expectations(), claims, related)
    show(args, finished)
    return finished


def execute(
    args: argparse.Namespace,
    engine: Engine,
    plan: Callable[[Description], Iterable[Planned]],
    wanted: Callable[[Description], Wanted],
    expectations: Expectations,
    claims: Callable[[Description], Iterable[tuple[str, str]]],
    related: Callable[[Engine, Description], Iterable[Verdict]],
) -> Finished:
    description = engine.start()
    with ExitStack() as stack:
        observers: list[Callable[[Verdict], None]] = [stack.enter_context(progress(args))]
        writer = None
        if args.report is not None:
            args.report.mkdir(parents=True, exist_ok=True)
            writer = stack.enter_context(
                ReportWriter(args.report / "report.jsonl", args.engine, getattr(args, "seed", 0))
            )
            observers.append(writer.verdict)

        def observe(verdict: Verdict) -> None:
            for observer in observers:
                observer(verdict)

        session = Session(engine, args.engine, expectations, observe)
        session.run(plan(description), related(engine, description))
        finished = session.finish(wanted(description), claims(description))
        if writer is not None:
            writer.footer(finished)
            (args.report / "junit.xml").write_bytes(as_junit(finished))
            (args.report / "summary.md").write_text(as_markdown(finished), encoding="utf-8")
    return finished


@contextmanager
def progress(args: argparse.Namespace) -> Iterator[Callable[[Verdict], None]]:
    """Counts on the screen while the run goes on; nothing if standard error is no terminal."""
    if args.format != "pretty" or not sys.stderr.isatty():
        yield lambda _verdict: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        done = failed = 0

        def observe(verdict: Verdict) -> None:
            nonlocal done, failed
            done += 1
            failed += verdict.result in VIOLATIONS
            if done % 50 == 0 or failed == 1:
                text = f"{verdict.case.component} {verdict.stage}: {done} cases, {failed} violations"
                bar.update(task, description=text)

        yield observe


def show(args: argparse.Namespace, finished: Finished) -> None:
    if args.format == "json":
        print(json.dumps(as_json(finished), indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        print(as_markdown(finished), end="")
    else:
        show_pretty(finished)
        if args.report is not None:
            print(f"Report in {args.report}")


def show_pretty(finished: Finished) -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    shown = [result for result in Result if finished.count(result)]
    table = Table("component", "stage", *map(str, shown), box=None, header_style="bold", pad_edge=False)
    for component, stage, counts in rows(finished):
        table.add_row(component, stage, *(paint(result, counts[str(result)]) for result in shown))
    out.print(table)
    for shrunken in finished.counterexamples:
        out.print()
        title, *rest = as_text(describe(shrunken.verdict, finished.engine)).split("\n")
        out.print(f"[bold red]{escape(title)}[/]")
        print("\n".join(rest))
    out.print()
    for remark in remarks(finished):
        out.print(escape(remark))
    if finished.claims:
        out.print(
            f"{len(finished.claims)} suites that are complete on their scope passed: the claims are in --format json."
        )
    colour = {0: "green", 1: "red", 2: "yellow"}[int(finished.exit())]
    out.print(f"[bold {colour}]{escape(conclusion(finished))}[/]")


def paint(result: Result, count: int) -> Any:
    if not count:
        return ""
    colour = "red" if result in VIOLATIONS else "green" if result is Result.PASS else "yellow"
    return f"[{colour}]{count}[/]"
