"""The input of sources as files: one file per micro-batch, with a slice of the script of every source of every job.

Spark reads the files in the order of their times. Slices are cut at random, so that sources get ahead of each other;
lines may also come early, late or twice, as from a queue with at-least-once delivery.
"""

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from tidegate.conformance.engines.spark.streaming.elements import SCRIPT, Line
from tidegate.conformance.engines.spark.streaming.layout import make_layout

_EPOCH = 1_700_000_000
_NUMBERS = {"level": 32, "task": 32, "subtask": 32, "edge": 32, "producer": 32, "consumer": 32}
_NUMBERS |= {"step": 64, "position": 64, "timestamp": 64, "id": 64, "value": 64}


def make_lines(run: str, job: dict[str, Any]) -> Iterator[list[Line]]:
    """The script of each source subtask, with its end."""
    layout = make_layout(job)
    scripts = {one["id"]: one["scripts"] for one in job["operators"]}
    for number, task in enumerate(layout.tasks):
        for subtask, script in enumerate(scripts[task.head]):
            items = [*(make_element(item) for item in script), ("end", None, None, None, None)]
            yield [
                Line(0, run, number, subtask, None, "", SCRIPT, SCRIPT, subtask, position, *item)
                for position, item in enumerate(items)
            ]


def make_element(item: dict[str, Any]) -> tuple[Any, ...]:
    """64-bit numbers are written as text."""
    match item["type"]:
        case "record":
            return "record", int(item["timestamp"]), item["key"], None, int(item["value"])
        case "watermark":
            return "watermark", int(item["timestamp"]), None, None, None
        case "status":
            return "status", None, None, None, int(item["status"] == "active")
        case _:
            return "barrier", None, None, None, item["checkpoint"]


def cut(random: Random, script: list[Line], slices: int, *, jumbled: bool = False) -> list[tuple[int, Line]]:
    """Each line with the number of its file. Jumbled, some lines are in an earlier or later file, or in two."""
    numbers = sorted(random.randrange(slices) for _ in script)
    lines = []
    for number, line in zip(numbers, script, strict=True):
        is_moved = jumbled and random.random() < 0.1
        lines.append((random.randrange(slices) if is_moved else number, line))
        if jumbled and random.random() < 0.1:
            lines.append((random.randrange(slices), line))
    return lines


def write_scripts(folder: Path, slices: list[list[Line]], first: int = 0) -> None:
    """One file per slice; `first` is the number of existing files."""
    for number, lines in enumerate(slices, first):
        write_file(folder / f"{number:04}.parquet", lines)
        os.utime(folder / f"{number:04}.parquet", (_EPOCH + number, _EPOCH + number))


def write_file(path: Path, lines: list[Line]) -> None:
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    widths = {32: pyarrow.int32(), 64: pyarrow.int64()}
    fields = [(name, widths[_NUMBERS[name]] if name in _NUMBERS else pyarrow.string()) for name in Line._fields]
    columns = {name: [getattr(line, name) for line in lines] for name in Line._fields}
    # Hidden until it is complete: Spark does not read names that begin with a dot.
    hidden = path.with_name("." + path.name)
    parquet.write_table(pyarrow.table(columns, schema=pyarrow.schema(fields)), hidden)
    hidden.rename(path)
