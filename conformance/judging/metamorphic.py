"""The metamorphic stage: pairs of related cases, and whether an engine's answers are related as they must be."""

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

import attrs

from tidegate.conformance.engines.base import Description, Reply, Steps
from tidegate.conformance.judging.suite import METAMORPHIC, Budget, accepts, generated_cases
from tidegate.conformance.judging.verdicts import Status, Verdict
from tidegate.properties.metamorphic import Relation, pairs, relations_of
from tidegate.reference.model import Rejected
from tidegate.traces.cases import Case

REFUSAL = {"type": Rejected.type}

#: Longer cases are not varied: there are few, and they would take too long.
MOST_EVENTS = 1000

#: Asks an engine.
Ask = Callable[[Iterable[Case]], Iterator[Reply]]


def check(ask: Ask, description: Description, component: str, budget: Budget) -> Iterator[Verdict]:
    """A verdict for each pair that was answered; unanswered cases are left to the other stages.

    A tenth of the generated cases is varied: each stands for the many that are judged one by one.
    """
    budget = attrs.evolve(budget, cases=budget.cases // 10)
    claim = description.components[component]
    for relation in relations_of(component):
        drawn = generated_cases(description, component, budget)
        cases = (case for case in drawn if len(case.events) <= MOST_EVENTS)
        random = Random(f"{budget.seed}/{relation.name}")
        wanted = [pair for pair in pairs(relation, cases, random) if accepts(claim, component, pair[1].config)]
        answers = ask(case for pair in wanted for case in pair)
        for first, second, (case, other) in zip(answers, answers, wanted, strict=True):
            if isinstance(first, Steps) and isinstance(second, Steps):
                yield judge_pair(relation, case, other, first, second)


def judge_pair(relation: Relation, case: Case, other: Case, first: Steps, second: Steps) -> Verdict:
    try:
        related = relation.agree(case, other, without_reasons(first.steps), without_reasons(second.steps))
    except (KeyError, TypeError, ValueError) as error:
        return Verdict(other, METAMORPHIC, Status.ERROR, message=f"an observation that cannot be compared: {error!r}")
    if related:
        return Verdict(other, METAMORPHIC, Status.PASS)
    message = f"{relation.name}: {relation.statement} ({', '.join(relation.rules)}) This does not hold for {case.name}."
    return Verdict(other, METAMORPHIC, Status.FAIL, message=message)


def without_reasons(steps: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Reasons for refusals are in the engine's own words, and never compared."""
    return [[REFUSAL if seen.get("type") == REFUSAL["type"] else seen for seen in step] for step in steps]
