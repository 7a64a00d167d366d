"""Buffer builders: how large the next buffer is made, and how a small one grows again.

A reader that is slow asks for smaller buffers, so that less is in flight towards it. The wish is a hint: no record is
split for it, and where the pool is exhausted a larger buffer is better than waiting for another one.
"""

from collections.abc import Iterator
from itertools import product

import attrs

from tidegate.reference.claims import law

#: The hint before any: as large as it gets.
UNLIMITED = 2**31 - 1


@attrs.frozen
class Builder:
    """An open buffer: `capacity` is what it may hold, `filled` what it does hold. A full one is not open any more."""

    capacity: int
    filled: int = 0

    @property
    def room(self) -> int:
        return self.capacity - self.filled


def compute_capacity(buffer_size: int, hint: int, least: int) -> int:
    """SPAN-8: the hint, but not less than is needed, nor more than there is; a hint of 0 is none."""
    return min(buffer_size, max(hint, least)) if hint > 0 else buffer_size


def enlarge(builder: Builder, buffer_size: int, needed: int) -> Builder:
    """SPAN-9: where no other buffer is free, make room for all that is needed and one byte more."""
    if needed < builder.room:
        return builder
    return Builder(max(builder.capacity, min(buffer_size, builder.filled + needed + 1)), builder.filled)


# --- laws -----------------------------------------------------------------------------------------------------


def sizes() -> Iterator[tuple[int, int, int]]:
    yield from product((1, 2, 5, 8), (0, 1, 4, 5, 6, 9, UNLIMITED), (1, 4, 5, 6, 12))


@law("SPAN-8", samples=sizes)
def hints_split_no_record(buffer_size: int, hint: int, least: int) -> bool:
    """A buffer is as large as the hint, unless the record it is for needs more or the segment has less."""
    capacity = compute_capacity(buffer_size, hint, least)
    if hint == 0:
        return capacity == buffer_size
    return min(buffer_size, least) <= capacity and min(buffer_size, hint) <= capacity <= max(hint, least)


def trimmed_builders() -> Iterator[tuple[Builder, int, int]]:
    for capacity, filled, needed in product(range(1, 9), range(8), range(1, 9)):
        if filled < capacity:
            yield Builder(capacity, filled), 8, needed


@law("SPAN-9", samples=trimmed_builders)
def enlarged_by_one_byte_more(builder: Builder, buffer_size: int, needed: int) -> bool:
    """An enlarged buffer holds the whole record and is not full then, unless the segment ends before."""
    room = enlarge(builder, buffer_size, needed).room
    return room > needed or room == buffer_size - builder.filled
