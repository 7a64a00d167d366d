"""The golden traces: for each component its directed traces, and generated ones that together exercise every rule.

The specification writes them, so that a file is enough to check an engine, and so that
a change of the specification shows as a change of these files.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.judging.expected import expect
from tidegate.conformance.judging.judge_fast import kinds_of
from tidegate.properties.drawing.cases import draw
from tidegate.properties.drawing.dice import Dice
from tidegate.properties.drawing.directed import directed
from tidegate.reference.components import COMPONENTS
from tidegate.traces.cases import Case
from tidegate.traces.files import open_traces, read_traces, write_traces

SEED = 2026
#: How many generated cases are considered, and how often each pair of rules and observations is kept.
DRAWN = 400
KEPT_EACH = 4
#: Longer cases are left to the generated stage.
MAX_EVENTS = 40
MAX_JSON_BYTES = 6_000
MAX_OBSERVATIONS = 200


def golden_folder() -> Path:
    return Path(str(files("tidegate.traces"))) / "golden"


def size_of_golden(component: str) -> int:
    """The bytes of the traces of a component: a measure of its size."""
    return (golden_folder() / f"{component}.jsonl.gz").stat().st_size


def make_golden(component: str) -> list[Case]:
    return [with_answers(one.case) for one in directed(component)] + list(select_generated(component))


def with_answers(case: Case) -> Case:
    answers, rules = expect(case)
    return attrs.evolve(case, expect=answers, rules=case.rules or rules)


def select_generated(component: str) -> Iterator[Case]:
    """Cases that show something new, or something shown too rarely so far."""
    shown: Counter[Any] = Counter()
    for index in range(DRAWN):
        drawn = draw(component, Dice(f"{SEED}/{component}/{index}"), f"{component}-golden-{index}")
        if len(drawn.events) > MAX_EVENTS or len(repr(drawn.events)) > MAX_JSON_BYTES:
            continue
        case = with_answers(attrs.evolve(drawn, brief=False))
        if case.expect is not None and sum(map(len, case.expect)) > MAX_OBSERVATIONS:
            continue
        new = [pair for pair in pairs_of(case) if shown[pair] < KEPT_EACH]
        if new:
            shown.update(new)
            yield case


def pairs_of(case: Case) -> set[Any]:
    return {(outcome.rules, kinds_of(outcome)) for outcome in case.follow()}


def write_golden(folder: Path) -> dict[str, Any]:
    """Write every file and the manifest; returns the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest: dict[str, Any] = {}
    for component in COMPONENTS:
        path = folder / f"{component}.jsonl.gz"
        cases = make_golden(component)
        write_traces(path, cases, SEED)
        manifest[path.name] = {"cases": len(cases), "sha256": digest(path)}
    text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return manifest


def digest(path: Path) -> str:
    """Digest of the content, because compression differs from machine to machine."""
    with open_traces(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


@cache
def read_golden(component: str) -> tuple[Case, ...]:
    path = golden_folder() / f"{component}.jsonl.gz"
    return tuple(read_traces(path)[1]) if path.exists() else ()


def name_golden(component: str) -> Iterator[str]:
    """Only their names, which takes a tenth of the time."""
    path = golden_folder() / f"{component}.jsonl.gz"
    if path.exists():
        with open_traces(path, "rb") as file:
            yield from (case["case"] for case in map(json.loads, file) if "case" in case)
