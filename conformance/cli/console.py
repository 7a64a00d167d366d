"""Printing for people, shared by all verbs."""

import argparse
import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from tidegate.conformance.engines.text import command_line, printable
from tidegate.conformance.reports.summary import Paint, plain

if TYPE_CHECKING:
    from tidegate.conformance.judging.comparison import Comparison
    from tidegate.conformance.judging.smoke import Smoked


class Screen(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the caller: rich would exit with 1, which means something else here."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def console(*, stderr: bool = False) -> Console:
    """Plain, wide text unless this is a terminal, so that a file or pipe gets nothing cut or coloured."""
    made = Screen(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal:
        made = Screen(stderr=stderr, highlight=False, soft_wrap=True, width=200, no_color=True)
    return made


# --- progress -------------------------------------------------------------------------------------------------


@contextmanager
def show_progress(args: argparse.Namespace) -> Iterator[Callable[[str], None]]:
    """Shows progress on one line of standard error; in a log, on a new line every few seconds."""
    if getattr(args, "format", "pretty") != "pretty":
        yield lambda _text: None
        return
    if not sys.stderr.isatty():
        yield now_and_then(tell_line)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    bar = Progress(*columns, console=console(stderr=True), transient=True)
    bar.start()
    task = bar.add_task("starting", total=None)
    try:
        yield lambda text: bar.update(task, description=text)
    finally:
        with suppress(OSError):
            bar.stop()


def tell_line(text: str) -> None:
    with suppress(OSError):  # nobody reads standard error any more; the result still matters
        print(text, file=sys.stderr, flush=True)


def now_and_then(tell: Callable[[str], None], seconds: float = 5) -> Callable[[str], None]:
    """Shows news every few seconds, and nothing in the first of them."""
    told = time.monotonic()

    def tell_if_due(text: str) -> None:
        nonlocal told
        if time.monotonic() >= told + seconds:
            told = time.monotonic()
            tell(text)

    return tell_if_due


# --- result ---------------------------------------------------------------------------------------------------


class Shown(Protocol):
    def text(self, paint: Paint = ...) -> str: ...
    def markdown(self) -> str: ...
    def json(self) -> dict[str, Any]: ...


def show(args: argparse.Namespace, found: Shown, report: Path | None = None, notes: Iterable[str] = ()) -> None:
    """Print it as --format says; `notes` only in the pretty format."""
    if args.format == "json":
        in_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        print(json.dumps(found.json(), indent=2, ensure_ascii=not in_unicode))
    elif args.format == "markdown":
        print(found.markdown(), end="")
    else:
        from tidegate.conformance.judging.result import Result

        paint = painter(console())
        print(found.text(paint, details=args.details) if isinstance(found, Result) else found.text(paint))
        tell_report(args, report)
        for line in notes:
            print(line)


def tell_report(args: argparse.Namespace, report: Path | None) -> None:
    if report is not None and args.format == "pretty":
        print(f"Report in {printable(str(report))}")


def get_command() -> str:
    """The command as it was given."""
    return command_line(["tidegate", *sys.argv[1:]])


def show_page(args: argparse.Namespace, kind: str, told: "Comparison | Smoked") -> None:
    """Write the page of a finished command, if --report names a folder."""
    from tidegate.conformance.web.told import drawn_of, write_page

    if args.report is not None:
        write_page(args.report, kind, told.summary(), drawn_of(told), get_command())
        tell_report(args, args.report)


def painter(out: Console) -> Paint:
    """Colours texts on a terminal."""

    def paint(text: str, style: str) -> str:
        with out.capture() as captured:
            out.print(Text(text, style), end="", soft_wrap=True)
        return captured.get()

    return paint if out.is_terminal else plain
