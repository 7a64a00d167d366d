"""A failed job, run again: how often it fails, and how many runs show the failure once more."""

from collections import Counter
from collections.abc import Iterator

import attrs

#: Accepted probability that all runs of a command that reproduces a failure pass.
MISSED = 0.01
#: Limit on the runs that a command asks for.
MOST_RUNS = 2000


@attrs.frozen
class Again:
    """How often a job ran again after the run that failed, and in how many of these runs each rule is broken.

    The run that failed does not count: it is the reason for the others, and would make every job look worse than it is.
    """

    runs: int = 0
    failed: Counter[str] = attrs.Factory(Counter)


def chances(again: Again, rule: str) -> Iterator[tuple[int, float]]:
    """For 1, 2, 3, … more runs, the chance that all of them pass, given these results.

    Before any run, every rate is equally likely (the rule of succession): so a job that failed in
    all of five runs does not count as one that always fails.
    """
    passed, chance = again.runs - again.failed[rule], 1.0
    for number in range(MOST_RUNS):
        chance *= (passed + 1 + number) / (again.runs + 2 + number)
        yield number + 1, chance


def runs_needed(again: Again, rule: str) -> tuple[int, float]:
    """The fewest runs that miss the failure with a chance below `MISSED`, at most `MOST_RUNS`; and that chance."""
    return next((one for one in chances(again, rule) if one[1] < MISSED), (MOST_RUNS, [*chances(again, rule)][-1][1]))
