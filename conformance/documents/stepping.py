"""A trace stepped through: each event with what is seen, why, and the state afterwards. For people."""

from collections.abc import Iterable
from enum import Enum
from typing import Any

import attrs

from tidegate.reference.elements import MAX, MIN
from tidegate.traces.cases import Case
from tidegate.traces.notation.text import write_event, write_observations


@attrs.frozen
class Step:
    event: str
    observations: str
    rules: tuple[str, ...]
    state: str


def step_through(case: Case) -> list[Step]:
    """The first of the allowed outcomes at each step; where a case has expected answers, the one that gives them."""
    component = case.model
    states = component.start(case.config)
    steps = []
    for index, event in enumerate(case.events):
        outcomes = [outcome for state in states for outcome in component.step(state, event)]
        if case.expect is not None:
            outcomes = [outcome for outcome in outcomes if outcome.observations == case.expect[index]] or outcomes
        outcome = outcomes[0]
        states = (outcome.state,)
        seen = write_observations(outcome.observations)
        steps.append(Step(write_event(case.component, event), seen, outcome.rules, show(outcome.state)))
    return steps


def show(value: Any) -> str:
    """A state in few words; the config, which does not change, is left out."""
    if value is MIN or value == MIN:
        return "MIN"
    if value == MAX:
        return "MAX"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return value.hex() or "empty"
    if attrs.has(type(value)):
        fields = [field.name for field in attrs.fields(type(value)) if field.name != "config"]
        return " ".join(f"{name}={show_inner(getattr(value, name))}" for name in fields)
    if isinstance(value, tuple | list | frozenset | set):
        return show_many(value)
    return str(value)


def show_inner(value: Any) -> str:
    text = show(value)
    return f"({text})" if attrs.has(type(value)) and " " in text else text


def show_many(values: Iterable[Any]) -> str:
    return f"[{', '.join(show_inner(value) for value in values)}]"
