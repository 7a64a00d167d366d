"""Several subpartitions read as one: in turns, a record at a time.

A consumer that asks for a range of subpartitions gets one view over all of them. The view takes a buffer of each in
turn, but stays with a subpartition while the buffer it took ends in the middle of a record, since the consumer has one
deserializer for the view. Flink: UnionResultSubpartitionView, RoundRobinSubpartitionSelector.
"""

from collections.abc import Iterator
from itertools import pairwise, product

from tidegate.reference.claims import law

#: The buffers of one subpartition, in order: does it end where a record ends?
Buffers = tuple[bool, ...]


def merge(subpartitions: tuple[Buffers, ...]) -> tuple[tuple[int, int], ...]:
    """Which buffer of which subpartition comes out, one after the other; it stops where the rest of a record lacks."""
    turns = [index for index, buffers in enumerate(subpartitions) if buffers]
    positions = [0] * len(subpartitions)
    merged = []
    while turns:
        index = turns[0]
        if positions[index] == len(subpartitions[index]):
            break
        ends_record = subpartitions[index][positions[index]]
        merged.append((index, positions[index]))
        positions[index] += 1
        if ends_record:
            has_more = positions[index] < len(subpartitions[index])
            turns = [*turns[1:], index] if has_more else turns[1:]
    return tuple(merged)


# --- laws -----------------------------------------------------------------------------------------------------


def small_subpartitions() -> Iterator[tuple[Buffers, ...]]:
    choices = [buffers for length in range(4) for buffers in product((True, False), repeat=length)]
    yield from product(choices, repeat=2)
    yield from product([buffers for buffers in choices if len(buffers) < 3], repeat=3)


@law("SUBP-22", samples=small_subpartitions)
def union_keeps_order(*subpartitions: Buffers) -> bool:
    """Each subpartition comes out in order."""
    merged = merge(subpartitions)
    return all(
        [position for index, position in merged if index == one]
        == list(range(sum(index == one for index, _ in merged)))
        for one in range(len(subpartitions))
    )


@law("SUBP-22", samples=small_subpartitions)
def union_splits_no_record(*subpartitions: Buffers) -> bool:
    """Nothing comes between the buffers of a record."""
    merged = merge(subpartitions)
    return all(
        subpartitions[index][position] or following == (index, position + 1)
        for (index, position), following in pairwise(merged)
    )


@law("SUBP-22", samples=small_subpartitions)
def union_in_rounds(*subpartitions: Buffers) -> bool:
    """Each subpartition gets out one record a round.

    The n-th record of each comes out before the n+1-st of any.
    """
    merged = merge(subpartitions)
    rounds = [sum(subpartitions[index][:position]) for index, position in merged]
    return rounds == sorted(rounds)


@law("SUBP-22", samples=small_subpartitions)
def union_loses_nothing(*subpartitions: Buffers) -> bool:
    """Where every record is whole, all come out."""
    if not all(buffers[-1] for buffers in subpartitions if buffers):
        return True
    return len(merge(subpartitions)) == sum(map(len, subpartitions))
