"""Named draws: each part of a job has a stream of random numbers of its own.

So a new setting, operator, fault or query changes only its own draws: the jobs
of a seed stay the same, except those that use something new.
"""

from collections.abc import Iterable, Mapping
from math import log
from random import Random
from typing import TypeVar

import attrs

Option = TypeVar("Option")

#: Version of the draws: it changes when the same seeds draw other jobs. Reports contain it.
VERSION = 2


@attrs.frozen
class Draws:
    """The draws of one job, or of a part of it."""

    name: str

    def within(self, part: str) -> "Draws":
        return Draws(f"{self.name}/{part}")

    def stream(self, what: str) -> Random:
        return Random(f"{self.name}/{what}")

    def chance(self, what: str) -> float:
        """A number from 0 up to 1."""
        return self.stream(what).random()

    def pick(self, what: str, options: Iterable[Option]) -> Option:
        """One of the options, all equally likely."""
        return self.weigh(what, dict.fromkeys(options, 1))

    def weigh(self, what: str, shares: Mapping[Option, float]) -> Option:
        """One of the options, with probabilities in proportion to the shares.

        Each option draws its own arrival time, and the first one wins: so one more option changes only what it wins.
        """
        return min(shares, key=lambda one: -log(1 - self.chance(f"{what}/{one}")) / shares[one])


def choose(random: Random, shares: Mapping[Option, float]) -> Option:
    """One of the options, in proportion to the shares, from a stream that has begun."""
    return random.choices(list(shares), list(shares.values()))[0]
