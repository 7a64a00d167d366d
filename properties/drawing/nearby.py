"""Events that a generator would draw in a given state: the alphabet for choosing event by event."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tidegate.properties.drawing.cases import generator_of
from tidegate.properties.drawing.dice import Source

#: Walks from the state, and rounds per walk.
WALKS, ROUNDS = 16, 2


class Nearby(Source):
    """A seeded source for a short walk from a given state that leaves nothing out."""

    def __init__(self, seed: int, state: Any) -> None:
        super().__init__(seed)
        self._state = state
        self._rounds = ROUNDS

    def begin(self, states: Sequence[Any]) -> Any:  # noqa: ARG002 - whatever it starts in, we are further on
        return self._state

    def goes_on(self) -> bool:
        self._rounds -= 1
        return self._rounds >= 0

    def keeps(self) -> bool:
        return True


@lru_cache(maxsize=4096)
def events_near(component: str, config: Any, state: Any, batch: int = 0) -> tuple[Any, ...]:
    """The distinct events of a few short walks from the state; another batch has other walks."""
    generator = generator_of(component)
    seeds = range(batch * WALKS, (batch + 1) * WALKS)
    return tuple(dict.fromkeys(event for seed in seeds for event in generator.draw(Nearby(seed, state), config)[1]))
