"""Every word of a complete suite: each state, each event in it, and the identifiers of the next state."""

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import attrs

from tidegate.properties.complete.identifiers import Classes, classify, drop_prefixes
from tidegate.properties.complete.mealy import Machine, Word
from tidegate.reference.model import Symmetry


@attrs.frozen
class Selection:
    """The covered states: the first reached state per `key(state, class)`.

    `entered` describes it in words. The theorem needs one state per class; `is_complete` is false for fewer.
    """

    entered: str
    key: Callable[[Any, int], Hashable]
    is_complete: bool = True


EACH_CLASS = Selection("one of each kind is entered", lambda _state, number: number)

#: An engine with the same variables as the reference may be wrong in only one of two equivalent states.
EACH_STATE = Selection("every one is entered, equal ones too", lambda state, _number: state)


def up_to_numbers(symmetry: Symmetry[Any]) -> Selection:
    return Selection(
        f"one is entered of those that differ only in the names of {symmetry.parts}",
        lambda state, _number: symmetry.canonical(state),
        is_complete=False,
    )


class Cover:
    """The words of the complete suite of one machine.

    A tree of shortest paths leads to each state. From there every word of `extra_states` + 1 events is played, and the
    next state identified. Words are made lazily, in a fixed order; none is a prefix of another.
    """

    def __init__(self, machine: Machine, extra_states: int = 0, selection: Selection = EACH_CLASS) -> None:
        self.machine = machine
        self.classes = classify(machine)
        self._extra_states = extra_states
        self._children = make_tree(machine, self.classes, selection)

    @property
    def entered(self) -> int:
        """How many states are entered."""
        return len(self._children)

    def words(self) -> Iterator[Word]:
        words = self._words(self.machine.start, (), frozenset())
        # A word that distinguishes two states may pass through a third one that does not allow one of its events.
        return words if self.machine.is_uniform else map(self.machine.cut, words)

    def _words(self, state: int, way: Word, owed: frozenset[Word]) -> Iterator[Word]:
        """The words to play from a state: its own, and the rest of words that began further up."""
        owed |= self._duties(state, self._extra_states + 1)
        behind: dict[int, set[Word]] = {}
        for word in owed:
            if word:
                behind.setdefault(word[0], set()).add(word[1:])
        children = self._children[state]
        for event in self.machine.row(state):
            if event in children:
                yield from self._words(children[event], (*way, event), frozenset(behind.get(event, ())))
            elif event in behind:
                start = (*way, event)
                for word in sorted(drop_prefixes(behind[event])):
                    yield start + word

    def _duties(self, state: int, depth: int) -> frozenset[Word]:
        number = self.classes.of.get(state)
        if number is None:
            # Beyond the cap, only the answers on the way here are checked.
            return frozenset({()})
        words = set(self.classes.identifiers[number]) or {()}
        if depth:
            for event, (target, _answer) in self.machine.row(state).items():
                words.update((event, *word) for word in self._duties(target, depth - 1))
        return frozenset(words)


def make_tree(machine: Machine, classes: Classes, selection: Selection) -> dict[int, dict[int, int]]:
    """For each state the events of a shortest-path tree from the start that lead to new states."""

    def kind(state: int) -> Hashable:
        return selection.key(machine.states[state], classes.of[state])

    children: dict[int, dict[int, int]] = {machine.start: {}}
    seen = {kind(machine.start)}
    reached = [machine.start]
    for state in reached:
        for event, (target, _answer) in machine.row(state).items():
            if target not in classes.of or kind(target) in seen:
                continue
            seen.add(kind(target))
            reached.append(target)
            children[target] = {}
            children[state][event] = target
    return children
