"""A job that has failed, run again: how often it fails, and how many runs show it once more."""

from collections import Counter
from collections.abc import Iterator

import attrs

#: With a smaller chance than this, all runs of a command that is to show a failure again pass.
MISSED = 0.01
#: No command asks for more runs than this.
MOST_RUNS = 2000


@attrs.frozen
class Again:
    """So many runs of a job behind the one that failed, and in how many of them each rule is broken.

    The run that failed is not among them: it is the reason why they are looked at, and would make every job look worse
    than it is.
    """

    runs: int = 0
    failed: Counter[str] = attrs.Factory(Counter)


def chances(again: Again, rule: str) -> Iterator[tuple[int, float]]:
    """Of 1, 2, 3, … more runs, the chance that all of them pass, after what was seen of the job.

    Before anything was seen, every rate is as likely as any other (the rule of succession): so a job that failed in
    all of five runs is not taken for one that always fails.
    """
    passed, chance = again.runs - again.failed[rule], 1.0
    for number in range(MOST_RUNS):
        chance *= (passed + 1 + number) / (again.runs + 2 + number)
        yield number + 1, chance


def runs_needed(again: Again, rule: str) -> tuple[int, float]:
    """As few as show the failure again, but for a smaller chance than `MISSED`, or `MOST_RUNS`; and that chance."""
    return next((one for one in chances(again, rule) if one[1] < MISSED), (MOST_RUNS, [*chances(again, rule)][-1][1]))
