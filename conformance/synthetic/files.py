"""Synthetic runs as Parquet files: rows are numbered while writing, so that memory holds a few epochs at most."""

import json
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import attrs
import numpy as np

from tidegate.conformance.synthetic.epochs import Writer, column
from tidegate.conformance.synthetic.faults import NAMES, PLANT, Fault
from tidegate.conformance.synthetic.job import JOB, KEYS, SIZES, SLEEPER, TASKS, Plan
from tidegate.properties.kernels.layout import DIRECTIONS, FLOWS, KINDS, NONE, SIDES, Array, Layout
from tidegate.traces.codec import encode
from tidegate.traces.runlog import COLUMNS, OPTIONAL

#: Rows per row group.
GROUP = 500_000
DELTAS = ("step", "position", "timestamp", "id")
#: A synthetic run is never restored.
WRITTEN = tuple(name for name in COLUMNS if name not in OPTIONAL)
WORDS = {"task": TASKS, "dir": DIRECTIONS, "kind": KINDS, "key": KEYS}


@attrs.frozen
class Task:
    """A run to write: one file, or one per subtask number."""

    plan: Plan
    faults: tuple[Fault, ...]
    folder: str
    files: int = 1

    def paths(self) -> list[Path]:
        if self.files == 1:
            return [Path(self.folder) / f"{self.plan.run}.parquet"]
        return [Path(self.folder) / f"{self.plan.run}-part-{number}.parquet" for number in range(self.files)]


@attrs.define
class Numbering:
    """Steps and positions, which continue from epoch to epoch."""

    layout: Layout
    steps: dict[tuple[int, int], int] = attrs.Factory(lambda: defaultdict(int))
    positions: Array = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.positions = np.zeros(int(self.layout.offsets[-1]) * SIDES, dtype=np.int64)

    def number(self, blocks: dict[tuple[int, int], Array]) -> tuple[Array, Array, Array]:
        """The rows, their steps, their positions."""
        rows = np.concatenate(list(blocks.values()))
        steps = []
        for subtask, block in blocks.items():
            steps.append(self.steps[subtask] + np.arange(len(block)))
            self.steps[subtask] += len(block)
        edge = column(rows, "edge")
        channel = self.layout.offsets[edge] + column(rows, "producer") * self.layout.consumers[edge]
        side = (channel + column(rows, "consumer")) * SIDES + FLOWS[column(rows, "kind")] * 2 + column(rows, "dir")
        order = np.argsort(side.astype(np.uint16), kind="stable")
        counts = np.bincount(side, minlength=len(self.positions))
        starts = np.cumsum(counts) - counts
        positions = np.empty(len(rows), dtype=np.int64)
        positions[order] = np.arange(len(rows)) - np.repeat(starts, counts) + np.repeat(self.positions, counts)
        self.positions += counts
        return rows, np.concatenate(steps), positions


def write_run(task: Task) -> dict[str, Any]:
    """Write the files of a run. Returns the planted faults with the rows that must show them."""
    planned = defaultdict(list)
    for fault in task.faults:
        planned[fault.epoch].append(fault)
    writer, numbering = Writer(task.plan), Numbering(Layout(JOB))
    shown: dict[int, list[dict[str, Any]]] = defaultdict(list)
    events = 0
    with Files(task) as files:
        for epoch in range(task.plan.epochs):
            misses = [fault.turn % SLEEPER for fault in planned[epoch] if fault.name == "out-of-turn"]
            blocks = writer.write(epoch, misses)
            for fault in planned[epoch]:
                PLANT[fault.name](blocks, fault)
            rows, steps, positions = numbering.number(blocks)
            events += len(rows)
            for place in np.flatnonzero(column(rows, "mark") >= 0) if planned[epoch] else ():
                number, invariant = divmod(int(rows[place, -1]), len(NAMES))
                shown[number].append(describe(rows[place], int(positions[place]), NAMES[invariant]))
            files.add(rows, steps, positions)
    faults = [{"fault": fault.name, "epoch": fault.epoch, "shows": shown[fault.number]} for fault in task.faults]
    paths = [path.name for path in task.paths()]
    return {"run": task.plan.run, "files": paths, "events": events, "faults": faults}


