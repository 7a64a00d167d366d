"""The result of a run, as a table or as JSON."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs

from tests.mutation.explained import Entry, explain
from tests.mutation.parts import CLAIM, MODEL
from tests.mutation.running import Result
from tests.mutation.sites import Mutation

MOST_UNUSED = 20


INTRODUCTION = (
    "# Mutation testing of the reference",
    "",
    "The reference decides what is right, so what holds the reference in place? One small change at a time is made to",
    "its code, and golden traces, what real Flink was seen to do, the independent engines of the museum, laws,",
    "properties and the tests of `tests/reference` are run until something fails. A change that nothing notices",
    "survives. `make mutation` repeats this; `python -m tests.mutation --write` writes this page.",
    "",
)
#: What a page says of a run that was not of everything.
PART = (
    "This run was of the modules that are listed, and of no others; [the whole run](mutation.md) is older than these.",
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
            "stale": [{**attrs.asdict(entry), "why": why} for entry, why in self.stale],
            "unused_checks": [{"check": name, "why": why} for name, why in self.unused],
            "seconds": round(self.seconds, 1),
        }

    def as_page(self, *, whole: bool = True) -> str:
        """The page of the documentation; it says nothing of time, so that it changes only with the result."""
        tables = ["module", "mutants", "noticed", "survived", "explained", "score"]
        total, noticed = self.total, self.total.killed + self.total.timeout
        parts = {"the model": self.by_part()[MODEL], "claims": self.by_part()[CLAIM], "**all**": total}
        rows = [make_row(f"`{path}`", one) for path, one in self.by_module().items()]
        rows += [make_row(name, one) for name, one in parts.items()]
        lines = [
            *INTRODUCTION,
            *(() if whole else PART),
            f"Of {total.mutants:,} mutants {noticed:,} are noticed and {total.survived:,} survive. {total.explained:,}",
            f"of these change nothing that could be seen; without them the score is {total.score:.2f} %, with them",
            f"{total.raw_score:.2f} %.",
            "",
            f"| {' | '.join(tables)} |",
            f"|{'---|' + '---:|' * (len(tables) - 1)}",
            *rows,
            "",
            "## Survivors that are explained",
            "",
            *list_explained(self.survivors()),
            "",
            "## Other survivors",
            "",
            *([f"- {describe(result.mutation)}" for result, why in self.survivors() if why is None] or ["None."]),
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
        if self.stale:
            lines += ["", "Stale entries of equivalent.toml:"]
            lines += [f"  {entry}: {why}" for entry, why in self.stale]
        if self.unused:
            lines += ["", "Checks that fail on the right reference, and were not used:"]
            lines += [f"  {name}: {why[:200]}" for name, why in self.unused[:MOST_UNUSED]]
            if len(self.unused) > MOST_UNUSED:
                lines.append(f"  … and {len(self.unused) - MOST_UNUSED} more")
        return lines


def make_row(name: str, one: Tally) -> str:
    counts = (one.mutants, one.killed + one.timeout, one.survived, one.explained)
    return f"| {name} | {' | '.join(f'{count:,}' for count in counts)} | {one.score:.2f} |"


def list_explained(survivors: list[tuple[Result, str | None]]) -> Iterator[str]:
    """By reason, in the order of the first survivor that it is given for."""
    by_reason: dict[str, list[Result]] = {}
    for result, reason in survivors:
        if reason is not None:
            by_reason.setdefault(reason, []).append(result)
    for reason, results in by_reason.items():
        yield f"- {reason}"
        yield from (f"  - {describe(result.mutation)}" for result in results)
    if not by_reason:
        yield "None."


def describe(mutation: Mutation) -> str:
    """Without its line, which moves with every edit above it."""
    return f"`{mutation.path}` {mutation.within}: `{mutation.before}` → `{mutation.after}`"


def with_scores(one: Tally) -> dict[str, Any]:
    return {**attrs.asdict(one), "score": one.score, "raw_score": one.raw_score}


def show(mutation: Mutation) -> list[str]:
    """The line, then the change as `equivalent.toml` would name it, then its source."""
    name = f"{mutation.path} {mutation.within}: {mutation.operator} #{mutation.ordinal}"
    return [f"  line {mutation.line} of {name}", f"    - {mutation.before}", f"    + {mutation.after}"]
