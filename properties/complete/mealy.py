"""The machine that a component is on a small alphabet, with numbers for states, events and answers.

Complete suites need to walk it millions of times, so it is closed over once and then is a table. A component that
leaves an answer free (a shuffle takes any channel) fits in as long as the choice changes nothing that comes after it:
the answer then is the *set* of what is allowed.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from tidegate.reference.model import AnyComponent

#: A sequence of events, by their numbers.
Word = tuple[int, ...]

Alphabet = Callable[[Any], Iterable[Any]]


class NotDeterministicError(ValueError):
    """What was answered does not tell which state comes next, so that no fixed sequence of events can."""


class Machine:
    """The states that the alphabet reaches from one start, those to be covered first.

    Where the state is unbounded, `expand` says which states are to be covered; the others are only passed through, and
    stepped when somebody walks there. `canonical` gives the state that stands for all those that differ from it only in
    what is counted on and on, such as a sequence number.
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
        #: What is played in a state, with its outcomes.
        self._played: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._last_alphabet: Iterable[Any] = ()
        self._last_numbers: frozenset[int] = frozenset()
        #: Whether an answer was left free so far.
        self.has_choices = False
        self.start = self._number_of_state(start)
        #: The states to be covered, in the order in which they are first reached.
        self.core: list[int] = self._close(expand)

    def _close(self, expand: Callable[[Any], bool]) -> list[int]:
        core: list[int] = []
        reached = [self.start]
        seen = {self.start}
        for state in reached:
            # The start is always covered: a scope that caps it away would be empty.
            if state != self.start and not expand(self.states[state]):
                continue
            core.append(state)
            for target, _answer in self.row(state).values():
                if target not in seen:
                    seen.add(target)
                    reached.append(target)
        return core

    def row(self, state: int) -> dict[int, tuple[int, int]]:
        """For each event that the alphabet has in the state: the state after it, and the answer."""
        row = self._rows[state]
        if row is None:
            row = self._rows[state] = dict(
                self._transition(state, event) for event in self._alphabet(self.states[state])
            )
        return row

    def ask(self, state: int, event: int) -> tuple[int, int] | None:
        """What one event does, if the alphabet has it in the state; beyond the cap nothing else is stepped."""
        row = self._rows[state]
        if row is not None:
            return row.get(event)
        if (state, event) not in self._asked:
            known = event in self._numbers_of(self._alphabet(self.states[state]))
            self._asked[state, event] = self._transition(state, self.events[event])[1] if known else None
        return self._asked[state, event]

    def _numbers_of(self, alphabet: Iterable[Any]) -> frozenset[int]:
        """The events of an alphabet that were played before; mostly it is the same one in all states."""
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
            assert transition is not None, "words are made of what can be played"
            played.append(self._played[state, event])
            state = transition[0]
        return played

    def cut(self, word: Word) -> Word:
        """The word up to an event that the alphabet does not have in the state that it leads to."""
        state = self.start
        for length, event in enumerate(word):
            transition = self.ask(state, event)
            if transition is None:
                return word[:length]
            state = transition[0]
        return word

    @property
    def is_uniform(self) -> bool:
        """Whether all states that were closed over have the same alphabet."""
        return all(row is None or len(row) == len(self.events) for row in self._rows)

    def walk(self, state: int, word: Word) -> int:
        for event in word:
            state = self.row(state)[event][0]
        return state
