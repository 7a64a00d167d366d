"""The suite: which cases an engine gets, stage by stage.

`golden` and `directed` are files; `complete` is every case of a small scope; `generated` runs until the
budget ends. The same seed gives the same cases. `metamorphic` compares answers to related cases with each other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

import attrs

from tidegate.conformance.engines.base import Claim, Description
from tidegate.conformance.judging.coverage import Wanted, within_reach
from tidegate.conformance.judging.golden import name_golden, read_golden
from tidegate.properties.complete.suite import CompleteSuite, build
from tidegate.properties.drawing.cases import NothingAcceptedError, draw_case
from tidegate.properties.drawing.directed import directed
from tidegate.properties.drawing.scope import Scope
from tidegate.properties.drawing.scopes import small, thorough
from tidegate.reference.components import COMPONENTS
from tidegate.traces.cases import Case

STAGES = ("directed", "golden", "complete", "generated", "metamorphic")
METAMORPHIC = "metamorphic"
#: How many generated cases form a part when several parts run side by side; more, if a component would have
#: too many parts.
PART = 2000
MOST_PARTS = 1000


class UnknownNameError(ValueError):
    """There is no component, stage or semantics of this name; the message suggests the closest name, or lists all."""


def check_components(names: Iterable[str]) -> tuple[str, ...]:
    """The names; UnknownNameError if one of them is not a component."""
    chosen = tuple(names)
    check_names("component", chosen, COMPONENTS)
    return chosen


def check_names(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            near = get_close_matches(name, list(known), 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UnknownNameError(f"no {what} {name!r}; {hint}")


def all_unless_some(stages: Iterable[str]) -> tuple[str, ...]:
    """In our order, each once; unknown ones stay, and are rejected later."""
    chosen = tuple(dict.fromkeys(stages))
    known = tuple(stage for stage in STAGES if stage in chosen)
    return (*known, *(stage for stage in chosen if stage not in STAGES)) or STAGES


@attrs.frozen
class Budget:
    """How much to run: per component the generated cases with the indices from `first` to `cases`, from `seed`.

    No stages means all of them. `scopes` are the numbers of those of the complete stage; None means all.
    """

    cases: int = 600
    seed: int = 0
    stages: tuple[str, ...] = attrs.field(default=STAGES, converter=all_unless_some)
    thorough: bool = False
    extra_states: int = 0
    first: int = 0
    scopes: tuple[int, ...] | None = None

    @stages.validator
    def _check_stages(self, _attribute: Any, stages: tuple[str, ...]) -> None:
        check_names("stage", stages, STAGES)


@attrs.frozen
class Planned:
    """A case, and its stage of the suite."""

    stage: str
    case: Case


# --- what an engine declares ----------------------------------------------------------------------------------


def declared_components(description: Description, wanted: Iterable[str] = ()) -> list[str]:
    """The components that the engine declares and the specification knows, in our order; with `wanted`, only these."""
    chosen = tuple(wanted)
    return [name for name in COMPONENTS if name in description.components and (not chosen or name in chosen)]


def is_declared(description: Description, case: Case) -> bool:
    """Whether the engine declares this case: component, kind, semantics and extension."""
    claim = description.components.get(case.component)
    return claim is not None and accepts(claim, case.component, case.config)


def is_wholly_declared(description: Description, component: str) -> bool:
    """Whether the engine declares everything of a component."""
    claim, model = description.components.get(component), COMPONENTS[component]
    return (
        claim is not None
        and claim.kinds is None
        and set(model.extensions) <= set(claim.extensions or ())
        and set(model.semantics) <= set(claim.semantics or model.semantics[:1])
    )


def accepts(claim: Claim, component: str, config: Any) -> bool:
    if claim.kinds is not None and (kind := read_kind(config)) is not None and kind not in claim.kinds:
        return False
    extension = getattr(config, "extension", None)
    if extension is not None and extension not in (claim.extensions or ()):
        return False
    semantics = getattr(config, "semantics", None)
    if semantics is None:
        return True
    declared = claim.semantics if claim.semantics is not None else {COMPONENTS[component].semantics[0]}
    return semantics in declared


def read_kind(config: Any) -> str | None:
    """The kind of a config, which the wiring calls its pattern."""
    kind = getattr(config, "kind", getattr(config, "pattern", None))
    return None if kind is None else str(kind)


# --- cases ----------------------------------------------------------------------------------------------------


def plan(description: Description, component: str, budget: Budget) -> Iterator[Planned]:
    """The cases of one component that are judged one by one, without undeclared ones."""
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
        claim = description.components[component]
        suites = complete_suites(component, budget, lambda config: accepts(claim, component, config))
        yield from (case for suite in suites for case in suite.cases)
    elif stage == "generated":
        yield from generated_cases(description, component, budget)


def complete_suites(
    component: str, budget: Budget, accept: Callable[[Any], bool] = lambda _config: True
) -> tuple[CompleteSuite, ...]:
    """The scopes of the budget that have an accepted config."""
    scopes = scopes_of(component, budget)
    return tuple(
        build_suite(component, number, larger=budget.thorough, extra_states=budget.extra_states)
        for number in (range(len(scopes)) if budget.scopes is None else budget.scopes)
        if any(map(accept, scopes[number].configs))
    )


def scopes_of(component: str, budget: Budget) -> Sequence[Scope]:
    return thorough(component) if budget.thorough else small(component)


@cache
def build_suite(component: str, number: int, *, larger: bool, extra_states: int) -> CompleteSuite:
    return build((thorough if larger else small)(component)[number], extra_states)


def parts_of(component: str, budget: Budget) -> Iterator[Budget]:
    """The budget in parts that can run side by side, in the order of the whole."""
    for stage in budget.stages:
        if stage == "complete":
            numbers = range(len(scopes_of(component, budget))) if budget.scopes is None else budget.scopes
            yield from (attrs.evolve(budget, stages=(stage,), scopes=(number,)) for number in numbers)
        elif stage == "generated":
            size = max(PART, (budget.cases - budget.first) // MOST_PARTS)
            for first in range(budget.first, budget.cases, size):
                yield attrs.evolve(budget, stages=(stage,), first=first, cases=min(first + size, budget.cases))
        else:
            yield attrs.evolve(budget, stages=(stage,))


def generated_cases(description: Description, component: str, budget: Budget) -> Iterator[Case]:
    claim = description.components[component]
    for index in range(budget.first, budget.cases):
        try:
            yield draw_case(component, budget.seed, index, lambda config: accepts(claim, component, config))
        except NothingAcceptedError:
            return


def undeclared_cases(description: Description, wanted: Iterable[str] = ()) -> Iterator[Case]:
    """The golden and directed cases that the engine does not declare: they are skipped.

    For components that it does not declare at all, only their names are read.
    """
    chosen = tuple(wanted)
    for component in COMPONENTS:
        if chosen and component not in chosen:
            continue
        if component not in description.components:
            yield from (Case(name, component, None, ()) for name in name_golden(component))
        elif not is_wholly_declared(description, component):
            yield from (case for case in read_golden(component) if not is_declared(description, case))


def wanted_of(
    description: Description, components: Iterable[str], floor: int = 1, known: Mapping[str, Wanted] | None = None
) -> Wanted:
    """What a run has to exercise: what golden traces reach within what is declared.

    For some components it may be `known` already.
    """
    each = [(known or {}).get(component) or reach_of(description, component) for component in components]
    rules = dict.fromkeys(rule for one in each for rule in one.rules)
    pairs = dict.fromkeys(pair for one in each for pair in one.pairs)
    return Wanted(tuple(rules), tuple(pairs), floor)


def reach_of(description: Description, component: str) -> Wanted:
    """What a run of one component has to exercise."""
    return within_reach(case for case in read_golden(component) if is_declared(description, case))
