"""The values of the writer: its config and state, the events that it takes, the observations that it makes."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference import elements
from tidegate.reference.elements import Index, Position, at_least, one_of
from tidegate.reference.spanning.builders import Builder

MEASURES = "measures"
EXTENSIONS = (MEASURES,)

# --- config ---------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    SELECTING = "selecting"
    BROADCAST = "broadcast"


@attrs.frozen
class Config:
    """`timeout`: -1 never flush, 0 flush after each record, else flush every so many milliseconds (SPAN-10).

    With the extension `measures` it is told how much is queued.
    """

    kind: Annotated[Kind, "A `selecting` writer has a buffer for each channel, a `broadcast` writer one for all."]
    channels: elements.Parts = attrs.field(validator=at_least(1))
    buffer_size: Annotated[elements.Bytes, "The size of a buffer in bytes."] = attrs.field(validator=at_least(1))
    timeout: Annotated[
        int,
        "-1: never flush by itself. 0: flush after each record. Otherwise flush whenever this many milliseconds have "
        "gone by.",
    ] = attrs.field(validator=at_least(-1))
    extension: Annotated[
        str | None,
        "With `measures` there is the event `measure`. Only for engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`builders` are the open buffers of single channels, `shared` is the one of all.

    `pending` is what of its open buffer a channel has not seen, `hints` are the sizes that the readers asked for.
    `elapsed` counts milliseconds since the flusher ran, `unaware` emits since it failed without a sign of that.
    """

    config: Config
    builders: tuple[Builder | None, ...]
    pending: tuple[bytes, ...]
    hints: tuple[int, ...]
    shared: Builder | None = None
    pool: bool = True
    elapsed: int = 0
    unaware: int | None = None
    finished: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Record:
    """A record is emitted to one channel: the selected one, or on a broadcast writer any, as latency markers are.
    Rejected after `finish`.
    """

    type: ClassVar[str] = "record"
    channel: Index
    payload: Annotated[bytes, "The payload of the record, without its length."]


@attrs.frozen
class Broadcast:
    """A record is emitted to all channels. Rejected after `finish`."""

    type: ClassVar[str] = "broadcast"
    payload: Annotated[bytes, "The payload of the record, without its length."]


@attrs.frozen
class ControlEvent:
    """An event, such as a barrier, is sent to all channels. Rejected after `finish`."""

    type: ClassVar[str] = "event"


@attrs.frozen
class Hint:
    """The reader of a channel asks for buffers of another size."""

    type: ClassVar[str] = "hint"
    channel: Index
    size: Annotated[Position, "The size that it asks for, in bytes."] = attrs.field(validator=at_least(0))


@attrs.frozen
class Pool:
    """The pool has buffers left over from now on, or not. At the start it has."""

    type: ClassVar[str] = "pool"
    available: Annotated[bool, "Whether it has."]


@attrs.frozen
class Flush:
    """All channels are to see what has been written."""

    type: ClassVar[str] = "flush"


@attrs.frozen
class Elapse:
    """Time goes by."""

    type: ClassVar[str] = "elapse"
    milliseconds: Annotated[elements.Count, "How much."] = attrs.field(validator=at_least(1))


@attrs.frozen
class Fail:
    """The flusher fails, and stops. Rejected where there is none (`timeout` 0 or -1), where it failed before, and after
    `finish`.
    """

    type: ClassVar[str] = "fail"


@attrs.frozen
class Finish:
    """Nothing more is to be written. A second one is rejected."""

    type: ClassVar[str] = "finish"


@attrs.frozen
class Measure:
    """Somebody asks how much is queued. With the extension `measures`."""

    type: ClassVar[str] = "measure"


Event = Record | Broadcast | ControlEvent | Hint | Pool | Flush | Elapse | Fail | Finish | Measure

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Request:
    """A buffer is taken from the pool."""

    type: ClassVar[str] = "request"


@attrs.frozen
class Add:
    """A buffer is queued in a channel: how much it holds by then, and how much of that continues a record."""

    type: ClassVar[str] = "add"
    channel: Position
    committed: Annotated[Position, "How many bytes it holds by then."]
    partial: Annotated[Position, "How many of these continue a record that began in an earlier buffer."]


@attrs.frozen
class Buffer:
    """A channel sees a buffer, or what of it it had not seen. There is none for no bytes."""

    type: ClassVar[str] = "buffer"
    channel: Position
    data: Annotated[bytes, "The bytes that are new to the channel."]


@attrs.frozen
class EventSent:
    """An event is queued in a channel."""

    type: ClassVar[str] = "event"
    channel: Position


@attrs.frozen
class Count:
    """A buffer is finished: by so much the counters of the task grow."""

    type: ClassVar[str] = "count"
    bytes: Annotated[Position, "Its size, times the channels that read it."]
    buffers: Annotated[elements.Count, "How many channels read it."]


@attrs.frozen
class IoError:
    """An emit fails, and nothing of it is written."""

    type: ClassVar[str] = "io_error"


@attrs.frozen
class Queued:
    """The bytes written to each channel that have not been read. With the extension `measures`."""

    type: ClassVar[str] = "queued"
    bytes: Annotated[tuple[Position, ...], "By channel."]


Observation = Request | Add | Buffer | EventSent | Count | IoError | Queued
