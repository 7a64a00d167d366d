"""`tidegate jobs`: random whole jobs on any engine that can run them, checked by every oracle."""

import argparse
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tidegate.conformance.judging.jobs.judging import Judged
    from tidegate.conformance.judging.jobs.report import JobsReport
    from tidegate.conformance.judging.jobs.run import JobsResult

NAME = "jobs"
HELP = "run random whole jobs on an engine, check them against the specification, and shrink failures"
EXAMPLE = """tidegate jobs --engine flink:2.3.0 --jobs 300
  tidegate jobs --engine flink-v2:2.3.0
  tidegate jobs --engine flink-sql:2.3.0
  tidegate jobs --engine "exec:python3 examples/python/jobs.py" --report report
  tidegate jobs --engine "exec:./my-engine" --faults 2 --expect known.txt
  tidegate jobs --engine flink:2.3.0 --jobs 100 --faults 2
  tidegate jobs --engine flink:2.3.0 --case docs/findings/flink-end-overtakes.json --until-fail 20 --rule LOG-LOSS
  tidegate jobs --engine flink:2.3.0 --seed 1 --jobs 200 --faults 2 --again 5 --report report
  tidegate jobs --engine flink-cluster:2.3.0 --jobs 20 --faults 2
  tidegate jobs --engine bytewax --jobs 50 --faults 2"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    options.add_engine_options(parser, default="flink", whole_jobs=True)
    parser.add_argument(
        "--jobs", type=options.at_least_one, default=100, metavar="N", help="number of jobs (default: 100)"
    )
    options.add_seed(parser)
    parser.add_argument(
        "--first",
        type=options.at_least_zero,
        default=0,
        metavar="N",
        help="index of the first job of the seed (default: 0)",
    )
    parser.add_argument(
        "--case",
        type=Path,
        metavar="FILE",
        help="run only the job in this file: JSON with `program`, `settings` and `faults`, as in summary.json"
        " has for each finding; settings that it does not name keep their defaults",
    )
    parser.add_argument(
        "--until-fail",
        type=options.at_least_one,
        default=1,
        metavar="N",
        help="run each job until it fails, at most N times: engines are not deterministic, and a job that failed once "
        "may pass next time; exit 0 if no run failed (default: 1)",
    )
    parser.add_argument(
        "--rule",
        type=rule,
        metavar="ID",
        help="count only violations of this rule as failures, such as LOG-LOSS or TASK-7; `job`: it fails, hangs or "
        "dies",
    )
    parser.add_argument(
        "--again",
        type=options.at_least_zero,
        default=0,
        metavar="N",
        help="run each failed job N more times and report its failure rate; the printed command then asks for enough "
        "runs to reproduce the failure with a chance of at least 99 %% (default: 0)",
    )
    parser.add_argument(
        "--faults",
        type=options.at_least_zero,
        default=0,
        metavar="N",
        help="up to N faults per job, of the kinds that the engine declares (default: 0)",
    )
    options.add_expect(parser)
    options.add_format(parser)
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="write index.html, report.jsonl, junit.xml, summary.md, summary.json and the run logs "
        "(Parquet) into this folder",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="resume the report of an interrupted run; jobs that failed, or passed as often as --until-fail says, "
        "are not run again",
    )
    parser.add_argument(
        "--shrink",
        type=options.at_least_zero,
        metavar="SECONDS",
        help="seconds to shrink each kind of failure; 0: do not shrink (default: 400; with --until-fail: 0)",
    )


def rule(text: str) -> str:
    from tidegate.conformance.judging.expectations import doubt

    if why := doubt(text):
        raise argparse.ArgumentTypeError(why)
    return text


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.console import get_command, show, show_progress
    from tidegate.conformance.judging.expectations import read_expectations
    from tidegate.conformance.judging.jobs.report import LINES, ToldJobs, finish_report
    from tidegate.conformance.judging.jobs.run import OtherImplementationError, describe, run_jobs
    from tidegate.conformance.judging.jobs.stored import read_job
    from tidegate.conformance.kinds import resolve_jobs
    from tidegate.conformance.reports.writing import CannotWriteError
    from tidegate.conformance.web.jobs import make_page
    from tidegate.traces.files import TraceFileError

    if args.case is not None and (args.first or args.faults or args.resume):
        args.parser.error("--case fixes the job and its faults: leave out --first, --faults and --resume")
    stored = read_job(args.case) if args.case is not None else None
    expectations = read_expectations(args.expect)
    engine = resolve_jobs(args.engine, strict=args.strict, case_timeout=args.timeout, start_timeout=args.start_timeout)
    known = read_known(args)
    jobs = args.jobs if stored is None else 1
    with open_report(args, known) as report:
        with show_progress(args) as tell:

            def observe(judged: "Judged", result: "JobsResult") -> None:
                if report is not None:
                    report.add(describe(judged, result.description.implementation), judged.logs)
                tell(f"{result.counts['jobs']} of {jobs} jobs, {result.violations} violations")

            try:
                result = run_jobs(
                    engine,
                    args.engine,
                    jobs,
                    args.seed,
                    faults=args.faults,
                    first=args.first,
                    until_fail=args.until_fail,
                    rule=args.rule or "",
                    again=args.again,
                    stored=stored,
                    expectations=expectations,
                    known=known,
                    shrink=args.shrink if args.shrink is not None else 400 * (args.until_fail == 1),
                    observe=observe,
                    tell=tell,
                )
            except OtherImplementationError as error:
                raise TraceFileError(
                    args.report / LINES, 1, f"{error}: give another folder, or leave --resume out"
                ) from None
        if report is not None:
            finish_report(report, result, lambda: make_page(result, get_command()))
        show(args, ToldJobs(result), args.report)
        if result.trouble:
            raise CannotWriteError(result.trouble)
    return result.exit_code


def read_known(args: argparse.Namespace) -> "list[dict[str, Any]]":
    """The jobs that do not need to run again."""
    from tidegate.conformance.judging.jobs.report import head_of, read_jobs

    if not args.resume:
        return []
    if args.report is None:
        args.parser.error("--resume needs --report, the folder to resume")
    head = head_of(args.engine, args.seed, args.faults, args.rule or "")
    known = read_jobs(args.report, head, range(args.first, args.first + args.jobs))
    return [job for job in known if job["status"] != "pass" or job.get("runs", 1) >= args.until_fail]


@contextmanager
def open_report(args: argparse.Namespace, known: "list[dict[str, Any]]") -> "Iterator[JobsReport | None]":
    """The report of --report. At the end, after the result is printed, raises an error if it is not complete."""
    from tidegate.conformance.cli.extras import need
    from tidegate.conformance.judging.jobs.report import JobsReport, head_of
    from tidegate.conformance.reports.writing import CannotWriteError

    if args.report is None:
        yield None
        return
    need("pyarrow", extra="audit")
    with JobsReport(args.report, goes_on=args.resume) as report:
        for line in (head_of(args.engine, args.seed, args.faults, args.rule or ""), *known):
            report.add(line)
        yield report
        if report.trouble:
            raise CannotWriteError(f"the report is not complete: {report.trouble}")
