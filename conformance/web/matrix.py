"""Engines and components from any number of reports: one page, a badge for each engine, and what differs between runs.

A report without its footer is of a run that did not end, and is refused by its name: a part is no whole.
"""

import html
import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Status
from tidegate.conformance.reports.folder import FORMAT, LINES, PAGE
from tidegate.conformance.web.one_file import make_file
from tidegate.reference.components import PATH
from tidegate.traces.codec import show
from tidegate.traces.files import TraceFileError, read_lines

GOOD, BAD, OPEN = "good", "bad", "open"
COLOURS = {GOOD: "#1b7a4b", BAD: "#b3261e", OPEN: "#8a5a00"}
WORDS = {0: ("conformant", GOOD), 1: ("not conformant", BAD)}


@attrs.frozen
class Cell:
    """What became of the cases of a component."""

    passed: int
    wrong: int
    open: int

    @property
    def tone(self) -> str:
        return BAD if self.wrong else OPEN if self.open else GOOD

    @property
    def text(self) -> str:
        total = self.passed + self.wrong + self.open
        return f"{self.wrong:,} of {total:,}" if self.wrong else f"{self.open:,} open" if self.open else f"{total:,}"


@attrs.frozen
class Read:
    """A report that was read to its end; components that were not tried are not in it."""

    path: Path
    engine: str
    seed: int
    exit_code: int
    complete: bool
    cells: dict[str, Cell]

    @property
    def conclusion(self) -> tuple[str, str]:
        return WORDS.get(self.exit_code, ("undetermined", OPEN))


def read_report(path: Path) -> Read:
    """A report, by its folder or its file."""
    file = path / LINES if path.is_dir() else path
    counts: Counter[tuple[str, str]] = Counter()
    header: Any = None
    footer: Any = None
    number = 0
    for number, value in read_lines(file):
        if footer is not None:
            raise TraceFileError(file, number, "a line after the footer")
        if header is None:
            header = check_header(file, value)
        elif isinstance(value, dict) and "verdicts" in value:
            footer = value
        elif isinstance(value, dict) and isinstance(value.get("component"), str):
            counts[value["component"], str(value.get("verdict"))] += 1
        else:
            raise TraceFileError(file, number, "this is no verdict")
    if footer is None:
        raise TraceFileError(file, number, "the report ends without its footer: its run did not end")
    if footer["verdicts"] != counts.total():
        told = f"the footer counts {show(footer['verdicts'])} verdicts, the report has {counts.total()}"
        raise TraceFileError(file, number, told)
    exit_code, complete = footer.get("exit"), footer.get("complete")
    if type(exit_code) is not int or type(complete) is not bool:
        raise TraceFileError(file, number, "the footer must have an exit, a number, and complete, true or false")
    engine, seed = printable(str(header.get("engine", ""))), header.get("seed", 0)
    return Read(file.parent, engine, seed, exit_code, complete, cells_of(counts))


def check_header(file: Path, value: Any) -> Any:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise TraceFileError(file, 1, f'the header must say "format": "{FORMAT}"')
    return value


def cells_of(counts: Counter[tuple[str, str]]) -> dict[str, Cell]:
    cells = {}
    for place in PATH:
        own = {status: counts[place.name, str(status)] for status in Status}
        wrong, left = (sum(own[one] for one in some) for some in (VIOLATIONS, UNDETERMINED))
        if wrong or left or own[Status.PASS] or own[Status.XFAIL]:
            cells[place.name] = Cell(own[Status.PASS] + own[Status.XFAIL], wrong, left)
    return cells


# --- what is written ----------------------------------------------------------------------------------------------


def write_matrix(reports: list[Read], out: Path) -> list[Path]:
    """The page and the badges; every file that was written."""
    (out / "badges").mkdir(parents=True, exist_ok=True)
    written = [out / PAGE]
    written[0].write_text(make_page(reports, out), encoding="utf-8")
    for number, report in enumerate(reports):
        slug = re.sub(r"[^a-z0-9.]+", "-", report.engine.lower()).strip("-.")[:60] or "engine"
        path = out / "badges" / f"{number + 1}-{slug}.svg"
        path.write_text(make_badge(*report.conclusion), encoding="utf-8")
        written.append(path)
    return written


def make_badge(word: str, tone: str) -> str:
    left, right = 62, 12 + 7 * len(word)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="tidegate: {word}"><title>tidegate: {word}</title>'
        f'<rect width="{left + right}" height="20" rx="4" fill="#33424a"/>'
        f'<path d="M{left} 0h{right - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-{right - 4}z" fill="{COLOURS[tone]}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14">tidegate</text><text x="{left + right / 2}" y="14">{word}</text></g></svg>\n'
    )


def make_page(reports: list[Read], out: Path) -> str:
    names = [place.name for place in PATH if any(place.name in report.cells for report in reports)]
    heads = "".join(f'<th scope="col">{head_of(report, out)}</th>' for report in reports)
    rows = "".join(
        f'<tr><th scope="row">{name.replace("_", " ")}</th>'
        f"{''.join(cell_of(name, report, before(report, reports), out) for report in reports)}</tr>"
        for name in names
    )
    body = f"""<main>
<h1>Engines and components</h1>
<div class="scroll" tabindex="0" role="region" aria-label="Engines and components"><table class="matrix engines">
<thead><tr><th scope="col">component</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>
<p class="hint">How many cases passed; or how many of them failed. An arrow: what it was in an earlier report.</p>
</main>"""
    return make_file("matrix", "Engines and components", body)


def head_of(report: Read, out: Path) -> str:
    word, tone = report.conclusion
    interrupted = "" if report.complete else " (interrupted)"
    return (
        f'<a href="{link_to(report, out)}">{html.escape(report.engine)}</a><br>'
        f'<span class="soft">seed {html.escape(str(report.seed))}</span><br><b class="{tone}">{word}{interrupted}</b>'
    )


def before(report: Read, reports: Iterable[Read]) -> Read | None:
    """The report of the same engine that was named last before this one."""
    found = None
    for other in reports:
        if other is report:
            return found
        if other.engine == report.engine:
            found = other
    return None


def cell_of(name: str, report: Read, earlier: Read | None, out: Path) -> str:
    cell = report.cells.get(name)
    old = earlier.cells.get(name) if earlier else None
    was = "" if earlier is None or (old and old.tone) == (cell and cell.tone) else was_text(old)
    if cell is None:
        return f'<td class="none" title="not declared, or not tried">{was}</td>'
    title = f"{name}: {cell.passed:,} passed, {cell.wrong:,} wrong, {cell.open:,} open"
    return f'<td class="{cell.tone}" title="{title}"><a href="{link_to(report, out)}">{cell.text}</a>{was}</td>'


def was_text(old: Cell | None) -> str:
    return f' <span class="was">← {old.text if old else "not tried"}</span>'


def link_to(report: Read, out: Path) -> str:
    """The page of a report, from where the matrix is."""
    relative = Path(os.path.relpath(report.path.resolve() / PAGE, out.resolve()))
    return html.escape(relative.as_posix(), quote=True)
