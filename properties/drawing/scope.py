"""What a complete suite is complete *for*: a scope, small enough to be closed over, and stated exactly."""

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
    """What a name says of a dated semantics: nothing of the first."""
    return "" if semantics == known[0] else f"-{semantics}"


def as_it_is(value: Any) -> Any:
    return value


def always(_state: Any) -> bool:
    return True


@attrs.frozen
class Concretion:
    """A way to make the values of a scope concrete, by rewriting its events; one of `every` cases is played that way.

    Where a component only compares timestamps, any map that keeps their order shows the same behaviour. So the suite
    is built on small ones, and played on others too, on which engines with too narrow numbers fail.
    """

    name: str
    rewrite: Callable[[Any], Any]
    every: int


@attrs.frozen(kw_only=True)
class Scope:
    """A component with one or more configs, each on its own alphabet, each a machine of its own.

    `alphabet(config, state)` are the events to play; they include those that must be refused. `opening(config)` is
    played before anything else, where only an answer tells which of several starts was taken. `expand(state)` is false
    for states beyond the cap: what leads there is played, and nothing from there on. `canonical(state)` stands for all
    states that differ from it only in a number that is counted on and on. `symmetric`: the alphabet and the cap treat
    all parts alike whose numbers make no difference to the component.

    `covers` says in words what is covered and `cap` what is not; both end up in the claim.
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
        """The states in which a case may be when its opening has been played."""
        states = dict.fromkeys(self.model.start(config))
        for event in self.opening(config):
            states = dict.fromkeys(outcome.state for state in states for outcome in self.model.step(state, event))
        return list(states)
