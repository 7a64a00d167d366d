"""Sequence numbers of 32 bits: they wrap around, and of two of them one is the newer.

Choices. `SingleInputGate.isOutdated`. Before anything with priority was polled, the gate remembers the least number
there is. To a number beyond half the range that looks like one from after the wrap-around, and so the first priority
of a channel that has passed on 2^30 items or more is taken for outdated: the item is not lost, but must wait.
"""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.claims import law

LEAST_INT, GREATEST_INT = -(2**31), 2**31 - 1


def wrap(number: int) -> int:
    """A 32-bit number, as Java counts."""
    return (number + 2**31) % 2**32 - 2**31


def is_outdated(sequence: int, polled: int) -> bool:
    """GATE-11: not newer than what was polled, where a negative number is newer than one beyond half the range."""
    if (polled < 0) != (sequence < 0) and max(polled, sequence) > GREATEST_INT // 2:
        return polled < 0
    return polled >= sequence


# --- laws -----------------------------------------------------------------------------------------------------


def neighbours() -> Iterator[tuple[int, int]]:
    """Around zero, half the range and its ends."""
    edges = (LEAST_INT, LEAST_INT + 2, -(2**30), -1, 0, 1, 2**30 - 1, 2**30, 2**30 + 1, GREATEST_INT - 1, GREATEST_INT)
    yield from product(edges, (-1000, -2, -1, 0, 1, 2, 1000))


@law("GATE-11", samples=neighbours)
def later_numbers_are_newer(polled: int, distance: int) -> bool:
    """A number a little ahead of another is newer than it, also across the wrap-around."""
    return is_outdated(wrap(polled + distance), polled) == (distance <= 0)
