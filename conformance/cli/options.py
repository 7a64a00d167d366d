"""Options of several verbs, defined once."""

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.conformance.engines.limits import Limits
    from tidegate.conformance.judging.run import Candidate

#: The longest timeout: a week.
LONGEST = 7 * 24 * 3600
#: More processes than any machine has cores; a larger number is a mistake.
MOST_JOBS = 256


def add_engine_options(
    parser: argparse.ArgumentParser,
    default: str | None = None,
    *,
    several: bool = False,
    exams: bool = False,
    whole_jobs: bool = False,
) -> None:
    """Engines that replay cases; with `exams` also those that `run` examines, with `whole_jobs` all that run jobs."""
    from tidegate.conformance.kinds import KINDS

    kinds = [kind for kind in KINDS if whole_jobs or kind.make or (exams and kind.make_exam)]
    limits = {kind.name: kind.usual_job_limits if whole_jobs else kind.usual_limits for kind in kinds}
    what = "; ".join(f"{kind.form} ({kind.meaning})" for kind in kinds) + (f" (default: {default})" if default else "")
    if several:
        parser.add_argument("--engine", action="append", required=True, metavar="E", help=what)
    else:
        parser.add_argument("--engine", default=default, metavar="E", help=what)
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="S",
        help=f"seconds for the answer to a {'job' if whole_jobs else 'case'} ({list_usual(limits, 'case_timeout')})",
    )
    parser.add_argument(
        "--start-timeout",
        type=seconds,
        metavar="S",
        help=f"seconds for the handshake ({list_usual(limits, 'start_timeout')})",
    )
    parser.add_argument(
        "--strict", action="store_true", help="check every message against the JSON Schemas; refuse unknown keys"
    )


def list_usual(limits: "dict[str, Limits]", name: str) -> str:
    """`default: 10; spark, spark-native: 600`."""
    engines: dict[float, list[str]] = {}
    for engine, one in limits.items():
        engines.setdefault(getattr(one, name), []).append(engine)
    usual = max(engines, key=lambda value: len(engines[value]))
    others = [f"; {', '.join(names)}: {value:g}" for value, names in engines.items() if value != usual]
    return f"default: {usual:g}{''.join(others)}"


def candidate_of(args: argparse.Namespace, engine: str | None = None) -> "Candidate":
    """The engine of the options, or this one, with the limits of the options."""
    from tidegate.conformance.judging.run import Candidate

    limits = {"case_timeout": args.timeout, "start_timeout": args.start_timeout}
    return Candidate(
        with_master(args, engine or args.engine), getattr(args, "semantics", None), strict=args.strict, limits=limits
    )


def with_master(args: argparse.Namespace, name: str) -> str:
    """The engine's text with the master of --master, if it runs on Spark and has none of its own."""
    from tidegate.conformance.kinds import find_kind

    master = getattr(args, "master", None)
    return f"{name}:{master}" if master and ":" not in name and find_kind(name).takes_master else name


def spark_master(text: str) -> str:
    from tidegate.conformance.engines.errors import BadOptionError
    from tidegate.conformance.engines.spark.session import check_master

    try:
        check_master(text)
    except BadOptionError as error:
        raise argparse.ArgumentTypeError(f"{error.message}: {error.hint}") from None
    return text


def add_semantics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--semantics",
        metavar="S",
        help="judge the engine by this dated semantics, such as flink-40475, whatever it declares",
    )


def add_master(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--master",
        type=spark_master,
        metavar="URL",
        help="where the engines spark and spark-native run (default: local[*], every core of this machine)",
    )


def add_components(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--component", action="append", default=[], metavar="C", help="only this component (repeatable)"
    )


#: Default number of generated cases per component. It is `Budget().cases`, repeated here to avoid the import.
USUAL_CASES = 600


def add_cases(parser: argparse.ArgumentParser, default: int, per: str = "component") -> None:
    told = f"generated cases per {per} (default: {default})"
    parser.add_argument("--cases", type=at_least_zero, default=default, metavar="N", help=told)


def add_floor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--floor",
        type=at_least_one,
        default=1,
        metavar="N",
        help="the result is undetermined if a rule was exercised less often (default: 1)",
    )


def add_expect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expect", type=Path, metavar="FILE", help="known failures: one `case PATTERN -- reason` per line"
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("pretty", "json", "markdown"), default="pretty", help="output format of the result"
    )


def add_details(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--details", action="store_true", help="one row per stage, and complete lists of rules and components"
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="write report.jsonl (the source of truth), index.html, junit.xml and summary.md into this folder",
    )


def add_page(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", type=Path, metavar="DIR", help="write index.html and summary.md into this folder")


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=any_whole, default=0, help="the same seed gives the same cases (default: 0)")


def whole(least: int, most: int = 2**63 - 1) -> Callable[[str], int]:
    """Reads a whole number, such as `1000000` or `1e6`."""

    def read(text: str) -> int:
        match = re.fullmatch("(-?[0-9]{1,19})(?:e([0-9]{1,2}))?", text)
        value: int | None = int(match[1]) * pow(10, int(match[2] or 0)) if match else None
        if value is None or not least <= value <= most:
            bounds = f"from {least} on" if most == 2**63 - 1 else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"must be a whole number {bounds}, not {text[:30]!r}")
        return value

    return read


any_whole, at_least_zero, at_least_one = whole(-(2**63)), whole(0), whole(1)


def seconds(text: str) -> float:
    value = float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9}", text) else 0.0
    if not 0 < value <= LONGEST:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, at most a week, not {text[:30]!r}")
    return value
