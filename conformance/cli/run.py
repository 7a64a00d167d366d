"""`tidegate run`: the suite against an engine. Without an engine: a tour."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAME = "run"
HELP = "hold an engine to the specification; without --engine, a short tour of what that looks like"
EXAMPLE = """tidegate run
  tidegate run --engine "exec:python3 examples/python/engine.py" --report report
  tidegate run --engine python:my_package.engine:Mine --component valve --cases 5000 --seed 7
  tidegate run --engine spark-native --cases 20 --report report"""


def configure(parser: argparse.ArgumentParser) -> None:
    from conformance.cli.options import (
        add_engine_options,
        add_format,
        add_master,
        add_report,
        add_seed,
        add_semantics,
        at_least_one,
        at_least_zero,
    )

    add_engine_options(parser)
    add_semantics(parser)
    add_master(parser)
    parser.add_argument(
        "--component", action="append", default=[], metavar="C", help="only this component; may be given several times"
    )
    parser.add_argument(
        "--cases",
        type=at_least_zero,
        metavar="N",
        help="generated cases a component (default: 1000; spark-native: 8 random traces, under each policy)",
    )
    parser.add_argument(
        "--stage",
        action="append",
        default=[],
        metavar="S",
        help="only this stage: directed, golden, complete, generated, metamorphic",
    )
    parser.add_argument("--thorough", action="store_true", help="larger scopes in the complete stage: takes minutes")
    parser.add_argument(
        "--extra-states",
        type=at_least_zero,
        default=0,
        metavar="K",
        help="complete stage: allow the engine K states more than the specification has (default: 0)",
    )
    parser.add_argument(
        "--floor",
        type=at_least_one,
        default=1,
        metavar="N",
        help="a rule that was exercised less often leaves the run undetermined (default: 1)",
    )
    add_seed(parser)
    parser.add_argument(
        "--expect", type=Path, metavar="FILE", help="known failures: one `case PATTERN -- reason` a line"
    )
    parser.add_argument(
        "--update-expectations", action="store_true", help="write the failures of this run into the file of --expect"
    )
    add_format(parser)
    add_report(parser)


def run(args: argparse.Namespace) -> int:
    from conformance.cli.options import with_master
    from conformance.engines.resolve import WHOLE_JOBS
    from conformance.suite import CASES, STAGES
    from reference.components import COMPONENTS

    for name in args.component:
        if name not in COMPONENTS:
            args.parser.error(f"no component {name!r}; there are {', '.join(COMPONENTS)}")
    for stage in args.stage:
        if stage not in STAGES:
            args.parser.error(f"no stage {stage!r}; there are {', '.join(STAGES)}")
    if args.update_expectations and args.expect is None:
        args.parser.error("--update-expectations needs --expect FILE")
    if args.engine is not None and args.engine.partition(":")[0] in WHOLE_JOBS:
        from conformance.cli import native

        return native.run(args, with_master(args, args.engine).partition(":")[2])
    if args.cases is None:
        args.cases = CASES
    if args.engine is None:
        from conformance.cli.tour import tour

        return tour(args)
    return run_engine(args)


def run_engine(args: argparse.Namespace) -> int:
    from conformance.expectations import Expectations, read_expectations, write_expectations
    from conformance.verdicts import Exit

    fresh = args.update_expectations and not args.expect.exists()
    expectations = Expectations() if args.expect is None or fresh else read_expectations(args.expect)
    finished = conduct_suite(args, expectations)
    if args.update_expectations:
        count = write_expectations(args.expect, finished.findings, expectations)
        print(f"{count} expectations in {args.expect}")
        return Exit.CONFORMANT
    return int(finished.exit())


def conduct_suite(args: argparse.Namespace, expectations: Any = None) -> Any:
    """The whole suite against the engine of the options."""
    from conformance.cli.session import conduct

    return conduct(
        args,
        lambda description: plan_all(args, description),
        lambda description: wanted_by(args, description),
        expectations,
        lambda description: claims_of(args, description),
        lambda engine, description: related_verdicts(args, engine, description),
    )


def make_budget(args: argparse.Namespace) -> Any:
    from conformance.suite import STAGES, Budget

    return Budget(args.cases, args.seed, tuple(args.stage) or STAGES, args.thorough, args.extra_states)


def plan_all(args: argparse.Namespace, description: Any) -> Iterator[Any]:
    from conformance.suite import declared_components, plan

    for component in declared_components(description, tuple(args.component)):
        yield from plan(description, component, make_budget(args))


def wanted_by(args: argparse.Namespace, description: Any) -> Any:
    from conformance.suite import declared_components, wanted_of

    return wanted_of(description, declared_components(description, tuple(args.component)), args.floor)


def claims_of(args: argparse.Namespace, description: Any) -> Iterator[tuple[str, str]]:
    from conformance.suite import complete_claims, declared_components

    for component in declared_components(description, tuple(args.component)):
        yield from ((component, claim) for claim in complete_claims(component, make_budget(args)))


def related_verdicts(args: argparse.Namespace, engine: Any, description: Any) -> Iterator[Any]:
    """Verdicts that no single case gives: what is not declared, and answers to related cases."""
    from conformance.metamorphic import check
    from conformance.suite import METAMORPHIC, declared_components, undeclared_cases
    from conformance.verdicts import Result, Verdict

    for case in undeclared_cases(description, tuple(args.component)):
        yield Verdict(case, "golden", Result.SKIP, message="not declared")
    if METAMORPHIC in make_budget(args).stages:
        for component in declared_components(description, tuple(args.component)):
            yield from check(engine, description, component, make_budget(args))
