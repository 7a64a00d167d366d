"""Text of an engine, made safe to print: no control characters, no unpaired surrogates, bounded length.

An engine's message may hold escape sequences that repaint a terminal, or text directions that reverse a report.
Everything that is not printable is escaped here, once, where it comes in.
"""

import shlex
from collections.abc import Iterable

WORDS_LIMIT = 1000


def printable(text: str, limit: int = WORDS_LIMIT) -> str:
    shown = text[:limit]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)
    return shown if len(text) <= limit else f"{shown}… ({len(text) - limit} more characters)"


def quoted(line: bytes, limit: int = 200) -> str:
    """The beginning of a malformed line, for a message about it."""
    shown = printable(line[:limit].decode("utf-8", "backslashreplace"), limit)
    return f"'{shown}'" if len(line) <= limit else f"'{shown}…' ({len(line)} bytes)"


#: What Markdown or HTML would interpret: a table, a link, emphasis, an element, a mention.
FORMING = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"} | {form: f"\\{form}" for form in "\\`*_[]|~"}
)


def unformatted(text: str, limit: int = WORDS_LIMIT) -> str:
    """Printable text that Markdown shows unchanged."""
    shown = printable(text, limit).translate(FORMING)
    return shown.replace("://", "&#58;//").replace("www.", "www&#46;")


def command_line(words: Iterable[str]) -> str:
    """A command to paste into a shell; an unprintable word is quoted with the escapes of bash and zsh."""
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    data = word.encode("utf-8", "surrogateescape")
    return "$'" + "".join(chr(b) if 32 <= b < 127 and chr(b) not in "\\'" else f"\\x{b:02x}" for b in data) + "'"
