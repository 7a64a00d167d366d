"""The findings of a run, and the conclusion that they allow."""

from collections import Counter
from collections.abc import Container, Iterator
from functools import partial
from typing import Any

import attrs

from tidegate.conformance.engines.base import Description
from tidegate.conformance.engines.text import printable
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.blame import Blame
from tidegate.conformance.judging.coverage import Coverage, Pair
from tidegate.conformance.judging.expectations import FAILING, Failure
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Status, Verdict
from tidegate.conformance.reports.findings import Finding, describe
from tidegate.conformance.reports.summary import Paint, Summary, Told, plain

FORMAT = "tidegate-result/1"
#: How many names of a long list are printed.
FEW = 4
#: How many missing kinds of outcome of a rule are printed.
MOST_KINDS = 2


@attrs.frozen
class Counterexample:
    """A shrunken failing case. `replays` is how many cases the search for it took.

    `times` is how often it must run before it fails; None if it only fails after other cases.
    """

    engine: str
    verdict: Verdict
    replays: int
    times: int | None = 1

    @property
    def finding(self) -> Finding:
        """The same in words."""
        return describe(self.verdict, self.engine, is_cut=True, times=self.times)

    def json(self) -> dict[str, Any]:
        return {**self.finding.json(), "replays": self.replays}

    def text(self) -> str:
        return self.finding.text()

    def __str__(self) -> str:
        return self.text()


