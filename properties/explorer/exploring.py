"""Exhaustive exploration: every state that a small alphabet can reach, every transition between them.

Breadth first, so that the first trace that breaks a property is a shortest one.
"""

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from tidegate.reference.model import AnyComponent, Invariant

Alphabet = Callable[[Any], Iterable[Any]]


@attrs.frozen
class Broken:
    """A property or invariant that does not hold, and a shortest trace that shows it."""

    name: str
    statement: str
    rules: tuple[str, ...]
    trace: tuple[Any, ...]


@attrs.frozen
class Exploration:
    """What was found. `complete` is false if the exploration ended at its limit of states."""

    states: int
    transitions: int
    depth: int
    checked: tuple[str, ...]
    broken: tuple[Broken, ...]
    complete: bool


def explore(
    component: AnyComponent,
    config: Any,
    alphabet: Alphabet,
    limit: int | None = None,
    progress: Callable[[int, int], None] = lambda _states, _transitions: None,
) -> Exploration:
    """Close over all states that `alphabet(state)` reaches, checking every property on the way."""
    broken: dict[str, Broken] = {}
    properties, invariants = component.properties, component.invariants
    parents: dict[Any, tuple[Any, Any] | None] = dict.fromkeys(component.start(config))
    for state in parents:
        check_invariants(invariants, state, parents, broken)
    frontier = list(parents)
    transitions = depth = 0
    complete = True
    while frontier and complete:
        found: list[Any] = []
        for state in frontier:
            for event in alphabet(state):
                for outcome in component.step(state, event):
                    transitions += 1
                    for one in properties:
                        if one.name not in broken and not one.holds(state, event, outcome):
                            trace = (*trace_to(state, parents), event)
                            broken[one.name] = Broken(one.name, one.statement, one.rules, trace)
                    if outcome.state not in parents:
                        parents[outcome.state] = (state, event)
                        found.append(outcome.state)
                        check_invariants(invariants, outcome.state, parents, broken)
            if limit is not None and len(parents) >= limit:
                complete = False
                break
        progress(len(parents), transitions)
        depth += bool(found)
        frontier = found
    checked = tuple(one.name for one in (*properties, *invariants))
    return Exploration(len(parents), transitions, depth, checked, tuple(broken.values()), complete)


def check_invariants(
    invariants: tuple[Invariant[Any], ...], state: Any, parents: dict[Any, Any], broken: dict[str, Broken]
) -> None:
    for one in invariants:
        if one.name not in broken and not one.holds(state):
            broken[one.name] = Broken(one.name, one.statement, one.rules, trace_to(state, parents))


def trace_to(state: Any, parents: dict[Any, Any]) -> tuple[Any, ...]:
    """The events that lead from a start to the state."""
    events: list[Any] = []
    while (step := parents[state]) is not None:
        state, event = step
        events.append(event)
    return tuple(reversed(events))
