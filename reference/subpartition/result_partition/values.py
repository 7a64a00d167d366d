"""The values of the result partition: its config and state, the events that it takes, what is seen of it."""

from enum import StrEnum
from typing import ClassVar

import attrs

from tidegate.reference.elements import at_least
from tidegate.reference.subpartition.blocking_subpartition import values as blocking_values
from tidegate.reference.subpartition.queue import Kind
from tidegate.reference.subpartition.subpartition import values as pipelined_values

Subpartition = pipelined_values.State | blocking_values.State

# --- config ---------------------------------------------------------------------------------------------------


class PartitionKind(StrEnum):
    PIPELINED = "pipelined"
    BLOCKING = "blocking"


@attrs.frozen
class Config:
    kind: PartitionKind
    subpartitions: int = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class View:
    """`number` is the one that a blocking subpartition has for it."""

    subpartition: int
    number: int
    released: bool = False


@attrs.frozen
class Partition:
    """What the producer of one attempt writes. `shared` tells that the open buffers are one, of a broadcast."""

    subpartitions: tuple[Subpartition, ...]
    views: tuple[View, ...] = ()
    shared: bool = False
    drains: bool | None = None
    finished: bool = False
    closed: bool = False
    released: bool = False
    failed: bool = False


@attrs.frozen
class State:
    """The manager as seen by one partition id: who is registered under it, and who waits for that."""

    config: Config
    partition: Partition | None = None
    registered: bool = False
    waiting: tuple[int, ...] = ()
    shut_down: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Setup:
    """A producer sets a partition up under the id."""

    type: ClassVar[str] = "setup"


@attrs.frozen
class Request:
    """A consumer asks the manager for a view; if it listens, it is content to be told later."""

    type: ClassVar[str] = "request"
    subpartition: int
    listen: bool


@attrs.frozen
class Expire:
    """Whoever waits has waited too long."""

    type: ClassVar[str] = "expire"


@attrs.frozen
class Emit:
    """The writer adds bytes to one subpartition."""

    type: ClassVar[str] = "emit"
    subpartition: int
    data: bytes


@attrs.frozen
class Broadcast:
    """The writer adds bytes to all subpartitions."""

    type: ClassVar[str] = "broadcast"
    data: bytes


@attrs.frozen
class EndOfData:
    """The writer has no more records; it drains, unless it was stopped."""

    type: ClassVar[str] = "end_of_data"
    drain: bool


@attrs.frozen
class Flush:
    """All subpartitions are flushed."""

    type: ClassVar[str] = "flush"


@attrs.frozen
class Finish:
    """The writer comes to its end."""

    type: ClassVar[str] = "finish"


@attrs.frozen
class CloseWriter:
    """The writer is gone."""

    type: ClassVar[str] = "close"


@attrs.frozen
class Fail:
    """The producer fails."""

    type: ClassVar[str] = "fail"


@attrs.frozen
class Poll:
    """The reader of a view asks for the next item."""

    type: ClassVar[str] = "poll"
    view: int


@attrs.frozen
class ReleaseView:
    """The reader of a view is done with it."""

    type: ClassVar[str] = "release_view"
    view: int


class Owner(StrEnum):
    MANAGER = "manager"
    PRODUCER = "producer"


@attrs.frozen
class Release:
    """The partition is released: by the manager, which forgets it, or by its producer behind the manager's back."""

    type: ClassVar[str] = "release"
    by: Owner


@attrs.frozen
class ShutDown:
    """The manager shuts down."""

    type: ClassVar[str] = "shutdown"


Event = (
    Setup
    | Request
    | Expire
    | Emit
    | Broadcast
    | EndOfData
    | Flush
    | Finish
    | CloseWriter
    | Fail
    | Poll
    | ReleaseView
    | Release
    | ShutDown
)

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Created:
    """A consumer that waits for a subpartition is told that the partition is there."""

    type: ClassVar[str] = "created"
    subpartition: int


@attrs.frozen
class TimedOut:
    """A consumer that waits for a subpartition is told to wait no longer."""

    type: ClassVar[str] = "timed_out"
    subpartition: int


@attrs.frozen
class NotFound:
    """Nobody is registered under the id."""

    type: ClassVar[str] = "not_found"


@attrs.frozen
class ViewCreated:
    """The view has this number."""

    type: ClassVar[str] = "view"
    view: int


@attrs.frozen
class DataAvailable:
    """The reader of a view is woken."""

    type: ClassVar[str] = "data_available"
    view: int


@attrs.frozen
class Polled:
    """An item, events with their bytes."""

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
class Gone:
    """There is nothing to hand out any more: the partition was released, perhaps because the producer failed."""

    type: ClassVar[str] = "gone"
    failed: bool


@attrs.frozen
class Released:
    """The partition is released."""

    type: ClassVar[str] = "released"


Observation = Created | TimedOut | NotFound | ViewCreated | DataAvailable | Polled | Nothing | Gone | Released
