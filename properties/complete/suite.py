"""Complete suites: finite-state conformance testing of a component within a scope.

The method is old (Chow's W-method): take a minimal machine, reach each of its states, play each event there, and
identify the next state. A deterministic machine with no more states that gives the same answers in all of these cases
is equivalent to it. Harmonised identifiers (Petrenko's HSI) need fewer cases. With `extra_states` the theorem holds for
machines with that many more states; each of them multiplies the suite by about the size of the alphabet.

Cases are made lazily, so that a suite of millions needs no memory.
"""

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

import attrs

from tidegate.properties.complete.cover import Cover
from tidegate.properties.complete.mealy import Machine
from tidegate.properties.drawing.scope import Scope, as_it_is
from tidegate.traces.cases import Case, Way


@attrs.frozen
class ConfigSuite:
    """The suite of one config of a scope: a cover per possible start state."""

    config: Any
    opening: tuple[Any, ...]
    covers: tuple[Cover, ...]
    #: Whether each state of its machines is a single state and does not represent many.
    is_exact: bool

    @property
    def states(self) -> int:
        return max(len(cover.machine.core) for cover in self.covers)

    @property
    def classes(self) -> int:
        return max(len(cover.classes.first) for cover in self.covers)

    @property
    def entered(self) -> int:
        return max(cover.entered for cover in self.covers)

    def traces(self) -> Iterator[tuple[Any, ...]]:
        if len(self.covers) == 1:
            return self._traces(self.covers[0])
        # Most traces are the same for all starts.
        return iter(dict.fromkeys(trace for cover in self.covers for trace in self._traces(cover)))

    def ways(self) -> Iterator[tuple[tuple[Any, ...], Way | None]]:
        """The traces, with the allowed outcomes if the machine knows them exactly."""
        if self.opening or len(self.covers) > 1 or not self.is_exact:
            yield from ((trace, None) for trace in self.traces())
            return
        (cover,) = self.covers
        for word in cover.words():
            played = cover.machine.play(word)
            trace = tuple([event for event, _outcomes in played])
            settled = not cover.machine.has_choices or all(len(outcomes) == 1 for _event, outcomes in played)
            yield trace, Way(self.config, played, trace, shared=True) if settled else None

    def _traces(self, cover: Cover) -> Iterator[tuple[Any, ...]]:
        events = cover.machine.events
        for word in cover.words():
            yield (*self.opening, *[events[event] for event in word])


class Cases:
    """The cases of a suite in a fixed order. They can be read any number of times."""

    def __init__(self, scope: Scope, parts: tuple[ConfigSuite, ...]) -> None:
        self._scope = scope
        self._parts = parts

    def __len__(self) -> int:
        return self._totals[0]

    @property
    def events(self) -> int:
        return self._totals[1]

    @cached_property
    def _totals(self) -> tuple[int, int]:
        cases = events = 0
        strides = (1, *(one.every for one in self._scope.concretions))
        for index, trace in enumerate(trace for part in self._parts for trace in part.traces()):
            played = sum(index % stride == 0 for stride in strides)
            cases += played
            events += played * len(trace)
        return cases, events

    def __iter__(self) -> Iterator[Case]:
        scope = self._scope
        rewriters = [(one.name, one.every, cache(one.rewrite)) for one in scope.concretions]
        prefix = f"{scope.component}-complete-{scope.name}"
        numbered = enumerate((part.config, trace, way) for part in self._parts for trace, way in part.ways())
        for index, (config, trace, way) in numbered:
            name = f"{prefix}-{index:05}"
            yield Case(name, scope.component, config, trace, way=way)
            for suffix, every, rewrite in rewriters:
                if index % every == 0:
                    yield Case(f"{name}-{suffix}", scope.component, config, tuple(map(rewrite, trace)))


@attrs.frozen
class CompleteSuite:
    """The suite of a scope, and its claim about an engine that passes.

    `states` and `classes` are totals over all configs, and `entered` is the number of states from which the suite
    tests.
    """

    scope: Scope
    states: int
    classes: int
    entered: int
    cases: Cases
    claim: str

    @property
    def events(self) -> int:
        """The total number of events; like `len(cases)`, counted on first use."""
        return self.cases.events


def build(scope: Scope, extra_states: int = 0) -> CompleteSuite:
    """The complete suite of the scope, for engines with up to `extra_states` more states than the scope allows."""
    extra = scope.extra_states + extra_states
    parts = tuple(build_config(scope, config, extra) for config in scope.configs)
    states = sum(part.states for part in parts)
    classes = sum(part.classes for part in parts)
    entered = sum(part.entered for part in parts)
    return CompleteSuite(scope, states, classes, entered, Cases(scope, parts), make_claim(scope, extra, parts))


def build_config(scope: Scope, config: Any, extra_states: int) -> ConfigSuite:
    def alphabet(state: Any) -> Any:
        return scope.alphabet(config, state)

    machines = [Machine(scope.model, start, alphabet, scope.expand, scope.canonical) for start in scope.starts(config)]
    covers = tuple(Cover(machine, extra_states, scope.selection) for machine in machines)
    return ConfigSuite(config, scope.opening(config), covers, scope.canonical is as_it_is)


def make_claim(scope: Scope, extra_states: int, parts: tuple[ConfigSuite, ...]) -> str:
    """The exact claim of a passed suite, with its scope."""
    reached = sum(part.states for part in parts)
    different = sum(part.classes for part in parts)
    entered = sum(part.entered for part in parts)
    sentences = [
        f"Scope {scope.component} {scope.name}: {scope.covers}.",
        f"The reference has {reached} states there, {different} of them different.",
        f"Of these {scope.selection.entered}: {entered} in all.",
    ]
    if scope.selection.is_complete:
        sizes = sorted({part.classes + extra_states for part in parts})
        bound = f"{sizes[0]} states" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} states (by config)"
        sentences.append(
            f"A deterministic engine that behaves on this scope as a machine of at most {bound} and answers "
            "every case as allowed is equivalent to the reference on it."
        )
    else:
        sentences.append("Each event is played in each state entered, and the state behind it told from all others.")
    if scope.cap:
        sentences.append(
            f"Capped: {scope.cap}; this is about sequences of events that stay within. What leads beyond the cap is "
            "judged by its answer alone, the state there is not identified; states that differ only far beyond it "
            "count as equal."
        )
    if scope.concretions:
        played = ", ".join(f"{one.name} (1 case in {one.every})" for one in scope.concretions)
        sentences.append(
            f"Numbers are small where only their order counts; also played on others, in that order: {played}."
        )
    return " ".join(sentences)
