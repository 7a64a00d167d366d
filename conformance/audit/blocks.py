"""Rows in the shuffle: Spark moves and sorts blocks of rows, not single rows.

A block has rows of one run, of a few neighbouring places (channels, or subtasks) and of a span of their numbers
(positions, or steps). All blocks of the same places and numbers are a bucket; the worker that checks it sorts it. For
any log, a valid bucket has at most `MOST_OF_BUCKET` rows: the more places, the shorter the span.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from tidegate.properties.kernels.columns import RECEIVED, Chunk
from tidegate.properties.kernels.layout import SIDES, Array
from tidegate.properties.kernels.segments import sort_stably

#: A row without its key. `place`: its channel and kind in one number.
COLUMNS = ("step", "position", "timestamp", "id", "value")
ROW = np.dtype([*((name, np.int64) for name in COLUMNS), ("subtask", np.int32), ("place", np.int32)])
WHATS = 2 * RECEIVED

#: Columns for Spark: the target of a block, and its sort key there.
DEALT = "run int, part int, bucket long, rows binary"
DESTINATION = ("run", "part")
ORDER = ("run", "part", "bucket")

#: The bucket of problems, which are not blocks.
PROBLEM = -1

#: Limit of parts per run, so that even a log with very many channels has no single-row blocks.
MOST_PARTS = 1024
#: Numbers of one place per bucket, or fewer of several places: as many as numpy sorts by digits.
NUMBERS = 2**16
#: Numbers are unique on a side: a bucket with more rows is wrong, and is refused without holding it.
MOST_OF_BUCKET = NUMBERS * SIDES
#: Spark batches blocks by count, so that each must be small.
MOST_OF_BLOCK = 2**13


@attrs.frozen
class Cut:
    """How to cut a run into buckets: `width` places together, and `span` numbers of each."""

    rows: int
    width: int
    span: int

    def buckets(self, numbers: Array) -> Array:
        """Impossible numbers, larger than the rows of the run, get no buckets of their own."""
        return np.clip(numbers, 0, self.rows) // self.span

    def sort(self, numbers: Array, bucket: int) -> Array:
        """The rows of a bucket sorted by number; impossible ones are first or last, and are refused."""
        return sort_stably(np.clip(numbers - bucket * self.span, 0, self.span))


def make_cut(places: int, rows: int) -> Cut:
    width = max(1, -(-places // MOST_PARTS))
    return Cut(rows, width, max(1, NUMBERS // width))


def pack(chunk: Chunk) -> Array:
    rows = np.empty(len(chunk), dtype=ROW)
    for name in (*COLUMNS, "subtask"):
        rows[name] = getattr(chunk, name)
    rows["place"] = chunk.channel * WHATS + chunk.what
    return rows


def unpack(rows: Array) -> Chunk:
    place = rows["place"]
    return Chunk(
        **{name: np.ascontiguousarray(rows[name]) for name in (*COLUMNS, "subtask")},
        channel=place // WHATS,
        what=(place % WHATS).astype(np.uint8),
        key=np.full(len(rows), -1, dtype=np.int32),
        keys=None,
    )


def make_blocks(run: int, cut: Cut, rows: Array, places: Array, by: str) -> Any:
    """An Arrow batch of the blocks of these rows: their bytes are the sorted rows, without a copy."""
    arrow: Any = import_module("pyarrow")
    parts, buckets = places // cut.width, cut.buckets(rows[by])
    first, count = (int(buckets.min()), int(np.ptp(buckets)) + 1) if len(rows) else (0, 1)
    codes = parts.astype(np.int64) * count + (buckets - first)
    order = sort_stably(codes)
    rows, codes = rows.take(order), codes[order]
    is_start = np.ones(len(rows), dtype=bool)
    is_start[1:] = codes[1:] != codes[:-1]
    is_start[::MOST_OF_BLOCK] = True
    starts = np.flatnonzero(is_start)
    ends = (np.append(starts, len(rows)) * ROW.itemsize).astype(np.int32)
    blocks = arrow.Array.from_buffers(arrow.binary(), len(starts), [None, arrow.py_buffer(ends), arrow.py_buffer(rows)])
    part, bucket = np.divmod(codes[starts], count)
    columns = {
        "run": np.full(len(starts), run, dtype=np.int32),
        "part": part.astype(np.int32),
        "bucket": bucket + first,
        "rows": blocks,
    }
    return arrow.RecordBatch.from_pydict(columns)


def tell_problem(run: int, problem: str) -> Any:
    """Instead of blocks: why the rows of a run cannot be read. Sorts before all blocks of its part."""
    arrow: Any = import_module("pyarrow")
    columns = {"run": arrow.array([run], arrow.int32()), "part": arrow.array([0], arrow.int32())}
    columns |= {"bucket": arrow.array([PROBLEM], arrow.int64()), "rows": [problem.encode()]}
    return arrow.RecordBatch.from_pydict(columns)


def read_buckets(cuts: tuple[Cut, ...], by: str, batches: Iterator[Any]) -> Iterator[tuple[int, Chunk | str]]:
    """The rows of each bucket with their run, in order, or a problem.

    A bucket that is too large comes in pieces, and is refused.
    """
    held: list[Any] = []
    last, size = (0, 0, 0), 0
    for key, block in read_blocks(batches):
        if key[2] == PROBLEM:
            yield key[0], block.to_pybytes().decode()
            continue
        if held and (key != last or size > MOST_OF_BUCKET * ROW.itemsize):
            yield last[0], join(cuts, by, last, held)
            held, size = [], 0
        held.append(block)
        last, size = key, size + block.size
    if held:
        yield last[0], join(cuts, by, last, held)


def read_blocks(batches: Iterator[Any]) -> Iterator[tuple[tuple[int, int, int], Any]]:
    for batch in batches:
        keys = zip(*(batch.column(name).to_pylist() for name in ORDER), strict=True)
        for key, block in zip(keys, batch.column("rows"), strict=True):
            yield key, block.as_buffer()


def join(cuts: tuple[Cut, ...], by: str, key: tuple[int, int, int], held: list[Any]) -> Chunk:
    run, _part, bucket = key
    rows = np.frombuffer(b"".join(held), dtype=ROW)
    return unpack(rows.take(cuts[run].sort(rows[by], bucket)))
