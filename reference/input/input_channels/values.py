"""What the channels of a gate take, show and remember."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import Count, Index, Length, Nothing, Position, at_least, one_of
from tidegate.reference.model import InvalidInputError


class Location(StrEnum):
    """Where the producer of a channel runs."""

    UNKNOWN = "unknown"
    LOCAL = "local"
    REMOTE = "remote"


class Item(StrEnum):
    DATA = "data"
    EMPTY = "empty"  # a data buffer of length zero
    EVENT = "event"


class Cause(StrEnum):
    """Why a channel cannot be read."""

    PRODUCER_FAILED = "producer_failed"
    CONNECTION_LOST = "connection_lost"
    REORDERED = "reordered"
    PARTITION_NOT_FOUND = "partition_not_found"


# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """What is known of each channel; the delays of local retries; how long a remote producer parks a request.

    An initial delay of 0 means that there are no local retries.
    """

    locations: Annotated[tuple[Location, ...], "Where the producer of each channel runs.", Length(1)]
    initial: Annotated[
        Position,
        "The first delay of a local retry in milliseconds; 0 means that there are no retries.",
    ] = attrs.field(default=100, validator=at_least(0))
    maximum: Annotated[Position, "The longest delay in milliseconds."] = attrs.field(
        default=10_000, validator=at_least(0)
    )
    timeout: Annotated[
        Position,
        "How long a remote producer parks a request, in milliseconds; with 0 it does not, and there are no retries.",
    ] = attrs.field(default=10_000, validator=at_least(0))

    def __attrs_post_init__(self) -> None:
        if not self.locations or self.initial > self.maximum:
            raise InvalidInputError("there must be a channel, and an initial delay not above the maximum")


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Channel:
    """`connected`: a remote channel has sent its request, a local one has found its partition.

    `scheduled`: a local channel will ask again. `waited` is the delay of the last local retry, or what a remote channel
    has waited altogether. `registered`: the producer of this machine has registered the partition.
    """

    location: Location
    registered: bool = False
    connected: bool = False
    scheduled: bool = False
    waited: int = 0
    expected: int = 0
    waiting: tuple[Item, ...] = ()
    error: Cause | None = None


@attrs.frozen
class State:
    """`pending` are the task events that channels still unknown have not got."""

    config: Config
    channels: tuple[Channel, ...]
    requested: bool = False
    closed: bool = False
    pending: tuple[int, ...] = ()


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class RequestPartitions:
    """The task asks for its input. A second time nothing happens; after `close` a first time is rejected."""

    type: ClassVar[str] = "request_partitions"


@attrs.frozen
class Update:
    """It becomes known where the producer of a channel runs."""

    type: ClassVar[str] = "update"
    channel: Index
    location: Annotated[Location, "Where it runs."] = attrs.field(validator=one_of(Location.LOCAL, Location.REMOTE))


@attrs.frozen
class Register:
    """A producer on this machine registers the partition of a channel."""

    type: ClassVar[str] = "register"
    channel: Index


@attrs.frozen
class Retry:
    """The timer of a local channel that asks again goes off. Rejected where no timer runs."""

    type: ClassVar[str] = "retry"
    channel: Index


@attrs.frozen
class NotFound:
    """A remote producer answers that it runs and has no such partition. Rejected where no request is out."""

    type: ClassVar[str] = "not_found"
    channel: Index


@attrs.frozen
class Arrive:
    """An item comes from the producer; a local channel does not look at its number. Rejected before the channel is
    connected.
    """

    type: ClassVar[str] = "arrive"
    channel: Index
    sequence: Annotated[int, "Its sequence number. A local channel does not look at it."]
    item: Annotated[Item, "`empty` is a data buffer of length zero."]


@attrs.frozen
class Fail:
    """Something goes wrong on a channel."""

    type: ClassVar[str] = "fail"
    channel: Index
    cause: Annotated[Cause, "What."]


@attrs.frozen
class Read:
    """The gate reads a channel."""

    type: ClassVar[str] = "read"
    channel: Index


@attrs.frozen
class TaskEvent:
    """The task sends an event to its producers. Rejected where a known channel could not pass it on."""

    type: ClassVar[str] = "task_event"
    event: Annotated[int, "The number of the event: a name."]


@attrs.frozen
class Close:
    """The gate is closed, and every channel released."""

    type: ClassVar[str] = "close"


Event = RequestPartitions | Update | Register | Retry | NotFound | Arrive | Fail | Read | TaskEvent | Close

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Request:
    """A request goes to a remote producer."""

    type: ClassVar[str] = "request"
    channel: Position


@attrs.frozen
class RetryIn:
    """A local channel did not find its partition, and will ask again after the delay."""

    type: ClassVar[str] = "retry_in"
    channel: Position
    delay: Annotated[Count, "In milliseconds."]


@attrs.frozen
class Notified:
    """The channel tells the gate that it is to be read."""

    type: ClassVar[str] = "notified"
    channel: Position


@attrs.frozen
class Recycled:
    """The buffer of an item is given back unread."""

    type: ClassVar[str] = "recycled"
    channel: Position


@attrs.frozen
class Delivered:
    """The item read; and whether the channel has another."""

    type: ClassVar[str] = "delivered"
    channel: Position
    item: Annotated[Item, "What it is. Nothing of length zero is delivered.", one_of(Item.DATA, Item.EVENT)]
    more: Annotated[bool, "Whether the channel has another."]


@attrs.frozen
class Failed:
    """The channel cannot be read."""

    type: ClassVar[str] = "failed"
    channel: Position
    cause: Annotated[Cause, "The first thing that went wrong."]


@attrs.frozen
class Sent:
    """A task event goes to the producer of a channel."""

    type: ClassVar[str] = "sent"
    channel: Position
    event: Annotated[int, "The number of the event."]


Observation = Request | RetryIn | Notified | Recycled | Delivered | Nothing | Failed | Sent
