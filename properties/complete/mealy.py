"""A component with a small alphabet as a machine, with numbers for states, events and answers.

Complete suites walk it millions of times, so it is explored once into a table. A component with a free answer (a
shuffle takes any channel) works as long as the choice does not affect later steps: the answer then is the *set* of
allowed answers.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from tidegate.reference.model import AnyComponent

#: A sequence of events, by their numbers.
Word = tuple[int, ...]

Alphabet = Callable[[Any], Iterable[Any]]


class NotDeterministicError(ValueError):
    """The answer does not determine the next state, so that no fixed sequence of events can test it."""


class Machine:
    """The states that the alphabet reaches from one start; states to cover come first.

    If the state is unbounded, `expand` selects the states to cover; others are only passed through, and stepped on
    demand. `canonical` returns the representative of all states that differ only in an ever-growing number, such as a
    sequence number.
    """

    def __init__(
        self,
        component: AnyComponent,
        start: Any,
        alphabet: Alphabet,
        expand: Callable[[Any], bool] = lambda _state: True,
        canonical: Callable[[Any], Any] = lambda state: state,
    ) -> None:
        self._step = component.step
        self._canonical = canonical
        self._alphabet = alphabet
        self.states: list[Any] = []
        self.events: list[Any] = []
        self._state_numbers: dict[Any, int] = {}
        self._event_numbers: dict[Any, int] = {}
        self._answer_numbers: dict[Hashable, int] = {}
        self._rows: list[dict[int, tuple[int, int]] | None] = []
        self._asked: dict[tuple[int, int], tuple[int, int] | None] = {}
        #: The events of a state with their outcomes.
        self._played: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._last_alphabet: Iterable[Any] = ()
        self._last_numbers: frozenset[int] = frozenset()
        #: Whether an answer was left free so far.
        self.has_choices = False
        self.start = self._number_of_state(start)
        #: The states to cover, in the order in which they are first reached.
        self.core: list[int] = self._close(expand)

    def _close(self, expand: Callable[[Any], bool]) -> list[int]:
        core: list[int] = []
        reached = [self.start]
        seen = {self.start}
        for state in reached:
            # The start is always covered: a scope with a capped start would be empty.
            if state != self.start and not expand(self.states[state]):
                continue
            core.append(state)
            for target, _answer in self.row(state).values():
                if target not in seen:
                    seen.add(target)
                    reached.append(target)
        return core

    def row(self, state: int) -> dict[int, tuple[int, int]]:
        """For each event of the state's alphabet: the next state and the answer."""
        row = self._rows[state]
        if row is None:
            row = self._rows[state] = dict(
                self._transition(state, event) for event in self._alphabet(self.states[state])
            )
        return row

    def ask(self, state: int, event: int) -> tuple[int, int] | None:
        """The transition of one event, if the state's alphabet has it; beyond the cap nothing else is stepped."""
        row = self._rows[state]
        if row is not None:
            return row.get(event)
        if (state, event) not in self._asked:
            known = event in self._numbers_of(self._alphabet(self.states[state]))
            self._asked[state, event] = self._transition(state, self.events[event])[1] if known else None
        return self._asked[state, event]

    def _numbers_of(self, alphabet: Iterable[Any]) -> frozenset[int]:
        """The numbers of an alphabet's events; mostly all states have the same alphabet."""
        if alphabet is not self._last_alphabet:
            numbers = self._event_numbers
            self._last_numbers = frozenset([numbers[event] for event in alphabet if event in numbers])
            self._last_alphabet = alphabet
        return self._last_numbers

    def _transition(self, state: int, event: Any) -> tuple[int, tuple[int, int]]:
        outcomes = self._step(self.states[state], event)
        target = outcomes[0].state
        if any(outcome.state != target for outcome in outcomes[1:]):
            raise NotDeterministicError(f"{event} may lead to several states")
        allowed = outcomes[0].observations if len(outcomes) == 1 else frozenset(one.observations for one in outcomes)
        answer = self._answer_numbers.setdefault(allowed, len(self._answer_numbers))
        number = self._number_of_event(event)
        self._played[state, number] = (event, outcomes)
        self.has_choices = self.has_choices or len(outcomes) > 1
        return number, (self._number_of_state(target), answer)

    def _number_of_state(self, state: Any) -> int:
        state = self._canonical(state)
        number = self._state_numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
            self._rows.append(None)
        return number

    def _number_of_event(self, event: Any) -> int:
        number = self._event_numbers.setdefault(event, len(self.events))
        if number == len(self.events):
            self.events.append(event)
        return number

    def play(self, word: Word) -> list[tuple[Any, Any]]:
        """Each event of a word with its outcomes: always the same objects for the same event in the same state."""
        state, played = self.start, []
        for event in word:
            transition = self.ask(state, event)
            assert transition is not None, "words only have playable events"
            played.append(self._played[state, event])
            state = transition[0]
        return played

    def cut(self, word: Word) -> Word:
        """The word up to the first event that is not in the alphabet of the reached state."""
        state = self.start
        for length, event in enumerate(word):
            transition = self.ask(state, event)
            if transition is None:
                return word[:length]
            state = transition[0]
        return word

    @property
    def is_uniform(self) -> bool:
        """Whether all explored states have the same alphabet."""
        return all(row is None or len(row) == len(self.events) for row in self._rows)

    def walk(self, state: int, word: Word) -> int:
        for event in word:
            state = self.row(state)[event][0]
        return state
