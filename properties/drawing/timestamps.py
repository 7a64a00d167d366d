"""Maps symbolic timestamps to numbers, for components that only compare them."""

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from tidegate.properties.drawing.scope import Concretion
from tidegate.reference.elements import MAX, MIN, Long, Status

Event = TypeVar("Event")

#: For one, two, three timestamps: ordered numbers above MIN, at which every watermark starts.
MAPS: dict[str, dict[int, tuple[int, ...]]] = {
    "extremes": {1: (MAX,), 2: (MIN + 1, MAX), 3: (MIN + 1, 0, MAX)},
    "around-2-31": {1: (2**31,), 2: (2**31 - 1, 2**31), 3: (2**31 - 1, 2**31, 2**31 + 1)},
    "around-2-53": {1: (2**53 + 1,), 2: (2**53, 2**53 + 1), 3: (2**53, 2**53 + 1, 2**53 + 2)},
}


def small_timestamps(count: int) -> tuple[Long, ...]:
    return tuple(Long(value) for value in range(1, count + 1))


def signals(
    parts: int,
    timestamps: int,
    watermark: Callable[[int, Long], Event],
    status: Callable[[int, Status], Event],
    *,
    refused: bool,
) -> tuple[Event, ...]:
    """Every watermark and status on every part; with `refused`, also one of each on a nonexistent part."""
    values = small_timestamps(timestamps)
    out_of_range = (watermark(parts, values[-1]), status(-1, Status.IDLE))
    return (
        *(watermark(part, value) for part in range(parts) for value in values),
        *(status(part, one) for part in range(parts) for one in Status),
        *(out_of_range if refused else ()),
    )


def order_preserving(count: int, every: int) -> tuple[Concretion, ...]:
    """The other numbers for the small timestamps 1 … count."""
    return tuple(Concretion(name, replace_timestamps(by_count[count]), every) for name, by_count in MAPS.items())


def replace_timestamps(numbers: tuple[int, ...]) -> Callable[[Any], Any]:
    def rewrite(event: Any) -> Any:
        timestamp = getattr(event, "timestamp", None)
        return event if timestamp is None else attrs.evolve(event, timestamp=Long(numbers[timestamp - 1]))

    return rewrite


def rank_timestamps(events: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same events with timestamps 1, 2, 3 … in the same order, for readability."""
    stamps = sorted({event.timestamp for event in events if hasattr(event, "timestamp")})
    ranks = {stamp: Long(rank) for rank, stamp in enumerate(stamps, start=1)}
    return tuple(
        attrs.evolve(one, timestamp=ranks[one.timestamp]) if hasattr(one, "timestamp") else one for one in events
    )
