"""`run`: the suite against an engine, from its name to a result. `replay`: given cases, in the same way."""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

import attrs

from tidegate.conformance.engines.base import Engine, Reply
from tidegate.conformance.engines.python.batches import BatchEngine
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging import suite
from tidegate.conformance.judging.blame import Blame, blame
from tidegate.conformance.judging.coverage import Wanted, measure
from tidegate.conformance.judging.dialects import hold_to
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.parallel import Order, Part, try_side_by_side
from tidegate.conformance.judging.result import Counterexample, Result
from tidegate.conformance.judging.shrink import classify, shrink_findings, worth_shrinking
from tidegate.conformance.judging.trial import Observer, Runner, Tally, Trial
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.conformance.kinds import find_kind, find_maker, resolve
from tidegate.conformance.reports.findings import OBJECT
from tidegate.conformance.stopping import STOP
from tidegate.conformance.workers import cores
from tidegate.traces.cases import Case

#: How many components are diagnosed of an engine that gets everything wrong.
BLAMED = 8
#: Up to this many generated cases per component run faster than another copy of an engine starts.
SHORT_RUN = 30
#: Seconds for an answer, if an engine is known to hang, but not yet where.
SHORT_WAIT = 2.0


@attrs.frozen
class Candidate:
    """An engine by its name, with everything needed to make one like it, here or in another process.

    The name is the text after `--engine`. If `engine` is set, that object is used, only once; if
    its name begins with `OBJECT`, no command makes one like it. With `semantics` it is judged by a dated semantics
    although it declares another. `limits` are those of `Limits`: `case_timeout`, `start_timeout`, …

    Raises
    ------
    UnknownEngineError, WholeJobsOnlyError
        The name belongs to no engine, or to one that replays no cases.
    """

    name: str
    semantics: str | None = None
    strict: bool = False
    limits: Mapping[str, float | None] = attrs.Factory(dict)
    engine: Engine | None = None

    def __attrs_post_init__(self) -> None:
        if self.engine is None:
            find_maker(self.name)

    def make(self) -> Engine:
        engine = self.engine or resolve(self.name, strict=self.strict, **self.limits)
        return engine if self.semantics is None else hold_to(engine, self.semantics)

    def another(self) -> Callable[[], Engine] | None:
        """Makes one with a shorter timeout, where copies are cheap: to find out where it hangs."""
        if self.engine is not None or not find_kind(self.name).side_by_side:
            return None
        wait = min(self.limits.get("case_timeout") or SHORT_WAIT, SHORT_WAIT)
        return attrs.evolve(self, limits={**self.limits, "case_timeout": wait}).make

    def usual_jobs(self, budget: suite.Budget) -> int:
        """How many parts of the suite run at once: one where copies are dear, else one more than our cores.

        The harness waits a moment for more output at the end of each part, so a core would be free.
        A short run is not worth another copy.
        """
        long = "complete" in budget.stages or ("generated" in budget.stages and budget.cases > SHORT_RUN)
        usable = cores()
        cheap = self.engine is None and find_kind(self.name).side_by_side
        return usable + (usable > 1) if long and cheap else 1


def candidate_for(engine: str | Engine | BatchEngine, **options: Any) -> Candidate:
    """The candidate for a text, an engine, or an object that describes itself and replays cases."""
    if isinstance(engine, str):
        return Candidate(engine, **options)
    if isinstance(engine, Engine):
        return Candidate(f"{OBJECT}{engine.start().name}", engine=engine, **options)
    return Candidate(name_object(engine), engine=InProcess(engine, careful=True), **options)


def name_object(engine: BatchEngine) -> str:
    """The value of `--engine` for another one like it, if its class can be imported and takes no arguments."""
    kind = type(engine)
    name = f"{kind.__module__}:{kind.__qualname__}"
    found: Any = None if kind.__module__ == "__main__" else sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return f"python:{name}" if found is kind and not takes_arguments(kind) else f"{OBJECT}{name}"


def takes_arguments(kind: type) -> bool:
    """Whether its constructor takes arguments, as far as the signature tells."""
    try:
        return bool(signature(kind).parameters)
    except ValueError:
        return True


def run(
    candidate: Candidate,
    budget: suite.Budget,
    *,
    components: Iterable[str] = (),
    jobs: int = 1,
    floor: int = 1,
    expectations: Expectations | None = None,
    observers: Sequence[Observer] = (),
) -> Result:
    """Run the suite on an engine: all components that it declares, or those that are named.

    With several `jobs`, this many parts run at once, each on an engine of its own. If a rule is exercised
    less often than `floor`, the result is undetermined. An interrupt ends the run; the result is what is known by
    then.

    Raises
    ------
    UnknownNameError
        There is no such component or semantics.
    EngineError
        There is no such engine, or it cannot be started.
    """
    wanted = suite.check_components(components)
    STOP.arm()
    with candidate.make() as engine:
        description = engine.start()
        chosen = suite.declared_components(description, wanted)
        tally = Tally(expectations or Expectations())
        trial = Trial(Runner(engine), tally)
        parts = [Part(component, part) for component in chosen for part in suite.parts_of(component, budget)]
        jobs = min(jobs, len(parts)) if candidate.engine is None else 1
        for observer in observers:
            observer.begin(len(parts if jobs > 1 else chosen))
        try:
            STOP.arm()
            if jobs > 1:
                observe = tuple(one.elsewhere for one in observers if one.elsewhere is not None)
                order = Order(candidate.make, description, tally.expectations.entries, observe)
                try_side_by_side(order, engine, tally, parts, jobs, observers)
            else:
                for component in chosen:
                    watch(trial.try_component(component, budget), observers)
            watch(trial.try_cases((), skip(suite.undeclared_cases(description, wanted), "golden")), observers)
            STOP.disarm()
        except KeyboardInterrupt:
            tally.complete = False
        had_to_be = suite.wanted_of(description, chosen, floor, tally.reach)
        return finish(conclude(engine, candidate.name, tally, had_to_be, candidate.another()), observers)


