"""Rows of a run log as numpy columns, from an Arrow batch: names become numbers, without Python objects."""

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from tidegate.properties.kernels.layout import BUFFER, CREDIT, DIRECTIONS, FLOWS, KINDS, NONE, RECORD, SIDES, Array
from tidegate.properties.kernels.numbering import Numbering
from tidegate.traces.runlog import INTEGERS, OWN, MalformedLogError

#: Values are statuses, checkpoints, amounts and bytes: a number has room for a value and its kind.
MOST_VALUE = 2**58

#: A row's kind and direction in eight bits.
RECEIVED = 16
KIND = 15
WAYS = {str(one): number * RECEIVED for number, one in enumerate(DIRECTIONS)}
NAMES = {str(one): number for number, one in enumerate(KINDS)}


@attrs.define(slots=False, eq=False)
class Chunk:
    """Consecutive rows. `keys` are an Arrow array, and `key` points into it; -1 is no key."""

    step: Array
    subtask: Array
    channel: Array
    what: Array
    position: Array
    timestamp: Array
    id: Array
    value: Array
    key: Array
    keys: Any
    attempt: Array | None = None

    def __len__(self) -> int:
        return len(self.step)

    @cached_property
    def side(self) -> Array:
        sides = self.channel * SIDES
        sides += self.what >> 4
        # Only buffers and credit have separate flows.
        others = self.rare[(self.what[self.rare] & KIND) >= BUFFER]
        sides[others] += 2 * FLOWS[self.what[others] & KIND]
        return sides

    @cached_property
    def rare(self) -> Array:
        """The rows that are not records: few."""
        return np.flatnonzero(self.what & KIND)

    @cached_property
    def name(self) -> Array:
        """The name of an element, beside `sort`: the id of a record, else its timestamp."""
        names = self.id.copy()
        names[self.rare] = self.timestamp[self.rare]
        return names

    def kind_at(self, place: int) -> int:
        return int(self.what[place]) & KIND

    def direction_at(self, place: int) -> int:
        return int(self.what[place]) // RECEIVED


def compute_sorts(what: Array, value: Array) -> Array:
    """The sort of elements as a number: the kind, and for other elements than records the value."""
    kinds = (what & KIND).astype(np.int64)
    return np.where(kinds == RECORD, 0, np.where(value == NONE, -MOST_VALUE, value) * 16 + kinds)


def describe_element(name: int, sort: int) -> str:
    kind, value = KINDS[sort % 16], sort // 16
    if kind is KINDS[RECORD]:
        return f"record {None if name == NONE else name}"
    shown = (name if name != NONE else 0) or (value if value != -MOST_VALUE else 0) or ""
    return f"{kind} {shown}".strip()


# --- from Arrow -----------------------------------------------------------------------------------------------


def make_chunk(batch: Any, numbering: Numbering) -> Chunk:
    """Raise MalformedLogError if a row does not fit the job."""
    what = words(batch, "dir", WAYS)
    what += words(batch, "kind", NAMES)
    channel = find_channels(batch, numbering, what)
    # A row belongs to the target of its channel if it is received there, or if it is credit sent from there.
    ends = channel * 2
    ends += (what >> 4) ^ ((what & KIND) == CREDIT)
    place = numbering.ends.take(ends)
    check_places(batch, numbering, place)
    key, keys = encode_keys(batch)
    return Chunk(
        step=integers(batch, "step"),
        subtask=numbering.find_subtasks(place),
        channel=channel,
        what=what,
        position=integers(batch, "position"),
        timestamp=integers(batch, "timestamp", optional=True),
        id=integers(batch, "id", optional=True),
        value=check_values(integers(batch, "value", optional=True)),
        key=key,
        keys=keys,
        attempt=find_attempts(batch, numbering.layout.job.restores),
    )


def find_attempts(batch: Any, restores: Mapping[int, int | None]) -> Array | None:
    """None if there is only one attempt."""
    column = batch.column("attempt") if "attempt" in batch.schema.names else None
    if column is None or column.null_count == len(column):
        return np.zeros(len(batch), np.int64) if restores else None
    arrow: Any = import_module("pyarrow")
    attempts = numbers_in(convert(column, arrow.int64(), "attempt").fill_null(0))
    unknown = sorted(set(np.unique(attempts).tolist()) - {0, *restores})
    if unknown:
        raise MalformedLogError(f"rows are of attempt {unknown[0]}, and restored says nothing of it")
    return attempts if restores else None


def find_channels(batch: Any, numbering: Numbering, what: Array) -> Array:
    """For rows of a subtask alone, the channel of that subtask to itself."""
    columns = [integers(batch, name) for name in ("edge", "producer", "consumer")]
    is_own = (what & KIND) > CREDIT
    if not is_own.any():
        return numbering.find_channels(*columns)
    task, subtask = words(batch, "task", numbering.layout.tasks), integers(batch, "subtask")
    own, others = np.flatnonzero(is_own), np.flatnonzero(~is_own)
    strange = (columns[0] != OWN) | (columns[1] != subtask) | (columns[2] != subtask) | (what >= RECEIVED)
    sizes = np.array(list(numbering.layout.sizes.values()))[
        np.searchsorted(list(numbering.layout.tasks.values()), task[own], "right") - 1
    ]
    wrong = strange[own] | (subtask[own] < 0) | (subtask[own] >= sizes)
    if wrong.any():
        row = int(own[np.argmax(wrong)])
        raise MalformedLogError(f"step {batch.column('step')[row]} of its subtask is of a subtask alone, or of none")
    channel = np.empty(len(what), dtype=np.int64)
    channel[own] = numbering.find_own(task[own].astype(np.int64) + subtask[own])
    channel[others] = numbering.find_channels(*(column[others] for column in columns))
    return channel


