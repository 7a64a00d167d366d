"""The outcome of an audit: of one run, as a value that workers send to the driver, and of all runs."""

import json
from typing import Any

import attrs

from tidegate.conformance.audit.excerpts import Excerpt
from tidegate.conformance.audit.reading import Span
from tidegate.conformance.exits import Exit
from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.runlog import INVARIANTS
from tidegate.traces.runlog import Direction, Kind

NAMES = tuple(one.id for one in INVARIANTS)


#: File ranges that hold the rows around a violation, per distance; None if unknown.
Near = tuple[tuple[Span, ...] | None, ...]


@attrs.define
class Outcome:
    """The outcome of one run. With a problem, all counts are dropped.

    `near`: file ranges of the first findings of each invariant, if they were recorded.
    """

    run: str
    paths: tuple[str, ...]
    rows: int = 0
    tallies: dict[str, Tally] = attrs.Factory(dict)
    skipped: dict[str, str] = attrs.Factory(dict)
    problem: str = ""
    near: dict[str, list[Near]] = attrs.Factory(dict)


@attrs.frozen
class Report:
    """All runs. `path`: how they were read. `excerpts`: the events around the first violations of each invariant."""

    outcomes: tuple[Outcome, ...]
    path: str
    excerpts: tuple[Excerpt, ...] = ()

    @property
    def exit(self) -> Exit:
        """Problems make the result undetermined; if nothing could be audited, the input is bad."""
        if self.violated:
            return Exit.VIOLATIONS
        if len(self.problems) == len(self.outcomes):
            return Exit.BAD_INPUT
        return Exit.UNDETERMINED if self.problems or self.empty or self.unexercised() else Exit.CONFORMANT

    @property
    def empty(self) -> list[Outcome]:
        """Readable runs without any events."""
        return [one for one in self.outcomes if not one.problem and not one.rows]

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.outcomes)

    @property
    def problems(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.problem]

    def tally(self, invariant: str) -> Tally:
        """Totals over all runs."""
        total = Tally()
        for outcome in self.outcomes:
            if invariant in outcome.tallies:
                total.merge(outcome.tallies[invariant])
        return total

    def skipped(self, invariant: str) -> int:
        return sum(invariant in one.skipped for one in self.outcomes)

    def reasons(self, invariant: str) -> list[str]:
        return sorted({one.skipped[invariant] for one in self.outcomes if invariant in one.skipped})

    @property
    def violated(self) -> int:
        return sum(tally.violated for one in self.outcomes for tally in one.tallies.values())

    def unexercised(self) -> list[str]:
        """Invariants that were checked, but met nothing to check."""
        looked = [one for one in self.outcomes if not one.problem]
        able = [name for name in NAMES if any(name in one.tallies for one in looked)]
        return [name for name in able if not self.tally(name).checked]


# --- progress -------------------------------------------------------------------------------------------------


def to_json(outcome: Outcome) -> str:
    return json.dumps(attrs.asdict(outcome), ensure_ascii=False)


def from_json(text: str) -> Outcome:
    made: dict[str, Any] = json.loads(text)
    made["paths"] = tuple(made["paths"])
    made["near"] = {name: [make_near(one) for one in nears] for name, nears in made["near"].items()}
    made["tallies"] = {name: make_tally(tally) for name, tally in made["tallies"].items()}
    return Outcome(**made)


def make_near(made: list[Any]) -> Near:
    return tuple(None if spans is None else tuple(make_span(one) for one in spans) for spans in made)


def make_span(made: dict[str, Any]) -> Span:
    return Span(**{**made, "groups": tuple(made["groups"])})


def make_tally(made: dict[str, Any]) -> Tally:
    return Tally(**{**made, "findings": [make_finding(one) for one in made["findings"]]})


def make_finding(made: dict[str, Any]) -> Finding:
    edge, producer, consumer = made["channel"]
    places = {"direction": Direction(made["direction"]), "kind": Kind(made["kind"])}
    return Finding(**{**made, "channel": (edge, producer, consumer), **places})
