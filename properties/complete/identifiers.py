"""Equivalent states of a machine, and words that distinguish the others.

Partition refinement with words: two states are equivalent if no word gets different answers from them. The necessary
words form a tree that distinguishes the classes: each node has a word, and its children are the classes by their
answers to it. The words on the path to a class identify it. Any two classes separate at some node, and both have the
word of that node: such identifiers are called harmonised (HSI).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

import attrs

from tidegate.properties.complete.mealy import Machine, Word

#: How many pairs of states beyond the cap are compared before two states count as equivalent.
PAIRS_LOOKED_AT = 500

#: Each state's answer to a word, as a number. States whose alphabet does not allow the whole word are missing.
Table = dict[int, int]


@attrs.frozen
class Classes:
    """The states to cover, by their behaviour.

    `of[state]` is the number of its class; `first[number]` the first state of it; `identifiers[number]` are the words
    that distinguish the class from every other one.
    """

    of: dict[int, int]
    first: list[int]
    identifiers: list[frozenset[Word]]


def classify(machine: Machine) -> Classes:
    same_as = minimise(machine)
    words = TellingWords(machine, same_as)
    of: dict[int, int] = {}
    first: list[int] = []
    numbers: dict[int, int] = {}
    for state in machine.core:
        number = of[state] = numbers.setdefault(words.blocks[same_as[state]], len(first))
        if number == len(first):
            first.append(state)
    return Classes(of, first, make_identifiers(first, words.tables))


# --- minimisation ---------------------------------------------------------------------------------------------


def minimise(machine: Machine) -> dict[int, int]:
    """For each state to cover, the first equivalent one, by partition refinement (Moore).

    A state beyond the cap is only equivalent to itself: its successors were not explored.
    """
    rows = {state: machine.row(state) for state in machine.core}
    blocks = {target: -target for row in rows.values() for target, _answer in row.values()}
    blocks.update(dict.fromkeys(rows, 1))
    count, found = 0, 1
    while found > count:
        signatures = {
            state: (blocks[state], *((event, answer, blocks[target]) for event, (target, answer) in row.items()))
            for state, row in rows.items()
        }
        numbers: dict[object, int] = {}
        blocks.update({state: numbers.setdefault(one, len(numbers) + 1) for state, one in signatures.items()})
        count, found = found, len(numbers)
    firsts: dict[int, int] = {}
    return {state: firsts.setdefault(blocks[state], state) for state in machine.core}


class TellingWords:
    """Words that distinguish all different states, shortest first, and the resulting blocks of states.

    An event followed by a word that distinguishes two states may distinguish their predecessors: all of these are
    tried. When none of them divides a block any more, the division is final. With capped states, states beyond the cap
    are compared as well, but only to a limit: two states that differ only far out stay together.
    """

    def __init__(self, machine: Machine, same_as: dict[int, int]) -> None:
        self._machine = machine
        self._same_as = same_as
        self._numbers: dict[tuple[int, int], int] = {}
        self.domain = list(dict.fromkeys(same_as.values()))
        self._rows = {state: machine.row(state) for state in self.domain}
        #: The block of each state, by the first state of the block.
        self.blocks = dict.fromkeys(self.domain, self.domain[0])
        self.tables: dict[Word, Table] = {}
        #: Cached answers to the ends of words, also of states that do not allow the whole word.
        self._known: dict[Word, dict[int, int | None]] = {}
        self._refine()

    def _refine(self) -> None:
        undecided = self._open([self.domain])
        alphabet = range(len(self._machine.events))
        candidates: deque[Word] = deque((event,) for event in alphabet)
        tried: set[Word] = set()
        while undecided:
            if not candidates:
                beyond = self._look_beyond(undecided)
                if beyond is None or beyond in tried:
                    return
                tried.add(beyond)
                candidates.append(beyond)
            word = candidates.popleft()
            promising = [block for block, events in undecided if word[0] in events]
            divided = list(self._divide(promising, word))
            if not divided:
                continue
            self.tables[word] = self._ask(self.domain, word)
            self._known[word] = dict(self.tables[word])
            candidates.extend((event, *word) for event in alphabet)
            self.blocks.update((state, part[0]) for parts in divided for part in parts for state in part)
            changed = {parts[0][0] for parts in divided}
            undecided = [one for one in undecided if one[0][0] not in changed]
            undecided += self._open([part for parts in divided for part in parts])

    def _look_beyond(self, undecided: list[tuple[list[int], set[int]]]) -> Word | None:
        """A word that divides a block by states beyond the cap, where no table reaches; searched only nearby."""
        pairs: deque[tuple[int, int, Word]] = deque(
            (block[0], other, ()) for block, _events in undecided for other in block[1:]
        )
        seen = {pair[:2] for pair in pairs}
        while pairs and len(seen) < PAIRS_LOOKED_AT:
            one, other, way = pairs.popleft()
            row = self._machine.row(other)
            for event, (target, answer) in self._machine.row(one).items():
                if event not in row:
                    continue
                other_target, other_answer = row[event]
                if answer != other_answer:
                    return (*way, event)
                pair = target, other_target
                if target != other_target and pair not in seen and not self._share_a_block(*pair):
                    seen.add(pair)
                    pairs.append((*pair, (*way, event)))
        return None

    def _share_a_block(self, one: int, other: int) -> bool:
        """If not, and both are within the cap, the search will reach a word that distinguishes them."""
        return one in self._same_as and self.blocks[self._same_as[one]] == self.blocks.get(self._same_as.get(other, -1))

    def _open(self, blocks: list[list[int]]) -> list[tuple[list[int], set[int]]]:
        """The blocks that may still be divided, with the events that act differently on their states."""
        rows = {state: self._machine.row(state) for block in blocks for state in block}
        events = [
            {event for state in block for event, _ in rows[state].items() ^ rows[block[0]].items()} for block in blocks
        ]
        return [(block, different) for block, different in zip(blocks, events, strict=True) if different]

    def _divide(self, blocks: list[list[int]], word: Word) -> Iterator[list[list[int]]]:
        """The parts of the blocks that the word divides; a block stays whole if some state does not allow the word."""
        event, rest = word[0], word[1:]
        rows, behind = self._rows, self._behind(rest)
        for block in blocks:
            parts: dict[tuple[int, int], list[int]] = {}
            for state in block:
                transition = rows[state].get(event)
                if transition is None or (seen := behind(transition[0])) is None:
                    break
                parts.setdefault((transition[1], seen), []).append(state)
            else:
                if len(parts) > 1:
                    yield list(parts.values())

    def _ask(self, states: list[int], word: Word) -> Table:
        """The states' answers to the word."""
        behind, numbers = self._behind(word[1:]), self._numbers
        answers: Table = {}
        for state in states:
            transition = self._rows[state].get(word[0])
            if transition is not None and (seen := behind(transition[0])) is not None:
                answers[state] = numbers.setdefault((transition[1], seen), len(numbers))
        return answers

    def _behind(self, word: Word) -> Callable[[int], int | None]:
        """A state's answer to the end of a word, which is mostly cached."""
        known, same_as = self._known.setdefault(word, {}), self._same_as

        def answer(state: int) -> int | None:
            first = same_as.get(state, state)
            if first not in known:
                known[first] = self._walk(first, word)
            return known[first]

        return answer

    def _walk(self, state: int, word: Word) -> int | None:
        answers: list[int] = []
        for event in word:
            transition = self._machine.ask(state, event)
            if transition is None:
                return None
            state, answer = transition
            answers.append(answer)
        number = -1
        for answer in reversed(answers):
            number = self._numbers.setdefault((answer, number), len(self._numbers))
        return number


