"""What an audit found: in a run, as a value that can be sent from a worker to the driver, and in all of them."""

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


#: The parts of files with the rows around a violation, for one distance after the other; None: any may have them.
Near = tuple[tuple[Span, ...] | None, ...]


@attrs.define
class Outcome:
    """Of one run. With a problem, nothing that was counted until then is kept.

    `near`: of the first findings of each invariant, if it was noted where their rows stand.
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
    """Of all runs. `path`: how they were read. `excerpts`: the events around the first violations of each invariant."""

    outcomes: tuple[Outcome, ...]
    path: str
    excerpts: tuple[Excerpt, ...] = ()

    @property
    def exit(self) -> Exit:
        """What could not be audited leaves the answer open, unless nothing could be: then the input is bad."""
        if self.violated:
            return Exit.VIOLATIONS
        if len(self.problems) == len(self.outcomes):
            return Exit.BAD_INPUT
        return Exit.UNDETERMINED if self.problems or self.empty or self.unexercised() else Exit.CONFORMANT

    @property
    def empty(self) -> list[Outcome]:
        """Runs that could be read, and of which nothing is known."""
        return [one for one in self.outcomes if not one.problem and not one.rows]

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.outcomes)

    @property
    def problems(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.problem]

    def tally(self, invariant: str) -> Tally:
        """Over all runs."""
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
        """Invariants that could have been looked at, and met nothing to look at."""
        looked = [one for one in self.outcomes if not one.problem]
        able = [name for name in NAMES if any(name in one.tallies for one in looked)]
        return [name for name in able if not self.tally(name).checked]


# --- on the way -----------------------------------------------------------------------------------------------


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
