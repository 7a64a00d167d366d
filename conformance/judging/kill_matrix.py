"""The kill matrix: each wrong engine of the museum against each stage of the suite, on its own.

For each stage: whether it catches the engine, after how many cases and seconds, how small the shrunken trace is, and
whether the rule that is really broken is named at the step where it shows.
"""

import time
from collections.abc import Iterable, Iterator

import attrs

from tidegate.conformance.engines.museum.catalog import Mutant, find
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.python import InProcess
from tidegate.conformance.judging.blame import answers_of, blame
from tidegate.conformance.judging.judge import suspects
from tidegate.conformance.judging.shrink import shrink_findings
from tidegate.conformance.judging.suite import STAGES, Budget
from tidegate.conformance.judging.trial import Runner, Trial
from tidegate.conformance.judging.verdicts import VIOLATIONS, Verdict
from tidegate.conformance.workers import worker_pool

#: After the first failure a stage goes on for so many cases, so that the kinds of failure can be compared.
AFTERWARDS = 300


@attrs.frozen
class Kill:
    """How one stage caught a mutant."""

    stage: str
    cases: int
    seconds: float
    events: int
    rules: tuple[str, ...]
    named: bool


@attrs.frozen
class Row:
    """One mutant: its kills by stage; a stage that did not catch it is missing."""

    mutant: str
    component: str
    rule: str
    kills: tuple[Kill, ...]
    #: The rule that is blamed for all its failures together, by the museum without itself.
    blamed: str | None = None
    #: Whether that is a rule that it breaks.
    is_right: bool = False

    def kill(self, stage: str) -> Kill | None:
        return next((kill for kill in self.kills if kill.stage == stage), None)

    @property
    def named(self) -> bool:
        return any(kill.named for kill in self.kills)

    @property
    def smallest(self) -> int:
        return min((kill.events for kill in self.kills), default=0)


def make_matrix(names: Iterable[str], budget: Budget, workers: int = 2) -> Iterator[Row]:
    """The rows in the order of the names, each as soon as it and those before it are known."""
    wanted = list(names)
    with worker_pool(workers) as pool:
        yield from pool.map(examine, wanted, [budget] * len(wanted))


def examine(name: str, budget: Budget) -> Row:
    mutant = find(name)
    kills = [kill for stage in STAGES if (kill := try_stage(mutant, stage, budget)) is not None]
    blamed = blame(mutant.component, lambda cases: answers_of(mutant, cases), without=[mutant.name])
    rule = blamed.rules[0] if blamed else None
    return Row(mutant.name, mutant.component, mutant.rule, tuple(kills), rule, rule in mutant.rules)


def try_stage(mutant: Mutant, stage: str, budget: Budget) -> Kill | None:
    engine = InProcess(Engine(mutant.name))
    started = time.perf_counter()
    caught = 0
    seconds = 0.0
    failures: list[Verdict] = []
    verdicts = Trial(Runner(engine)).try_component(mutant.component, attrs.evolve(budget, stages=(stage,)))
    for cases, verdict in enumerate(verdicts, start=1):
        if verdict.status in VIOLATIONS:
            if not failures:
                caught, seconds = cases, time.perf_counter() - started
            failures.append(verdict)
        if failures and cases >= caught + AFTERWARDS:
            break
    if not failures:
        return None
    shrunken = [one.verdict for one in shrink_findings(engine, failures)]
    rules = tuple(dict.fromkeys(rule for verdict in shrunken for rule in suspects(verdict)))
    events = min(len(verdict.case.events) for verdict in shrunken)
    return Kill(stage, caught, seconds, events, rules, bool(set(rules) & set(mutant.rules)))
