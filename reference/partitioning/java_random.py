"""The channels that a seeded shuffle draws: those of Java's generator for that seed.

The component `partitioner` leaves each draw of a shuffle open. With a seed an engine can be compared draw by draw.

Choices. ShufflePartitioner with java.util.Random: a linear congruential generator with 48 bits of state.
"""

from collections.abc import Iterator
from itertools import product

from tidegate.reference.claims import law

STATES = 2**48
DRAWS = 2**31

# --- draws ----------------------------------------------------------------------------------------------------


def compute_draws(seed: int, channels: int, count: int) -> tuple[int, ...]:
    """PART-4: the first channels that a shuffle with this seed draws."""
    state = scramble(seed)
    draws: list[int] = []
    while len(draws) < count:
        state = advance(state)
        channel = compute_channel(take_bits(state), channels)
        if channel is not None:
            draws.append(channel)
    return tuple(draws)


def scramble(seed: int) -> int:
    return (seed ^ 0x5DEECE66D) % STATES


def advance(state: int) -> int:
    return (state * 0x5DEECE66D + 0xB) % STATES


def take_bits(state: int) -> int:
    """The highest 31 of the 48 bits: a number below `DRAWS`."""
    return state >> 17


def compute_channel(bits: int, channels: int) -> int | None:
    """The channel for these bits. None if they favour low channels: then the generator draws again."""
    is_power_of_two = channels.bit_count() == 1
    if is_power_of_two:
        return channels * bits >> 31
    end_of_multiple = bits - bits % channels + channels
    is_complete_multiple = end_of_multiple <= DRAWS
    return bits % channels if is_complete_multiple else None


# --- laws -----------------------------------------------------------------------------------------------------


def draws_of_java() -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """As java.util.Random answers; one above 2^30 every other draw is rejected."""
    yield from (
        (0, 1, (0, 0, 0, 0)),
        (0, 2, (1, 1, 0, 1, 1, 0)),
        (0, 3, (0, 1, 1, 2, 2, 2)),
        (42, 4, (2, 0, 2, 0, 1, 3)),
    )
    yield from ((42, 7, (1, 5, 6, 3, 5, 4)), (42, 10, (0, 3, 8, 4, 0, 5)), (123456789, 5, (0, 0, 3, 4, 0, 4)))
    yield (42, 2**30, (781215565, 58696381, 733605624, 51474442))
    yield (42, 2**30 + 1, (117392763, 102948884, 662969970, 595021505))


@law("PART-4", samples=draws_of_java)
def known_draws(seed: int, channels: int, draws: tuple[int, ...]) -> bool:
    """A seeded shuffle draws as Java's generator does."""
    return compute_draws(seed, channels, len(draws)) == draws


def some_seeds() -> Iterator[tuple[int, int]]:
    yield from product((0, 42, -1), range(1, 9))


@law("PART-4", samples=some_seeds)
def draws_reach_every_channel(seed: int, channels: int) -> bool:
    """A shuffle gets to each of its channels, and to no other."""
    return set(compute_draws(seed, channels, 40 * channels)) == set(range(channels))
