"""`tidegate replay`: trace files, or one trace on the command line, against an engine."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.traces.cases import Case

NAME = "replay"
HELP = "replay trace files, or one trace in short notation, against an engine and judge its answers"
EXAMPLE = """tidegate replay traces.jsonl.gz --engine "exec:python3 examples/python/engine.py"
  tidegate replay --component valve --config '{"channels":3}' --trace "2i 0w20 1w10 0i 2a 1i 2i\""""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="trace files (*.jsonl, *.jsonl.gz)")
    parser.add_argument("--case", metavar="NAME", help="only the case of this name")
    parser.add_argument("--component", metavar="C", help="the component of --trace")
    parser.add_argument("--config", metavar="JSON", default="{}", help="the config of --trace")
    parser.add_argument("--trace", metavar="TEXT", help="one trace in short notation instead of a file")
    options.add_engine_options(parser, default="reference")
    options.add_semantics(parser)
    options.add_master(parser)
    options.add_format(parser)
    options.add_report(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.console import show
    from tidegate.conformance.cli.options import candidate_of
    from tidegate.conformance.cli.results import watched
    from tidegate.conformance.judging.run import replay
    from tidegate.conformance.judging.verdicts import Status

    if (args.trace is None) == (not args.files):
        args.parser.error("give trace files, or --component, --config and --trace")
    cases = [read_inline(args, args.component)] if args.trace is not None else read_files(args)
    candidate = candidate_of(args)
    with watched(args, candidate.name, args.report) as observers:
        result = replay(candidate, cases, observers=observers)
    skipped = result.count(Status.SKIP)
    notes = [
        f"{skipped} cases were skipped: the engine does not declare their component, kind or semantics",
        "--semantics NAME asks it all the same, and judges it by that semantics",
    ]
    show(args, result, args.report, notes if skipped else ())
    return result.exit_code


def read_files(args: argparse.Namespace) -> "list[Case]":
    from tidegate.traces.files import read_traces

    cases = [case for file in args.files for case in read_traces(file, strict=args.strict)[1]]
    if args.case is None:
        return cases
    named = [case for case in cases if case.name == args.case]
    if not named:
        args.parser.error(f"no case {args.case!r} in {', '.join(map(str, args.files))}")
    return named


def read_inline(args: argparse.Namespace, component: str | None) -> "Case":
    """The case of --trace."""
    from tidegate.traces.codec import DecodeError
    from tidegate.traces.notation.text import read_case

    parser: argparse.ArgumentParser = args.parser
    if component is None:
        parser.error("--trace needs --component")
    try:
        return read_case(component, json.loads(args.config), args.trace)
    except (DecodeError, json.JSONDecodeError) as error:
        parser.error(str(error))
