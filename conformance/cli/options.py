"""Options that several verbs have, so that they mean the same everywhere."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.conformance.judging.run import Candidate

ENGINE_HELP = (
    "reference, flink[:VERSION], spark, spark-native (for run alone), python:package.module:Name "
    '(a class with describe() and replay(cases)), or "exec:COMMAND LINE" (a program that speaks the protocol)'
)


def add_engine_options(parser: argparse.ArgumentParser, default: str | None = None, *, several: bool = False) -> None:
    note = f" (default: {default})" if default else ""
    if several:
        parser.add_argument("--engine", action="append", required=True, metavar="E", help=ENGINE_HELP)
    else:
        parser.add_argument("--engine", default=default, metavar="E", help=ENGINE_HELP + note)
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="S",
        help="seconds for the answer to a case (default: 10; spark: 600, for a batch; spark-native: 600, for a trace)",
    )
    parser.add_argument(
        "--start-timeout", type=float, metavar="S", help="seconds for the handshake (default: 30; spark: 180)"
    )
    parser.add_argument(
        "--strict", action="store_true", help="check every message against the JSON Schemas; refuse unknown keys"
    )


def candidate_of(args: argparse.Namespace, engine: str | None = None) -> "Candidate":
    """The engine that the options name, or this one, with all that they say about it."""
    from tidegate.conformance.judging.run import Candidate

    limits = {"case_timeout": args.timeout, "start_timeout": args.start_timeout}
    return Candidate(
        with_master(args, engine or args.engine), getattr(args, "semantics", None), strict=args.strict, limits=limits
    )


def with_master(args: argparse.Namespace, name: str) -> str:
    """The engine's text with the master of --master, if it runs on Spark and names none itself."""
    return f"{name}:{args.master}" if name in ("spark", "spark-native") and getattr(args, "master", None) else name


def add_semantics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--semantics",
        metavar="S",
        help="hold the engine to this dated semantics, such as flink-40475, although it declares another",
    )


def add_master(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--master",
        metavar="URL",
        help="where the engines spark and spark-native run (default: local[*], every core of this machine)",
    )


def add_components(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--component", action="append", default=[], metavar="C", help="only this component; may be given several times"
    )


def add_cases(parser: argparse.ArgumentParser, default: int, per: str = "component") -> None:
    told = f"generated cases per {per} (default: {default})"
    parser.add_argument("--cases", type=at_least_zero, default=default, metavar="N", help=told)


def add_floor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--floor",
        type=at_least_one,
        default=1,
        metavar="N",
        help="a rule that was exercised less often leaves the result undetermined (default: 1)",
    )


def add_expect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expect", type=Path, metavar="FILE", help="known failures: one `case PATTERN -- reason` per line"
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("pretty", "json", "markdown"), default="pretty", help="how to print the result"
    )


def add_details(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--details", action="store_true", help="a row per stage, and every rule and component of long lists"
    )


def add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="write report.jsonl (the source of truth), index.html to look at, junit.xml and summary.md here",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same cases (default: 0)")


def at_least_zero(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be 0 or more, not {value}")
    return value


def at_least_one(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number from 1 on, not {text!r}")
    return int(text)
