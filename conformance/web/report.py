"""The page of a report: a single file that opens from disk, with all findings and no other resources.

Answers of engines are data in it, never markup, and its policy only runs our own script. Findings are packed, so that
the file stays small; the page unpacks the ones that a reader opens.
"""

import base64
import html
import json
import zlib
from collections.abc import Iterable
from typing import Any

from tidegate import __version__
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.result import Counterexample, Result
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.reports.findings import UNANSWERED
from tidegate.conformance.web.one_file import as_data, bundle, make_file
from tidegate.conformance.web.playing import answer
from tidegate.reference.components import PATH
from tidegate.reference.rules import all_rules
from tidegate.traces.codec import encode
from tidegate.traces.notation.text import write_observation, write_trace

#: Limit for findings on a page, listed and packed; report.jsonl has all of them.
MAX_FINDINGS_BYTES = 4_200_000
#: Characters of findings that are packed together, roughly: a click unpacks no more.
TOGETHER = 80_000
#: A trace with more events is not drawn.
MAX_DRAWN = 200


def make_page(result: Result, lines: Iterable[str], seed: int = 0, command: str = "") -> str:
    """The page of a run; `lines` are all lines of its report, with header and footer."""
    findings, blocks, index, left = pack(lines)
    data = {
        **result.json(),
        "suite": __version__,
        "seed": seed,
        "command": printable(command),
        "engine": printable(result.engine),
        "path": [place.name for place in PATH],
        "counterexamples": [describe(one) for one in result.counterexamples],
        "rules": describe_rules(),
        "left": left,
        "blocks": blocks,
    }
    title = f"{data['engine']} is {result.conclusion}"
    body = f"""<main id="main"><h1>{html.escape(title)}</h1>
<noscript>This page needs JavaScript; summary.md does not.</noscript></main>
<script type="application/json" id="result">{as_data(data)}</script>
<script type="application/json" id="index">{as_data(index)}</script>
<script type="application/octet-stream" id="findings">{findings}</script>"""
    return make_file("report", title, body, bundle("report.js"))


def describe_rules() -> dict[str, Any]:
    return {
        rule.id: {"text": rule.text, "intent": rule.intent, "source": rule.source, "held": rule.is_judged}
        for rule in all_rules().values()
    }


# --- findings ---------------------------------------------------------------------------------------------------


def pack(lines: Iterable[str]) -> tuple[str, list[int], list[list[Any]], int]:
    """Pack the findings for the page: blocks with evidence, a line each; the first finding of each block; all findings
    in a few words; and how many are left out.
    """
    packed: list[str] = []
    begins = [0]
    together: list[str] = []
    index: list[list[Any]] = []
    left = taken = letters = 0
    for line in lines:
        finding = json.loads(line)
        if finding.get("verdict") in (None, Status.PASS, Status.SKIP):
            continue
        if taken > MAX_FINDINGS_BYTES:
            left += 1
            continue
        together.append(line.strip())
        letters += len(line)
        rules = finding["rules"]
        about = finding["component"], finding["stage"], finding["verdict"], rules[0] if rules else ""
        index.append([*about, shortened(finding["trace"]), shortened(finding["message"])])
        taken += len(as_data(index[-1]).encode())
        if letters > TOGETHER:
            packed.append(pack_block(together))
            taken += len(packed[-1])
            begins.append(len(index))
            together, letters = [], 0
    packed.append(pack_block(together))
    return "\n".join(packed), begins, index, left


def pack_block(lines: list[str]) -> str:
    return base64.b64encode(zlib.compress("\n".join(lines).encode())).decode()


def shortened(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def describe(one: Counterexample) -> dict[str, Any]:
    """A counterexample with its picture: the specification's states, and the answers seen instead."""
    finding = one.finding
    case, violation = one.verdict.case, one.verdict.violation
    picture = None
    if len(case.events) <= MAX_DRAWN:
        picture = draw(case.component, encode(case.config), trace_of(one))
    if picture is not None and finding.step is not None:
        failed = picture["steps"][finding.step]
        if violation is None:
            failed["seen"] = [UNANSWERED.get(finding.result, finding.result)]
        else:
            failed["seen"] = [printable(write_observation(seen)) for seen in violation.seen]
            failed["allowed"] = [
                {"observations": [write_observation(seen) for seen in allowed.observations], "rules": allowed.rules}
                for allowed in violation.allowed
            ]
    return {**one.json(), "title": finding.title, "picture": picture}


def draw(component: str, config: Any, trace: str) -> dict[str, Any] | None:
    """The states and steps of a trace; None if it cannot be played."""
    played = answer({"ask": "play", "component": component, "config": config, "trace": trace})
    if "error" in played or len(played["steps"]) > MAX_DRAWN:
        return None
    steps = [
        {"event": step["event"], "json": step["json"], **step["outcomes"][0], "choice": len(step["outcomes"])}
        for step in played["steps"]
    ]
    states = [played["starts"][0]["state"], *(step.pop("state") for step in steps)]
    return {"states": states, "steps": steps, **({"names": played["names"]} if "names" in played else {})}


def trace_of(one: Counterexample) -> str:
    return write_trace(one.verdict.case.component, one.verdict.case.events)
