"""A trace under construction: events are played as they are drawn, and the state decides which draws are useful."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from random import Random
from typing import Any, Generic, TypeVar

from tidegate.properties.drawing.dice import Dice, Source, stream
from tidegate.reference.model import InvalidInputError, Outcome

State = TypeVar("State")
Event = TypeVar("Event")


def draw_length(random: Random) -> int:
    """Mostly a few dozen events, at times very few or many; a `Source` decides later, so it gets room."""
    if isinstance(random, Source):
        return 60
    if isinstance(random, Dice) and random.length is not None:
        return random.length
    own = stream(random, "length")
    style = own.random()
    if style < 0.2:
        return own.randint(1, 6)
    return own.randint(7, 35) if style < 0.93 else own.randint(36, 90)


def first(outcomes: Sequence[Outcome[State, Any]]) -> Outcome[State, Any]:
    return outcomes[0]


def stay(state: State, _event: Any) -> tuple[Outcome[State, Any], ...]:
    """A step for events that do not depend on earlier ones."""
    return (Outcome(state, (), ()),)


def always(_state: Any, _event: Any) -> bool:
    return True


class Walk(Generic[State, Event]):
    """The events of a case so far, and the state that they lead to with first outcomes.

    `choose` picks another outcome. `is_fair(state, event)` is false if the specification does not cover the event: then
    no behaviour is wrong. Generators only draw fair events; but if an event is left out, a later one may become unfair,
    and is left out as well. So there are two states: `state` is the state after all events, including those left out,
    and the next round is drawn for it.
    """

    def __init__(
        self,
        random: Random,
        states: Sequence[State],
        step: Callable[[State, Event], Sequence[Outcome[State, Any]]],
        *,
        length: int | None = None,
        choose: Callable[[Sequence[Outcome[State, Any]]], Outcome[State, Any]] = first,
        is_fair: Callable[[State, Event], bool] = always,
    ) -> None:
        self._source = random if isinstance(random, Source) else None
        self.state = states[0] if self._source is None else self._source.begin(states)
        self.started = states
        self.step = step
        self.length = draw_length(random) if length is None else length
        #: Number of played events, including those left out.
        self.played = 0
        self._random = random
        self._choose = choose
        self._is_fair = is_fair
        self._kept = self.state
        self._events: list[Event] = []
        self._outcomes: list[Sequence[Outcome[State, Any]]] = []
        if isinstance(random, Dice):
            random.walk = self

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    def rounds(self) -> Iterator[int]:
        """As many rounds as the length, each with one event or a few."""
        for number in range(self.length):
            if self._is_at_its_end():
                return
            yield number

    def up_to_length(self) -> Iterator[None]:
        """Rounds until there are as many events as the length."""
        while self.played < self.length:
            if self._is_at_its_end():
                return
            yield

    def up_to_end(self, is_over: Callable[[State], bool], least: int, most: int) -> Iterator[None]:
        """The same, with only a few more events after the end."""
        for _ in self.up_to_length():
            if is_over(self.state):
                self.end_soon(least, most)
            yield

    def end_soon(self, least: int, most: int) -> None:
        """After the end little happens, and a few events show that."""
        if isinstance(self._random, Dice):
            most = max(most, self._random.run, self._random.behind)
        self.length = min(self.length, self.played + self._random.randint(least, most))

    def play(self, events: Iterable[Event]) -> None:
        for event in events:
            self.play_one(event)

    def play_one(self, event: Event) -> Outcome[State, Any]:
        if self._source is not None and not self._is_fair(self.state, event):
            return Outcome(self.state, (), ())
        outcomes = self.step(self.state, event)
        outcome = self._choose(outcomes)
        self.state = outcome.state
        self.played += 1
        if self._source is None or self._is_kept(self._source, event):
            self._events.append(event)
            self._outcomes.append(outcomes)
        return outcome

    def way(self) -> list[tuple[Event, Sequence[Outcome[State, Any]]]]:
        """Each event with its only outcome, up to the first choice."""
        steps = list(zip(self._events, self._outcomes, strict=True))
        if set(map(len, self._outcomes)) <= {1}:
            return steps
        return list(takewhile(lambda step: len(step[1]) == 1, steps))

    def _is_at_its_end(self) -> bool:
        source = self._source
        return source is not None and (len(self._events) >= source.max_events or not source.goes_on())

    def _is_kept(self, source: Source, event: Event) -> bool:
        if len(self._events) >= source.max_events or not source.keeps() or not self._is_fair(self._kept, event):
            return False
        try:
            self._kept = self.step(self._kept, event)[0].state
        except InvalidInputError:
            return False
        return True
