"""What flows through a channel, the numbers that describe it, and what a field of a value can be."""

from collections.abc import Iterator, Sequence
from enum import Enum, StrEnum
from functools import cache, partial
from typing import Annotated, Any, ClassVar, NewType, get_args, get_origin, get_type_hints

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


#: No edge has more consumers: the greatest max parallelism.
MOST_CONSUMERS = 32768

# --- what a value may be: a validator refuses others, an annotation says it of the field --------------------------


@attrs.frozen
class Between:
    """A number from `least` to `most`; None is no bound beyond that of its type."""

    least: int | None = None
    most: int | None = None

    def __call__(self, _instance: Any, attribute: "attrs.Attribute[Any]", value: int) -> None:
        if not self.has(value):
            raise InvalidInputError(f"{attribute.name} must be {self.describe()}, not {value}")

    def has(self, value: int) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def describe(self) -> str:
        return f"at least {self.least}" if self.most is None else f"from {self.least} to {self.most}"


def at_least(least: int) -> Between:
    """The value is `least` or more."""
    return Between(least)


def between(least: int, most: int) -> Between:
    """The value is from `least` to `most`."""
    return Between(least, most)


check_long = Between(MIN, MAX)
check_checkpoint = Between(0, MAX)


@attrs.frozen
class OneOf:
    """One of a few names."""

    names: tuple[str, ...]

    def __call__(self, _instance: Any, attribute: "attrs.Attribute[Any]", value: str) -> None:
        if value not in self.names:
            raise InvalidInputError(f"{attribute.name} must be one of {', '.join(self.names)}, not {value!r}")


def one_of(*names: str) -> OneOf:
    """The value is one of the names."""
    return OneOf(names)


@attrs.frozen
class Length:
    """A list or text with `least` to `most` elements; in a `distinct` list no two are the same."""

    least: int = 0
    most: int | None = None
    distinct: bool = False

    def __call__(self, _instance: Any, attribute: "attrs.Attribute[Any]", value: Sequence[Any]) -> None:
        allowed = Between(self.least, self.most)
        if not allowed.has(len(value)):
            raise InvalidInputError(f"{attribute.name} must have {allowed.describe()} elements, not {len(value)}")
        if self.distinct and len(set(value)) < len(value):
            raise InvalidInputError(f"{attribute.name} must have no element twice")


# --- what a field is, whatever its name ---------------------------------------------------------------------------


@attrs.frozen
class Role:
    """What a field is: a name, a sentence for implementers, and the numbers that it may be, all but `never`."""

    name: str
    sentence: str
    values: Between = Between()
    never: int | None = None


Index = Annotated[
    int,
    Role(
        "index",
        "The number of a channel, an input or the like, from 0. An index out of range is a well-formed event that the "
        "component must refuse: observe `rejected`.",
    ),
]
Position = Annotated[int, Role("position", "A count or position from 0.", Between(0))]
Count = Annotated[
    int, Role("count", "How many, at least one. Anything else is a `bad_request` error of the whole case.", Between(1))
]
Amount = Annotated[
    int, Role("amount", "A number that the component itself judges: one that it does not allow is `rejected`.")
]
MaxParallelism = Annotated[
    int, Role("max_parallelism", "A max parallelism, at least 1; or -1 where none is set.", Between(-1), never=0)
]
Checkpoint = Annotated[
    Long,
    Role(
        "checkpoint",
        f"The id of a checkpoint: a 64-bit quantity as a decimal string, from 0 to {MAX}.",
        Between(0, MAX),
    ),
]
Text = Annotated[str, Role("text", "A string without unpaired surrogates.")]


class Counted(Enum):
    """What a number of a config counts, so that nobody has to go by its name."""

    PARTS = "parts"  # such as channels: the component is made of them
    SUBTASKS = "subtasks"  # each of which may meet each
    BUFFERS = "buffers"  # or records: they come one by one
    BYTES = "bytes"


Parts = Annotated[Count, Counted.PARTS]
Subtasks = Annotated[Count, Counted.SUBTASKS]
Bytes = Annotated[Count, Counted.BYTES]
Buffers = Annotated[Position, Counted.BUFFERS]


annotations_of = cache(partial(get_type_hints, include_extras=True))
plain_annotations_of = cache(get_type_hints)


def counted_in(cls: Any) -> dict[str, Counted]:
    """What the numbers of a class count, by field."""
    annotations = annotations_of(cls)
    return {
        field.name: one
        for field in attrs.fields(cls)
        for one in said_of(annotations[field.name])
        if isinstance(one, Counted)
    }


def said_of(kind: Any) -> Iterator[Any]:
    """What the annotations of a type say, those of its elements and alternatives included."""
    if get_origin(kind) is Annotated:
        kind, *said = get_args(kind)
        yield from said
    for one in get_args(kind):
        yield from said_of(one)


def plain_fields(cls: Any) -> "tuple[attrs.Attribute[Any], ...]":
    """The fields of a class with their types alone, without what annotations say besides."""
    types = plain_annotations_of(cls)
    return tuple(field.evolve(type=types[field.name]) for field in attrs.fields(cls))


def types_of(cls: Any) -> dict[str, Any]:
    return {field.name: field.type for field in plain_fields(cls)}


# --- what flows ---------------------------------------------------------------------------------------------------


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


#: Of a channel, and not of a subtask alone.
CHANNEL_KINDS = tuple(LogKind)[: tuple(LogKind).index(LogKind.SNAPSHOT)]
