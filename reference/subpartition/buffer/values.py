"""The values of the network buffer: its config and state, the events that it takes, what is seen of it."""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import Bytes, Index, Position, at_least

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """`capacity`: bytes that the buffer can hold."""

    capacity: Annotated[Bytes, "How many bytes it can hold."] = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Consumer:
    """`slices` counts those handed out and not yet recycled."""

    position: int
    known_finished: bool
    slices: int = 0
    closed: bool = False


@attrs.frozen
class State:
    """`written` may go beyond what is `committed`."""

    config: Config
    written: bytes = b""
    committed: int = 0
    finished: bool = False
    closed: bool = False
    consumers: tuple[Consumer, ...] = ()


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Append:
    """The builder writes as much of these bytes as still fits. Rejected after `finish`, and like all that the builder
    does after `close_builder`.
    """

    type: ClassVar[str] = "append"
    data: bytes


@attrs.frozen
class Commit:
    """What was written becomes visible."""

    type: ClassVar[str] = "commit"


@attrs.frozen
class Finish:
    """Nothing more will be written; this commits."""

    type: ClassVar[str] = "finish"


@attrs.frozen
class CloseBuilder:
    """The builder lets go of the memory."""

    type: ClassVar[str] = "close_builder"


@attrs.frozen
class Consume:
    """The first consumer is made; it reads from the beginning. Rejected if there is one."""

    type: ClassVar[str] = "consume"


@attrs.frozen
class Copy:
    """Another consumer is made, which reads on from where this one is."""

    type: ClassVar[str] = "copy"
    consumer: Annotated[
        Index,
        "The number of the consumer. One that does not exist is rejected, and so is one that was closed, except for "
        "`recycle`.",
    ]


@attrs.frozen
class Inspect:
    """A consumer is asked what it knows."""

    type: ClassVar[str] = "inspect"
    consumer: Index


@attrs.frozen
class Build:
    """A consumer hands out what is new to it."""

    type: ClassVar[str] = "build"
    consumer: Index


@attrs.frozen
class Recycle:
    """The oldest slice of a consumer that is still out is done with. Rejected if none is out."""

    type: ClassVar[str] = "recycle"
    consumer: Index


@attrs.frozen
class CloseConsumer:
    """A consumer lets go of the memory; its slices keep it."""

    type: ClassVar[str] = "close"
    consumer: Index


Event = Append | Commit | Finish | CloseBuilder | Consume | Copy | Inspect | Build | Recycle | CloseConsumer

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Written:
    """How many bytes were taken; on `finish`, how many the whole buffer has."""

    type: ClassVar[str] = "written"
    bytes: Position


@attrs.frozen
class Slice:
    """What was committed since the consumer last looked, at times nothing."""

    type: ClassVar[str] = "slice"
    data: Annotated[bytes, "At times nothing."]


@attrs.frozen
class Knowledge:
    """Whether the consumer takes the buffer for finished, and whether there is something that it has not read."""

    type: ClassVar[str] = "knowledge"
    finished: Annotated[bool, "Whether it takes the buffer for finished, as of the last time that it looked."]
    unread: Annotated[bool, "Whether something is committed that it has not read."]


@attrs.frozen
class Recycled:
    """The memory is free."""

    type: ClassVar[str] = "recycled"


Observation = Written | Slice | Knowledge | Recycled
