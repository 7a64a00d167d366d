"""Are draws distributed as they must be? If a rule says that a choice is random, one answer proves nothing.

Many answers to one case do. Each draw must be uniform and independent of the previous one, so the steps from
one draw to the next are uniform, too, counted around the circle. For both, the count of each value is compared with
chance, by the Chernoff bound, which holds exactly for any number of draws: at least as many, and at
most as many. The bound of the least likely count, times the number of counts examined, is an upper bound of
the probability that a right engine shows it.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import attrs

from tidegate.conformance.judging.verdicts import Allowed, Passed, Violation
from tidegate.reference.model import Outcome

#: A right engine is accused with at most this probability per case. So among ten thousand cases
#: with draws, more than any run has, the probability of a single false accusation is at most 1e-9.
FALSE_ALARM = 1e-13


@attrs.frozen
class Draw:
    """A draw at a step, by its place among all options."""

    step: int
    outcomes: Sequence[Outcome[Any, Any]]
    taken: int


def judge_spread(draws: Sequence[Draw]) -> Passed | Violation:
    """Each draw is allowed, but all of them together must look random. The verdict belongs to the last one."""
    oddity = find_oddity([draw.taken for draw in draws], len(draws[-1].outcomes)) if draws else ""
    if not oddity:
        return Passed()
    last = draws[-1]
    seen, allowed = last.outcomes[last.taken], tuple(Allowed(one.observations, one.rules) for one in last.outcomes)
    return Violation(last.step, seen.rules, allowed, seen.observations, oddity=oddity)


def find_oddity(draws: Sequence[int], sides: int) -> str:
    """What is too unlikely about draws from 0 … sides - 1, in words; empty if they may be random."""
    steps = [(after - before) % sides for before, after in pairwise(draws)]
    odds = [*judge_counts("the draw {}", draws, sides), *judge_counts("a step of {} from draw to draw", steps, sides)]
    if not odds:
        return ""
    least, what = min(odds)
    # Each value may be too frequent or too rare, in both of them.
    logarithm = least + math.log(4 * sides)
    if logarithm > math.log(FALSE_ALARM):
        return ""
    return f"{what}; by chance that happens at most once in 1e{math.floor(-logarithm / math.log(10))} such cases"


def judge_counts(what: str, values: Sequence[int], sides: int) -> Iterator[tuple[float, str]]:
    """For each value the logarithm of the bound, and the count in words."""
    total = len(values)
    if total == 0 or sides == 1:
        return
    counts = Counter(values)
    missing = next((value for value in range(sides) if value not in counts), None)
    for value, count in counts.items() if missing is None else [*counts.items(), (missing, 0)]:
        often = f"came {count} times" if count else "never came"
        yield (
            bound(count, total, 1 / sides),
            f"{what.format(value)} {often} in {total}, of {sides} that are equally likely",
        )


def bound(count: int, total: int, chance: float) -> float:
    """The logarithm of the Chernoff bound of a count at least as far from what is expected, on the same side."""
    seen = count / total
    return -total * (part(seen, chance) + part(1 - seen, 1 - chance))


def part(seen: float, chance: float) -> float:
    return seen * math.log(seen / chance) if seen else 0.0
