"""What verbs share when they print for people."""

from rich.console import Console
from rich.text import Text

from tidegate.conformance.reports.summary import Paint, plain


def console(*, stderr: bool = False) -> Console:
    """Plain, wide text when it is not a terminal, so that nothing is cut or coloured in a file or a pipe."""
    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal:
        made = Console(stderr=stderr, highlight=False, soft_wrap=True, width=200, no_color=True)
    return made


def painter(out: Console) -> Paint:
    """Gives texts their colours, where there is somebody to see them."""

    def paint(text: str, style: str) -> str:
        with out.capture() as captured:
            out.print(Text(text, style), end="", soft_wrap=True)
        return captured.get()

    return paint if out.is_terminal else plain
