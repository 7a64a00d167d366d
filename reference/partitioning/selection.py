"""Choosing a channel beyond the engine protocol: seeded draws, user functions, the load of the channels.

The partitioner component leaves every random choice open, as a specification must. What is fixed about such choices
is here, as plain functions: the numbers that Java's generator gives for a seed (so that an engine with a seed can be
compared draw by draw), the user's own function, the writer that looks for the least loaded channel, and what an edge
may or may not do because of its partitioner.

Choices. ShufflePartitioner with java.util.Random; CustomPartitionerWrapper; AdaptiveLoadBasedRecordWriter of 2.3.
"""

from collections.abc import Callable, Iterator
from itertools import product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.tuples import replace

# --- seeded draws ---------------------------------------------------------------------------------------------


def compute_draws(seed: int, channels: int, count: int) -> tuple[int, ...]:
    """PART-4: the first channels that a shuffle with this seed draws."""
    state = scramble(seed)
    draws: list[int] = []
    while len(draws) < count:
        state = advance(state)
        bits = state >> 17
        if channels.bit_count() == 1:
            draws.append(channels * bits >> 31)
        elif bits - bits % channels + channels <= 2**31:
            # A draw from the last, incomplete multiple of `channels` would favour the low ones: draw again.
            draws.append(bits % channels)
    return tuple(draws)


def scramble(seed: int) -> int:
    return (seed ^ 0x5DEECE66D) % 2**48


def advance(state: int) -> int:
    return (state * 0x5DEECE66D + 0xB) % 2**48


# --- the user's own function ----------------------------------------------------------------------------------


def compute_custom_channel(choose: Callable[[str, int], int], key: str, channels: int) -> int:
    """PART-12: the partitioner hands on what the function says."""
    return choose(key, channels)


def is_refused_by_partition(channel: int, channels: int) -> bool:
    """PART-12: only the partition finds out that there is no such channel."""
    return not 0 <= channel < channels


# --- the least loaded channel ---------------------------------------------------------------------------------


@attrs.frozen
class Load:
    """What waits in a channel: buffers in use, and bytes in its queue."""

    buffers: int
    queued_bytes: int


def compute_idlest_channel(loads: tuple[Load, ...], last: int, traversed: int) -> int:
    """PART-20: the first idle channel after the last one, or else the least loaded of those looked at."""
    looked_at = [(last + 1 + offset) % len(loads) for offset in range(min(traversed, len(loads)))]
    for channel in looked_at:
        if loads[channel].buffers == 0:
            return channel
    return min(looked_at, key=lambda channel: (loads[channel].buffers, loads[channel].queued_bytes))


# --- what an edge may do --------------------------------------------------------------------------------------


@attrs.frozen
class Traits:
    pointwise: bool
    broadcast: bool
    unaligned_checkpoints: bool


def compute_traits(kind: str) -> Traits:
    """PART-14: what follows for an edge from the name of its partitioner."""
    pointwise = kind in ("forward", "rescale")
    broadcast = kind == "broadcast"
    return Traits(pointwise, broadcast, unaligned_checkpoints=not (pointwise or broadcast or kind == "custom"))


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


def choices_in_and_out_of_range() -> Iterator[tuple[int, int]]:
    yield from ((chosen, channels) for channels in (1, 2, 5) for chosen in (-1, 0, 1, 2, 4, 5, 2**31 - 1))


@law("PART-12", samples=choices_in_and_out_of_range)
def custom_choice_is_not_checked(chosen: int, channels: int) -> bool:
    """A custom partitioner hands on any index; one that is no channel fails in the partition."""
    handed_on = compute_custom_channel(lambda _key, _channels: chosen, "key", channels)
    return handed_on == chosen and is_refused_by_partition(handed_on, channels) == (chosen not in range(channels))


def loads_of_three_channels() -> Iterator[tuple[tuple[Load, ...], int, int]]:
    some = (Load(0, 0), Load(0, 5), Load(1, 3), Load(1, 5), Load(2, 3))
    yield from product(product(some, repeat=3), (-1, 0, 1, 2), (1, 2, 3))


@law("PART-20", samples=loads_of_three_channels)
def idlest_is_the_first_of_the_best(loads: tuple[Load, ...], last: int, traversed: int) -> bool:
    """The adaptive writer takes the first idle channel it looks at, else the first of the least loaded ones."""
    chosen = compute_idlest_channel(loads, last, traversed)
    passed_over = [(last + 1 + offset) % len(loads) for offset in range((chosen - last - 1) % len(loads))]
    not_reached = [(chosen + 1 + offset) % len(loads) for offset in range(traversed - len(passed_over) - 1)]
    weight = (loads[chosen].buffers, loads[chosen].queued_bytes)
    if loads[chosen].buffers == 0:
        return all(loads[channel].buffers > 0 for channel in passed_over)
    worse = all((loads[channel].buffers, loads[channel].queued_bytes) > weight for channel in passed_over)
    no_better = all((loads[channel].buffers, loads[channel].queued_bytes) >= weight for channel in not_reached)
    return len(passed_over) < traversed and worse and no_better


def channels_and_traversed() -> Iterator[tuple[int, int]]:
    yield from product((2, 3, 4, 7), (1, 2, 4))


@law("PART-20", samples=channels_and_traversed)
def unread_channels_take_turns(channels: int, traversed: int) -> bool:
    """While nobody reads, the adaptive writer serves its channels in turn.

    Every record fills a buffer and nobody reads: the channels are chosen one after the other, from 0.
    """
    loads, last = (Load(0, 0),) * channels, -1
    for turn in range(3 * channels):
        last = compute_idlest_channel(loads, last, traversed)
        if last != turn % channels:
            return False
        fuller = Load(loads[last].buffers + 1, loads[last].queued_bytes + 24)
        loads = replace(loads, last, fuller)
    return True


def traits_of_the_classes() -> Iterator[tuple[str, bool, bool, bool]]:
    """As the partitioner classes answer: pointwise, broadcast, unaligned checkpoints."""
    yield from (("forward", True, False, False), ("rescale", True, False, False), ("broadcast", False, True, False))
    yield from ((kind, False, False, True) for kind in ("rebalance", "shuffle", "global", "hash"))
    yield ("custom", False, False, False)


@law("PART-14", samples=traits_of_the_classes)
def known_traits(kind: str, *traits: bool) -> bool:
    """Which partitioners are pointwise, which broadcast, and which allow unaligned checkpoints."""
    return compute_traits(kind) == Traits(*traits)
