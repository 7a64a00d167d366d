"""The result of a run, as a table or as JSON."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import attrs

from tests.mutation.explained import Entry, explain
from tests.mutation.parts import CLAIM, MODEL
from tests.mutation.running import Result
from tests.mutation.sites import Mutation

MOST_UNUSED = 20
#: Of the table of the page, and its other headings.
COLUMNS = ("module", "mutants", "noticed", "survived", "explained", "score", "on")
OTHERS = "Survivors without an explanation"


INTRODUCTION = (
    "# Mutation testing of the reference",
    "",
    "The reference decides what is right, so what holds the reference in place? One small change at a time is made to",
    "its code, and golden traces, what real Flink was seen to do, the independent engines of the museum, laws,",
    "properties and the tests of `tests/reference` are run until something fails. A change that nothing notices",
    "survives. `make mutation` repeats this; `python -m tests.mutation --write` writes this page. Survivors that",
    "change nothing that could be seen stand in `tests/mutation/equivalent.toml`, each with its reason.",
    "",
)


@attrs.frozen
class Tally:
    """`explained` are survivors, too; the score leaves them out, the raw score does not."""

    mutants: int
    killed: int
    timeout: int
    survived: int
    explained: int

    @property
    def raw_score(self) -> float:
        return percent(self.killed + self.timeout, self.mutants)

    @property
    def score(self) -> float:
        return percent(self.killed + self.timeout, self.mutants - self.explained)


def percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 100.0


def tally(results: list[Result], entries: list[Entry]) -> Tally:
    statuses = Counter(result.status for result in results)
    survivors = [result for result in results if result.status == "survived"]
    explained = sum(explain(result.mutation, entries) is not None for result in survivors)
    return Tally(len(results), statuses["killed"], statuses["timeout"], len(survivors), explained)


@attrs.frozen
class Report:
    results: list[Result]
    entries: list[Entry]
    stale: list[tuple[Entry, str]]
    #: By module, how many mutants were not tried.
    untried: Counter[str]
    unused: list[tuple[str, str]]
    seconds: float

    @property
    def total(self) -> Tally:
        return tally(self.results, self.entries)

    def by_module(self) -> dict[str, Tally]:
        paths = sorted({result.mutation.path for result in self.results})
        return {
            path: tally([result for result in self.results if result.mutation.path == path], self.entries)
            for path in paths
        }

    def day_of(self, path: str) -> str:
        """The first day on which a mutant of the module was tried."""
        return min(result.day for result in self.results if result.mutation.path == path)

    def by_part(self) -> dict[str, Tally]:
        return {
            part: tally([result for result in self.results if result.mutation.part == part], self.entries)
            for part in (MODEL, CLAIM)
        }

    def survivors(self) -> list[tuple[Result, str | None]]:
        left = [result for result in self.results if result.status == "survived"]
        return [(result, explain(result.mutation, self.entries)) for result in left]

    def stages(self) -> dict[str, int]:
        return dict(Counter(result.stage or "crash" for result in self.results if result.status != "survived"))

    def as_json(self) -> dict[str, Any]:
        return {
            "total": with_scores(self.total),
            "modules": {path: with_scores(one) for path, one in self.by_module().items()},
            "parts": {part: with_scores(one) for part, one in self.by_part().items()},
            "stages": self.stages(),
            "survivors": [{**attrs.asdict(result.mutation), "reason": reason} for result, reason in self.survivors()],
            "untried": dict(self.untried),
            "stale": [{**attrs.asdict(entry), "why": why} for entry, why in self.stale],
            "unused_checks": [{"check": name, "why": why} for name, why in self.unused],
            "seconds": round(self.seconds, 1),
        }

    def as_page(self, before: str = "") -> str:
        """The page of the documentation; it says nothing of seconds, so that it changes only with the result.

        Of modules of which not all mutants were tried, what the page said before stays, with its day.
        """
        paths = {result.mutation.path for result in self.results} | {*self.untried}
        whole = {path for path in paths if not self.untried[path]}
        measured = [(path, one, self.day_of(path)) for path, one in self.by_module().items() if path in whole]
        rows = sorted([*measured, *(row for row in read_rows(before) if row[0] in paths - whole)])
        alone = [one.mutation for one, why in self.survivors() if why is None]
        found = [describe(one) for one in alone if one.path in whole]
        found += [text for text in read_survivors(before) if path_in(text) in paths - whole]
        total = add_up(one for _path, one, _day in rows)
        missing = sorted(paths - {path for path, *_ in rows})
        lines = [
            *INTRODUCTION,
            f"Of {total.mutants:,} mutants {total.killed:,} are noticed and {total.survived:,} survive.",
            f"{total.explained:,} of these change nothing that could be seen; without them the score is",
            f"{total.score:.2f} %, with them {total.raw_score:.2f} %.",
            "",
            "Each module was measured on the day in its row, as it was then; later changes are not in its figures.",
            *(f"Not measured: `{path}`." for path in missing),
            "",
            f"| {' | '.join(COLUMNS)} |",
            f"|{'---|' + '---:|' * (len(COLUMNS) - 1)}",
            *(make_row(f"`{path}`", one, day) for path, one, day in rows),
            make_row("**all**", total),
            "",
            f"## {OTHERS}",
            "",
            *([f"- {text}" for text in found] or ["None."]),
        ]
        return "\n".join(lines) + "\n"

    def as_text(self) -> str:
        return "\n".join([*self._table(), "", *self._notes()])

    def _table(self) -> list[str]:
        form = "{:<36} {:>7} {:>7} {:>8} {:>9} {:>10} {:>7} {:>7}"
        lines = [form.format("module", "mutants", "killed", "timeout", "survived", "explained", "score", "raw")]
        parts = {f"all of part {part}": one for part, one in self.by_part().items()}
        for path, one in [*self.by_module().items(), *parts.items(), ("all", self.total)]:
            counts = (one.mutants, one.killed, one.timeout, one.survived, one.explained)
            lines.append(form.format(path, *counts, f"{one.score:.2f}", f"{one.raw_score:.2f}"))
        return lines

    def _notes(self) -> list[str]:
        lines = ["caught first by: " + ", ".join(f"{stage} {count}" for stage, count in self.stages().items())]
        lines.append(f"{self.seconds:.0f} s")
        unexplained = [result.mutation for result, reason in self.survivors() if reason is None]
        explained = [(result.mutation, reason) for result, reason in self.survivors() if reason is not None]
        if unexplained:
            lines += ["", f"Survivors without an explanation: {len(unexplained)}"]
            lines += [line for one in unexplained for line in show(one)]
        if explained:
            lines += ["", f"Survivors with an explanation: {len(explained)}"]
            lines += [line for one, reason in explained for line in (*show(one), f"    because {reason}")]
        if self.untried:
            lines += ["", "Mutants that were not tried:"]
            lines += [f"  {path}: {count}" for path, count in sorted(self.untried.items())]
        if self.stale:
            lines += ["", "Stale entries of equivalent.toml:"]
            lines += [f"  {entry}: {why}" for entry, why in self.stale]
        if self.unused:
            lines += ["", "Checks that fail on the right reference, and were not used:"]
            lines += [f"  {name}: {why[:200]}" for name, why in self.unused[:MOST_UNUSED]]
            if len(self.unused) > MOST_UNUSED:
                lines.append(f"  … and {len(self.unused) - MOST_UNUSED} more")
        return lines


def make_row(name: str, one: Tally, day: str = "") -> str:
    counts = (one.mutants, one.killed + one.timeout, one.survived, one.explained)
    return f"| {name} | {' | '.join(f'{count:,}' for count in counts)} | {one.score:.2f} | {day} |"


# --- a page that there is -------------------------------------------------------------------------------------

#: Module, score, and the figures between them; the day may be missing.
ROW = re.compile(r"\| `(?P<path>\S+)` \| (?P<counts>[\d, |]+) \| [\d.]+ \| (?P<day>\S+) \|")


def read_rows(page: str) -> list[tuple[str, Tally, str]]:
    rows = []
    for found in filter(None, map(ROW.fullmatch, page.splitlines())):
        mutants, noticed, survived, explained = (int(one.replace(",", "")) for one in found["counts"].split(" | "))
        rows.append((found["path"], Tally(mutants, noticed, 0, survived, explained), found["day"]))
    return rows


def read_survivors(page: str) -> list[str]:
    """Each unexplained survivor that a page lists."""
    listed = page.partition(f"## {OTHERS}\n")[2]
    return [line.removeprefix("- ") for line in listed.splitlines() if line.startswith("- ")]


def path_in(text: str) -> str:
    return text.split("`")[1]


def add_up(tallies: Iterable[Tally]) -> Tally:
    """Mutants that ended by time count with those that were killed."""
    figures = [(one.mutants, one.killed + one.timeout, 0, one.survived, one.explained) for one in tallies]
    return Tally(*map(sum, zip(*figures, strict=True))) if figures else Tally(0, 0, 0, 0, 0)


def describe(mutation: Mutation) -> str:
    """Without its line, which moves with every edit above it."""
    return f"`{mutation.path}` {mutation.within}: `{mutation.before}` → `{mutation.after}`"


def with_scores(one: Tally) -> dict[str, Any]:
    return {**attrs.asdict(one), "score": one.score, "raw_score": one.raw_score}


def show(mutation: Mutation) -> list[str]:
    """The line, then the change as `equivalent.toml` would name it, then its source."""
    name = f"{mutation.path} {mutation.within}: {mutation.operator} #{mutation.ordinal}"
    return [f"  line {mutation.line} of {name}", f"    - {mutation.before}", f"    + {mutation.after}"]
