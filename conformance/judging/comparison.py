"""What a comparison of engines has found: where they disagree, and which engine the specification sides with."""

from collections import Counter
from typing import Any

import attrs

from tidegate.conformance.engines.text import command_line, printable
from tidegate.conformance.exits import Exit
from tidegate.conformance.reports.summary import Summary, Told

AGREED, FREE, DIVERGED, UNANSWERED, NOT_RUN = "agreed", "free", "diverged", "unanswered", "not run"
#: The outcomes of a case, in the order of reports.
OUTCOMES = (AGREED, FREE, DIVERGED, UNANSWERED, NOT_RUN)
#: What a reader must know about some outcomes.
MEANINGS = {
    FREE: "the answers differ, and the specification allows each of them.",
    UNANSWERED: "all engines failed in the same way, which is no agreement.",
    NOT_RUN: "an engine was given up before.",
}


@attrs.frozen
class Answer:
    """What one engine showed at the first step where they differ, and whether the specification allows its answers."""

    engine: str
    seen: str
    allowed: bool
    result: str


@attrs.frozen
class Divergence:
    """A shrunken disagreement in words. `cases` counts those of its kind."""

    component: str
    case: str
    config: str
    trace: str
    step: int
    event: str
    answers: tuple[Answer, ...]
    sides: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]
    allowed: tuple[str, ...]
    cases: int
    replays: int
    reproduce: str

    def text(self) -> str:
        cause = self.rules[0][0] if self.rules else next(one.result for one in self.answers if not one.allowed)
        lines = [f"{self.component}: the engines disagree on {cause}"]
        lines += [f"  {rule}: {text}" for rule, text in self.rules]
        lines += [
            f"  config    {self.config}",
            f"  trace     {self.trace}",
            f"  at step   {self.step + 1}, {self.event}",
        ]
        for answer in self.answers:
            lines += [f"  {'allowed' if answer.allowed else answer.result:9} {answer.engine}: {answer.seen}"]
        if self.allowed:
            shown = " | ".join(self.allowed[:6])
            lines.append(f"  the specification allows {shown}{' | …' if len(self.allowed) > 6 else ''}")
        sides = f"sides with {', '.join(self.sides)}" if self.sides else "sides with none of them"
        lines.append(f"  the specification {sides}")
        lines.append(f"  found in {self.cases} case{'s' * (self.cases != 1)}")
        return "\n".join([*lines, f"  reproduce {self.reproduce}"])

    def __str__(self) -> str:
        return self.text()


def reproduction(engines: tuple[str, ...], component: str, config: str, trace: str) -> str:
    """The command that compares the engines on this one trace."""
    words = ["tidegate", "diff", *(word for name in engines for word in ("--engine", name))]
    return command_line([*words, "--component", component, "--config", config, "--trace", trace])


@attrs.frozen(kw_only=True)
class Comparison(Told):
    """`counts` has the number of cases per component and outcome, `left_out` why a component was not compared."""

    CONCLUSIONS = {  # noqa: RUF012 - nobody changes it
        Exit.CONFORMANT: "the engines agree",
        Exit.VIOLATIONS: "the engines disagree",
        Exit.UNDETERMINED: "undetermined",
    }
    engines: tuple[str, ...]
    counts: Counter[tuple[str, str]]
    divergences: tuple[Divergence, ...]
    left_out: dict[str, str]
    complete: bool

    def count(self, outcome: str) -> int:
        return sum(count for (_component, one), count in self.counts.items() if one == outcome)

    @property
    def exit_code(self) -> Exit:
        if self.count(DIVERGED):
            return Exit.VIOLATIONS
        if not self.complete or self.count(UNANSWERED) or self.count(NOT_RUN) or not self.counts:
            return Exit.UNDETERMINED
        return Exit.CONFORMANT

    def rows(self) -> list[tuple[str, dict[str, int]]]:
        """The number of cases of each outcome, per component."""
        components = dict.fromkeys(component for component, _outcome in self.counts)
        return [(one, {outcome: self.counts[one, outcome] for outcome in OUTCOMES}) for one in components]

    def notes(self) -> list[str]:
        said = [] if self.complete else ["It was interrupted: this is what was known by then."]
        for why in dict.fromkeys(self.left_out.values()):
            names = ", ".join(printable(name) for name, reason in self.left_out.items() if reason == why)
            said.append(f"Not compared: {names} ({why}).")
        if not self.counts:
            said.append("No case was compared: the engines have nothing in common that the specification knows.")
        return said + [f"{outcome}: {meaning}" for outcome, meaning in MEANINGS.items() if self.count(outcome)]

    def summary(self) -> Summary:
        shown = [one for one in OUTCOMES if one in (AGREED, DIVERGED) or self.count(one)]
        counts = ", ".join(f"{self.count(one)} {one}" for one in shown)
        return Summary(
            title="Differences",
            about=tuple(printable(name) for name in self.engines),
            header=("component", *shown),
            rows=tuple((component, *(counts[one] for one in shown)) for component, counts in self.rows()),
            findings=tuple(map(str, self.divergences)),
            notes=tuple(self.notes()),
            conclusion=f"{self.conclusion}: {self.counts.total()} cases, {counts}",
            exit_code=self.exit_code,
        )

    def json(self) -> dict[str, Any]:
        return {
            "engines": list(self.engines),
            "conclusion": self.conclusion,
            "exit": int(self.exit_code),
            "complete": self.complete,
            "cases": self.counts.total(),
            "counts": [{"component": one, **counts} for one, counts in self.rows()],
            "divergences": [attrs.asdict(one) for one in self.divergences],
            "not_compared": self.left_out,
        }
