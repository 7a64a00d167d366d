"""`tidegate campaign`: millions of generated cases, spread by Spark over the cores of a machine or a cluster."""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.conformance.campaign.campaign import Campaign
    from tidegate.conformance.campaign.outcome import Outcome

NAME = "campaign"
HELP = "run millions of generated cases against an engine, on Spark; resumes where it was stopped"
EXAMPLE = """tidegate campaign --engine "exec:./my-engine" --cases 1000000 --component valve --out valve-campaign
  tidegate campaign --engine python:my_package.engine:Mine --cases 100000 --master spark://host:7077 --out campaign
  tidegate campaign --engine reference --cases 2000 --local --out campaign"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    options.add_engine_options(parser)
    options.add_components(parser)
    parser.add_argument(
        "--cases", type=options.at_least_one, required=True, metavar="N", help="generated cases per component"
    )
    options.add_seed(parser)
    parser.add_argument(
        "--out",
        "--report",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for the verdicts, one Parquet file per chunk, and for the summary with index.html;"
        " the same command resumes from it",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--master",
        type=options.spark_master,
        metavar="URL",
        help="where Spark runs (default: local[*], every core of this machine)",
    )
    where.add_argument("--local", action="store_true", help="run in this process, without Spark and Java")
    parser.add_argument(
        "--chunk",
        type=options.at_least_one,
        metavar="N",
        help="cases per chunk (default: from --cases)",
    )
    options.add_floor(parser)
    options.add_expect(parser)
    options.add_format(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.campaign.run import run_campaign
    from tidegate.conformance.cli.console import get_command, show
    from tidegate.conformance.cli.options import candidate_of
    from tidegate.conformance.engines.spark.session import LOCAL
    from tidegate.conformance.judging.expectations import read_expectations
    from tidegate.conformance.judging.suite import Budget
    from tidegate.conformance.reports.writing import CannotWriteError

    if args.engine is None:
        args.parser.error("campaign needs --engine")
    finished = run_campaign(
        candidate_of(args),
        args.out,
        Budget(args.cases, args.seed),
        components=args.component,
        chunk=args.chunk,
        master=None if args.local else args.master or LOCAL,
        floor=args.floor,
        expectations=read_expectations(args.expect),
        watch=lambda campaign: progress(args, campaign),
        command=get_command(),
    )
    show(args, finished, args.out, list(notes(finished.about)))
    if finished.trouble:
        raise CannotWriteError(f"the summary is not complete: {finished.trouble}")
    return finished.exit_code


def notes(about: dict[str, Any]) -> Iterator[str]:
    """Notes beside the result: chunks from an earlier run, and chunks that are left."""
    if about["chunks_resumed"]:
        yield f"{about['chunks_resumed']} chunks were done by an earlier run and are not run again"
    if about["chunks_left"]:
        yield f"{about['chunks_left']} chunks are left: run the same command to resume"
    yield from about["damaged"]
    if about["chunks_damaged"] > len(about["damaged"]):
        yield f"… {about['chunks_damaged']} files in all"


@contextmanager
def progress(args: argparse.Namespace, campaign: "Campaign") -> "Iterator[Callable[[Outcome], None]]":
    """Shows cases, failures and the remaining time."""
    from tidegate.conformance.cli.console import show_progress
    from tidegate.conformance.judging.verdicts import VIOLATIONS

    total = campaign.plan.all_cases - campaign.resumed_cases
    began, done, failures = time.monotonic(), 0, 0
    with show_progress(args) as tell:

        def observe(outcome: "Outcome") -> None:
            nonlocal done, failures
            done += outcome.chunk.cases
            failures += sum(outcome.results.get(status, 0) for status in VIOLATIONS)
            rate = done / (time.monotonic() - began)
            left = f"{(total - done) / rate:,.0f} s left"
            tell(f"{done:,} of {total:,} cases, {rate:,.0f} cases/s, {failures} failures, {left}")

        yield observe
