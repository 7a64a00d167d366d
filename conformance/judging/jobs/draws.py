"""Draws by name: each thing that is drawn for a job has a stream of random numbers of its own.

So a setting, an operator, a fault or a query that is added changes what is drawn of itself, and nothing else: the jobs
of a seed stay what they are, but for those that get something of the new.
"""

from collections.abc import Iterable, Mapping
from math import log
from random import Random
from typing import TypeVar

import attrs

Option = TypeVar("Option")

#: What a seed means: another number where the same seeds have come to draw other jobs. Reports say it.
VERSION = 2


@attrs.frozen
class Draws:
    """Those of one job, or of a part of it."""

    name: str

    def within(self, part: str) -> "Draws":
        return Draws(f"{self.name}/{part}")

    def stream(self, what: str) -> Random:
        return Random(f"{self.name}/{what}")

    def chance(self, what: str) -> float:
        """A number from 0 up to 1."""
        return self.stream(what).random()

    def pick(self, what: str, options: Iterable[Option]) -> Option:
        """One of the options, each as likely as any other."""
        return self.weigh(what, dict.fromkeys(options, 1))

    def weigh(self, what: str, shares: Mapping[Option, float]) -> Option:
        """One of the options, as often as its share says.

        Each option draws by itself how late it comes, and the first one wins: so one more changes only what it wins.
        """
        return min(shares, key=lambda one: -log(1 - self.chance(f"{what}/{one}")) / shares[one])


def choose(random: Random, shares: Mapping[Option, float]) -> Option:
    """One of the options, as often as its share says, from a stream that has begun."""
    return random.choices(list(shares), list(shares.values()))[0]
