"""The values of the pipelined subpartition: its config and state, the events that it takes, what is seen of it."""

from typing import ClassVar

import attrs

from tidegate.reference.elements import at_least, one_of
from tidegate.reference.spanning.builders import UNLIMITED
from tidegate.reference.subpartition.queue import EMPTY, Kind, Queue

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """`exclusive`: buffers that the receiver has for this channel alone. `size_hint`: how large buffers are to be."""

    exclusive: int = attrs.field(default=2, validator=at_least(0))
    size_hint: int = attrs.field(default=UNLIMITED, validator=at_least(0))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    config: Config
    size_hint: int
    queue: Queue = EMPTY
    has_view: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class AddBuffer:
    """The producer adds a buffer that holds some bytes; it goes on writing into it unless the buffer is finished."""

    type: ClassVar[str] = "buffer"
    data: bytes
    finished: bool


@attrs.frozen
class Append:
    """The producer writes more into the open buffer, and commits it."""

    type: ClassVar[str] = "append"
    data: bytes


@attrs.frozen
class FinishBuffer:
    """The producer is done with the open buffer."""

    type: ClassVar[str] = "finish_buffer"


@attrs.frozen
class AddEvent:
    """The producer adds an event; a priority one overtakes."""

    type: ClassVar[str] = "event"
    kind: Kind = attrs.field(
        validator=one_of("event", "end_of_data", "barrier", "recovery_completion", "aligned_watermark", "priority")
    )


@attrs.frozen
class Flush:
    """The reader is to get what there is."""

    type: ClassVar[str] = "flush"


@attrs.frozen
class Finish:
    """The producer comes to its end."""

    type: ClassVar[str] = "finish"


@attrs.frozen
class Release:
    """The subpartition is given up."""

    type: ClassVar[str] = "release"


@attrs.frozen
class CreateView:
    """The reader comes."""

    type: ClassVar[str] = "view"


@attrs.frozen
class Poll:
    """The reader asks for the next item."""

    type: ClassVar[str] = "poll"


@attrs.frozen
class Query:
    """The reader asks whether there is something for it, with credit or without."""

    type: ClassVar[str] = "query"
    credit: bool


@attrs.frozen
class Resume:
    """The reader goes on behind an event that blocked."""

    type: ClassVar[str] = "resume"


@attrs.frozen
class SizeHint:
    """The reader asks for buffers of another size."""

    type: ClassVar[str] = "size"
    size: int


Event = (
    AddBuffer
    | Append
    | FinishBuffer
    | AddEvent
    | Flush
    | Finish
    | Release
    | CreateView
    | Poll
    | Query
    | Resume
    | SizeHint
)

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Added:
    """The item was taken in; the answer tells the producer how large the next buffer is to be."""

    type: ClassVar[str] = "added"
    size_hint: int


@attrs.frozen
class DataAvailable:
    """The reader is woken."""

    type: ClassVar[str] = "data_available"


@attrs.frozen
class PriorityAvailable:
    """The reader is told of a priority event, and which number it will have."""

    type: ClassVar[str] = "priority_available"
    sequence: int


@attrs.frozen
class Polled:
    """An item: its kind and, of data, its bytes; the backlog behind it, the kind of the next one, its number."""

    type: ClassVar[str] = "item"
    kind: Kind
    data: bytes
    backlog: int
    next: Kind
    sequence: int


@attrs.frozen
class Nothing:
    """There is nothing to hand out."""

    type: ClassVar[str] = "none"


@attrs.frozen
class Availability:
    """What a query finds."""

    type: ClassVar[str] = "availability"
    available: bool
    backlog: int


Observation = Added | DataAvailable | PriorityAvailable | Polled | Nothing | Availability
