"""The closure of a small scope as a graph to walk: the place of a state, its predecessors and its successors.

Neighbours are computed from the actual state, so that every step is a playable event. With a symmetry, states that
differ only in the numbers of their parts share a place.
"""

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from tidegate.properties.drawing.scope import as_it_is
from tidegate.properties.explorer.closures import Closure
from tidegate.properties.explorer.exploring import play, trace_to
from tidegate.reference.model import AnyComponent, InvalidInputError


@attrs.define(eq=False)
class Graph:
    """Every place with its number and depth, the events that lead there, and its predecessors."""

    component: AnyComponent
    represent: Callable[[Any], Any]
    opening: tuple[Any, ...]
    numbers: dict[Any, int] = attrs.Factory(dict)
    depths: dict[Any, int] = attrs.Factory(dict)
    parents: dict[Any, tuple[Any, Any] | None] = attrs.Factory(dict)
    sources: dict[Any, dict[Any, Any]] = attrs.Factory(dict)
    complete: bool = True

    def add(self, known: Any, depth: int, parent: tuple[Any, Any] | None) -> None:
        self.numbers[known] = len(self.numbers)
        self.depths[known] = depth
        self.parents[known] = parent

    def trace_to(self, known: Any) -> tuple[Any, ...]:
        """A shortest trace to a place."""
        return (*self.opening, *trace_to(known, self.parents))

    @property
    def layers(self) -> list[int]:
        counts = [0] * (max(self.depths.values()) + 1)
        for depth in self.depths.values():
            counts[depth] += 1
        return counts


def make_graph(closure: Closure, config: Any, limit: int) -> Graph:
    """Breadth first, as in the explorer, with every transition kept."""
    component = closure.component
    represent = as_it_is if component.symmetry is None else component.symmetry.canonical
    graph = Graph(component, represent, closure.opening(config))
    frontier = []
    for state in play(component, config, graph.opening):
        if represent(state) not in graph.numbers:
            graph.add(represent(state), 0, None)
            frontier.append(state)
    depth = 0
    while frontier and graph.complete:
        depth += 1
        found = []
        for state in frontier:
            origin = represent(state)
            for event, outcome in transitions(component, closure.alphabet(config, state), state):
                known = represent(outcome.state)
                graph.sources.setdefault(known, {}).setdefault(origin, event)
                if known not in graph.numbers:
                    graph.add(known, depth, (origin, event))
                    found.append(outcome.state)
            if len(graph.numbers) >= limit:
                graph.complete = False
                break
        frontier = found
    return graph


def transitions(component: AnyComponent, events: Iterable[Any], state: Any) -> Iterable[tuple[Any, Any]]:
    for event in events:
        try:
            outcomes = component.step(state, event)
        except InvalidInputError:
            continue
        for outcome in outcomes:
            yield event, outcome
