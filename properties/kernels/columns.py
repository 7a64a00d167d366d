"""Rows of a run log as numpy columns, from an Arrow batch: names are numbers, nothing is a Python object."""

from functools import cached_property
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from tidegate.properties.kernels.layout import DIRECTIONS, FLOWS, IN, KINDS, NONE, RECORD, SIDES, Array, Layout
from tidegate.traces.runlog import MalformedLogError

#: Values are statuses, checkpoints, amounts and bytes: they leave room for the kind beside them in one number.
MOST_VALUE = 2**58


@attrs.define(slots=False, eq=False)
class Chunk:
    """Consecutive rows. `keys` are an Arrow array, and `key` points into it; -1 is no key."""

    step: Array
    subtask: Array
    direction: Array
    channel: Array
    position: Array
    kind: Array
    timestamp: Array
    id: Array
    value: Array
    key: Array
    keys: Any

    def __len__(self) -> int:
        return len(self.step)

    @cached_property
    def side(self) -> Array:
        return self.channel * SIDES + FLOWS[self.kind] * 2 + self.direction

    @cached_property
    def rare(self) -> Array:
        """The rows that are no records: few."""
        return np.flatnonzero(self.kind != RECORD)

    @cached_property
    def name(self) -> Array:
        """What an element is called, with `sort`: the id of a record, else its timestamp."""
        names = self.id.copy()
        names[self.rare] = self.timestamp[self.rare]
        return names

    @cached_property
    def sort(self) -> Array:
        """What an element is, in one number: its kind, and its value where it is no record."""
        sorts = np.zeros(len(self), dtype=np.int64)
        values = self.value[self.rare]
        sorts[self.rare] = np.where(values == NONE, -MOST_VALUE, values) * 16 + self.kind[self.rare]
        return sorts


def describe_element(name: int, sort: int) -> str:
    kind, value = KINDS[sort % 16], sort // 16
    if kind is KINDS[RECORD]:
        return f"record {None if name == NONE else name}"
    shown = (name if name != NONE else 0) or (value if value != -MOST_VALUE else 0) or ""
    return f"{kind} {shown}".strip()


def sort_stably(codes: Array) -> Array:
    """The rows by code, in order. numpy sorts 16-bit numbers by digits: several times faster."""
    is_small = len(codes) and codes.max() < 2**16
    return np.argsort(codes.astype(np.uint16) if is_small else codes, kind="stable")


# --- from Arrow -----------------------------------------------------------------------------------------------


def make_chunk(batch: Any, layout: Layout) -> Chunk:
    """Raise MalformedLogError where a row is at no place of the job."""
    edge, producer, consumer = (integers(batch, name) for name in ("edge", "producer", "consumer"))
    index = look_up(edge, layout.edge_index, "edge")
    wrong = (producer < 0) | (producer >= layout.producers[index])
    wrong |= (consumer < 0) | (consumer >= layout.consumers[index])
    if wrong.any():
        row = int(np.argmax(wrong))
        raise MalformedLogError(f"edge {edge[row]} has no channel from {producer[row]} to {consumer[row]}")
    direction = words(batch, "dir", {str(one): number for number, one in enumerate(DIRECTIONS)}).astype(np.uint8)
    kind = words(batch, "kind", {str(one): number for number, one in enumerate(KINDS)}).astype(np.uint8)
    at_target = (direction == IN) ^ (FLOWS[kind] == 2)
    place = layout.task_of_end[index, at_target.astype(np.int8)] + np.where(at_target, consumer, producer)
    subtask = words(batch, "task", layout.tasks) + integers(batch, "subtask")
    if not np.array_equal(subtask, place):
        row = int(np.argmax(subtask != place))
        task, number = layout.subtask_at(int(place[row]))
        raise MalformedLogError(f"step {batch.column('step')[row]} of its subtask belongs to {task}/{number}")
    key, keys = encode_keys(batch)
    return Chunk(
        step=integers(batch, "step"),
        subtask=place,
        direction=direction,
        channel=layout.offsets[index] + producer * layout.consumers[index] + consumer,
        position=integers(batch, "position"),
        kind=kind,
        timestamp=integers(batch, "timestamp", optional=True),
        id=integers(batch, "id", optional=True),
        value=check_values(integers(batch, "value", optional=True)),
        key=key,
        keys=keys,
    )


def check_values(values: Array) -> Array:
    if len(values) and (values.max() >= MOST_VALUE or (values[values != NONE] <= -MOST_VALUE).any()):
        raise MalformedLogError(f"a value lies beyond {MOST_VALUE}")
    return values


def integers(batch: Any, name: str, *, optional: bool = False) -> Array:
    column = batch.column(name)
    if not optional or not column.null_count:
        if column.null_count:
            raise MalformedLogError(f"column {name} has no value in row {column.is_null().index(True).as_py()}")
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values = np.asarray(column.fill_null(NONE).to_numpy(zero_copy_only=False))
    if int((values == NONE).sum()) != column.null_count:
        raise MalformedLogError(f"column {name} has {NONE}, which stands for no value")
    return values


def look_up(numbers: Array, index: dict[int, int], name: str) -> Array:
    """From the numbers of a log to our own, where they are not the same already."""
    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if len(numbers) and not (least in index and most in index and least >= 0 and most < 2**20):
        raise MalformedLogError(f"{name} {least if least not in index else most} is unknown")
    table = np.full(most + 1, -1, dtype=np.int32)
    for number, place in index.items():
        if 0 <= number <= most:
            table[number] = place
    found = table[numbers]
    if (found < 0).any():
        raise MalformedLogError(f"{name} {numbers[int(np.argmax(found < 0))]} is unknown")
    return found


def words(batch: Any, name: str, known: dict[str, int]) -> Array:
    column = as_dictionary(batch.column(name))
    if column.null_count:
        raise MalformedLogError(f"column {name} has rows without a value")
    entries = column.dictionary.to_pylist()
    codes = np.array([known.get(entry, -1) for entry in entries] or [-1], dtype=np.int32)
    found: Array = codes[np.asarray(column.indices.to_numpy(zero_copy_only=False))]
    if len(found) and found.min() < 0:
        unknown = next(entry for entry in entries if entry not in known)
        raise MalformedLogError(f"{name} {unknown!r} is unknown")
    return found


def as_dictionary(column: Any) -> Any:
    pyarrow: Any = import_module("pyarrow")
    return column if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()


def encode_keys(batch: Any) -> tuple[Array, Any]:
    column = batch.column("key")
    if column.null_count == len(column):
        return np.full(len(column), -1, dtype=np.int32), None
    column = as_dictionary(column)
    indices = column.indices
    if indices.null_count:
        indices = indices.fill_null(-1)
    return np.asarray(indices.to_numpy(zero_copy_only=False)), column.dictionary
