"""The values of the result partition: its config and state, the events that it takes, what is seen of it."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference import elements
from tidegate.reference.elements import Index, Parts, Position, at_least
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.blocking_subpartition import values as blocking_values
from tidegate.reference.subpartition.subpartition import values as pipelined_values

Subpartition = pipelined_values.State | blocking_values.State

# --- config ---------------------------------------------------------------------------------------------------


class PartitionKind(StrEnum):
    PIPELINED = "pipelined"
    BLOCKING = "blocking"


@attrs.frozen
class Config:
    """What is set up under the id."""

    kind: Annotated[PartitionKind, "Whether it is read while it is written, or afterwards."]
    subpartitions: Annotated[Parts, "How many subpartitions it has."] = attrs.field(validator=at_least(1))


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
    """A producer sets a partition up under the id. Rejected if one is registered, and after `shutdown`."""

    type: ClassVar[str] = "setup"


@attrs.frozen
class Request:
    """A consumer asks the manager for a view; if it listens, it is content to be told later."""

    type: ClassVar[str] = "request"
    subpartition: Annotated[Index, "The number of the subpartition, from 0. One out of range is rejected."]
    listen: Annotated[bool, "Whether it is content to be told later, if nobody is registered."]


@attrs.frozen
class Expire:
    """Whoever waits has waited too long."""

    type: ClassVar[str] = "expire"


@attrs.frozen
class Emit:
    """The writer adds bytes to one subpartition."""

    type: ClassVar[str] = "emit"
    subpartition: Index
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
    drain: Annotated[bool, "Whether it drains; it does not if it was stopped."]


@attrs.frozen
class CloseWriter:
    """The writer is gone."""

    type: ClassVar[str] = "close"


@attrs.frozen
class Fail:
    """The producer fails."""

    type: ClassVar[str] = "fail"


class Owner(StrEnum):
    MANAGER = "manager"
    PRODUCER = "producer"


@attrs.frozen
class Release:
    """The partition is released: by the manager, which forgets it, or by its producer behind the manager's back."""

    type: ClassVar[str] = "release"
    by: Annotated[Owner, "By the manager, which forgets it, or by its producer without the manager's knowledge."]


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
    | shared.Flush
    | shared.Finish
    | CloseWriter
    | Fail
    | shared.Poll
    | shared.ReleaseView
    | Release
    | ShutDown
)

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Created:
    """A consumer that waits for a subpartition is told that the partition is there."""

    type: ClassVar[str] = "created"
    subpartition: Position


@attrs.frozen
class TimedOut:
    """A consumer that waits for a subpartition is told to wait no longer."""

    type: ClassVar[str] = "timed_out"
    subpartition: Position


@attrs.frozen
class Gone:
    """There is nothing to hand out any more: the partition was released, perhaps because the producer failed."""

    type: ClassVar[str] = "gone"
    failed: Annotated[bool, "Whether it was because the producer failed."]


Observation = (
    Created
    | TimedOut
    | shared.NotFound
    | shared.ViewCreated
    | shared.DataAvailable
    | shared.Polled
    | elements.Nothing
    | Gone
    | shared.Released
)
