"""The specification's own answer to a case, and the rules that decide each step of it."""

from typing import Any

from tidegate.conformance.judging.judge import unique
from tidegate.conformance.judging.verdicts import Verdict
from tidegate.traces.cases import Case


def expect(case: Case) -> tuple[tuple[tuple[Any, ...], ...] | None, tuple[str, ...]]:
    """The observations of a case whose answers are fixed (None where the specification leaves a choice), and its rules.

    Where there is a choice, the rules are those of the first outcome.
    """
    component = case.model
    states = component.start(case.config)
    state = states[0]
    fixed = len(states) == 1
    steps: list[tuple[Any, ...]] = []
    rules: list[str] = []
    for event in case.events:
        outcomes = component.step(state, event)
        fixed = fixed and len({outcome.observations for outcome in outcomes}) == 1
        state = outcomes[0].state
        steps.append(outcomes[0].observations)
        rules.extend(outcomes[0].rules)
    return (tuple(steps) if fixed else None), unique(rules)


def expected_rules(case: Case) -> list[tuple[str, ...]]:
    """The rules of each step, of the first outcome where there is a choice."""
    return [outcome.rules for outcome in case.follow()]


def suspects(verdict: Verdict) -> tuple[str, ...]:
    """The rules that the engine seems to break: those of the step that failed.

    A case without any answer has no such step; once it is shrunken, its last event is to blame.
    """
    if verdict.violation is not None or not verdict.case.events:
        return verdict.rules
    return expected_rules(verdict.case)[-1]
