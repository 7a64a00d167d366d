"""The matrix as a page, with the differences between two reports of one engine; and badges."""

import html
import os
import re
from collections.abc import Sequence
from pathlib import Path

from tidegate.conformance.reports.folder import PAGE
from tidegate.conformance.reports.writing import write_whole
from tidegate.conformance.web.matrix.columns import BAD, GOOD, OPEN, Cell, Column, Read, make_columns, rows_of
from tidegate.conformance.web.matrix.document import make_document
from tidegate.conformance.web.one_file import make_file

COLOURS = {GOOD: "#1b7a4b", BAD: "#b3261e", OPEN: "#8a5a00"}
DOCUMENT = "matrix.md"
TITLE = "Engines and components"


def write_matrix(reports: Sequence[Read], out: Path, title: str = TITLE, document: Path | None = None) -> list[Path]:
    """Write the page, the document and the badges. Returns every written file."""
    columns = make_columns(reports)
    (out / "badges").mkdir(parents=True, exist_ok=True)
    written = [out / PAGE, document or out / DOCUMENT]
    write_whole(written[0], make_page(columns, out, title).encode())
    write_whole(written[1], make_document(columns, title).encode())
    for number, column in enumerate(columns):
        slug = re.sub(r"[^a-z0-9.]+", "-", column.engine.lower()).strip("-.")[:60] or "engine"
        written.append(out / "badges" / f"{number + 1}-{slug}.svg")
        write_whole(written[-1], make_badge(*column.conclusion).encode())
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


def make_page(columns: Sequence[Column], out: Path, title: str = TITLE) -> str:
    heads = "".join(f'<th scope="col">{head_of(column, out)}</th>' for column in columns)
    rows = "".join(
        f'<tr><th scope="row" id="{name.replace(" ", "-")}">{row_link(name)}</th>'
        f"{''.join(cell_of(name, column, before(column, columns), out) for column in columns)}</tr>"
        for name in rows_of(columns)
    )
    body = f"""<main>
<h1>{html.escape(title)}</h1>
<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(title)}"><table class="matrix engines">
<thead><tr><th scope="col">component</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>
<p class="hint">How many cases passed; or how many of them failed. Each cell leads to its report. <b>known</b>: failures
that were expected, with the reason where the pointer rests. An arrow: what it was in an earlier report.</p>
{differences_of(columns)}</main>"""
    return make_file("matrix", title, body)


def row_link(name: str) -> str:
    """A link to a row, with a stable address."""
    return f'<a href="#{name.replace(" ", "-")}">{name.replace("_", " ")}</a>'


def head_of(column: Column, out: Path) -> str:
    word, tone = column.conclusion
    interrupted = "" if column.complete else " (interrupted)"
    seeds = ", ".join(dict.fromkeys(report.seed for report in column.reports))
    return (
        f'<a href="{link_to(column.reports[0], out)}">{html.escape(column.engine)}</a><br>'
        f'<span class="soft">seed {html.escape(seeds)}</span><br><b class="{tone}">{word}{interrupted}</b>'
    )


def before(column: Column, columns: Sequence[Column]) -> Column | None:
    """The previous column of the same engine."""
    found = None
    for other in columns:
        if other is column:
            return found
        if other.engine == column.engine:
            found = other
    return None


def cell_of(name: str, column: Column, earlier: Column | None, out: Path) -> str:
    found, old = column.find(name), earlier.find(name) if earlier else None
    is_alike = (old and old[0].tone) == (found and found[0].tone)
    was = "" if earlier is None or is_alike else was_text(old[0] if old else None)
    if found is None:
        return f'<td class="none" title="not declared, or not run">{was}</td>'
    cell, report = found
    known = "".join(f"; {count:,} known: {reason}" for reason, count in cell.known.items())
    title = f"{name}: {cell.passed:,} passed, {cell.wrong:,} wrong, {cell.open:,} open{known}"
    link = f'<a href="{link_to(report, out)}#{name.replace(" ", "-")}">{cell.text}</a>'
    return f'<td class="{cell.tone}" title="{html.escape(title, quote=True)}">{link}{was}</td>'


def was_text(old: Cell | None) -> str:
    return f' <span class="was">← {old.text if old else "not run"}</span>'


def differences_of(columns: Sequence[Column]) -> str:
    """The reasons for known differences, for users who cannot hover."""
    told = []
    for column in columns:
        for name in rows_of([column]):
            found = column.find(name)
            for reason, count in (found[0].known if found else {}).items():
                place = f"<b>{html.escape(column.engine)}</b>, {name.replace('_', ' ')}"
                told.append(f"<li>{place}: {count:,} cases, {html.escape(reason)}</li>")
    return f"<section><h2>Known differences</h2><ul>{''.join(told)}</ul></section>" if told else ""


def link_to(report: Read, out: Path) -> str:
    """The link from the matrix to the page of a report."""
    relative = Path(os.path.relpath(report.path.resolve() / PAGE, out.resolve()))
    return html.escape(relative.as_posix(), quote=True)
