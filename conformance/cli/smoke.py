"""`tidegate smoke`: a first check of an engine, for its author."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.conformance.engines.errors import CannotStartError

NAME = "smoke"
HELP = "first check of an engine: handshake, one case per declared component, and how well it follows the protocol"
EXAMPLE = """tidegate smoke --engine "exec:python3 examples/python/engine.py"
  tidegate smoke --engine python:my_package.engine:Mine --strict    (warnings count as violations)"""


def configure(parser: argparse.ArgumentParser) -> None:
    from tidegate.conformance.cli.options import add_engine_options, add_format, add_page

    add_engine_options(parser)
    add_page(parser)
    add_format(parser)


def run(args: argparse.Namespace) -> int:
    from tidegate.conformance.cli.console import show, show_page
    from tidegate.conformance.cli.options import candidate_of
    from tidegate.conformance.engines.errors import CannotStartError
    from tidegate.conformance.judging.smoke import smoke

    if args.engine is None:
        args.parser.error("smoke needs --engine")
    try:
        smoked = smoke(candidate_of(args))
    except CannotStartError as error:
        return show_no_start(args, error)
    show(args, smoked)
    show_page(args, "smoke", smoked)
    return smoked.exit_code


def show_no_start(args: argparse.Namespace, error: "CannotStartError") -> int:
    from tidegate.conformance.engines.text import printable
    from tidegate.conformance.exits import Exit
    from tidegate.conformance.judging.bare_wire import by_hand

    line = by_hand(args.engine)
    if args.format == "json":
        fields = {"message": error.message, "hint": error.hint, "stderr": list(error.stderr), "by_hand": line}
        said = {"engine": args.engine, "exit": int(Exit.CANNOT_START), "error": fields}
        print(json.dumps(said, indent=2, ensure_ascii=False))
    print(f"tidegate: {error}", file=sys.stderr)
    if line:
        print(f"by hand: {printable(line)}", file=sys.stderr)
    return Exit.CANNOT_START
