"""`tidegate campaign`: generated cases by the million, spread over the cores of a machine or a cluster by Spark."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

NAME = "campaign"
HELP = "generated cases by the million against an engine, on Spark; one that was stopped goes on where it stopped"
EXAMPLE = """tidegate campaign --engine "exec:./my-engine" --cases 1000000 --component valve --out valve-campaign
  tidegate campaign --engine python:my_package.engine:Mine --cases 100000 --master spark://host:7077 --out campaign
  tidegate campaign --engine reference --cases 2000 --local --out campaign"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_engine_options, add_format, add_seed, at_least_one

    add_engine_options(parser)
    parser.add_argument(
        "--component", action="append", default=[], metavar="C", help="only this component; may be given several times"
    )
    parser.add_argument("--cases", type=at_least_one, required=True, metavar="N", help="generated cases a component")
    add_seed(parser)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="where the verdicts go, a Parquet file for each chunk, and the summary; the same command goes on from it",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--master", metavar="URL", help="where Spark runs (default: local[*], every core of this machine)"
    )
    where.add_argument("--local", action="store_true", help="in this process alone: without Spark, and without Java")
    parser.add_argument(
        "--chunk", type=at_least_one, metavar="N", help="cases that a worker is given at once (default: from --cases)"
    )
    parser.add_argument(
        "--floor",
        type=at_least_one,
        default=1,
        metavar="N",
        help="a rule that was exercised less often leaves the campaign undetermined (default: 1)",
    )
    parser.add_argument(
        "--expect", type=Path, metavar="FILE", help="known failures: one `case PATTERN -- reason` a line"
    )
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.campaign.folder import Folder
    from tidegate.conformance.cli.options import make_engine
    from tidegate.conformance.cli.session import show
    from tidegate.conformance.judging.expectations import Expectations, read_expectations

    check_usage(args)
    expectations = Expectations() if args.expect is None else read_expectations(args.expect)
    started = time.monotonic()
    with make_engine(args) as engine:
        plan = plan_of(args, engine.start())
        folder = Folder(args.out)
        with folder.opened(plan):
            engine.close()  # it is needed again in the end, and until then the workers need its memory
            campaign = lead(args, plan, folder)
            summary = write_summary(args, campaign, engine, time.monotonic() - started, expectations)
    args.report = args.out
    if args.format == "json":
        print(as_text(summary))
    else:
        show(args, summary.finished)
        show_next(args, campaign)
    return int(summary.finished.exit())


def check_usage(args: argparse.Namespace) -> None:
    from importlib.util import find_spec

    from tidegate.conformance.engines.errors import CannotStartError
    from tidegate.reference.components import COMPONENTS

    if args.engine is None:
        args.parser.error("--engine is missing")
    for name in args.component:
        if name not in COMPONENTS:
            args.parser.error(f"no component {name!r}; there are {', '.join(COMPONENTS)}")
    if find_spec("pyarrow") is None:
        raise CannotStartError("a campaign writes Parquet, and there is no PyArrow", "pip install 'tidegate[spark]'")
    if not args.local:
        from tidegate.conformance.engines.java import check_spark

        check_spark()


def plan_of(args: argparse.Namespace, description: Any) -> Any:
    from tidegate.conformance.campaign.plan import make_plan
    from tidegate.conformance.judging.suite import declared_components

    components = declared_components(description, tuple(args.component))
    undeclared = [name for name in args.component if name not in components]
    if undeclared:
        args.parser.error(f"the engine does not declare {', '.join(undeclared)}")
    return make_plan(
        args.engine,
        description,
        components,
        seed=args.seed,
        cases=args.cases,
        chunk=args.chunk,
        strict=args.strict,
    )


def lead(args: argparse.Namespace, plan: Any, folder: Any) -> Any:
    """Run what is not done, on Spark or here."""
    from tidegate.conformance.campaign.campaign import Campaign
    from tidegate.conformance.campaign.pool import run_here, run_on_spark, with_attempts

    campaign = Campaign(plan, folder, {"case_timeout": args.timeout, "start_timeout": args.start_timeout})
    with ExitStack() as stack:
        observe = stack.enter_context(progress(args, campaign))
        if args.local or all(folder.is_done(chunk) for chunk in plan.chunks()):
            campaign.run(run_here, observe)
        else:
            from tidegate.conformance.engines.spark.session import LOCAL, make_session

            spark = make_session(with_attempts(args.master or LOCAL), "tidegate campaign")
            stack.callback(spark.stop)
            campaign.run(lambda orders: run_on_spark(spark.sparkContext, orders), observe)
    return campaign


def write_summary(args: argparse.Namespace, campaign: Any, engine: Any, seconds: float, expectations: Any) -> Any:
    from tidegate.conformance.campaign.summary import summarize
    from tidegate.conformance.reports.junit import as_junit
    from tidegate.conformance.reports.summary import as_markdown

    summary = summarize(campaign, engine, seconds, expectations, args.floor)
    campaign.folder.write_text("summary.json", as_text(summary) + "\n")
    campaign.folder.write_text("summary.md", as_markdown(summary.finished))
    (args.out / "junit.xml").write_bytes(as_junit(summary.finished))
    return summary


def as_text(summary: Any) -> str:
    import json

    return json.dumps(summary.as_json(), indent=2, ensure_ascii=False)


def show_next(args: argparse.Namespace, campaign: Any) -> None:
    """What to know of a campaign beside its result: what it found done, and what is left to do."""
    if args.format != "pretty":
        return
    if campaign.resumed:
        print(f"{len(campaign.resumed)} chunks were done by an earlier run, and not run again")
    if campaign.left:
        print(f"{len(campaign.left)} chunks are left: the same command goes on with them")


@contextmanager
def progress(args: argparse.Namespace, campaign: Any) -> Iterator[Callable[[Any], None]]:
    """Cases, failures and the time that is left, while it goes on; nothing if standard error is no terminal."""
    if args.format != "pretty" or not sys.stderr.isatty():
        yield lambda _outcome: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from tidegate.conformance.cli.console import console
    from tidegate.conformance.judging.verdicts import VIOLATIONS

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:,.0f} cases/s, {task.fields[failures]} failures,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    chunks = list(campaign.plan.chunks())
    found = sum(chunk.cases for chunk in chunks if campaign.folder.is_done(chunk))
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        total = sum(chunk.cases for chunk in chunks)
        task = bar.add_task("", total=total, completed=found, rate=0.0, failures=0)
        began, done, failures = time.monotonic(), 0, 0

        def observe(outcome: Any) -> None:
            nonlocal done, failures
            done += outcome.chunk.cases
            failures += sum(outcome.results.get(result, 0) for result in VIOLATIONS)
            bar.update(task, completed=found + done, rate=done / (time.monotonic() - began), failures=failures)

        yield observe
