"""A trace in the making: events are played as they are drawn, and where that leads says what is worth drawing next."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from random import Random
from typing import Any, Generic, TypeVar

from tidegate.reference.model import InvalidInputError, Outcome

#: How often one of the ends is picked of very many things.
AT_ENDS = 0.8
ENDS = (0, 1, -2, -1)

State = TypeVar("State")
Event = TypeVar("Event")


class Source(Random):
    """A source of randomness that is asked where a trace ends and which of its events are left out.

    Bulk generation has none of this: it draws a length, and keeps every event. Hypothesis makes a failing case small
    by other answers, and leaves out one event without any change of what comes behind it.
    """

    #: How many events a case may have.
    max_events: float = math.inf

    def begin(self, states: Sequence[Any]) -> Any:
        """The state that a walk begins in, if it could be any of these."""
        return states[0]

    def part(self) -> None:
        """What is drawn from here on has nothing to do with what was drawn before."""

    def goes_on(self) -> bool:
        """Whether there is one more round."""
        raise NotImplementedError

    def keeps(self) -> bool:
        """Whether what was just drawn, such as an event, is part of the case."""
        raise NotImplementedError


class Dice(Random):
    """Gives what `Random` gives for the same seed, in less time; and knows the walk that was last made with it."""

    walk: "Walk[Any, Any] | None" = None
    #: How long the trace is to be, if that is not to be drawn.
    length: int | None = None
    #: Whether nothing is to happen that ends a trace early.
    steady = False
    #: How often the same kind of event is drawn one after the other, at most.
    run = 1
    #: Whether no kind of event is rare.
    even = False
    #: How many events may come behind the end, where few would do.
    behind = 1

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        getrandbits = self.getrandbits

        def choice(seq: Any) -> Any:
            bound = len(seq)
            bits = bound.bit_length()
            drawn = getrandbits(bits)
            while drawn >= bound > 0:
                drawn = getrandbits(bits)
            return seq[drawn]

        # The most frequent question by far: a function of this very object costs a third of a method.
        self.choice = choice  # type: ignore[method-assign]

    def look_at_ends(self, count: int) -> None:
        """Of so many things mostly the first and the last ones are picked from here on.

        Else a case with very many channels would hardly meet one twice; and what is counted in too few bits takes the
        last ones for the first. The same for most of them, in their order: those that are open, or wait.
        """
        choose, draw = self.choice, self.randrange
        ends = sorted({place % count for place in (0, 1, count - 2, count - 1)})

        def choice(seq: Any) -> Any:
            if 2 * len(seq) > count and len(seq) > len(ENDS) and self.random() < AT_ENDS:
                return seq[choose(ENDS)]
            return choose(seq)

        def randrange(start: int, stop: int | None = None, step: int = 1) -> int:
            if (start, stop) in ((count, None), (0, count)) and step == 1 and self.random() < AT_ENDS:
                return int(choose(ends))
            return draw(start, stop, step)

        self.choice = choice  # type: ignore[method-assign]
        self.randrange = randrange  # type: ignore[method-assign]

    def forget(self) -> None:
        """Let go of what refers back to this object, so that no collector has to find out."""
        vars(self).clear()


def draw_length(random: Random) -> int:
    """Mostly a few dozen events, at times very few or many; a source is asked on the way, so it gets room."""
    if isinstance(random, Source):
        return 60
    if isinstance(random, Dice) and random.length is not None:
        return random.length
    style = random.random()
    if style < 0.2:
        return random.randint(1, 6)
    return random.randint(7, 35) if style < 0.93 else random.randint(36, 90)


def first(outcomes: Sequence[Outcome[State, Any]]) -> Outcome[State, Any]:
    return outcomes[0]


def stay(state: State, _event: Any) -> tuple[Outcome[State, Any], ...]:
    """A step for those who draw their events without regard to what came before."""
    return (Outcome(state, (), ()),)


def always(_state: Any, _event: Any) -> bool:
    return True


class Walk(Generic[State, Event]):
    """The events of a case so far, and the state that they lead to if each takes its first outcome.

    `choose` picks another outcome. `is_fair(state, event)` is false for what the specification does not speak of: no
    engine may be accused for what it does then. Who draws for a walk sees to that; but where an event is left out, a
    later one may become unfair, and is left out with it. So there are two states: `state` is where all events would
    have led, whatever was left out, and stays what the next round is drawn for.
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
        #: How many events were played, left out or not.
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
        """As many rounds as the length says, each for an event or a few."""
        for number in range(self.length):
            if self._is_at_its_end():
                return
            yield number

    def up_to_length(self) -> Iterator[None]:
        """Rounds until there are as many events as the length says."""
        while self.played < self.length:
            if self._is_at_its_end():
                return
            yield

    def up_to_end(self, is_over: Callable[[State], bool], least: int, most: int) -> Iterator[None]:
        """The same, and when it is over only a few events more."""
        for _ in self.up_to_length():
            if is_over(self.state):
                self.end_soon(least, most)
            yield

    def end_soon(self, least: int, most: int) -> None:
        """Little happens any more, and a few events show that."""
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
