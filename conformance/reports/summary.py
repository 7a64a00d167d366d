"""What is told at the end: a table, what was found in words, notes, and a conclusion; as text and as Markdown.

Everything that is judged case by case is summed up so: a run, a comparison of engines, a first look at one.
"""

from collections.abc import Callable

import attrs

#: Gives a text its colour. The text is complete without.
Paint = Callable[[str, str], str]

GREEN, RED, YELLOW = "green", "red", "yellow"
#: Of words that stand in a table, at the head of a column of counts, or at the head of a note.
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
    """Counts of 0 are left out of the text, and stand in the Markdown. `claims` are listed by the Markdown alone."""

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
            lines.append(f"{len(self.claims)} suites that are complete on their scope passed; JSON lists their claims.")
        colour = {0: GREEN, 1: RED}.get(self.exit_code, YELLOW)
        return "\n".join([*lines, paint(self.conclusion, f"bold {colour}")])

    def _table(self, paint: Paint) -> list[str]:
        shown = [[str(cell or "") for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.header, *shown, strict=True)]
        lines = [paint("  ".join(map(str.ljust, self.header, widths)), "bold")]
        for row in shown:
            cells = zip(self.header, row, map(str.ljust, row, widths), strict=True)
            lines.append("  ".join(paint(wide, style_of(head, cell)) for head, cell, wide in cells))
        return lines

    def markdown(self) -> str:
        lines = [f"# {self.title}", "", *(f"- {one}" for one in self.about), *[""] * bool(self.about)]
        lines += [self.conclusion + ".", ""]
        if self.rows:
            numeric = [isinstance(cell, int) for cell in self.rows[0]]
            lines.append(f"| {' | '.join(self.header)} |")
            lines.append("|" + "|".join("---:" if number else "---" for number in numeric) + "|")
            lines += [f"| {' | '.join(map(str, row))} |" for row in self.rows]
        lines += ["", *(f"- {one}" for one in (*self.notes, *self.claims))]
        for finding in self.findings:
            text = finding.replace("```", "'''")
            lines += ["", f"## {finding.partition(chr(10))[0]}", "", "```", text, "```"]
        return "\n".join(lines) + "\n"


def style_of(head: str, cell: str) -> str:
    return STYLES.get(head) or STYLES.get(cell) or ""


def paint_head(note: str, paint: Paint) -> str:
    head, colon, rest = note.partition(":")
    return f"{paint(head, f'bold {STYLES[head]}')}{colon}{rest}" if head in STYLES else note
