"""The outputs of an operator: their config, state, events and observations. What happens is in `step`."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference import elements
from tidegate.reference.elements import (
    MIN,
    Index,
    Length,
    Long,
    Parts,
    Position,
    Status,
    StatusChange,
    Watermark,
    at_least,
    between,
    check_long,
    one_of,
)
from tidegate.reference.model import InvalidInputError

SEMANTICS = ("flink-2.3", "flink-1.5")
LARGEST_CONTENT = 1_000_000

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Tag:
    """The tag of a side output: its name, and the type of the records that it is for."""

    id: Annotated[str, "Its name."] = attrs.field(validator=Length(1))
    of: Annotated[str, "The type of the records that it is for."]


class Change(StrEnum):
    """What a receiver does to what it is given: nothing, count its value up, or put another value into the record."""

    NOTHING = "nothing"
    VALUE = "value"
    RECORD = "record"


@attrs.frozen
class Network:
    """An output to another task. `subpartitions` is given only where the number of consumers is not yet known.

    `names` are the names that are selected for this output, where the operator has selectors.
    """

    type: ClassVar[str] = "network"
    unaligned: Annotated[bool, "Whether unaligned checkpoints are possible on it; false with `flink-1.5`."]
    tag: Annotated[Tag | None, "Of a side output; absent for the main output."] = None
    subpartitions: Annotated[
        Parts | None,
        "How many there are, where the number of consumers is not yet known; absent elsewhere, and with `flink-1.5`.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(at_least(1)))
    names: Annotated[
        tuple[str, ...] | None,
        "The names that are selected for this output. Always there where the operator has selectors, and only then.",
    ] = None


@attrs.frozen
class Chained:
    """An output to an operator of the same task, which is keyed or not."""

    type: ClassVar[str] = "chained"
    keyed: Annotated[bool, "Whether the operator is keyed."]
    changes: Annotated[
        Change,
        "What the operator does to what it is given: nothing, count its value up, or put another value into the "
        "record.",
    ]
    tag: Annotated[Tag | None, "Of a side output; absent for the main output."] = None
    names: Annotated[
        tuple[str, ...] | None,
        "The names that are selected for this output. Always there where the operator has selectors, and only then.",
    ] = None


Output = Network | Chained


@attrs.frozen
class Config:
    """The outputs in the order of their edges. `selectors` belongs to `flink-1.5`, and `names` to who has them."""

    outputs: Annotated[tuple[Output, ...], "In the order of their edges; they are numbered from 0."]
    object_reuse: Annotated[bool, "Whether records are handed over as they are, instead of as copies."]
    selectors: Annotated[
        bool | None,
        "Whether the operator has selectors. Always there with `flink-1.5`, and only then.",
    ] = None
    semantics: Annotated[
        str,
        "`flink-2.3` is the default. `flink-1.5` has selectors, no unaligned checkpoints, and always knows the "
        "number of consumers.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))

    def __attrs_post_init__(self) -> None:
        if (self.selectors is not None) != (self.semantics == "flink-1.5"):
            raise InvalidInputError("selectors belongs to flink-1.5, and to no other")
        if self.selectors and not self.outputs:
            raise InvalidInputError("an operator with selectors has at least one output")
        for output in self.outputs:
            if (output.names is not None) != bool(self.selectors):
                raise InvalidInputError("names belongs to an operator with selectors, and to no other")
            if isinstance(output, Network) and self.semantics == "flink-1.5" and is_later(output):
                raise InvalidInputError("flink-1.5 has no unaligned checkpoints, and knows the number of consumers")


def is_later(output: Network) -> bool:
    return output.unaligned or output.subpartitions is not None


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Port:
    """What is remembered of one output: the announced status, its gauge, and how many hops away something fails."""

    active: bool = True
    watermark: Long = MIN
    hops: int = 0


@attrs.frozen
class State:
    """`watermark` is the gauge of the operator; the two counters are those of the operator and of its task."""

    config: Config
    ports: tuple[Port, ...]
    watermark: Long = MIN
    records_out: int = 0
    task_records_out: int = 0


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Record:
    """A record is emitted, with a tag as a side output. `selected` is what the selectors say, if there are some."""

    type: ClassVar[str] = "record"
    content: Annotated[int, "The value of the record."] = attrs.field(validator=between(0, LARGEST_CONTENT))
    tag: Annotated[Tag | None, "Of a side output; absent for the main output."] = None
    selected: Annotated[
        tuple[str, ...] | None,
        "The names that the selectors give. Always there where the operator has selectors, and only then.",
    ] = None


@attrs.frozen
class RecordAttributes:
    """Attributes of the records that follow are emitted."""

    type: ClassVar[str] = "record_attributes"


@attrs.frozen
class Barrier:
    """The task broadcasts a checkpoint barrier: an aligned one, or one that overtakes what is queued."""

    type: ClassVar[str] = "barrier"
    unaligned: Annotated[bool, "Whether it overtakes what is queued."]


@attrs.frozen
class EndOfData:
    """The task broadcasts the end of its data."""

    type: ClassVar[str] = "end_of_data"


@attrs.frozen
class Fault:
    """From now on something fails behind an output: the writer, or the operator so many hops down; 0 ends it."""

    type: ClassVar[str] = "fault"
    output: Annotated[Index, "The number of the output, from 0. One out of range is rejected."]
    hops: Annotated[
        Position,
        "How many operators down it fails: 1 is the first one, or the writer; 0 ends the fault.",
    ] = attrs.field(validator=at_least(0))


@attrs.frozen
class ReadMetrics:
    """Somebody looks at counters and gauges."""

    type: ClassVar[str] = "read_metrics"


Emitted = Record | Watermark | StatusChange | elements.LatencyMarker | RecordAttributes | Barrier | EndOfData
Event = Emitted | Fault | ReadMetrics

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Write:
    """A record is written to the network, with this content."""

    type: ClassVar[str] = "write"
    output: Position
    content: Annotated[Position, "What is written."]


@attrs.frozen
class KeyContext:
    """A chained operator is told the key of the record to come."""

    type: ClassVar[str] = "key_context"
    output: Position


@attrs.frozen
class Process:
    """A chained operator is given a record, and finds this content in it.

    `record` and `value` say which objects it was given: 0 is the one that was emitted, and the others are numbered
    in the order in which they are first given to somebody.
    """

    type: ClassVar[str] = "process"
    output: Position
    record: Annotated[Position, "Which record object it is given."]
    value: Annotated[Position, "Which value object is in it."]
    content: Annotated[Position, "What it finds in it."]


@attrs.frozen
class WatermarkOut:
    """A watermark passes; for one subpartition alone where the number of consumers is not known."""

    type: ClassVar[str] = "watermark"
    output: Position
    timestamp: Long = attrs.field(validator=check_long)
    subpartition: Annotated[
        Position | None,
        "The subpartition; only where the number of consumers is not known.",
    ] = None


@attrs.frozen
class StatusOut:
    """A status passes."""

    type: ClassVar[str] = "status"
    output: Position
    status: Status


@attrs.frozen
class MarkerOut:
    """A latency marker passes."""

    type: ClassVar[str] = "latency_marker"
    output: Position


@attrs.frozen
class AttributesOut:
    """Record attributes pass."""

    type: ClassVar[str] = "record_attributes"
    output: Position


@attrs.frozen
class BarrierOut:
    """A barrier is broadcast to all channels of a network output, ahead of what is queued or behind it."""

    type: ClassVar[str] = "barrier"
    output: Position
    unaligned: Annotated[bool, "Whether it is an unaligned one."]
    priority: Annotated[bool, "Whether it goes ahead of what is queued."]


@attrs.frozen
class EndOfDataOut:
    """End of data is broadcast to all channels of a network output."""

    type: ClassVar[str] = "end_of_data"
    output: Position


class Error(StrEnum):
    """What the operator catches: the failure of a chained operator, or an unchecked I/O error."""

    CHAINED = "chained"
    IO = "io"


@attrs.frozen
class Failed:
    """The operator gets an error instead of an answer, wrapped so many times."""

    type: ClassVar[str] = "failed"
    output: Position
    error: Annotated[Error, "From an operator, or from a writer."]
    wrapped: Annotated[Position, "How many times it is wrapped."]


@attrs.frozen
class Metrics:
    """Records out of the operator and of the task; the watermark of the operator, and those of its outputs."""

    type: ClassVar[str] = "metrics"
    records_out: Annotated[Position, "Records out of the operator."]
    task_records_out: Annotated[Position, "Records out of the task."]
    watermark: Annotated[Long, "The watermark of the operator."]
    output_watermarks: Annotated[tuple[Long, ...], "Those of its outputs."]


Element = (
    Write | KeyContext | Process | WatermarkOut | StatusOut | MarkerOut | AttributesOut | BarrierOut | EndOfDataOut
)
Observation = Element | Failed | Metrics

ELEMENTS = (Write, KeyContext, Process, WatermarkOut, StatusOut, MarkerOut, AttributesOut, BarrierOut, EndOfDataOut)
