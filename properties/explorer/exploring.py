"""Exhaustive exploration: every state that a small alphabet can reach, every transition between them.

Breadth first, so that the first trace that breaks a property is a shortest one.

With a symmetry, the explorer follows only the first of all states that differ only in the numbers of their parts. Every
state that it follows was really reached, so traces can be replayed; and since numbers make no difference, a shorter
trace with other numbers would have been found earlier.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from tidegate.properties.drawing.scope import as_it_is
from tidegate.reference.model import AnyComponent, Claim, Outcome, Symmetry

Alphabet = Callable[[Any], Iterable[Any]]
#: Receives the number of states and of transitions so far.
Progress = Callable[[int, int], None]


#: Memory limit of the process, whatever the limit of states.
MOST_BYTES = 900_000_000
#: Transitions between two checks of memory and two reports of progress.
GLANCE = 500
#: Unit of the system's memory figures.
UNIT = 1 if sys.platform == "darwin" else 1024


def used_memory() -> int:
    """Peak memory of this process in bytes; 0 if unknown, as in a browser."""
    try:
        import resource  # noqa: PLC0415 - not every Python has it
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def in_silence(_states: int, _transitions: int) -> None:
    pass


@attrs.frozen
class Shown:
    """A claim with a shortest trace that breaks it, or that reaches it if it must be reachable.

    Shortest within the alphabet: an alphabet that omits events may omit shorter traces.
    """

    name: str
    statement: str
    rules: tuple[str, ...]
    trace: tuple[Any, ...]


@attrs.frozen
class Exploration:
    """The result. `complete` is false if the exploration reached its limit of states or of memory (`full`), or was
    interrupted.

    A state that must be reachable and is not in `reached` may be reached with another config or more events.

    With a symmetry, `states` counts states that differ only in the numbers of their parts once.
    """

    states: int
    transitions: int
    depth: int
    checked: tuple[str, ...]
    broken: tuple[Shown, ...]
    reached: tuple[Shown, ...]
    complete: bool
    interrupted: bool = False
    full: bool = False


def explore(
    component: AnyComponent,
    config: Any,
    alphabet: Alphabet,
    limit: int | None = None,
    progress: Progress = in_silence,
    symmetry: Symmetry[Any] | None = None,
    opening: tuple[Any, ...] = (),
) -> Exploration:
    """Explore all states that `alphabet(state)` reaches, and check every property.

    The opening is played before any check; traces begin with it. Stops at `limit` states.

    With a symmetry, the alphabet must treat all parts alike: a state with other numbers has the same events, with these
    numbers.
    """
    represent = as_it_is if symmetry is None else symmetry.canonical
    broken: dict[str, Shown] = {}
    reached: dict[str, Shown] = {}
    properties, invariants, sometimes = component.properties, component.invariants, component.sometimes
    # The key of a state is its representative; the value leads back to the followed state before it.
    parents: dict[Any, tuple[Any, Any] | None] = {}

    def shown(claim: Claim, known: Any, *last: Any) -> Shown:
        return Shown(claim.name, claim.statement, claim.rules, (*opening, *trace_to(known, parents), *last))

    def check_state(known: Any, state: Any) -> None:
        for one in invariants:
            if one.name not in broken and not one.holds(state):
                broken[one.name] = shown(one, known)

    frontier: list[tuple[Any, Any]] = []
    for state in play(component, config, opening):
        known = represent(state)
        if known not in parents:
            parents[known] = None
            frontier.append((known, state))
            check_state(known, state)
    transitions = depth = 0
    complete = True
    interrupted = full = False
    # A process that is already large may grow a little more.
    most = max(MOST_BYTES, used_memory() + MOST_BYTES // 10)
    try:
        while frontier and complete:
            found: list[tuple[Any, Any]] = []
            for origin, state, event, outcome in follow(component, frontier, alphabet):
                transitions += 1
                for one in properties:
                    if one.name not in broken and not one.holds(state, event, outcome):
                        broken[one.name] = shown(one, origin, event)
                for each in sometimes:
                    if each.name not in reached and each.holds(state, event, outcome):
                        reached[each.name] = shown(each, origin, event)
                if transitions % GLANCE == 0:
                    progress(len(parents), transitions)
                    full = used_memory() > most
                is_new = outcome.state is not state and (known := represent(outcome.state)) not in parents
                if full or (is_new and limit is not None and len(parents) >= limit):
                    complete = False
                    break
                if is_new:
                    parents[known] = (origin, event)
                    found.append((known, outcome.state))
                    check_state(known, outcome.state)
            progress(len(parents), transitions)
            depth += bool(found)
            frontier = found
    except KeyboardInterrupt:
        complete, interrupted = False, True
    checked = tuple(one.name for one in (*properties, *invariants))
    found_out = tuple(broken.values()), tuple(reached.values())
    return Exploration(len(parents), transitions, depth, checked, *found_out, complete, interrupted, full)


def follow(
    component: AnyComponent, states: Iterable[tuple[Any, Any]], alphabet: Alphabet
) -> Iterator[tuple[Any, Any, Any, Outcome[Any, Any]]]:
    """The key of each state, the state itself, and each event of the alphabet with each outcome."""
    for known, state in states:
        for event in alphabet(state):
            for outcome in component.step(state, event):
                yield known, state, event, outcome


def play(component: AnyComponent, config: Any, opening: tuple[Any, ...]) -> tuple[Any, ...]:
    """The possible states after the opening."""
    states = component.start(config)
    for event in opening:
        states = tuple(outcome.state for state in states for outcome in component.step(state, event))
    return states


def trace_to(known: Any, parents: dict[Any, Any]) -> tuple[Any, ...]:
    """The events that lead from a start to the state with this key."""
    events: list[Any] = []
    while (step := parents[known]) is not None:
        known, event = step
        events.append(event)
    return tuple(reversed(events))
