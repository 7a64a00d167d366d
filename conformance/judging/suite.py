"""The suite: which cases an engine gets, stage by stage.

`golden` and `directed` are files; `complete` is every case of a small scope; `generated` goes on for as long as the
budget lasts. The same seed gives the same cases. `metamorphic` compares answers to related cases with each other.
"""

from collections.abc import Iterable, Iterator
from functools import cache

import attrs

from tidegate.conformance.engines.base import Description
from tidegate.conformance.judging.coverage import Wanted, within_reach
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.judging.runner import Planned, accepts, is_declared
from tidegate.properties.cases.directed import directed
from tidegate.properties.cases.drawing import NothingAcceptedError, draw_case
from tidegate.properties.cases.scopes import small, thorough
from tidegate.properties.complete.suite import CompleteSuite, build
from tidegate.reference.components import COMPONENTS
from tidegate.traces.cases import Case

STAGES = ("directed", "golden", "complete", "generated", "metamorphic")
METAMORPHIC = "metamorphic"


#: Generated cases a component, unless told otherwise.
CASES = 1000


@attrs.frozen
class Budget:
    """How much to try: `cases` generated ones a component, from `seed`."""

    cases: int = CASES
    seed: int = 0
    stages: tuple[str, ...] = STAGES
    thorough: bool = False
    extra_states: int = 0


def declared_components(description: Description, wanted: tuple[str, ...] = ()) -> list[str]:
    """Those that the engine declares and the specification knows, in our order."""
    return [name for name in COMPONENTS if name in description.components and (not wanted or name in wanted)]


def plan(description: Description, component: str, budget: Budget) -> Iterator[Planned]:
    """The cases of one component that are judged one by one. One that the engine did not declare is left out."""
    for stage in budget.stages:
        for case in stage_cases(description, component, stage, budget):
            if is_declared(description, case):
                yield Planned(stage, case)


def stage_cases(description: Description, component: str, stage: str, budget: Budget) -> Iterator[Case]:
    if stage == "directed":
        yield from (one.case for one in directed(component))
    elif stage == "golden":
        yield from (case for case in read_golden(component) if "-directed-" not in case.name)
    elif stage == "complete":
        yield from complete_cases(component, budget)
    elif stage == "generated":
        yield from generated_cases(description, component, budget)


@cache
def complete_suites(component: str, *, larger: bool, extra_states: int) -> tuple[CompleteSuite, ...]:
    scopes = thorough(component) if larger else small(component)
    return tuple(build(scope, extra_states) for scope in scopes)


def complete_cases(component: str, budget: Budget) -> Iterator[Case]:
    for suite in complete_suites(component, larger=budget.thorough, extra_states=budget.extra_states):
        yield from suite.cases


def complete_claims(component: str, budget: Budget) -> list[str]:
    """What may be said of an engine that passes the complete stage of the component."""
    if "complete" not in budget.stages:
        return []
    suites = complete_suites(component, larger=budget.thorough, extra_states=budget.extra_states)
    return [suite.claim for suite in suites]


def generated_cases(description: Description, component: str, budget: Budget) -> Iterator[Case]:
    claim = description.components[component]
    for index in range(budget.cases):
        try:
            yield draw_case(component, budget.seed, index, lambda config: accepts(claim, component, config))
        except NothingAcceptedError:
            return


def undeclared_cases(description: Description, wanted: tuple[str, ...] = ()) -> Iterator[Case]:
    """The golden and directed cases that the engine does not declare: they are skipped."""
    for component in COMPONENTS:
        if not wanted or component in wanted:
            yield from (case for case in read_golden(component) if not is_declared(description, case))


def wanted_of(description: Description, components: Iterable[str], floor: int = 1) -> Wanted:
    """What a run has to exercise: what golden traces show to be within reach of what is declared."""
    golden = (case for component in components for case in read_golden(component))
    return within_reach((case for case in golden if is_declared(description, case)), floor)