def describe(row: Array, position: int, invariant: str) -> dict[str, Any]:
    _task, _subtask, direction, edge, producer, consumer = row[:6].tolist()
    channel = [edge, producer, consumer]
    return {"invariant": invariant, "channel": channel, "dir": str(DIRECTIONS[direction]), "position": position}


class Files:
    """The Parquet files of a run; each takes the rows of its subtasks, in order."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.arrow: Any = import_module("pyarrow")
        self.waiting: list[list[tuple[Array, Array, Array]]] = [[] for _ in task.paths()]
        self.schema = self.make_schema()
        parquet: Any = import_module("pyarrow.parquet")
        Path(task.folder).mkdir(parents=True, exist_ok=True)
        self.writers = [
            parquet.ParquetWriter(
                path,
                self.schema,
                compression="zstd",
                use_dictionary=[name for name in WRITTEN if name not in DELTAS],
                column_encoding=dict.fromkeys(DELTAS, "DELTA_BINARY_PACKED"),
                store_schema=False,
            )
            for path in task.paths()
        ]

    def make_schema(self) -> Any:
        words = self.arrow.dictionary(self.arrow.int16(), self.arrow.string())
        short = {"subtask", "edge", "producer", "consumer"}
        types = {name: self.arrow.int32() if name in short else self.arrow.int64() for name in WRITTEN}
        types |= dict.fromkeys((*WORDS, "run"), words)
        return self.arrow.schema([(name, types[name]) for name in WRITTEN])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for number, writer in enumerate(self.writers):
            self.flush(number)
            writer.add_key_value_metadata(
                {"run": self.task.plan.run, "complete": "true", "job": json.dumps(encode(JOB))}
            )
            writer.close()

    def add(self, rows: Array, steps: Array, positions: Array) -> None:
        for number, part in self.split(rows):
            self.waiting[number].append((rows[part], steps[part], positions[part]))
            if sum(len(one[0]) for one in self.waiting[number]) >= GROUP:
                self.flush(number)

    def split(self, rows: Array) -> Iterator[tuple[int, Any]]:
        if len(self.writers) == 1:
            yield 0, slice(None)
            return
        # Subtasks are not split, as if every machine wrote the log of its subtasks.
        firsts = np.cumsum([0, *SIZES])
        owner = (firsts[column(rows, "task")] + column(rows, "subtask")) % len(self.writers)
        for number in range(len(self.writers)):
            yield number, np.flatnonzero(owner == number)

    def flush(self, number: int) -> None:
        if not self.waiting[number]:
            return
        rows, steps, positions = (np.concatenate(part) for part in zip(*self.waiting[number], strict=True))
        self.waiting[number] = []
        columns = {"step": steps, "position": positions}
        arrays = [self.make_array(name, columns.get(name), rows) for name in WRITTEN]
        self.writers[number].write_table(self.arrow.Table.from_arrays(arrays, schema=self.schema))

    def make_array(self, name: str, numbers: Array | None, rows: Array) -> Any:
        kind = self.schema.field(name).type
        if name == "run":
            return self.arrow.DictionaryArray.from_arrays(np.zeros(len(rows), dtype=np.int16), [self.task.plan.run])
        if numbers is None:
            numbers = column(rows, name)
        mask = numbers == NONE if name in ("timestamp", "key", "id", "value") else None
        if name in WORDS:
            indices = self.arrow.array(np.where(numbers == NONE, 0, numbers).astype(np.int16), mask=mask)
            return self.arrow.DictionaryArray.from_arrays(indices, [str(word) for word in WORDS[name]])
        return self.arrow.array(numbers, kind, mask=mask)