@attrs.frozen(kw_only=True, repr=False)
class Result(Told):
    """Everything that is known at the end of a run.

    `counts` has the number of cases per component, stage and status; `findings` are verdicts on cases that did
    not pass, some for each component, status and rule; `failures` are the names of all unexpected failures, unless
    there are very many. `counterexamples` are a few failures of each component, shrunken; `blames` are the diagnoses.
    `missing` are rules that were exercised too rarely to be known, `missing_pairs` kinds
    of outcome that never occurred. `claims` hold for components that passed all cases of a scope. `complete`
    is false after an interrupt.
    """

    engine: str
    description: Description
    counts: Counter[tuple[str, str, Status]]
    findings: tuple[Verdict, ...]
    failures: tuple[Failure, ...]
    counterexamples: tuple[Counterexample, ...]
    blames: tuple[Blame, ...]
    coverage: Coverage
    missing: tuple[str, ...]
    missing_pairs: tuple[Pair, ...]
    expectation_problems: tuple[str, ...]
    claims: tuple[str, ...]
    notes: tuple[str, ...]
    restarts: int
    seconds: float
    complete: bool

    def count(self, *statuses: Status) -> int:
        """How many cases have one of these statuses."""
        return sum(count for (_component, _stage, status), count in self.counts.items() if status in statuses)

    def why_no_expectations(self) -> str:
        """Why this result does not know every failure, so that a file of known failures would be incomplete."""
        if not self.complete:
            return "the run was interrupted"
        if left := self.count(Status.NOT_RUN):
            return f"{left} cases were not run"
        if (failed := self.count(*FAILING)) > len(self.failures):
            return f"{failed} failures are more than can be listed; list rules: `rule ID -- reason`"
        return ""

    @property
    def cases(self) -> int:
        """How many cases ran."""
        return self.counts.total() - self.count(Status.SKIP)

    @property
    def exit_code(self) -> Exit:
        """0 conformant, 1 violations, 2 undetermined: what `tidegate run` exits with."""
        if self.count(*VIOLATIONS) or self.expectation_problems:
            return Exit.VIOLATIONS
        if not self.complete or self.count(*UNDETERMINED) or self.missing or not self.cases:
            return Exit.UNDETERMINED
        return Exit.CONFORMANT

    def rows(self) -> list[tuple[str, str, dict[Status, int]]]:
        """How many cases of each status, per component and stage."""
        keys = dict.fromkeys((component, stage) for component, stage, _status in self.counts)
        return [
            (component, stage, {status: self.counts[component, stage, status] for status in Status})
            for component, stage in keys
        ]

    def undeclared(self) -> list[str]:
        """The components whose cases were all skipped: the engine does not declare them."""
        tried = {component for (component, _stage, status), n in self.counts.items() if n and status != Status.SKIP}
        return [name for name in dict.fromkeys(component for component, *_rest in self.counts) if name not in tried]

    def remarks(self, *, details: bool = True) -> list[str]:
        """What a reader must know besides the counts; without details, only the start of long lists."""
        few = partial(enumerated, most=None if details else FEW)
        said = []
        if not self.complete:
            said.append("The run was interrupted: this is what was known by then.")
        if self.missing:
            said.append(f"Exercised too rarely, so nothing is known about them: {few(self._missing_rules())}.")
        if self.missing_pairs:
            pairs = by_rule(self.missing_pairs, details=details)
            said.append(f"Partially covered (some outcomes never occurred): {few(pairs)}.")
        if undeclared := self.undeclared():
            said.append(f"Not declared by the engine, so not tried: {few(undeclared)}.")
        said += [one.text() for one in self.blames]
        said += [f"Expectation {problem}." for problem in self.expectation_problems]
        said += self.notes
        if self.restarts:
            said.append(f"The engine had to be restarted {counted(self.restarts, 'time')}.")
        if not self.cases and self.complete:
            said.append("No case was run: the engine declares nothing that the specification knows.")
        return said

    def _missing_rules(self) -> list[str]:
        """The rules below the floor; those exercised at all with their counts."""
        seen = self.coverage.rules
        return [f"{rule} ({seen[rule]} times)" if seen[rule] else rule for rule in self.missing]

    def text(self, paint: Paint = plain, *, details: bool = False) -> str:
        """In words, as the command line prints it; with details, a row per stage and every name of long lists."""
        return self.summary(details=details).text(paint)

    def summary(self, *, details: bool = True) -> Summary:
        undeclared = () if details else self.undeclared()
        tried = {status for (name, _stage, status), count in self.counts.items() if count and name not in undeclared}
        shown = [status for status in Status if status in tried]
        name = printable(f"{self.description.name} {self.description.version}")
        parts = [f"{name} is {self._headline()}: {self.cases} cases in {self.seconds:.1f} s"]
        parts += [f"{self.count(status)} {status}" for status in shown]
        return Summary(
            title=f"Conformance of {printable(self.engine)}",
            header=("component", "stage", *shown) if details else ("component", *shown),
            rows=tuple(self._rows_of(shown, undeclared, details=details)),
            findings=tuple(map(str, self.counterexamples)),
            notes=tuple(self.remarks(details=details)),
            claims=self.claims,
            conclusion=", ".join(parts),
            exit_code=self.exit_code,
        )

    def _headline(self) -> str:
        """The conclusion, and the role of known failures: only an engine that passes all cases is called conformant."""
        known, stale = self.count(Status.XFAIL), len(self.expectation_problems)
        but = f" but for {counted(known, 'known failure')}" if known else ""
        if self.exit_code is Exit.CONFORMANT:
            return f"{self.conclusion}{but}"
        unknown = self.count(*VIOLATIONS - {Status.XPASS}, *UNDETERMINED) or not self.complete or self.missing
        if stale and not unknown:
            return f"conformant{but}, and {counted(stale, 'line')} of the known failures must be deleted"
        return self.conclusion

    def _rows_of(
        self, shown: list[Status], undeclared: Container[str], *, details: bool
    ) -> Iterator[tuple[str | int, ...]]:
        """A row per stage, or one per component that ran."""
        if details:
            for component, stage, counts in self.rows():
                yield component, stage, *(counts[one] for one in shown)
            return
        sums: Counter[tuple[str, Status]] = Counter()
        for (component, _stage, status), count in self.counts.items():
            sums[component, status] += count
        for component in dict.fromkeys(component for component, _status in sums):
            if component not in undeclared:
                yield component, *(sums[component, one] for one in shown)

    def __repr__(self) -> str:
        return f"<Result of {self.engine}: {self.conclusion}, {self.cases} cases>"

    def json(self) -> dict[str, Any]:
        """For programs, as `tidegate run --format json` prints it; `tidegate-result.json` describes the format."""
        return {
            "format": FORMAT,
            "engine": printable(self.engine),
            "implementation": self.description.implementation,
            "conclusion": self.conclusion,
            "exit": int(self.exit_code),
            "complete": self.complete,
            "seconds": round(self.seconds, 3),
            "cases": self.cases,
            "counts": [
                {"component": component, "stage": stage, **{str(k): v for k, v in counts.items() if v}}
                for component, stage, counts in self.rows()
            ],
            "counterexamples": [one.json() for one in self.counterexamples],
            "causes": [attrs.asdict(one) for one in self.blames],
            "rules_exercised": dict(sorted(self.coverage.rules.items())),
            "rules_missing": list(self.missing),
            "outcomes_exercised": [
                {"rule": rule, "observations": list(kinds), "times": times}
                for (rule, kinds), times in sorted(self.coverage.pairs.items())
            ],
            "outcomes_missing": [{"rule": rule, "observations": list(kinds)} for rule, kinds in self.missing_pairs],
            "remarks": self.remarks(),
            "claims": list(self.claims),
        }


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def enumerated(names: list[str], most: int | None) -> str:
    """All of the names, or how many there are and the first of them."""
    if most is None or len(names) <= most:
        return ", ".join(names)
    return f"{len(names)}, such as {', '.join(names[:most])}; --details or the report has them all"


def by_rule(pairs: tuple[Pair, ...], *, details: bool) -> list[str]:
    """`VALVE-3 (never nothing)`: each rule once, with the missing kinds of outcome, or how many there are."""
    kinds: dict[str, list[str]] = {}
    for rule, shown in pairs:
        kinds.setdefault(rule, []).append("+".join(shown) or "nothing")
    for names in kinds.values() if not details else ():
        if len(names) > MOST_KINDS:
            names[MOST_KINDS - 1 :] = [f"{len(names) - MOST_KINDS + 1} others"]
    return [f"{rule} (never {' or '.join(names)})" for rule, names in kinds.items()]
