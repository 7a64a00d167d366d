"""What verbs share when they print for people."""

from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """Plain, wide text when it is not a terminal, so that nothing is cut or coloured in a file or a pipe."""
    made = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not made.is_terminal:
        made = Console(stderr=stderr, highlight=False, soft_wrap=True, width=200, no_color=True)
    return made
