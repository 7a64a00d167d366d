"""`tidegate run` without an engine: the suite on the specification itself, on a wrong engine, and on Spark.

Spark is a part of it where there is Java, which it runs on.
"""

import argparse
from pathlib import Path
from typing import Any

RIGHT = "reference"
WRONG = "python:tidegate.conformance.engines.museum.engines:ValveAlwaysFlushes"
SPARK = "spark"


def tour(args: argparse.Namespace) -> int:
    """Exit 0 if the right engines pass and the wrong one is caught, as they must."""
    from tidegate.conformance.cli.run import conduct_suite
    from tidegate.conformance.judging.verdicts import Exit

    folder = args.report or Path("report")
    say(args, "1. The suite on the reference itself: everything must pass.")
    short = {"cases": min(args.cases, 200), "stage": args.stage or ["directed", "golden", "generated", "metamorphic"]}
    right = conduct_suite(changed(args, engine=RIGHT, report=folder / "right", **short))
    say(args, "\n2. The suite on a wrong engine, one rule away from right: it must be caught.")
    wrong = conduct_suite(changed(args, engine=WRONG, report=folder / "wrong"))
    say(args, "\n3. The suite on an implementation in Spark SQL: SQL folds, windows and joins must pass, too.")
    on_spark = tour_spark(args, folder)
    say(
        args,
        '\nNow yours: tidegate run --engine "exec:COMMAND LINE" (docs/writing-an-engine.md says how to write one).',
    )
    as_it_must = (
        right.exit() is Exit.CONFORMANT
        and wrong.exit() is Exit.VIOLATIONS
        and (on_spark is None or on_spark.exit() is Exit.CONFORMANT)
    )
    return Exit.CONFORMANT if as_it_must else Exit.INTERNAL


def tour_spark(args: argparse.Namespace, folder: Path) -> Any:
    """A few cases of each component that the engine has; None, and why, where Spark cannot run."""
    from tidegate.conformance.cli.run import conduct_suite
    from tidegate.conformance.engines.errors import CannotStartError
    from tidegate.conformance.engines.java import check_spark

    try:
        check_spark()
    except CannotStartError as error:
        say(args, f"Left out: {error}")
        return None
    few = {"cases": min(args.cases, 50), "stage": args.stage or ["directed", "golden", "generated"]}
    return conduct_suite(changed(args, engine=SPARK, report=folder / "spark", **few))


def changed(args: argparse.Namespace, **changes: Any) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(args), **changes})


def say(args: argparse.Namespace, text: str) -> None:
    if args.format == "pretty":
        from tidegate.conformance.cli.console import console

        console().print(f"[bold]{text}[/]")
