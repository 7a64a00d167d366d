"""What is said to a subpartition, and what it shows, whatever its kind.

The producer adds and finishes, a reader comes, polls and asks; partitions and whole results know some of it too.
"""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference.elements import Index, Position, one_of
from tidegate.reference.subpartition.queue import ItemKind

#: What a poll may give.
ITEMS = tuple(kind for kind in ItemKind if kind is not ItemKind.NONE)

# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class AddBuffer:
    """The producer adds a buffer that holds some bytes; it goes on writing into it unless the buffer is finished."""

    type: ClassVar[str] = "buffer"
    data: bytes
    finished: Annotated[bool, "Whether nothing more will be written into it."]


@attrs.frozen
class Append:
    """The producer writes more into the open buffer, and commits it. Rejected if none is open."""

    type: ClassVar[str] = "append"
    data: bytes


@attrs.frozen
class FinishBuffer:
    """The producer is done with the open buffer. Rejected if none is open."""

    type: ClassVar[str] = "finish_buffer"


@attrs.frozen
class Flush:
    """The producer wants what it has added to be passed on."""

    type: ClassVar[str] = "flush"


@attrs.frozen
class Finish:
    """The producer comes to its end."""

    type: ClassVar[str] = "finish"


@attrs.frozen
class Release:
    """The owner gives up what was produced."""

    type: ClassVar[str] = "release"


@attrs.frozen
class CreateView:
    """A reader comes."""

    type: ClassVar[str] = "view"


@attrs.frozen
class Poll:
    """The reader of a view asks for the next item."""

    type: ClassVar[str] = "poll"
    view: Annotated[Index, "The number of the view. One that was not given, or was released, is rejected."]


@attrs.frozen
class Resume:
    """The reader goes on behind an event that blocked. Rejected if nothing blocks."""

    type: ClassVar[str] = "resume"


@attrs.frozen
class ReleaseView:
    """The reader of a view goes."""

    type: ClassVar[str] = "release_view"
    view: Annotated[Index, "The number of the view. One that was not given is rejected."]


# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class ViewCreated:
    """The view has this number."""

    type: ClassVar[str] = "view"
    view: Position


@attrs.frozen
class NotFound:
    """There is no such partition, or no more."""

    type: ClassVar[str] = "not_found"


@attrs.frozen
class DataAvailable:
    """The reader of a view is told that it can go on."""

    type: ClassVar[str] = "data_available"
    view: Position


@attrs.frozen
class Polled:
    """An item: its kind and bytes, the data buffers behind it, the kind of the next one, its number.

    Of events only a partition shows the bytes.
    """

    type: ClassVar[str] = "item"
    kind: Annotated[ItemKind, "What it is.", one_of(*ITEMS)]
    data: Annotated[
        bytes,
        "The bytes of a data buffer that were not handed out yet. Of the events only those of a partition show "
        "their bytes: the end of data is `00000008` and one byte, 00 with drain and 01 without; the end of the "
        "partition is `00000000`.",
    ]
    backlog: Annotated[Position, "How many data buffers wait behind it."]
    next: Annotated[ItemKind, "The kind of the item that another poll would give, as far as the reader knows."]
    sequence: Annotated[Position, "The sequence number, from 0 for each view."]


@attrs.frozen
class Availability:
    """What a query finds."""

    type: ClassVar[str] = "availability"
    available: Annotated[bool, "Whether there is something for this reader."]
    backlog: Annotated[Position, "How many data buffers wait."]


@attrs.frozen
class Released:
    """What was produced is gone."""

    type: ClassVar[str] = "released"
