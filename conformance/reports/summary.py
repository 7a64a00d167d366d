"""The summary at the end: a table, findings, notes and a conclusion, as text and as Markdown.

A run, a comparison of engines and a smoke test all use it.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar

import attrs

from tidegate.conformance.engines.text import unformatted
from tidegate.conformance.exits import CONCLUSIONS, Exit

#: Colours a text. The text is complete without colour.
Paint = Callable[[str, str], str]

GREEN, RED, YELLOW = "green", "red", "yellow"
#: Styles of words in a table, of heads of count columns, and of words that begin a note.
STYLES = {
    **dict.fromkeys(("pass", "agreed", "free"), GREEN),
    **dict.fromkeys(("fail", "error", "timeout", "crash", "xpass", "diverged"), RED),
    **dict.fromkeys(("skip", "unknown", "not run", "xfail", "unanswered", "warning"), YELLOW),
    "note": "cyan",
}


def plain(text: str, _style: str) -> str:
    return text


@attrs.frozen(kw_only=True)
class Summary:
    """The text omits counts of 0; the Markdown has them. Only the Markdown lists `claims`."""

    title: str
    about: tuple[str, ...] = ()
    header: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    claims: tuple[str, ...] = ()
    conclusion: str
    exit_code: int

    def text(self, paint: Paint = plain) -> str:
        lines = self._table(paint) if self.rows else []
        for finding in self.findings:
            title, *rest = finding.split("\n")
            lines += ["", paint(title, f"bold {RED}"), *rest]
        lines += ["", *(paint_head(note, paint) for note in self.notes)]
        if self.claims:
            suites = "1 suite" if len(self.claims) == 1 else f"{len(self.claims)} suites"
            lines.append(f"Passed with every case of a scope: {suites}; JSON has what that claims.")
        return "\n".join([*lines, paint(self.conclusion, f"bold {colour_of(self.exit_code)}")])

    def _table(self, paint: Paint) -> list[str]:
        shown = [[str(cell or "") for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.header, *shown, strict=True)]
        lines = [paint("  ".join(map(str.ljust, self.header, widths)), "bold")]
        for row in shown:
            cells = zip(self.header, row, map(str.ljust, row, widths), strict=True)
            lines.append("  ".join(paint(wide, style_of(head, cell)) for head, cell, wide in cells))
        return lines

    def markdown(self) -> str:
        lines = [f"# {inert(self.title)}", "", *(f"- {inert(one)}" for one in self.about), *[""] * bool(self.about)]
        lines += [inert(self.conclusion) + ".", ""]
        if self.rows:
            numeric = [isinstance(cell, int) for cell in self.rows[0]]
            lines.append(f"| {' | '.join(self.header)} |")
            lines.append("|" + "|".join("---:" if number else "---" for number in numeric) + "|")
            lines += [f"| {' | '.join(inert(str(cell)) for cell in row)} |" for row in self.rows]
        lines += ["", *(f"- {inert(one)}" for one in (*self.notes, *self.claims))]
        for finding in self.findings:
            text = finding.replace("```", "'''")
            lines += ["", f"## {inert(finding.partition(chr(10))[0])}", "", "```", text, "```"]
        return "\n".join(lines) + "\n"


def inert(text: str) -> str:
    return unformatted(text, len(text))


class Told:
    """Anything with a conclusion and a summary; prints itself as its summary."""

    __slots__ = ()
    CONCLUSIONS: ClassVar[Mapping[Exit, str]] = CONCLUSIONS

    @property
    def exit_code(self) -> Exit:
        raise NotImplementedError

    def summary(self) -> Summary:
        raise NotImplementedError

    @property
    def conclusion(self) -> str:
        """The exit code in words."""
        return self.CONCLUSIONS[self.exit_code]

    def text(self, paint: Paint = plain) -> str:
        """As text, as the command line prints it."""
        return self.summary().text(paint)

    def markdown(self) -> str:
        """As Markdown, for a job summary or a pull request."""
        return self.summary().markdown()

    def __str__(self) -> str:
        return self.text()


def colour_of(exit_code: int) -> str:
    return {0: GREEN, 1: RED}.get(exit_code, YELLOW)


def style_of(head: str, cell: str) -> str:
    return STYLES.get(head) or STYLES.get(cell) or ""


def paint_head(note: str, paint: Paint) -> str:
    head, colon, rest = note.partition(":")
    return f"{paint(head, f'bold {STYLES[head]}')}{colon}{rest}" if head in STYLES else note
