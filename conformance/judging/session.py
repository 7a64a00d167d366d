"""A run: cases against an engine, what was found, and what may be said about it."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import attrs

from tidegate.conformance.engines.base import Description, Engine
from tidegate.conformance.judging.coverage import Coverage, Pair, Wanted, measure
from tidegate.conformance.judging.expectations import Entry, Expectations
from tidegate.conformance.judging.judge import Exercised, Judge
from tidegate.conformance.judging.runner import Planned, Runner
from tidegate.conformance.judging.shrink import Shrunken, shrink
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Exit, Status, Verdict

#: Findings beyond this many of one component are counted, but not kept.
KEPT_FINDINGS = 2000
#: How many different counterexamples of one component are shrunk.
SHRUNKEN_EACH = 3


@attrs.frozen
class Finished:
    """Everything that a report needs. `complete` is false for a run that was interrupted."""

    engine: str
    description: Description
    counts: Counter[tuple[str, str, Status]]
    findings: tuple[Verdict, ...]
    counterexamples: tuple[Shrunken, ...]
    coverage: Coverage
    missing: tuple[str, ...]
    missing_pairs: tuple[Pair, ...]
    expectation_problems: tuple[str, ...]
    claims: tuple[str, ...]
    restarts: int
    seconds: float
    complete: bool

    def count(self, *results: Status) -> int:
        return sum(count for (_component, _stage, result), count in self.counts.items() if result in results)

    @property
    def cases(self) -> int:
        return self.counts.total() - self.count(Status.SKIP)

    def exit(self) -> Exit:
        if self.count(*VIOLATIONS) or self.expectation_problems:
            return Exit.VIOLATIONS
        if not self.complete or self.count(*UNDETERMINED) or self.missing or not self.cases:
            return Exit.UNDETERMINED
        return Exit.CONFORMANT


@attrs.frozen
class Part:
    """What one process has found, for the one that adds it all up."""

    counts: Counter[tuple[str, str, Status]]
    findings: tuple[Verdict, ...]
    exercised: Exercised
    failed: Counter[Entry]
    passed: Counter[Entry]
    restarts: int
    complete: bool


@attrs.define
class Session:
    """Collects the verdicts of a run. `observe` sees each one as it comes."""

    engine: Engine
    name: str
    expectations: Expectations = attrs.Factory(Expectations)
    observe: Callable[[Verdict], None] = lambda _verdict: None
    shrinking: bool = True
    judge: Judge = attrs.Factory(Judge)
    counts: Counter[tuple[str, str, Status]] = attrs.Factory(Counter)
    findings: list[Verdict] = attrs.Factory(list)
    counterexamples: list[Shrunken] = attrs.Factory(list)
    complete: bool = True
    #: Of engines in other processes.
    restarts: int = 0
    started: float = attrs.Factory(time.monotonic)

    def run(self, planned: Iterable[Planned], related: Iterable[Verdict] = ()) -> None:
        """Run the cases, then take the verdicts on related ones; an interrupt ends it, and keeps what is known."""
        try:
            for verdict in Runner(self.engine, self.judge).run(planned):
                self.take(self.expectations.apply(verdict))
            for verdict in related:
                self.take(self.expectations.apply(verdict))
        except KeyboardInterrupt:
            self.complete = False

    def take(self, verdict: Verdict) -> None:
        component = verdict.case.component
        self.counts[component, verdict.stage, verdict.status] += 1
        if verdict.status not in (Status.PASS, Status.SKIP) and len(self.findings) < KEPT_FINDINGS:
            self.findings.append(verdict)
        self.observe(verdict)

    def part(self) -> "Part":
        """What was found so far, as another process can be told of it."""
        failed, passed = self.expectations.failed, self.expectations.passed
        return Part(
            self.counts, tuple(self.findings), self.judge.exercised, failed, passed, self.engine.restarts, self.complete
        )

    def add(self, part: "Part") -> None:
        """Take what another process has found with an engine of its own, as if it had been found here."""
        self.counts.update(part.counts)
        self.findings.extend(part.findings[: max(0, KEPT_FINDINGS - len(self.findings))])
        for key, count in part.exercised.items():
            self.judge.exercised[key] = self.judge.exercised.get(key, 0) + count
        self.expectations.failed.update(part.failed)
        self.expectations.passed.update(part.passed)
        self.restarts += part.restarts
        self.complete = self.complete and part.complete

    def shrink_findings(self) -> None:
        for verdict in worth_shrinking(self.findings):
            # A judge of its own: what shrinking tries is not coverage.
            shrunken = shrink(Runner(self.engine, Judge()), verdict)
            known = [(one.verdict.case.config, one.verdict.case.events) for one in self.counterexamples]
            if (shrunken.verdict.case.config, shrunken.verdict.case.events) not in known:
                self.counterexamples.append(shrunken)

    def has_earned(self, component: str) -> bool:
        """Whether the component passed its whole complete stage, and so the claim that goes with it."""
        results = {
            r for (name, stage, r), count in self.counts.items() if (name, stage) == (component, "complete") and count
        }
        return self.complete and results == {Status.PASS}

    def finish(self, wanted: Wanted, claims: Iterable[tuple[str, str]] = ()) -> Finished:
        """`claims` are what may be said of each component if it passes its complete stage."""
        if self.shrinking and self.complete:
            try:
                self.shrink_findings()
            except KeyboardInterrupt:
                self.complete = False
        coverage = measure(self.judge)
        return Finished(
            engine=self.name,
            description=self.engine.start(),
            counts=self.counts,
            findings=tuple(self.findings),
            counterexamples=tuple(self.counterexamples),
            coverage=coverage,
            missing=coverage.missing(wanted),
            missing_pairs=coverage.missing_pairs(wanted),
            expectation_problems=self.expectations.problems(),
            claims=tuple(claim for component, claim in claims if self.has_earned(component)),
            restarts=self.restarts + self.engine.restarts,
            seconds=time.monotonic() - self.started,
            complete=self.complete,
        )


def worth_shrinking(findings: list[Verdict]) -> Iterator[Verdict]:
    """For each component a few failures, the shortest of each kind: the deciding rule, or the kind of trouble."""
    shortest: dict[tuple[str, Status, str], Verdict] = {}
    for verdict in findings:
        if verdict.status in VIOLATIONS:
            key = (verdict.case.component, verdict.status, kind_of_failure(verdict))
            known = shortest.get(key)
            if known is None or size_of(verdict) < size_of(known):
                shortest[key] = verdict
    each: Counter[str] = Counter()
    for verdict in sorted(shortest.values(), key=size_of):
        each[verdict.case.component] += 1
        if each[verdict.case.component] <= SHRUNKEN_EACH:
            yield verdict


def kind_of_failure(verdict: Verdict) -> str:
    """The deciding rule, or else the beginning of what is said about it."""
    return verdict.rules[0] if verdict.rules else verdict.message.partition(":")[0]


def size_of(verdict: Verdict) -> int:
    """How much there is to shrink: a few large events are more than many small ones."""
    return len(repr(verdict.case.events))
