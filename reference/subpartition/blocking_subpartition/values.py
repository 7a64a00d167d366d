"""The values of the blocking subpartition: its config and state, the events that it takes, what is seen of it."""

from typing import Annotated, ClassVar

import attrs

from tidegate.reference import elements
from tidegate.reference.elements import Index, one_of
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.blocking_subpartition.stores import Reader, Store
from tidegate.reference.subpartition.queue import Item
from tidegate.reference.tuples import replace

FAILURES = "failures"
EXTENSIONS = (FAILURES,)

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """With the extension `failures` the disk may fail, and it is seen when memory is given back."""

    store: Annotated[
        Store,
        "Where the data is kept. Readers of a plain `file` have two buffers to read into. `file_region` is a plain "
        "file whose readers hand out regions of it. `mmap` remembers of an event only that it is one.",
    ]
    extension: Annotated[
        str | None,
        "With `failures` the disk may fail (`fail_disk`), and each step that gives memory back shows it. Only for "
        "engines that declare it.",
    ] = attrs.field(default=None, validator=attrs.validators.optional(one_of(*EXTENSIONS)))


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`pending` is the buffer added last, which may still be open; `written` is what the store has.

    `stuck` is whether a write has failed: nothing is written from then on, until the release. `complete` is whether the
    end was written.
    """

    config: Config
    written: tuple[Item, ...] = ()
    pending: Item | None = None
    data_ended: bool = False
    finished: bool = False
    released: bool = False
    file_lost: bool = False
    disk_failed: bool = False
    stuck: bool = False
    complete: bool = False
    readers: tuple[Reader, ...] = ()


def is_open(state: State) -> bool:
    return state.pending is not None and not state.pending.finished


def with_reader(state: State, index: int, reader: Reader) -> State:
    return attrs.evolve(state, readers=replace(state.readers, index, reader))


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class EndOfData:
    """The producer adds the event that ends the data. A second one is rejected."""

    type: ClassVar[str] = "end_of_data"


@attrs.frozen
class LoseFile:
    """The file disappears, or cannot be read any more."""

    type: ClassVar[str] = "lose_file"


@attrs.frozen
class FailDisk:
    """The disk fails: nothing can be written to it any more. With the extension `failures`."""

    type: ClassVar[str] = "fail_disk"


@attrs.frozen
class Recycle:
    """A reader is done with a buffer that it was given. Rejected if it holds none."""

    type: ClassVar[str] = "recycle"
    view: Index


@attrs.frozen
class Query:
    """A reader asks whether there is something for it, with credit or without."""

    type: ClassVar[str] = "query"
    view: Index
    credit: Annotated[bool, "Whether it has credit for a data buffer."]


Event = (
    shared.AddBuffer
    | shared.Append
    | shared.FinishBuffer
    | EndOfData
    | shared.Flush
    | shared.Finish
    | shared.Release
    | LoseFile
    | FailDisk
    | shared.CreateView
    | shared.Poll
    | Recycle
    | Query
    | shared.ReleaseView
)

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Deleted:
    """The data is gone."""

    type: ClassVar[str] = "deleted"


@attrs.frozen
class Recycled:
    """The memory of the buffer that was kept is given back. With the extension `failures`."""

    type: ClassVar[str] = "recycled"


@attrs.frozen
class WriteFailed:
    """The producer is told that writing has failed. With the extension `failures`."""

    type: ClassVar[str] = "write_failed"


Observation = (
    shared.ViewCreated
    | shared.NotFound
    | shared.DataAvailable
    | shared.Polled
    | elements.Nothing
    | shared.Availability
    | Deleted
    | Recycled
    | WriteFailed
)
