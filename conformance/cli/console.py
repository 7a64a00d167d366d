"""What verbs share when they print for people."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from tidegate.conformance.reports.summary import Paint, plain


def console(*, stderr: bool = False) -> Console:
    """Plain, wide text when it is not a terminal, so that nothing is cut or coloured in a file or a pipe."""
    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal:
        made = Console(stderr=stderr, highlight=False, soft_wrap=True, width=200, no_color=True)
    return made


# --- while it goes on -----------------------------------------------------------------------------------------


def is_watched(args: argparse.Namespace) -> bool:
    """Whether there is somebody to tell how far it is: standard error is a terminal, and the result is for people."""
    return getattr(args, "format", "pretty") == "pretty" and sys.stderr.isatty()


@contextmanager
def telling(args: argparse.Namespace) -> Iterator[Callable[[str], None]]:
    """Tells how far it is, on one line of standard error, if anybody looks at it."""
    if not is_watched(args):
        yield lambda _text: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda text: bar.update(task, description=text)


# --- at the end -----------------------------------------------------------------------------------------------


class Shown(Protocol):
    def text(self, paint: Paint = ...) -> str: ...
    def markdown(self) -> str: ...
    def json(self) -> dict[str, Any]: ...


def show(args: argparse.Namespace, found: Shown, report: Path | None = None, notes: Iterable[str] = ()) -> None:
    """Print it as --format says; `notes` are for people alone."""
    if args.format == "json":
        print(json.dumps(found.json(), indent=2, ensure_ascii=False))
    elif args.format == "markdown":
        print(found.markdown(), end="")
    else:
        from tidegate.conformance.judging.result import Result

        paint = painter(console())
        print(found.text(paint, details=args.details) if isinstance(found, Result) else found.text(paint))
        for line in ([f"Report in {report}"] if report is not None else []) + list(notes):
            print(line)


def painter(out: Console) -> Paint:
    """Gives texts their colours, where there is somebody to see them."""

    def paint(text: str, style: str) -> str:
        with out.capture() as captured:
            out.print(Text(text, style), end="", soft_wrap=True)
        return captured.get()

    return paint if out.is_terminal else plain