def replay(candidate: Candidate, cases: Iterable[Case], *, observers: Sequence[Observer] = ()) -> Result:
    """Run these cases on an engine, and nothing else. Those that it does not declare are skipped."""
    STOP.arm()
    with candidate.make() as engine:
        description = engine.start()
        declared: dict[bool, list[Case]] = {True: [], False: []}
        for case in cases:
            declared[suite.is_declared(description, case)].append(case)
        trial = Trial(Runner(engine))
        try:
            STOP.arm()
            planned = (suite.Planned("replay", case) for case in declared[True])
            watch(trial.try_cases(planned, skip(declared[False], "replay")), observers)
            STOP.disarm()
        except KeyboardInterrupt:
            trial.tally.complete = False
        return finish(conclude(engine, candidate.name, trial.tally, Wanted(), candidate.another()), observers)


def answers(candidate: Candidate, cases: Iterable[Case]) -> Iterator[tuple[Reply, Verdict]]:
    """What an engine answers to each of these cases, declared or not, and the verdict on it."""
    with candidate.make() as engine:
        engine.start()
        runner = Runner(engine)
        for case in cases:
            (reply,) = runner.replies([case])
            yield reply, runner.judge.reach(case, "replay", reply)


def watch(verdicts: Iterable[Verdict], observers: Sequence[Observer]) -> None:
    for verdict in verdicts:
        for observer in observers:
            observer.see(verdict)


def finish(result: Result, observers: Sequence[Observer]) -> Result:
    for observer in observers:
        observer.finish(result)
    return result


def skip(cases: Iterable[Case], stage: str) -> Iterator[Verdict]:
    return (Verdict(case, stage, Status.SKIP, message="not declared") for case in cases)


def conclude(
    engine: Engine, name: str, tally: Tally, wanted: Wanted, make: Callable[[], Engine] | None = None
) -> Result:
    """Shrink the counterexamples, unless the run was stopped, and conclude.

    `wanted` is what had to be exercised. `make` gives another engine like this one, to find out where it hangs.
    """
    counterexamples: list[Counterexample] = []
    blames: list[Blame] = []
    try:
        STOP.arm()
        if tally.complete:
            for one in shrink_findings(engine, tally.findings.kept, make):
                counterexamples += [Counterexample(name, one.verdict, one.replays, one.times)]
            leaky = {one.verdict.case.component for one in counterexamples if one.times != 1}
            small = [one.verdict for one in counterexamples]
            for found in assign_blame(engine, tally.findings.kept, small, leaky):
                blames += [found]
        STOP.disarm()
    except KeyboardInterrupt:
        tally.complete = False
    if not tally.complete:
        known = {classify(one.verdict) for one in counterexamples}
        left = (verdict for verdict in worth_shrinking(tally.findings.kept) if classify(verdict) not in known)
        counterexamples += [Counterexample(name, verdict, 0) for verdict in left]
    coverage = measure(tally.exercised)
    return Result(
        engine=name,
        description=engine.start(),
        counts=tally.counts,
        findings=tuple(tally.findings.kept),
        failures=tuple(tally.failures),
        counterexamples=tuple(counterexamples),
        blames=tuple(blames),
        coverage=coverage,
        missing=coverage.missing(wanted),
        missing_pairs=coverage.missing_pairs(wanted),
        expectation_problems=tally.expectations.problems(),
        claims=tuple(tally.claims) if tally.complete else (),
        notes=tuple(tally.notes),
        restarts=tally.restarts + engine.restarts,
        seconds=time.monotonic() - tally.began,
        complete=tally.complete,
    )


def assign_blame(
    engine: Engine, findings: Sequence[Verdict], small: Sequence[Verdict], leaky: Container[str]
) -> Iterator[Blame]:
    """The likely cause for each component that gave wrong answers; for some of them if there are many.

    Endless answers resemble no other engine. If a component keeps state from case to case, no rule is to blame.
    """
    description = engine.start()

    def find_fails(verdicts: Iterable[Verdict]) -> list[Verdict]:
        fails = (one for one in verdicts if one.status is Status.FAIL and one.case.component not in leaky)
        return [one for one in fails if not (one.violation and one.violation.more)]

    def ask(cases: Sequence[Case]) -> Iterator[Verdict]:
        declared = [case for case in cases if suite.is_declared(description, case)]
        return Runner(engine).run(suite.Planned("probe", case) for case in declared)

    wrong, made_small = by_component(find_fails(findings)), by_component(find_fails(small))
    for component in list(wrong)[:BLAMED]:
        found = blame(component, ask, wrong[component], made_small[component])
        if found is not None:
            yield found


def by_component(verdicts: Iterable[Verdict]) -> defaultdict[str, list[Verdict]]:
    found = defaultdict[str, list[Verdict]](list)
    for verdict in verdicts:
        found[verdict.case.component].append(verdict)
    return found
