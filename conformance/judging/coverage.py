"""Coverage: which rules a run exercised, and with which kinds of outcome.

A rule that no case exercised is unknown: it does not pass. What a run has to exercise is what the golden traces show
to be reachable, for the kinds and semantics that the engine declares.
"""

from collections import Counter
from collections.abc import Iterable

import attrs

from tidegate.conformance.judging.judge_fast import Exercised, kinds_of
from tidegate.traces.cases import Case

#: A rule, and the kinds of observations of an outcome under it.
Pair = tuple[str, tuple[str, ...]]


@attrs.frozen
class Wanted:
    """What a run must exercise: each rule at least `floor` times, else it stays unknown. `pairs` should occur, too."""

    rules: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    floor: int = 1


@attrs.frozen
class Coverage:
    """How often each rule was exercised, and each pair of a rule and the kinds of observations of its outcome."""

    rules: Counter[str]
    pairs: Counter[Pair]

    def missing(self, wanted: Wanted) -> tuple[str, ...]:
        """The wanted rules that were exercised less often than the floor."""
        return tuple(rule for rule in wanted.rules if self.rules[rule] < wanted.floor)

    def missing_pairs(self, wanted: Wanted) -> tuple[Pair, ...]:
        """Pairs that never occurred although their rule did: that part of the rule was not seen."""
        return tuple(pair for pair in wanted.pairs if not self.pairs[pair] and self.rules[pair[0]])


def measure(exercised: Exercised) -> Coverage:
    rules: Counter[str] = Counter()
    pairs: Counter[Pair] = Counter()
    for (named, kinds), count in exercised.items():
        for rule in named:
            rules[rule] += count
            pairs[rule, kinds] += count
    return Coverage(rules, pairs)


def within_reach(cases: Iterable[Case]) -> Wanted:
    """What these cases exercise on the specification itself, by the first outcome at each choice."""
    outcomes = [outcome for case in cases for outcome in case.follow()]
    rules = dict.fromkeys(rule for outcome in outcomes for rule in outcome.rules)
    pairs = dict.fromkeys((rule, kinds_of(outcome)) for outcome in outcomes for rule in outcome.rules)
    return Wanted(tuple(rules), tuple(pairs))