def check_places(batch: Any, numbering: Numbering, place: Array) -> None:
    """Check that every row is at an end of its channel."""
    layout = numbering.layout
    subtask = words(batch, "task", layout.tasks) + integers(batch, "subtask")
    wrong = subtask != place
    if wrong.any():
        row = int(np.argmax(wrong))
        task, number = layout.subtask_at(int(place[row]))
        raise MalformedLogError(f"step {batch.column('step')[row]} of its subtask belongs to {task}/{number}")


def check_values(values: Array) -> Array:
    if len(values) and (values.max() >= MOST_VALUE or (values[values != NONE] <= -MOST_VALUE).any()):
        raise MalformedLogError(f"a value lies beyond {MOST_VALUE}")
    return values


def integers(batch: Any, name: str, *, optional: bool = False) -> Array:
    """Cast the column to the required width."""
    column = batch.column(name)
    if column.null_count and not optional:
        raise MalformedLogError(f"column {name} has no value in row {column.is_null().index(True).as_py()}")
    arrow: Any = import_module("pyarrow")
    wanted = arrow.int32() if INTEGERS[name] == 32 else arrow.int64()
    if column.type != wanted:
        column = convert(column, wanted, name)
    values = numbers_in(column)
    if not column.null_count:
        return values if not optional else check_none(values, name)
    # The value under a null is undefined, but mostly 0: only otherwise is a closer check needed.
    if values.min() <= NONE:
        check_none(numbers_in(column.drop_null()), name)
    return fill_nulls(column, values, NONE)


def numbers_in(column: Any) -> Array:
    """The numbers of an Arrow array, without a copy. Its `to_numpy` would import pandas, which takes half a second."""
    kind = np.dtype(str(column.type))
    _is_there, numbers = column.buffers()
    if not len(column):
        return np.empty(0, kind)
    return np.frombuffer(numbers, kind, len(column), column.offset * kind.itemsize)


def fill_nulls(column: Any, values: Array, filling: int) -> Array:
    """The values, with the filling for nulls."""
    bits = np.frombuffer(column.buffers()[0], np.uint8)
    is_there = np.unpackbits(bits, count=column.offset + len(column), bitorder="little")[column.offset :].view(np.bool_)
    return np.where(is_there, values, values.dtype.type(filling))


def places_in(places: Array) -> Any:
    """The Arrow array of these places."""
    arrow: Any = import_module("pyarrow")
    return arrow.Array.from_buffers(arrow.int64(), len(places), [None, arrow.py_buffer(places.astype(np.int64))])


def convert(column: Any, wanted: Any, name: str) -> Any:
    arrow: Any = import_module("pyarrow")
    try:
        return column.cast(wanted)
    except arrow.ArrowInvalid as error:
        raise MalformedLogError(f"column {name} has a value that does not fit {wanted}: {error}") from error


def check_none(values: Array, name: str) -> Array:
    if (values == NONE).any():
        raise MalformedLogError(f"column {name} has {NONE}, which stands for no value")
    return values


def words(batch: Any, name: str, known: dict[str, int]) -> Array:
    column = as_dictionary(batch.column(name))
    if column.null_count:
        raise MalformedLogError(f"column {name} has rows without a value")
    entries, indices = read_entries(column.dictionary, name), read_indices(column, name)
    numbers = [known.get(entry, -1) for entry in entries]
    if -1 in numbers:
        # A dictionary may have unused entries.
        used = np.unique(indices)
        unknown = [entries[at] for at in used.tolist() if numbers[at] < 0]
        if unknown:
            raise MalformedLogError(f"{name} {unknown[0]!r} is unknown")
    kind = np.uint8 if max(known.values(), default=0) < 2**8 else np.int64
    return np.array(numbers, dtype=np.int64).astype(kind).take(indices)


def read_entries(dictionary: Any, name: str) -> list[Any]:
    try:
        found: list[Any] = dictionary.to_pylist()
    except UnicodeDecodeError as error:
        raise MalformedLogError(f"column {name} has text that is not UTF-8") from error
    return found


def read_indices(column: Any, name: str) -> Array:
    """The dictionary indices of the rows; -1 is null. In a broken file they may point beyond it."""
    found, least = numbers_in(column.indices), 0
    if column.null_count:
        found, least = fill_nulls(column.indices, found, -1), -1
    if len(found) and (found.max() >= len(column.dictionary) or found.min() < least):
        raise MalformedLogError(f"column {name} points beyond its dictionary")
    return found


def as_dictionary(column: Any) -> Any:
    pyarrow: Any = import_module("pyarrow")
    return column if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()


def encode_keys(batch: Any) -> tuple[Array, Any]:
    column = batch.column("key")
    if column.null_count == len(column):
        return np.full(len(column), -1, dtype=np.int32), None
    column = as_dictionary(column)
    arrow: Any = import_module("pyarrow")
    try:
        column.dictionary.validate(full=True)
    except arrow.ArrowInvalid as error:
        raise MalformedLogError(f"column key has text that is not UTF-8: {error}") from error
    return read_indices(column, "key"), column.dictionary
