"""What `run` and `replay` have in common: an engine, progress, a result on the screen, a report in a folder."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tidegate.conformance.cli.console import console
from tidegate.conformance.cli.options import make_engine
from tidegate.conformance.engines.base import Description, Engine
from tidegate.conformance.judging.coverage import Wanted
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.session import Finished, Part, Session
from tidegate.conformance.judging.verdicts import VIOLATIONS, Status, Verdict
from tidegate.conformance.reports.findings import as_text, describe
from tidegate.conformance.reports.jsonl import ReportWriter
from tidegate.conformance.reports.junit import as_junit
from tidegate.conformance.reports.summary import as_json, as_markdown, conclusion, remarks, rows


class Watch:
    """Sees what is found while a run goes on: a report in a folder, progress on the screen."""

    def __init__(self, progress: Callable[[str, int, int], None], writer: ReportWriter | None) -> None:
        self._progress = progress
        self._writer = writer
        self._done = self._failed = 0

    @property
    def writes(self) -> bool:
        return self._writer is not None

    def __call__(self, verdict: Verdict) -> None:
        if self._writer is not None:
            self._writer.verdict(verdict)
        self._count(f"{verdict.case.component} {verdict.stage}", 1, int(verdict.status in VIOLATIONS))

    def take(self, component: str, part: Part, lines: Iterable[str]) -> None:
        """What another process has found, with the lines of its report."""
        if self._writer is not None:
            self._writer.lines(lines)
        violations = sum(count for (_component, _stage, result), count in part.counts.items() if result in VIOLATIONS)
        self._count(component, part.counts.total(), violations)

    def _count(self, place: str, done: int, failed: int) -> None:
        self._done += done
        self._failed += failed
        self._progress(place, self._done, self._failed)


#: Runs cases in a session, and gives what may be said of each component that passes its complete stage.
Work = Callable[[Session, Watch], Iterable[tuple[str, str]]]


def conduct(
    args: argparse.Namespace,
    work: Work,
    wanted: Callable[[Description], Wanted] = lambda _description: Wanted(),
    expectations: Expectations | None = None,
) -> Finished:
    """Do the work on the engine of the options, write the report, and print the result."""
    with make_engine(args) as engine:
        finished = execute(args, engine, work, wanted, expectations or Expectations())
    show(args, finished)
    return finished


def execute(
    args: argparse.Namespace,
    engine: Engine,
    work: Work,
    wanted: Callable[[Description], Wanted],
    expectations: Expectations,
) -> Finished:
    description = engine.start()
    with ExitStack() as stack:
        shown = stack.enter_context(progress(args))
        writer = None
        if args.report is not None:
            args.report.mkdir(parents=True, exist_ok=True)
            writer = stack.enter_context(
                ReportWriter(args.report / "report.jsonl", args.engine, getattr(args, "seed", 0))
            )
        watch = Watch(shown, writer)
        session = Session(engine, args.engine, expectations, watch)
        claims = list(work(session, watch))
        finished = session.finish(wanted(description), claims)
        if writer is not None:
            writer.footer(finished)
            (args.report / "junit.xml").write_bytes(as_junit(finished))
            (args.report / "summary.md").write_text(as_markdown(finished), encoding="utf-8")
    return finished


@contextmanager
def progress(args: argparse.Namespace) -> Iterator[Callable[[str, int, int], None]]:
    """Counts on the screen while the run goes on; nothing if standard error is no terminal."""
    if args.format != "pretty" or not sys.stderr.isatty():
        yield lambda _place, _done, _failed: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        shown = 0

        def observe(place: str, done: int, failed: int) -> None:
            nonlocal shown
            if done >= shown + 50 or failed == 1:
                shown = done
                bar.update(task, description=f"{place}: {done} cases, {failed} violations")

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
    shown = [result for result in Status if finished.count(result)]
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


def paint(result: Status, count: int) -> Any:
    if not count:
        return ""
    colour = "red" if result in VIOLATIONS else "green" if result is Status.PASS else "yellow"
    return f"[{colour}]{count}[/]"
