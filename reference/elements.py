"""What flows through a channel, and the numbers that describe it."""

from enum import StrEnum
from typing import Any, ClassVar, NewType

import attrs

from tidegate.reference.model import InvalidInputError

#: A 64-bit quantity: event time, a watermark, a long key. A decimal string on the wire.
Long = NewType("Long", int)

MIN = Long(-(2**63))
MAX = Long(2**63 - 1)


class Status(StrEnum):
    """Whether more watermarks are to be expected from a channel."""

    ACTIVE = "active"
    IDLE = "idle"


def check_long(_instance: Any, attribute: "attrs.Attribute[Any]", value: int) -> None:
    if not MIN <= value <= MAX:
        raise InvalidInputError(f"{attribute.name} {value} does not fit into 64 bits")


#: No edge has more consumers: the greatest max parallelism.
MOST_CONSUMERS = 32768


def at_least(least: int) -> Any:
    """A validator: the value is `least` or more."""

    def check(_instance: Any, attribute: "attrs.Attribute[Any]", value: int) -> None:
        if value < least:
            raise InvalidInputError(f"{attribute.name} must be at least {least}, not {value}")

    return check


def between(least: int, most: int) -> Any:
    """A validator: the value is from `least` to `most`."""

    def check(_instance: Any, attribute: "attrs.Attribute[Any]", value: int) -> None:
        if not least <= value <= most:
            raise InvalidInputError(f"{attribute.name} must be from {least} to {most}, not {value}")

    return check


def one_of(*allowed: str) -> Any:
    """A validator: the value is one of the names given."""

    def check(_instance: Any, attribute: "attrs.Attribute[Any]", value: str) -> None:
        if value not in allowed:
            raise InvalidInputError(f"{attribute.name} must be one of {', '.join(allowed)}, not {value!r}")

    return check


@attrs.frozen
class Watermark:
    """No record with a timestamp at or below this one is still to come."""

    type: ClassVar[str] = "watermark"
    timestamp: Long = attrs.field(validator=check_long)


@attrs.frozen
class StatusChange:
    """From here on watermarks are to be expected (active), or not (idle)."""

    type: ClassVar[str] = "status"
    status: Status


@attrs.frozen
class LatencyMarker:
    """A marker by which latency is measured."""

    type: ClassVar[str] = "latency_marker"


@attrs.frozen
class Nothing:
    """Whoever asked finds nothing."""

    type: ClassVar[str] = "none"


# --- rows of a run log ----------------------------------------------------------------------------------------


class Direction(StrEnum):
    """Received by the task, or handed to an output."""

    IN = "in"
    OUT = "out"


class LogKind(StrEnum):
    """What a row of a run log is about. The job of this specification makes no latency markers; other engines do.

    From `snapshot` on a row is of a subtask alone, and of no channel.
    """

    RECORD = "record"
    WATERMARK = "watermark"
    STATUS = "status"
    BARRIER = "barrier"
    LATENCY_MARKER = "latency_marker"
    END_OF_DATA = "end_of_data"
    END_OF_PARTITION = "end_of_partition"
    BUFFER = "buffer"
    CREDIT = "credit"
    SNAPSHOT = "snapshot"
    RESTORED = "restored"
    RESULT = "result"
    LATE = "late"
    TIMER = "timer"
    CLOCK = "clock"
