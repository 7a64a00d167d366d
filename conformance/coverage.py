"""Coverage: which rules a run exercised, and with which kinds of outcome.

A rule that no case exercised is not kept: it is unknown. What a run has to exercise is what the golden traces show
to be within reach, for the kinds and semantics that the engine declares.
"""

from collections import Counter
from collections.abc import Iterable

import attrs

from conformance.judge import Judge, expect
from traces.cases import Case


@attrs.frozen
class Coverage:
    """How often each rule was exercised, and each pair of a rule and the kinds of observations of its outcome."""

    rules: Counter[str]
    pairs: Counter[tuple[str, tuple[str, ...]]]

    def missing(self, wanted: Iterable[str], floor: int = 1) -> tuple[str, ...]:
        """The wanted rules that were exercised less often than the floor."""
        return tuple(rule for rule in dict.fromkeys(wanted) if self.rules[rule] < floor)


def measure(judge: Judge) -> Coverage:
    rules: Counter[str] = Counter()
    pairs: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for (named, kinds), count in judge.exercised.items():
        for rule in named:
            rules[rule] += count
            pairs[rule, kinds] += count
    return Coverage(rules, pairs)


def within_reach(cases: Iterable[Case]) -> tuple[str, ...]:
    """The rules that these cases exercise on the specification itself."""
    return tuple(dict.fromkeys(rule for case in cases for rule in case.rules or expect(case)[1]))
