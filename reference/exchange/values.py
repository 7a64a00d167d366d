"""The values of an exchange: its config and state, the events that it takes, what is seen of it."""

from enum import StrEnum
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import Count, Counted, Index, Nothing, Position, Subtasks, at_least
from tidegate.reference.subpartition.queue import EMPTY, Item, Queue
from tidegate.reference.subpartition.values import Finish, Flush, Release, Released

# --- config ---------------------------------------------------------------------------------------------------


class ResultType(StrEnum):
    PIPELINED = "pipelined"
    PIPELINED_BOUNDED = "pipelined_bounded"
    BLOCKING = "blocking"
    BLOCKING_PERSISTENT = "blocking_persistent"
    HYBRID_FULL = "hybrid_full"
    HYBRID_SELECTIVE = "hybrid_selective"


@attrs.frozen
class Config:
    """`limit`: data buffers that a bounded exchange may hold. `consumers`: tasks that may ask for the result."""

    result: Annotated[ResultType, "The type of the result."]
    consumers: Annotated[Subtasks, "How many tasks may ask for the result."] = attrs.field(validator=at_least(1))
    limit: Annotated[
        Count, "How many data buffers a `pipelined_bounded` result may hold; others ignore it.", Counted.BUFFERS
    ] = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Consumer:
    """`read` counts the items that the consumer has taken."""

    read: int = 0
    left: bool = False


@attrs.frozen
class State:
    """A pushed result is a queue, used up by reading; any other is `written` down, and read by position."""

    config: Config
    consumers: tuple[Consumer | None, ...]
    queue: Queue = EMPTY
    written: tuple[Item, ...] = ()
    produced: int = 0
    registered: bool = False
    finished: bool = False
    released: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Register:
    """The producer starts, and registers its result. A second time it is rejected, and so it is after the result was
    released.
    """

    type: ClassVar[str] = "register"


@attrs.frozen
class Request:
    """A consumer asks for the result. Rejected if it reads it already, if a blocking result is not finished, and if a
    result that can be read once has a consumer.
    """

    type: ClassVar[str] = "request"
    consumer: Annotated[Index, "The number of the consumer, from 0. One out of range is rejected."]


@attrs.frozen
class Produce:
    """The producer adds a finished buffer. Rejected before `register`, after `finish` and once released."""

    type: ClassVar[str] = "produce"


@attrs.frozen
class Pull:
    """A consumer pulls one item, with credit for a buffer or without. Rejected if it is not connected."""

    type: ClassVar[str] = "pull"
    consumer: Index
    credit: Annotated[bool, "Whether it has credit for a buffer."]


@attrs.frozen
class Leave:
    """A consumer needs the result no longer. Rejected if it is not connected."""

    type: ClassVar[str] = "leave"
    consumer: Index


@attrs.frozen
class EndJob:
    """The job ends."""

    type: ClassVar[str] = "end_job"


Event = Register | Request | Produce | Flush | Finish | Pull | Leave | Release | EndJob

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Retry:
    """The result is not known yet: the consumer has to ask again."""

    type: ClassVar[str] = "retry"
    consumer: Position


@attrs.frozen
class Connected:
    """The consumer may pull from now on."""

    type: ClassVar[str] = "connected"
    consumer: Position


@attrs.frozen
class Full:
    """The producer has to wait: as many buffers are in use as may be."""

    type: ClassVar[str] = "full"


@attrs.frozen
class Notified:
    """A consumer is told that there is something to pull."""

    type: ClassVar[str] = "notified"
    consumer: Position


@attrs.frozen
class Pulled:
    """The item with this number, counted from 0 by the producer; `end` is the end of the result."""

    type: ClassVar[str] = "item"
    number: Annotated[Position, "Its number, counted from 0 by the producer."]
    end: Annotated[bool, "Whether it is the end of the result."]


Observation = Retry | Connected | Full | Notified | Pulled | Nothing | Released
