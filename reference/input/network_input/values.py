"""What the network input takes, shows and remembers."""

from enum import StrEnum
from typing import ClassVar

import attrs

from tidegate.reference.elements import StatusChange, Watermark, at_least, one_of
from tidegate.reference.gate import gate
from tidegate.reference.input.backlogs import Backlogs
from tidegate.reference.spanning.reading import Reader
from tidegate.reference.spanning.stream_elements import LatencyMarker, Record, RecordAttributes
from tidegate.reference.watermarks import valve

SEMANTICS = ("flink-1.17", "flink-1.5")

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    channels: int = attrs.field(validator=at_least(1))
    semantics: str = attrs.field(default=SEMANTICS[0], validator=one_of(*SEMANTICS))


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
    readers: tuple[Reader | None, ...]
    valve: valve.State
    backlogs: Backlogs
    current: int | None = None
    drains: tuple[bool, ...] = ()
    finished: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Buffer:
    """A buffer arrives on a channel."""

    type: ClassVar[str] = "buffer"
    channel: int
    data: bytes


@attrs.frozen
class ChannelEvent:
    """A barrier or an ending arrives on a channel; `stop` is an end of data without drain."""

    type: ClassVar[str] = "event"
    channel: int
    kind: Kind


@attrs.frozen
class Process:
    """The task calls; with `batch` the call may go on after an element."""

    type: ClassVar[str] = "process"
    batch: bool


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
    status: InputStatus
    available: bool


Element = Record | Watermark | StatusChange | LatencyMarker | RecordAttributes
Observation = Element | EndInput | Available | Returned
