"""What a program's choice of a partitioner means for an edge: its traits, and the user's own function.

Choices. StreamPartitioner and CustomPartitionerWrapper of Flink 2.3.
"""

from collections.abc import Callable, Iterator

import attrs

from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.claims import law

# --- the user's own function ----------------------------------------------------------------------------------


def compute_custom_channel(choose: Callable[[str, int], int], key: str, channels: int) -> int:
    """PART-12: the partitioner returns whatever the function returns."""
    return choose(key, channels)


def is_refused_by_partition(channel: int, channels: int) -> bool:
    """PART-12: only the partition checks whether the channel exists."""
    return not 0 <= channel < channels


# --- traits ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Traits:
    pointwise: bool
    broadcast: bool
    unaligned_checkpoints: bool


def compute_traits(partitioner: Partitioner) -> Traits:
    """PART-14. A forward for consecutive hash has become a forward or a hash by the time that this is asked."""
    pointwise = partitioner in (Partitioner.FORWARD, Partitioner.RESCALE)
    broadcast = partitioner is Partitioner.BROADCAST
    custom = partitioner is Partitioner.CUSTOM
    return Traits(pointwise, broadcast, unaligned_checkpoints=not (pointwise or broadcast or custom))


# --- laws -----------------------------------------------------------------------------------------------------


def choices_in_and_out_of_range() -> Iterator[tuple[int, int]]:
    yield from ((chosen, channels) for channels in (1, 2, 5) for chosen in (-1, 0, 1, 2, 4, 5, 2**31 - 1))


@law("PART-12", samples=choices_in_and_out_of_range)
def custom_choice_is_not_checked(chosen: int, channels: int) -> bool:
    """A custom partitioner hands on any index; one that is no channel fails in the partition."""
    handed_on = compute_custom_channel(lambda _key, _channels: chosen, "key", channels)
    return handed_on == chosen and is_refused_by_partition(handed_on, channels) == (chosen not in range(channels))


def traits_of_the_classes() -> Iterator[tuple[Partitioner, bool, bool, bool]]:
    """As the partitioner classes answer: pointwise, broadcast, unaligned checkpoints."""
    yield from ((one, True, False, False) for one in (Partitioner.FORWARD, Partitioner.RESCALE))
    yield (Partitioner.BROADCAST, False, True, False)
    others = (Partitioner.REBALANCE, Partitioner.SHUFFLE, Partitioner.GLOBAL, Partitioner.HASH)
    yield from ((one, False, False, True) for one in others)
    yield (Partitioner.CUSTOM, False, False, False)


@law("PART-14", samples=traits_of_the_classes)
def known_traits(partitioner: Partitioner, *traits: bool) -> bool:
    """Which partitioners are pointwise, which broadcast, and which allow unaligned checkpoints."""
    return compute_traits(partitioner) == Traits(*traits)
