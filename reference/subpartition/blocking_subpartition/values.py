"""The values of the blocking subpartition: its config and state, the events that it takes, what is seen of it."""

from typing import ClassVar

import attrs

from tidegate.reference import elements
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.blocking_subpartition.stores import Reader, Store
from tidegate.reference.subpartition.queue import Item
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
class EndOfData:
    """The producer adds the event that ends the data."""

    type: ClassVar[str] = "end_of_data"


@attrs.frozen
class LoseFile:
    """The file disappears, or cannot be read any more."""

    type: ClassVar[str] = "lose_file"


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


Event = (
    shared.AddBuffer
    | shared.Append
    | shared.FinishBuffer
    | EndOfData
    | shared.Flush
    | shared.Finish
    | shared.Release
    | LoseFile
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


Observation = (
    shared.ViewCreated
    | shared.NotFound
    | shared.DataAvailable
    | shared.Polled
    | elements.Nothing
    | shared.Availability
    | Deleted
)
