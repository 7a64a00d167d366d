"""`tidegate replay`: trace files, or one trace on the command line, against an engine."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.conformance.judging.run import Candidate
    from tidegate.traces.cases import Case

NAME = "replay"
HELP = "replay trace files, or one trace in short notation, against an engine and judge its answers"
EXAMPLE = """tidegate replay traces.jsonl.gz --engine "exec:python3 examples/python/engine.py"
  tidegate replay --component valve --config '{"channels":3}' --trace "2i 0w20 1w10 0i 2a 1i 2i"
  tidegate replay --steps --engine "exec:./engine" --component valve --config '{"channels":1}' --trace "0w5 0i"
  tidegate replay --print-request --component valve --config '{"channels":1}' --trace "0w5 0i" | ./engine"""

#: More would be a campaign.
MOST_TIMES = 1000


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli import options

    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="trace files (*.jsonl, *.jsonl.gz)")
    parser.add_argument("--case", metavar="NAME", help="only the case of this name")
    parser.add_argument("--component", metavar="C", help="component of --trace")
    parser.add_argument("--config", metavar="JSON", default="{}", help="config of --trace")
    parser.add_argument("--trace", metavar="TEXT", help="one trace in short notation instead of a file")
    parser.add_argument(
        "--times",
        type=options.whole(1, MOST_TIMES),
        default=1,
        metavar="N",
        help="replay each case N times in a row: leaked state shows the second time (default: 1)",
    )
    parser.add_argument(
        "--steps",
        action="store_true",
        help="step by step: event, engine's answer, allowed answers, state changes",
    )
    parser.add_argument(
        "--print-request",
        action="store_true",
        help="print the request lines, to paste into a debugger; starts no engine",
    )
    options.add_engine_options(parser, default="reference")
    options.add_semantics(parser)
    options.add_master(parser)
    options.add_format(parser)
    options.add_details(parser)
    options.add_report(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.options import candidate_of
    from tidegate.conformance.cli.results import observe, show_result
    from tidegate.conformance.judging.run import replay
    from tidegate.conformance.judging.verdicts import Status

    if (args.trace is None) == (not args.files):
        args.parser.error("give trace files, or --component, --config and --trace")
    once = [read_inline(args, args.component)] if args.trace is not None else read_files(args)
    cases = [case for case in once for _ in range(args.times)]
    if args.print_request:
        return print_requests(cases)
    candidate = candidate_of(args)
    if args.steps:
        return print_steps(candidate, cases)
    with observe(args, candidate.name, args.report) as observers:
        result = replay(candidate, cases, observers=observers)
    skipped = result.count(Status.SKIP)
    notes = [
        f"{skipped} cases were skipped: the engine does not declare their component, kind or semantics",
        "--semantics NAME runs them anyway, and judges the answers by that semantics",
    ]
    return show_result(args, result, observers, notes if skipped else ()).exit_code


def print_requests(cases: "list[Case]") -> int:
    from tidegate.conformance.engines import messages
    from tidegate.conformance.judging.trial import Encoder

    encoder = Encoder()
    lines = [messages.hello(1)]
    lines += [messages.ask(number, encoder.request(case)) for number, case in enumerate(cases, start=2)]
    for line in [*lines, messages.bye(len(lines) + 1)]:
        print(messages.encode(line).decode("ascii"), end="")
    return 0


def print_steps(candidate: "Candidate", cases: "list[Case]") -> int:
    """Each case step by step, then its verdict."""
    from tidegate.conformance.cli.console import console, painter
    from tidegate.conformance.documents.stepping import compare
    from tidegate.conformance.engines.base import Steps
    from tidegate.conformance.engines.text import printable
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.run import answers
    from tidegate.conformance.judging.verdicts import VIOLATIONS
    from tidegate.traces.codec import encode

    paint = painter(console())
    code = Exit.CONFORMANT
    for case, (reply, verdict) in zip(cases, answers(candidate, cases), strict=True):
        print(f"{case.component} {json.dumps(encode(case.config))}")
        shown = reply.steps if isinstance(reply, Steps) else None
        for number, step in enumerate(compare(case, shown), start=1):
            print(step.text(number, paint))
        wrong = verdict.status in VIOLATIONS
        style = "bold red" if wrong else "bold green"
        print(paint(f"{printable(case.name)}: {verdict.status} {printable(verdict.message)}".rstrip(), style))
        code = Exit.VIOLATIONS if wrong else code
    return code


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
    from tidegate.traces.strict_json import JsonError, read_json

    parser: argparse.ArgumentParser = args.parser
    if component is None:
        parser.error("--trace needs --component")
    try:
        return read_case(component, read_json(args.config), args.trace)
    except (DecodeError, JsonError) as error:
        parser.error(str(error))
