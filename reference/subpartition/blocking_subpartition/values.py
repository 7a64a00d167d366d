"""The values of the blocking subpartition: its config and state, the events that it takes, what is seen of it."""

from typing import ClassVar

import attrs

from tidegate.reference.subpartition.blocking_subpartition.stores import Reader, Store
from tidegate.reference.subpartition.queue import Item, Kind
from tidegate.reference.tuples import replace

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    store: Store


# --- state ----------------------------------------------------------------------------------------------------


@attrs.frozen
class State:
    """`pending` is the buffer added last, which may still be open; `written` is what the store has."""

    config: Config
    written: tuple[Item, ...] = ()
    pending: Item | None = None
    data_ended: bool = False
    finished: bool = False
    released: bool = False
    file_lost: bool = False
    readers: tuple[Reader, ...] = ()


def is_open(state: State) -> bool:
    return state.pending is not None and not state.pending.finished


def with_reader(state: State, index: int, reader: Reader) -> State:
    return attrs.evolve(state, readers=replace(state.readers, index, reader))


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class AddBuffer:
    """The producer adds a buffer that holds some bytes; it goes on writing into it unless the buffer is finished."""

    type: ClassVar[str] = "buffer"
    data: bytes
    finished: bool


@attrs.frozen
class Append:
    """The producer writes more into the buffer added last."""

    type: ClassVar[str] = "append"
    data: bytes


@attrs.frozen
class FinishBuffer:
    """The producer is done with that buffer."""

    type: ClassVar[str] = "finish_buffer"


@attrs.frozen
class EndOfData:
    """The producer adds the event that ends the data."""

    type: ClassVar[str] = "end_of_data"


@attrs.frozen
class Flush:
    """What is pending is to be written."""

    type: ClassVar[str] = "flush"


@attrs.frozen
class Finish:
    """The producer comes to its end; from here on it can be read."""

    type: ClassVar[str] = "finish"


@attrs.frozen
class Release:
    """The owner gives the subpartition up."""

    type: ClassVar[str] = "release"


@attrs.frozen
class LoseFile:
    """The file disappears, or cannot be read any more."""

    type: ClassVar[str] = "lose_file"


@attrs.frozen
class CreateView:
    """A reader comes."""

    type: ClassVar[str] = "view"


@attrs.frozen
class Poll:
    """A reader asks for the next item."""

    type: ClassVar[str] = "poll"
    view: int


@attrs.frozen
class Recycle:
    """A reader is done with a buffer that it was given."""

    type: ClassVar[str] = "recycle"
    view: int


@attrs.frozen
class Query:
    """A reader asks whether there is something for it, with credit or without."""

    type: ClassVar[str] = "query"
    view: int
    credit: bool


@attrs.frozen
class ReleaseView:
    """A reader goes."""

    type: ClassVar[str] = "release_view"
    view: int


Event = (
    AddBuffer
    | Append
    | FinishBuffer
    | EndOfData
    | Flush
    | Finish
    | Release
    | LoseFile
    | CreateView
    | Poll
    | Recycle
    | Query
    | ReleaseView
)

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class View:
    """The view has this number."""

    type: ClassVar[str] = "view"
    view: int


@attrs.frozen
class NotFound:
    """There is no such partition any more."""

    type: ClassVar[str] = "not_found"


@attrs.frozen
class DataAvailable:
    """A reader that ran out of read buffers can go on."""

    type: ClassVar[str] = "data_available"
    view: int


@attrs.frozen
class Polled:
    """An item: its kind and, of data, its bytes; the data buffers behind it, the next kind, its number in this view."""

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


@attrs.frozen
class Deleted:
    """The data is gone."""

    type: ClassVar[str] = "deleted"


Observation = View | NotFound | DataAvailable | Polled | Nothing | Availability | Deleted
