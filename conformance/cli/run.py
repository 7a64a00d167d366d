"""`tidegate run`: runs the suite against an engine; without an engine, a tour."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.conformance.judging.suite import Budget

NAME = "run"
HELP = "check an engine against the specification; without --engine, a short tour"
EXAMPLE = """tidegate run
  tidegate run --engine "exec:python3 examples/python/engine.py" --report report
  tidegate run --engine python:my_package.engine:Mine --component valve --cases 5000 --seed 7
  tidegate run --engine spark-native --cases 20 --report report"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    options.add_engine_options(parser, exams=True)
    options.add_semantics(parser)
    options.add_master(parser)
    options.add_components(parser)
    parser.add_argument(
        "--cases",
        type=options.at_least_zero,
        metavar="N",
        help=f"generated cases per component (default: {options.USUAL_CASES}; "
        "spark-native: 8 random traces, under each policy)",
    )
    parser.add_argument(
        "--jobs",
        type=options.whole(1, options.MOST_JOBS),
        metavar="N",
        help="run N parts of the suite in parallel, each on its own copy of the engine "
        "(default: cores + 1 for python: and exec: engines, else 1)",
    )
    parser.add_argument(
        "--stage",
        action="append",
        default=[],
        metavar="S",
        help="only this stage: directed, golden, complete, generated, metamorphic",
    )
    parser.add_argument("--thorough", action="store_true", help="larger scopes in the complete stage (takes minutes)")
    parser.add_argument(
        "--extra-states",
        type=options.at_least_zero,
        default=0,
        metavar="K",
        help="complete stage: allow the engine K states more than the specification has (default: 0)",
    )
    options.add_floor(parser)
    options.add_seed(parser)
    options.add_expect(parser)
    parser.add_argument(
        "--update-expectations",
        action="store_true",
        help="write the failures of this run into the file of --expect, one line per rule that explains several; "
        "exits with 0 if the file now lists every failure",
    )
    options.add_format(parser)
    options.add_details(parser)
    options.add_report(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.judging.suite import Budget
    from tidegate.conformance.kinds import find_kind

    cases = Budget().cases if args.cases is None else args.cases
    budget = Budget(cases, args.seed, args.stage, args.thorough, args.extra_states)
    if args.update_expectations and args.expect is None:
        args.parser.error("--update-expectations needs --expect FILE")
    if args.engine is None:
        from tidegate.conformance.cli.tour import tour

        return tour(args, budget)
    if find_kind(args.engine).make_exam is not None:
        from tidegate.conformance.cli import native

        return native.run(args)
    return run_suite(args, budget)


def run_suite(args: argparse.Namespace, budget: "Budget") -> int:
    from tidegate.conformance.cli.results import run_and_show
    from tidegate.conformance.engines.text import printable
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.expectations import read_expectations, write_expectations
    from tidegate.conformance.reports.writing import CannotWriteError

    fresh = args.update_expectations and not args.expect.exists()
    expectations = read_expectations(None if fresh else args.expect)
    result = run_and_show(args, budget, report=args.report, expectations=expectations)
    if args.update_expectations:
        if why := result.why_no_expectations():
            raise CannotWriteError(f"{args.expect} is unchanged, since not every failure is known: {why}")
        count = write_expectations(args.expect, result.failures, expectations)
        print(f"{count} expectation{'s' * (count != 1)} in {printable(str(args.expect))}")
        return Exit.CONFORMANT
    return result.exit_code