# --- identifiers ----------------------------------------------------------------------------------------------


def make_identifiers(states: list[int], tables: dict[Word, Table]) -> list[frozenset[Word]]:
    """For each state the words on its path down the tree, without prefixes of others."""
    found: dict[int, frozenset[Word]] = {}
    open_nodes: list[tuple[list[int], frozenset[Word]]] = [(states, frozenset())]
    while open_nodes:
        group, way = open_nodes.pop()
        if len(group) == 1:
            found[group[0]] = drop_prefixes(way)
            continue
        word, parts = best_split(group, tables)
        open_nodes.extend((part, way | {word}) for part in parts)
    return [found[state] for state in states]


def best_split(group: list[int], tables: dict[Word, Table]) -> tuple[Word, list[list[int]]]:
    """The shortest word that divides the group into most parts, so that each state needs few words."""
    best: tuple[Word, list[list[int]]] | None = None
    for word, table in tables.items():
        parts: dict[int, list[int]] = {}
        for state in group:
            if state not in table:
                break
            parts.setdefault(table[state], []).append(state)
        else:
            if len(parts) > (len(best[1]) if best else 1):
                best = word, list(parts.values())
    assert best is not None, "one of the words distinguishes states of different classes"
    return best


def drop_prefixes(words: Iterable[Word]) -> frozenset[Word]:
    longest_first = sorted(words, key=len, reverse=True)
    kept: set[Word] = set()
    beginnings: set[Word] = set()
    for word in longest_first:
        if word not in beginnings:
            kept.add(word)
            beginnings.update(word[:length] for length in range(len(word) + 1))
    return frozenset(kept)
