"""Exhaustive exploration: every state that a small alphabet can reach, every transition between them.

Breadth first, so that the first trace that breaks a property is a shortest one.

With a symmetry, of states that differ only in the numbers of their parts the first one that is found is followed, and
it stands for the others. Every state that is followed was reached as it is, so traces can be replayed; and since
numbers make no difference, a shorter one with other numbers would have been found earlier.
"""

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from tidegate.properties.cases.scope import as_it_is
from tidegate.reference.model import AnyComponent, Invariant, Symmetry

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
    """What was found. `complete` is false if the exploration ended at its limit of states.

    With a symmetry, `states` counts one for all that differ only in the numbers of their parts.
    """

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
    symmetry: Symmetry[Any] | None = None,
) -> Exploration:
    """Close over all states that `alphabet(state)` reaches, checking every property on the way.

    With a symmetry, the alphabet must treat all parts alike: a state with other numbers has the same events, with these
    numbers.
    """
    represent = as_it_is if symmetry is None else symmetry.canonical
    broken: dict[str, Broken] = {}
    properties, invariants = component.properties, component.invariants
    # A state is known by the one that stands for it, and leads back to another one that was followed.
    parents: dict[Any, tuple[Any, Any] | None] = {}
    frontier: list[tuple[Any, Any]] = []
    for state in component.start(config):
        known = represent(state)
        if known not in parents:
            parents[known] = None
            frontier.append((known, state))
            check_invariants(invariants, known, state, parents, broken)
    transitions = depth = 0
    complete = True
    while frontier and complete:
        found: list[tuple[Any, Any]] = []
        for origin, state in frontier:
            for event in alphabet(state):
                for outcome in component.step(state, event):
                    transitions += 1
                    for one in properties:
                        if one.name not in broken and not one.holds(state, event, outcome):
                            trace = (*trace_to(origin, parents), event)
                            broken[one.name] = Broken(one.name, one.statement, one.rules, trace)
                    if outcome.state is state:
                        continue
                    known = represent(outcome.state)
                    if known not in parents:
                        parents[known] = (origin, event)
                        found.append((known, outcome.state))
                        check_invariants(invariants, known, outcome.state, parents, broken)
            if limit is not None and len(parents) >= limit:
                complete = False
                break
        progress(len(parents), transitions)
        depth += bool(found)
        frontier = found
    checked = tuple(one.name for one in (*properties, *invariants))
    return Exploration(len(parents), transitions, depth, checked, tuple(broken.values()), complete)


def check_invariants(
    invariants: tuple[Invariant[Any], ...], known: Any, state: Any, parents: dict[Any, Any], broken: dict[str, Broken]
) -> None:
    for one in invariants:
        if one.name not in broken and not one.holds(state):
            broken[one.name] = Broken(one.name, one.statement, one.rules, trace_to(known, parents))


def trace_to(known: Any, parents: dict[Any, Any]) -> tuple[Any, ...]:
    """The events that lead from a start to the state that is known by this one."""
    events: list[Any] = []
    while (step := parents[known]) is not None:
        known, event = step
        events.append(event)
    return tuple(reversed(events))
