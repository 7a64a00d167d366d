"""A trial: cases against an engine, judged while it works on the next ones, and the results so far.

Every verb, the library and the pytest plugin go through `Trial.try_cases`. A caller that needs less stops
reading; the results up to then are in the tally.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import attrs

from tidegate.conformance.engines.base import Description, Engine, Reply, Request
from tidegate.conformance.judging.coverage import Wanted
from tidegate.conformance.judging.expectations import FAILING, Expectations, Failure, failure_of
from tidegate.conformance.judging.judge_fast import Exercised, Judge
from tidegate.conformance.judging.metamorphic import check
from tidegate.conformance.judging.reference_engine import Reference
from tidegate.conformance.judging.suite import METAMORPHIC, Budget, Planned, complete_suites, parts_of, plan
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.traces.cases import Case
from tidegate.traces.codec import encode

if TYPE_CHECKING:
    from tidegate.conformance.judging.result import Result

#: Limits per component, status and deciding rule: number of findings kept, and their bytes. The others are
#: counted. The last one limits the bytes of all together; at least one of each kind is kept.
KEPT_FINDINGS = 100
KEPT_BYTES = 1024 * 1024
ALL_KEPT_BYTES = 48 * 1024 * 1024
#: How many names of failures are kept.
KEPT_FAILURES = 100_000


class Memory:
    """Remembers encoded configs and events: a few objects make up most traces."""

    def __init__(self, *, brief: bool) -> None:
        self._brief = brief
        #: By identity, which is faster than a hash; holding the object keeps its id valid.
        self._known: dict[int, tuple[Any, Any]] = {}

    def encode(self, value: Any) -> Any:
        known = self._known.get(id(value))
        if known is None:
            if len(self._known) > 100_000:
                self._known.clear()
            known = self._known[id(value)] = (value, encode(value, brief=self._brief))
        return known[1]


class Encoder:
    """Cases as requests."""

    def __init__(self) -> None:
        self._memories = {brief: Memory(brief=brief) for brief in (False, True)}

    def request(self, case: Case) -> Request:
        memory = self._memories[case.brief]
        return Request(case.name, case.component, memory.encode(case.config), [*map(memory.encode, case.events)])


class Runner:
    """One engine, one judge, any number of cases."""

    def __init__(self, engine: Engine, judge: Judge | None = None) -> None:
        self.engine = engine
        self.judge = judge or Judge()
        self._encoder = Encoder()

    def describe(self) -> Description:
        """What the engine declares."""
        return self.engine.start()

    def run(self, planned: Iterable[Planned]) -> Iterator[Verdict]:
        """A verdict for each case, in order, as the answers come in."""
        waiting: deque[Planned] = deque()

        def cases() -> Iterator[Case]:
            for one in planned:
                waiting.append(one)
                yield one.case

        for reply in self.replies(cases()):
            one = waiting.popleft()
            yield self.judge.reach(one.case, one.stage, reply)

    def replies(self, cases: Iterable[Case]) -> Iterator[Reply]:
        """The reply to each case, unjudged."""
        if isinstance(self.engine, Reference):
            # It knows cases: nothing has to become JSON and back.
            yield from map(self.engine.answer, cases)
            return
        for _request, reply in self.engine.replay(map(self._encoder.request, cases)):
            yield reply

    def run_one(self, case: Case, stage: str = "") -> Verdict:
        (verdict,) = self.run([Planned(stage, case)])
        return verdict


@attrs.define
class Findings:
    """Verdicts on cases that did not pass: some of each kind, so that none is crowded out."""

    kept: list[Verdict] = attrs.Factory(list)
    _counts: Counter[tuple[str, Status, str]] = attrs.Factory(Counter)
    _sizes: Counter[tuple[str, Status, str]] = attrs.Factory(Counter)

    def take(self, verdict: Verdict) -> None:
        kind = (verdict.case.component, verdict.status, verdict.rules[0] if verdict.rules else "")
        if self._counts[kind] >= KEPT_FINDINGS:
            return
        size = weigh(verdict)
        if self._counts[kind] and (
            self._sizes[kind] + size > KEPT_BYTES or self._sizes.total() + size > ALL_KEPT_BYTES
        ):
            return
        self._counts[kind] += 1
        self._sizes[kind] += size
        self.kept.append(verdict)


def weigh(verdict: Verdict) -> int:
    """The approximate size of a verdict in bytes."""
    words = len(verdict.message) + sum(map(len, verdict.stderr)) + len(repr(verdict.case.events))
    seen = len(repr(verdict.violation.seen)) if verdict.violation else 0
    return 1000 + 4 * (words + seen)


@attrs.define
class Tally:
    """The results so far. Results of other processes, with engines of their own, are added to it."""

    expectations: Expectations = attrs.Factory(Expectations)
    counts: Counter[tuple[str, str, Status]] = attrs.Factory(Counter)
    findings: Findings = attrs.Factory(Findings)
    #: Every unexpected failure, up to a limit.
    failures: list[Failure] = attrs.Factory(list)
    exercised: Exercised = attrs.Factory(Counter)
    claims: list[str] = attrs.Factory(list)
    #: More remarks for the reader.
    notes: list[str] = attrs.Factory(list)
    #: What golden traces can reach of some components, if another process has computed it.
    reach: dict[str, Wanted] = attrs.Factory(dict)
    #: Of engines in other processes.
    restarts: int = 0
    complete: bool = True
    began: float = attrs.Factory(time.monotonic)

    def take(self, verdict: Verdict) -> Verdict:
        """Count the verdict; returns it with its status where failures are expected."""
        verdict = self.expectations.apply(verdict)
        self.counts[verdict.case.component, verdict.stage, verdict.status] += 1
        if verdict.status not in (Status.PASS, Status.SKIP):
            self.findings.take(verdict)
            if verdict.status in FAILING and len(self.failures) < KEPT_FAILURES:
                self.failures.append(failure_of(verdict))
        return verdict

    def add(self, other: "Tally") -> None:
        self.expectations.add(other.expectations)
        self.counts.update(other.counts)
        for verdict in other.findings.kept:
            self.findings.take(verdict)
        self.failures += other.failures[: KEPT_FAILURES - len(self.failures)]
        self.exercised.update(other.exercised)
        self.claims += other.claims
        self.reach |= other.reach
        self.restarts += other.restarts
        self.complete = self.complete and other.complete


@attrs.frozen
class Trial:
    """The cases that a runner gets, and their results."""

    runner: Runner
    tally: Tally = attrs.Factory(Tally)

    def __attrs_post_init__(self) -> None:
        self.runner.judge.exercised = self.tally.exercised

    def try_component(self, component: str, budget: Budget) -> Iterator[Verdict]:
        """The whole suite of a component, and the claims for the scopes that it has passed."""
        description = self.runner.describe()
        for part in parts_of(component, budget):
            related = check(self.runner.replies, description, component, part) if METAMORPHIC in part.stages else ()
            statuses = set()
            for verdict in self.try_cases(plan(description, component, part), related):
                statuses.add(verdict.status)
                yield verdict
            if part.scopes is not None and statuses == {Status.PASS}:
                self.tally.claims += [suite.claim for suite in complete_suites(component, part)]

    def try_cases(self, planned: Iterable[Planned], others: Iterable[Verdict] = ()) -> Iterator[Verdict]:
        """Run the cases, then add verdicts that are reached in another way."""
        for verdict in chain(self.runner.run(planned), others):
            yield self.tally.take(verdict)


class Observer:
    """Sees the results of a run as they come: verdict by verdict, or a component at a time from another process."""

    #: What another process does with each verdict for this observer, such as writing it down. It is sent there.
    elsewhere: Callable[[Verdict], None] | None = None

    def begin(self, parts: int) -> None:
        """Called before `parts` components run, or `parts` parts of them side by side."""

    def see(self, verdict: Verdict) -> None:
        """A verdict was reached here."""

    def see_component(self, component: str, tally: Tally) -> None:
        """Another process has finished a component."""

    def finish(self, result: "Result") -> None:
        """The run has ended."""
