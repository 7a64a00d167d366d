"""`tidegate flink jobs` and `tidegate flink matrix`: real Flink, checked by everything that we know."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.conformance.judging.jobs.judging import Judged
    from tidegate.conformance.judging.jobs.run import JobsResult


def add_options(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import at_least_one

    parser.add_argument("--jobs", type=at_least_one, default=100, metavar="N", help="jobs: how many (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="jobs: the same seed gives the same jobs (default: 0)")
    parser.add_argument(
        "--cases",
        type=at_least_one,
        default=1000,
        metavar="N",
        help="matrix: generated cases per component (default: 1000)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="matrix: write the page into this file")
    parser.add_argument(
        "--task-managers", type=at_least_one, default=4, metavar="N", help="jobs: of one slot each (default: 4)"
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="jobs: write the run logs (Parquet) and summary.json into this folder",
    )


def run_jobs(args: argparse.Namespace, version: str) -> int:
    from tidegate.conformance.cli.console import telling
    from tidegate.conformance.judging.jobs import run as whole_jobs
    from tidegate.traces.runlog import write_runlog

    if args.report is not None:
        args.report.mkdir(parents=True, exist_ok=True)
    with telling(args) as tell:

        def observe(judged: "Judged", result: "JobsResult") -> None:
            if args.report is not None and judged.log is not None:
                write_runlog(args.report / f"{judged.case.name}.parquet", judged.log)
            tell(f"{result.counts['jobs']} of {args.jobs} jobs, {result.wrong} wrong")

        result = whole_jobs.run_jobs(version, args.jobs, args.seed, args.task_managers, observe)
    told = json.dumps(result.json(), indent=2)
    if args.report is not None:
        (args.report / "summary.json").write_text(told + "\n", encoding="utf-8")
    print(told if args.json else result.text())
    return result.exit_code


def write_matrix(args: argparse.Namespace) -> int:
    """Versions that are missing are fetched; a difference that nothing explains is a violation."""
    from datetime import UTC, datetime

    from tidegate.conformance.documents.flink_matrix import as_page, make_matrix
    from tidegate.conformance.engines.flink.fetch import TESTED, fetch
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.suite import Budget

    versions = args.versions or list(TESTED)
    for version in versions:
        fetch(version)
    budget = Budget(args.cases, args.seed)
    cells = []
    for cell in make_matrix(versions, budget, args.jobs):
        cells.append(cell)
        print(f"{cell.version} {cell.component}: {cell.cases} cases, {cell.agreed} agree", file=sys.stderr, flush=True)
    page = as_page(cells, budget, datetime.now(UTC).date())
    if args.out is not None:
        args.out.write_text(page, encoding="utf-8")
    else:
        print(page, end="")
    return Exit.VIOLATIONS if any(cell.unexplained for cell in cells) else Exit.CONFORMANT
