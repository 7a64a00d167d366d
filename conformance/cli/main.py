"""`tidegate`: the parser of the command line, and how errors are reported."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import tidegate
from tidegate import __version__
from tidegate.conformance.engines.base import PROTOCOL_VERSION
from tidegate.conformance.exits import Exit
from tidegate.conformance.stopping import STOP, listen

#: One module per verb, each with NAME, HELP, EXAMPLE, configure(parser) and run(args).
VERBS = (
    "run",
    "replay",
    "smoke",
    "diff",
    "jobs",
    "explore",
    "campaign",
    "audit",
    "generate",
    "museum",
    "flink",
    "rules",
    "schemas",
    "explain",
    "play",
    "matrix",
)

DESCRIPTION = """\
An executable specification of how a streaming dataflow engine moves data between tasks,
and the conformance suite that checks engines against it."""

EPILOG = """\
exit codes: 0 conformant, 1 violations, 2 undetermined, 64 usage, 65 bad input file,
69 engine cannot start, 70 internal error, 74 report or output cannot be written

Start with `tidegate run`: a short tour that needs no engine of yours."""


class Parser(argparse.ArgumentParser):
    """argparse with our exit code for wrong usage, and the message first."""

    def error(self, message: str) -> NoReturn:
        self.exit(Exit.USAGE, f"{self.prog}: {message}\n{self.format_usage()}")


def make_parser() -> Parser:
    parser = Parser(
        prog="tidegate",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"tidegate {__version__}, engine protocol {PROTOCOL_VERSION}"
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    for name in VERBS:
        verb = import_module(f"tidegate.conformance.cli.{name}")
        one = verbs.add_parser(
            verb.NAME,
            help=verb.HELP,
            description=verb.HELP[0].upper() + verb.HELP[1:] + ".",
            epilog=f"example:\n  {verb.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.configure(one)
        one.set_defaults(run=verb.run, parser=one)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    open_streams()
    listen()
    args = argparse.Namespace()
    try:
        STOP.arm()
        args = make_parser().parse_args(argv)
        code = int(args.run(args))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("tidegate: interrupted", file=sys.stderr)
        return Exit.UNDETERMINED
    except Exception as error:
        code = exit_code(error)
        if code is Exit.USAGE and isinstance(error, ValueError):
            args.parser.error(str(error))
        if code is Exit.INTERNAL and os.environ.get("TIDEGATE_DEBUG"):
            raise
        if code is Exit.CANNOT_WRITE:
            leave_output()
        if not isinstance(error, BrokenPipeError):  # the reader of our output has closed it
            with suppress(OSError):
                print(f"tidegate: {describe(error, code)}", file=sys.stderr)
    return code


def open_streams() -> None:
    """Make the standard streams writable: closed ones go nowhere, and what they cannot encode is escaped."""
    while (nowhere := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # this descriptor is a standard stream now
    os.close(nowhere)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - to the end
        elif isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def leave_output() -> None:
    """Keep the interpreter from writing the rest again when it exits."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_code(error: Exception) -> Exit:
    # Imported here, so that a successful command does not pay for them.
    from tidegate.conformance.engines.errors import (
        BadOptionError,
        EngineError,
        UnknownEngineError,
        WholeJobsOnlyError,
    )
    from tidegate.conformance.judging.expectations import ExpectationsFileError
    from tidegate.conformance.judging.suite import UnknownNameError
    from tidegate.conformance.reports.writing import UNWRITABLE, CannotWriteError, FolderBusyError
    from tidegate.reference.model import InvalidInputError
    from tidegate.traces.codec import DecodeError
    from tidegate.traces.files import TraceFileError

    if isinstance(error, UnknownEngineError | WholeJobsOnlyError | BadOptionError | UnknownNameError | FolderBusyError):
        return Exit.USAGE
    if isinstance(error, CannotWriteError) or (isinstance(error, OSError) and error.errno in UNWRITABLE):
        return Exit.CANNOT_WRITE
    if isinstance(error, EngineError):
        return Exit.CANNOT_START
    if isinstance(error, TraceFileError | DecodeError | InvalidInputError | ExpectationsFileError | OSError):
        return Exit.BAD_INPUT
    return Exit.INTERNAL


def describe(error: Exception, code: Exit) -> str:
    from tidegate.conformance.engines.text import printable

    said = str(error)
    if code is Exit.CANNOT_WRITE and isinstance(error, OSError):
        said = f"{error.filename or 'standard output'}: cannot be written: {error.strerror}"
    elif isinstance(error, OSError) and error.filename is not None:
        said = f"{error.filename}: {error.strerror}"
    if code is Exit.INTERNAL:
        said = (
            f"internal error at {find_place(error)}: {type(error).__name__}: {error}\n"
            "hint: this is a bug of Tidegate; set TIDEGATE_DEBUG=1 to see the traceback"
        )
    # Many messages contain paths, and a path may contain anything.
    return "\n".join(printable(line, len(line)) for line in said.split("\n"))


def find_place(error: Exception) -> str:
    """The last line of our own code in the traceback."""
    from traceback import extract_tb

    home = f"{os.path.dirname(tidegate.__file__)}{os.sep}"  # noqa: PTH120 - pathlib would cost every command
    ours = [frame for frame in extract_tb(error.__traceback__) if frame.filename.startswith(home)]
    return f"{ours[-1].filename.removeprefix(home)}:{ours[-1].lineno}" if ours else "an unknown place"


if __name__ == "__main__":
    sys.exit(main())
