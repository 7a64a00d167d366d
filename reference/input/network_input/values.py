"""What the network input takes, shows and remembers."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import Index, Parts, StatusChange, Watermark, at_least, one_of
from tidegate.reference.gate import gate
from tidegate.reference.input.backlogs import Backlogs
from tidegate.reference.spanning.reading import RecordReader
from tidegate.reference.spanning.stream_elements import LatencyMarker, Record, RecordAttributes
from tidegate.reference.watermarks import valve

SEMANTICS = ("flink-1.17", "flink-1.5")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """An input of several channels, each with one subpartition."""

    channels: Parts = attrs.field(validator=at_least(1))
    semantics: Annotated[
        str,
        "`flink-1.17` is the default: 1.17 and later. `flink-1.5` is the loop before there was a mailbox: only a "
        "record ends a call, and there is no end of data; where it would wait, it returns `nothing_available`.",
    ] = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))


# --- state ----------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    """What else than buffers arrives on a channel."""

    BARRIER = "barrier"
    END_OF_DATA = "end_of_data"
    STOP = "stop"
    END_OF_PARTITION = "end_of_partition"


@attrs.frozen
class State:
    """`waiting` is what the items in the gate are, channel by channel; `current` is whose buffer is being read.

    A reader is None once its channel is over. `drains` says of each end of data that was polled whether it came with
    drain. `finished` means that the operator was told that its input is over, and is spared the rest.
    """

    config: Config
    gate: gate.State
    waiting: tuple[tuple[bytes | Kind, ...], ...]
    readers: tuple[RecordReader | None, ...]
    valve: valve.State
    backlogs: Backlogs
    current: int | None = None
    drains: tuple[bool, ...] = ()
    finished: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Buffer:
    """A buffer arrives on a channel: a piece of the channel's stream of records, each four bytes of length and a stream
    element. One of length zero is not shown to the gate.
    """

    type: ClassVar[str] = "buffer"
    channel: Index
    data: Annotated[bytes, "Bytes of the channel, wherever they were cut."]


@attrs.frozen
class ChannelEvent:
    """A barrier or an ending arrives on a channel; `stop` is an end of data without drain. Under `flink-1.5` both ends
    of data are rejected.
    """

    type: ClassVar[str] = "event"
    channel: Index
    kind: Annotated[Kind, "What arrives."]


@attrs.frozen
class Process:
    """The task calls; with `batch` the call may go on after an element."""

    type: ClassVar[str] = "process"
    batch: Annotated[
        bool,
        "Whether the call may go on after an element. A task of several inputs reads one element at a call.",
    ]


Event = Buffer | ChannelEvent | Process

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class EndInput:
    """The operator is told that its input is over."""

    type: ClassVar[str] = "end_input"


@attrs.frozen
class Available:
    """A call would find something, after there was nothing to find."""

    type: ClassVar[str] = "available"


class InputStatus(StrEnum):
    """NIN-5: what a call says in the end."""

    MORE_AVAILABLE = "more_available"
    NOTHING_AVAILABLE = "nothing_available"
    STOPPED = "stopped"
    END_OF_DATA = "end_of_data"
    END_OF_INPUT = "end_of_input"


@attrs.frozen
class Returned:
    """The call returns; `available` tells whether the input may have more now."""

    type: ClassVar[str] = "returned"
    status: Annotated[InputStatus, "What the call says in the end."]
    available: Annotated[bool, "Whether the task may have more to read now."]


Element = Record | Watermark | StatusChange | LatencyMarker | RecordAttributes
Observation = Element | EndInput | Available | Returned
