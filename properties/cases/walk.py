"""How a case is drawn: event by event, with an eye on the state that they lead to."""

from collections.abc import Callable, Iterable
from itertools import accumulate
from random import Random
from typing import Any, Generic, TypeVar

from tidegate.reference.model import Outcome, reach

State = TypeVar("State")
Event = TypeVar("Event")


class Walk(Generic[State, Event]):
    """The events so far and the state after them, where the first outcome that is allowed is the one that happens."""

    def __init__(self, step: Callable[[State, Event], tuple[Outcome[State, Any], ...]], state: State) -> None:
        self._step = step
        self.state = state
        self.events: list[Event] = []

    def play(self, *events: Event) -> None:
        self.events += events
        self.state = reach(self._step, self.state, events)

    def go_on(
        self,
        random: Random,
        length: int,
        draw_next: Callable[[State], Iterable[Event]],
        is_over: Callable[[State], bool] = lambda _state: False,
        few: tuple[int, int] = (1, 3),
    ) -> None:
        """Up to a number of events, or a few more: the last ones are drawn together.

        Once it `is_over` little happens any more, and a `few` events show that.
        """
        while len(self.events) < length:
            if is_over(self.state):
                length = min(length, len(self.events) + random.randint(*few))
            self.play(*draw_next(self.state))


def among(random: Random, weights: dict[str, float]) -> Callable[[], str]:
    """A function that draws one of the kinds of events."""
    kinds, bounds = list(weights), list(accumulate(weights.values()))
    return lambda: random.choices(kinds, cum_weights=bounds)[0]
