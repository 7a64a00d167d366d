"""`tidegate replay`: trace files, or one trace on the command line, against an engine."""

import argparse
import json
from pathlib import Path
from typing import Any

NAME = "replay"
HELP = "replay trace files, or one trace in short notation, against an engine and judge its answers"
EXAMPLE = """tidegate replay traces.jsonl.gz --engine "exec:python3 examples/python/engine.py"
  tidegate replay --component valve --config '{"channels":3}' --trace "2i 0w20 1w10 0i 2a 1i 2i\""""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_engine_options, add_format, add_master, add_report, add_semantics

    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="trace files (*.jsonl, *.jsonl.gz)")
    parser.add_argument("--case", metavar="NAME", help="only the case of this name")
    parser.add_argument("--component", metavar="C", help="the component of --trace")
    parser.add_argument("--config", metavar="JSON", default="{}", help="the config of --trace")
    parser.add_argument("--trace", metavar="TEXT", help="one trace in short notation instead of a file")
    add_engine_options(parser, default="reference")
    add_semantics(parser)
    add_master(parser)
    add_format(parser)
    add_report(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.session import conduct
    from tidegate.conformance.judging.runner import Planned, is_declared

    if (args.trace is None) == (not args.files):
        args.parser.error("give trace files, or --component, --config and --trace")
    cases = [read_inline(args)] if args.trace is not None else read_files(args)
    undeclared: list[Any] = []

    def work(session: Any, _watch: Any) -> tuple[()]:
        description = session.engine.start()
        undeclared.extend(case for case in cases if not is_declared(description, case))
        session.run(Planned("replay", case) for case in cases if is_declared(description, case))
        return ()

    finished = conduct(args, work)
    if undeclared:
        print(f"{len(undeclared)} cases were skipped: the engine does not declare their component, kind or semantics")
        print("--semantics NAME asks it all the same, and judges it by that semantics")
    return finished.exit()


def read_files(args: argparse.Namespace) -> list[Any]:
    from tidegate.traces.files import read_traces

    cases = [case for file in args.files for case in read_traces(file, strict=args.strict)[1]]
    if args.case is None:
        return cases
    named = [case for case in cases if case.name == args.case]
    if not named:
        args.parser.error(f"no case {args.case!r} in {', '.join(map(str, args.files))}")
    return named


def read_inline(args: argparse.Namespace) -> Any:
    from tidegate.traces.cases import Case
    from tidegate.traces.codec import DecodeError, decode, find_component
    from tidegate.traces.notation.text import read_trace

    if args.component is None:
        args.parser.error("--trace needs --component")
    try:
        component = find_component(args.component)
        config = decode(json.loads(args.config), component.config, "config", strict=True)
        return Case("trace", component.name, config, read_trace(component.name, args.trace))
    except (DecodeError, json.JSONDecodeError) as error:
        args.parser.error(str(error))
