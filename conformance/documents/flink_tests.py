"""The page about Flink's own unit tests: which ones the rules cover, and why others are not covered.

The data is `flink_tests.toml`: a table per class, and a line per method with its status, its rules or the key of a
reason.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from importlib.resources import files

import attrs

from tidegate.reference.rules import all_rules

LATER = "2.4"


class Coverage(StrEnum):
    COVERED = "covered"
    PARTLY = "partly"
    MISSING = "missing"
    OUT_OF_SCOPE = "out-of-scope"


@attrs.frozen
class FlinkTest:
    """`later`: only releases after 2.3 have it."""

    place: str
    method: str
    coverage: Coverage
    rules: tuple[str, ...]
    why: str
    later: bool


@cache
def read_tests() -> tuple[FlinkTest, ...]:
    tables = tomllib.loads(files(__package__).joinpath("flink_tests.toml").read_text(encoding="utf-8"))
    reasons = tables["reasons"]
    return tuple(
        parse(place, method, text, reasons)
        for place, methods in tables["tests"].items()
        for method, text in methods.items()
    )


def parse(place: str, method: str, text: str, reasons: dict[str, str]) -> FlinkTest:
    """`partly PART-9; not-shown; 2.4`. KeyError or ValueError if the reason or coverage is unknown."""
    words, *more = (part.strip() for part in text.split(";"))
    coverage, *rules = words.split()
    why = [reasons[key] for key in more if key != LATER]
    return FlinkTest(place, method, Coverage(coverage), tuple(rules), " ".join(why), LATER in more)


def flink_tests_page(made: str) -> str:
    tests = read_tests()
    present = [one for one in tests if not one.later]
    in_scope = [one for one in present if one.coverage is not Coverage.OUT_OF_SCOPE]
    counts = Counter(one.coverage for one in present)
    summary = (
        f"{len(tests)} test methods of Flink are about the exchange, in {len(by_class(tests))} classes; 2.3.0 has "
        f"{len(present)} of them, {len(in_scope)} in scope: {counts[Coverage.COVERED]} are covered by the rules named, "
        f"{counts[Coverage.PARTLY]} in part, {counts[Coverage.MISSING]} are missing. The table says why. "
        "This page has only their names; see Flink for their assertions."
    )
    lines = [made, "# Flink's own unit tests", "", summary, ""]
    lines += ["| class | methods | covered | partly | missing | out of scope |", "|---|---:|---:|---:|---:|---:|"]
    for place, methods in by_class(tests).items():
        numbers = Counter(one.coverage for one in methods)
        cells = " | ".join(str(numbers[one]) for one in Coverage)
        lines.append(f"| [{place}](#{place.lower()}) | {len(methods)} | {cells} |")
    for place, methods in by_class(tests).items():
        lines += ["", f"## {place}", "", "| method | status | rules | why not |", "|---|---|---|---|"]
        lines += [row(one) for one in methods]
    return "\n".join(lines) + "\n"


def by_class(tests: Iterable[FlinkTest]) -> dict[str, list[FlinkTest]]:
    found: dict[str, list[FlinkTest]] = {}
    for one in tests:
        found.setdefault(one.place, []).append(one)
    return found


def row(test: FlinkTest) -> str:
    pages = [f"[{rule}](semantics/{all_rules()[rule].components[0]}.md)" for rule in test.rules]
    name = f"{test.method} (since {LATER})" if test.later else test.method
    return f"| {name} | {test.coverage.replace('-', ' ')} | {', '.join(pages)} | {test.why} |"
