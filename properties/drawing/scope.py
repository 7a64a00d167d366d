"""The scope of a complete suite: small enough to explore completely, and stated exactly."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import attrs

from tidegate.properties.complete.cover import EACH_CLASS, Selection
from tidegate.reference.components import COMPONENTS
from tidegate.reference.model import AnyComponent


def counted(number: int, noun: str) -> str:
    """`1 channel`, `2 channels`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def dated(semantics: str, known: Sequence[str]) -> str:
    """The suffix of a name for a dated semantics; empty for the first."""
    return "" if semantics == known[0] else f"-{semantics}"


def as_it_is(value: Any) -> Any:
    return value


def always(_state: Any) -> bool:
    return True


@attrs.frozen
class Concretion:
    """Replaces the values of a scope by others, in one of `every` cases.

    If a component only compares timestamps, any order-preserving map shows the same behaviour. So the suite is built
    with small timestamps, and also played with others, on which engines with too narrow numbers fail.
    """

    name: str
    rewrite: Callable[[Any], Any]
    every: int


@attrs.frozen(kw_only=True)
class Scope:
    """A component with one or more configs, each with its own alphabet and its own machine.

    `alphabet(config, state)`: the events to play, including those that must be refused. `opening(config)`: events
    played first, if only an answer tells which of several start states was taken. `expand(state)`: false for states
    beyond the cap; events that lead there are played, but none from there. `canonical(state)`: represents all states
    that differ only in an ever-growing number. `symmetric`: the alphabet and the cap treat all parts alike whose
    numbers make no difference to the component.

    `covers` describes what is covered and `cap` what is not; both are part of the claim.
    """

    name: str
    component: str
    configs: tuple[Any, ...]
    alphabet: Callable[[Any, Any], Iterable[Any]]
    covers: str
    cap: str = ""
    opening: Callable[[Any], tuple[Any, ...]] = lambda _config: ()
    expand: Callable[[Any], bool] = always
    canonical: Callable[[Any], Hashable] = as_it_is
    concretions: tuple[Concretion, ...] = ()
    extra_states: int = 0
    selection: Selection = EACH_CLASS
    symmetric: bool = False

    @property
    def model(self) -> AnyComponent:
        return COMPONENTS[self.component]

    def starts(self, config: Any) -> list[Any]:
        """The possible states after the opening."""
        states = dict.fromkeys(self.model.start(config))
        for event in self.opening(config):
            states = dict.fromkeys(outcome.state for state in states for outcome in self.model.step(state, event))
        return list(states)
