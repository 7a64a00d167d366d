"""`tidegate run`: the suite against an engine. Without an engine: a tour."""

import argparse
import os
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
    from tidegate.conformance.cli.options import (
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
        "--jobs",
        type=at_least_one,
        metavar="N",
        help="try N components at once, each on an engine of its own (default: one a core for python: engines, else 1)",
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
    from tidegate.conformance.cli.options import with_master
    from tidegate.conformance.judging.suite import CASES, STAGES
    from tidegate.conformance.kinds import find_kind
    from tidegate.reference.components import COMPONENTS

    for name in args.component:
        if name not in COMPONENTS:
            args.parser.error(f"no component {name!r}; there are {', '.join(COMPONENTS)}")
    for stage in args.stage:
        if stage not in STAGES:
            args.parser.error(f"no stage {stage!r}; there are {', '.join(STAGES)}")
    if args.update_expectations and args.expect is None:
        args.parser.error("--update-expectations needs --expect FILE")
    if args.engine is not None and find_kind(args.engine).make is None:
        from tidegate.conformance.cli import native

        return native.run(args, with_master(args, args.engine).partition(":")[2])
    if args.cases is None:
        args.cases = CASES
    if args.engine is None:
        from tidegate.conformance.cli.tour import tour

        return tour(args)
    return run_engine(args)


def run_engine(args: argparse.Namespace) -> int:
    from tidegate.conformance.judging.expectations import Expectations, read_expectations, write_expectations
    from tidegate.conformance.judging.verdicts import Exit

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
    from tidegate.conformance.cli.session import conduct

    return conduct(
        args,
        lambda session, watch: try_components(args, session, watch),
        lambda description: wanted_by(args, description),
        expectations,
    )


def try_components(args: argparse.Namespace, session: Any, watch: Any) -> Iterator[tuple[str, str]]:
    """Component by component, or several at once; gives what may be said of each that passes its complete stage."""
    from tidegate.conformance.judging.suite import declared_components, undeclared_cases
    from tidegate.conformance.judging.verdicts import Status, Verdict

    description = session.engine.start()
    components = declared_components(description, tuple(args.component))
    jobs = min(choose_jobs(args), len(components))
    if jobs > 1:
        from tidegate.conformance.cli.side_by_side import try_side_by_side

        yield from try_side_by_side(args, session, watch, components, jobs)
    else:
        for component in components:
            if session.complete:
                yield from try_component(args, session, component)
    undeclared = undeclared_cases(description, tuple(args.component))
    session.run((), (Verdict(case, "golden", Status.SKIP, message="not declared") for case in undeclared))


def try_component(args: argparse.Namespace, session: Any, component: str) -> Iterator[tuple[str, str]]:
    from tidegate.conformance.judging.metamorphic import check
    from tidegate.conformance.judging.suite import METAMORPHIC, complete_claims, plan

    description, budget = session.engine.start(), make_budget(args)
    related = check(session.engine, description, component, budget) if METAMORPHIC in budget.stages else ()
    session.run(plan(description, component, budget), related)
    yield from ((component, claim) for claim in complete_claims(component, budget))


def choose_jobs(args: argparse.Namespace) -> int:
    """A Python class can be had once a core. Of other programs nobody knows whether two get along with each other."""
    if args.jobs is not None:
        return int(args.jobs)
    return (os.cpu_count() or 1) if args.engine.partition(":")[0] in ("python", "reference") else 1


def make_budget(args: argparse.Namespace) -> Any:
    from tidegate.conformance.judging.suite import STAGES, Budget

    return Budget(args.cases, args.seed, tuple(args.stage) or STAGES, args.thorough, args.extra_states)


def wanted_by(args: argparse.Namespace, description: Any) -> Any:
    from tidegate.conformance.judging.suite import declared_components, wanted_of

    return wanted_of(description, declared_components(description, tuple(args.component)), args.floor)
