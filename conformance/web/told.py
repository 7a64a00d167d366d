"""The page of a command with a summary: `diff`, `smoke`, `museum`. A single file that opens from disk."""

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs

from tidegate import __version__
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.comparison import Comparison
from tidegate.conformance.judging.smoke import Smoked
from tidegate.conformance.reports.summary import Summary
from tidegate.conformance.reports.writing import write_whole, writing
from tidegate.conformance.web.one_file import as_data, bundle, make_file
from tidegate.conformance.web.report import describe_rules, draw
from tidegate.conformance.web.serving import HOST, PORT


@attrs.frozen
class Drawn:
    """A trace to draw beside a finding; `step` counts from 0, `seen` has its observations.

    `right` has the indices of the allowed ones in `seen`.
    """

    component: str
    config: Any
    trace: str
    step: int | None
    seen: tuple[str, ...]
    right: tuple[int, ...] = ()


def drawn_of(told: Comparison | Smoked) -> list[Drawn]:
    """The trace of each finding of a summary, in its order."""
    if isinstance(told, Comparison):
        return [
            Drawn(
                component=one.component,
                config=json.loads(one.config),
                trace=one.trace,
                step=one.step,
                seen=tuple(f"{answer.seen} · {answer.engine}" for answer in one.answers),
                right=tuple(number for number, answer in enumerate(one.answers) if answer.allowed),
            )
            for one in told.divergences
        ]
    return [
        Drawn(one.component, json.loads(one.config), one.trace, one.step, (one.seen,)) for one, _line in told.findings()
    ]


def write_page(folder: Path, kind: str, summary: Summary, drawn: Sequence[Drawn] = (), command: str = "") -> None:
    """Write index.html and summary.md, and replace older ones."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "summary.md", summary.markdown().encode())
        write_whole(folder / "index.html", make_page(kind, summary, drawn, command).encode())


def make_page(kind: str, summary: Summary, drawn: Sequence[Drawn] = (), command: str = "") -> str:
    shown = [describe(one) for one in drawn] or [{}] * len(summary.findings)
    data = {
        "title": summary.title,
        "about": summary.about,
        "conclusion": summary.conclusion,
        "suite": __version__,
        "command": printable(command),
        "exit": int(summary.exit_code),
        "header": summary.header,
        "rows": summary.rows,
        "notes": summary.notes,
        "findings": [{"text": text, **more} for text, more in zip(summary.findings, shown, strict=True)],
        "rules": describe_rules() if drawn else {},
    }
    body = f"""<main id="main"><h1>{html.escape(summary.conclusion)}</h1>
<noscript>This page needs JavaScript; summary.md does not.</noscript></main>
<script type="application/json" id="told">{as_data(data)}</script>"""
    return make_file(kind, summary.conclusion, body, bundle("told.js"))


def describe(one: Drawn) -> dict[str, Any]:
    """The picture of a trace, and its link to the playground."""
    config = json.dumps(one.config, separators=(",", ":"))
    place = f"{one.component}?config={quote(config, safe='')}&trace={quote(one.trace, safe='')}"
    link = f"http://{HOST}:{PORT}/#{place}"
    picture = draw(one.component, one.config, one.trace)
    described = {"link": link, "component": one.component, "picture": picture, "config": one.config}
    if picture is None or one.step is None:
        return described
    picture["steps"][one.step] |= {"seen": [printable(text) for text in one.seen], "right": one.right}
    return described | {"step": one.step + 1}
