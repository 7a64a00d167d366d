"""The values of the pipelined subpartition: its config and state, the events that it takes, what is seen of it."""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference import elements
from tidegate.reference.elements import Amount, Buffers, Position, at_least, one_of
from tidegate.reference.spanning.builders import UNLIMITED
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.queue import EMPTY, ItemKind, Queue

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """`exclusive`: buffers that the receiver has for this channel alone. `size_hint`: how large buffers are to be."""

    exclusive: Annotated[Buffers, "How many exclusive buffers the receiver has for this channel."] = attrs.field(
        default=2, validator=at_least(0)
    )
    size_hint: Annotated[Position, "How large buffers are to be at first, in bytes."] = attrs.field(
        default=UNLIMITED, validator=at_least(0)
    )


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    config: Config
    size_hint: int
    queue: Queue = EMPTY
    has_view: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class AddEvent:
    """The producer adds an event; a priority one overtakes."""

    type: ClassVar[str] = "event"
    kind: Annotated[
        ItemKind,
        "Barriers, the end of recovery and aligned watermarks block once they are taken; priority events overtake.",
    ] = attrs.field(
        validator=one_of("event", "end_of_data", "barrier", "recovery_completion", "aligned_watermark", "priority")
    )


@attrs.frozen
class Poll:
    """The reader asks for the next item. Like all that a reader does, rejected without a view."""

    type: ClassVar[str] = "poll"


@attrs.frozen
class Query:
    """The reader asks whether there is something for it, with credit or without."""

    type: ClassVar[str] = "query"
    credit: Annotated[bool, "Whether it has credit for a data buffer."]


@attrs.frozen
class SizeHint:
    """The reader asks for buffers of this size; rejected if it is negative."""

    type: ClassVar[str] = "size"
    size: Annotated[Amount, "The size in bytes. A negative one is rejected."]


Event = (
    shared.AddBuffer
    | shared.Append
    | shared.FinishBuffer
    | AddEvent
    | shared.Flush
    | shared.Finish
    | shared.Release
    | shared.CreateView
    | Poll
    | Query
    | shared.Resume
    | SizeHint
)

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Added:
    """The item was queued: always the first observation of `buffer` and `event`. The size is the one that the reader
    asked for.
    """

    type: ClassVar[str] = "added"
    size_hint: Annotated[Position, "The size that the reader asked for last."]


@attrs.frozen
class DataAvailable:
    """The reader is woken."""

    type: ClassVar[str] = "data_available"


@attrs.frozen
class PriorityAvailable:
    """The reader is told of a priority event, and which number it will have."""

    type: ClassVar[str] = "priority_available"
    sequence: Annotated[Position, "The sequence number that it will have."]


Observation = Added | DataAvailable | PriorityAvailable | shared.Polled | elements.Nothing | shared.Availability
