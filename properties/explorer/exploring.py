"""Exhaustive exploration: every state that a small alphabet can reach, every transition between them.

Breadth first, so that the first trace that breaks a property is a shortest one.

With a symmetry, of states that differ only in the numbers of their parts the first one that is found is followed, and
it stands for the others. Every state that is followed was reached as it is, so traces can be replayed; and since
numbers make no difference, a shorter one with other numbers would have been found earlier.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from tidegate.properties.drawing.scope import as_it_is
from tidegate.reference.model import AnyComponent, Claim, Outcome, Symmetry

Alphabet = Callable[[Any], Iterable[Any]]
#: Is told the number of states and of transitions so far.
Progress = Callable[[int, int], None]


#: However many states are allowed, a process that takes more than this gives up.
MOST_BYTES = 900_000_000
#: After so many transitions the explorer looks how large it is, and says how far.
GLANCE = 500
#: What the system counts memory in.
UNIT = 1 if sys.platform == "darwin" else 1024


def used_memory() -> int:
    """Bytes that this process had at its largest; none where nobody counts, as in a browser."""
    try:
        import resource  # noqa: PLC0415 - not every Python has it
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


def in_silence(_states: int, _transitions: int) -> None:
    pass


@attrs.frozen
class Shown:
    """A claim, and a shortest trace that shows it broken, or reached if it is about what must be reachable.

    Shortest of those that the alphabet allows: one that leaves events out may leave out what is shorter.
    """

    name: str
    statement: str
    rules: tuple[str, ...]
    trace: tuple[Any, ...]


@attrs.frozen
class Exploration:
    """What was found. `complete` is false if the exploration ended at its limit of states, or of memory (it is `full`),
    or was interrupted.

    What must be reachable and is not in `reached` may be reached elsewhere: with another config, or more events.

    With a symmetry, `states` counts one for all that differ only in the numbers of their parts.
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
    """Close over all states that `alphabet(state)` reaches, checking every property on the way.

    The opening is played before anything is checked; traces begin with it. More states than `limit` are not followed.

    With a symmetry, the alphabet must treat all parts alike: a state with other numbers has the same events, with these
    numbers.
    """
    represent = as_it_is if symmetry is None else symmetry.canonical
    broken: dict[str, Shown] = {}
    reached: dict[str, Shown] = {}
    properties, invariants, sometimes = component.properties, component.invariants, component.sometimes
    # A state is known by the one that stands for it, and leads back to another one that was followed.
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
    # Whoever is large already may take a little more.
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
    """What each state is known by, the state itself, each event of the alphabet and each outcome of it."""
    for known, state in states:
        for event in alphabet(state):
            for outcome in component.step(state, event):
                yield known, state, event, outcome


def play(component: AnyComponent, config: Any, opening: tuple[Any, ...]) -> tuple[Any, ...]:
    """The states in which the component may be behind the opening."""
    states = component.start(config)
    for event in opening:
        states = tuple(outcome.state for state in states for outcome in component.step(state, event))
    return states


def trace_to(known: Any, parents: dict[Any, Any]) -> tuple[Any, ...]:
    """The events that lead from a start to the state that is known by this one."""
    events: list[Any] = []
    while (step := parents[known]) is not None:
        known, event = step
        events.append(event)
    return tuple(reversed(events))
