"""The least loaded channel: how an adaptive writer chooses, instead of going round.

A channel without buffers in use is idle, and idle is best. Otherwise fewer buffers are better, then fewer bytes. The
writer looks at a few channels only, from the one behind its last choice.

Choices. AdaptiveLoadBasedRecordWriter of Flink 2.3.
"""

from collections.abc import Iterator
from itertools import product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.tuples import replace


@attrs.frozen
class Load:
    """What waits in a channel: buffers in use, and bytes in its queue."""

    buffers: int
    queued_bytes: int


def compute_idlest_channel(loads: tuple[Load, ...], last: int, traversed: int) -> int:
    """PART-20: the first idle channel behind the last choice, or else the least loaded of those examined."""
    examined = [(last + 1 + offset) % len(loads) for offset in range(min(traversed, len(loads)))]
    idle = [channel for channel in examined if loads[channel].buffers == 0]
    if idle:
        return idle[0]
    return min(examined, key=lambda channel: (loads[channel].buffers, loads[channel].queued_bytes))


# --- laws -----------------------------------------------------------------------------------------------------


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
