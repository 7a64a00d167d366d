"""`tidegate run` without an engine: the suite on the specification itself, on a wrong engine and on Spark.

The Spark step needs Java, and is left out without it.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

import attrs
from rich.text import Text

from tidegate.conformance.cli.console import console
from tidegate.conformance.cli.options import candidate_of
from tidegate.conformance.cli.results import run_and_show
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.run import Candidate
from tidegate.conformance.judging.suite import STAGES, Budget

RIGHT = "reference"
WRONG = "python:tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes"
SPARK = "spark"


def tour(args: argparse.Namespace, budget: Budget) -> int:
    """Exit 0 if the right engines pass and the wrong one is caught."""
    right_to, wrong_to, spark_to = (args.report and args.report / name for name in ("right", "wrong", "spark"))
    with launch_spark(args) as spark:
        say(args, "1. The suite on the reference itself: everything must pass.")
        right = run_and_show(args, shorten(budget, 40, "complete"), RIGHT, right_to)
        say(args, "\n2. The suite on a wrong engine, one rule away from right: it must be caught.")
        wrong = run_and_show(args, budget, WRONG, wrong_to)
        say(args, "\n3. The suite on an implementation in Spark SQL: SQL folds, windows and joins must pass, too.")
        if isinstance(spark, CannotStartError):
            say(args, f"Left out: {spark}")
            on_spark = None
        else:
            # Only a few cases of each component: each batch is a Spark job, which takes time.
            few = shorten(budget, 30, "complete", "metamorphic", "golden", "generated")
            on_spark = run_and_show(args, few, spark, spark_to)
    say(
        args,
        '\nNow yours: tidegate run --engine "exec:COMMAND LINE" (docs/writing-an-engine.md says how to write one).',
    )
    as_it_must = (
        right.exit_code is Exit.CONFORMANT
        and wrong.exit_code is Exit.VIOLATIONS
        and (on_spark is None or on_spark.exit_code is Exit.CONFORMANT)
    )
    return Exit.CONFORMANT if as_it_must else Exit.INTERNAL


@contextmanager
def launch_spark(args: argparse.Namespace) -> Iterator[Candidate | CannotStartError]:
    """Spark, whose JVM starts during the other steps; or why it cannot start."""
    candidate = candidate_of(args, SPARK)
    engine = attrs.evolve(candidate, semantics=None).make()
    try:
        engine.launch()
    except CannotStartError as error:
        yield error
        return
    try:
        yield attrs.evolve(candidate, engine=engine)
    finally:
        engine.close()


def shorten(budget: Budget, cases: int, *without: str) -> Budget:
    """Fewer cases, and fewer stages unless the user chose them."""
    stages = [stage for stage in STAGES if stage not in without] if budget.stages == STAGES else budget.stages
    return attrs.evolve(budget, cases=min(budget.cases, cases), stages=stages)


def say(args: argparse.Namespace, text: str) -> None:
    if args.format == "pretty":
        console().print(Text(text, "bold"))
