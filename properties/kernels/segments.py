"""Arithmetic of sorted rows: where runs of equal codes begin, and the rows before each row in its run."""

import numpy as np

from tidegate.properties.kernels.layout import Array

EMPTY = np.empty(0, dtype=np.int64)
#: Up to this many codes are counted without sorting.
FEW = 2**16


def sort_stably(codes: Array) -> Array:
    """A stable sort of rows by code. numpy sorts short numbers by their digits, several times faster."""
    if not len(codes):
        return EMPTY
    most = int(codes.max())
    if most < 2**8:
        return np.argsort(codes.astype(np.uint8), kind="stable")
    if most < 2**16:
        return np.argsort(codes.astype(np.uint16), kind="stable")
    if most >= 2**32:
        return np.argsort(codes, kind="stable")
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    return order.take(np.argsort((codes.take(order) >> 16).astype(np.uint16), kind="stable"))


def find_starts(codes: Array) -> Array:
    """The first place of each of the sorted codes."""
    if not len(codes):
        return EMPTY
    places = np.flatnonzero(codes[1:] != codes[:-1])
    starts = np.empty(len(places) + 1, dtype=np.int64)
    starts[0] = 0
    starts[1:] = places + 1
    return starts


def find_runs(codes: Array, order: Array, size: int) -> tuple[Array, Array, Array]:
    """For sorted codes below a size: each existing code, its first place, and its count."""
    if size <= FEW:
        counts = np.bincount(codes, minlength=1)
        found = np.flatnonzero(counts)
        lengths = counts[found]
        return found, np.cumsum(lengths) - lengths, lengths
    ordered = codes.take(order)
    starts = find_starts(ordered)
    return ordered.take(starts), starts, measure(starts, len(codes))


def measure(starts: Array, count: int) -> Array:
    """The lengths of the runs that begin there; `count` rows in all."""
    return np.diff(starts, append=count)


def find_lasts(starts: Array, count: int) -> Array:
    """The last place of each run."""
    return starts + measure(starts, count) - 1


def count_up(starts: Array, lengths: Array) -> Array:
    """The places of each run, one run after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def is_counted_on(numbers: Array, starts: Array) -> bool:
    """Whether the numbers of every run count up without gaps."""
    wrong = (numbers[1:] - numbers[:-1]) != 1
    wrong[starts[1:] - 1] = False
    return not wrong.any()


def find_last(marked: Array) -> Array:
    """For each place the last marked one up to and including it, or -1."""
    return np.maximum.accumulate(np.where(marked, np.arange(len(marked)), -1))


def find_last_before(marked: Array, starts: Array) -> Array:
    """For each place the last marked one before it in its run, or -1."""
    if not len(marked):
        return EMPTY
    last = np.empty(len(marked), dtype=np.int64)
    last[0] = -1
    last[1:] = find_last(marked)[:-1]
    first = np.repeat(starts, measure(starts, len(marked)))
    return np.where(last >= first, last, -1)


def accumulate_maximum(values: Array, starts: Array) -> Array:
    """The running maximum within each run."""
    values = values.copy()
    if not len(values):
        return values
    lengths = measure(starts, len(values))
    place = np.arange(len(values)) - np.repeat(starts, lengths)
    distance, longest = 1, int(lengths.max())
    while distance < longest:
        higher = np.maximum(values[distance:], values[:-distance])
        values[distance:] = np.where(place[distance:] >= distance, higher, values[distance:])
        distance *= 2
    return values


def accumulate_sum(values: Array, starts: Array) -> Array:
    """The running sum within each run."""
    sums = np.cumsum(values)
    before = sums.take(starts) - values.take(starts)
    return np.asarray(sums - np.repeat(before, measure(starts, len(values))))


def grown(state: Array, size: int, fill: int | bool) -> Array:  # noqa: FBT001 - the value of an array is its data
    """The same state with room for `size` entries."""
    if len(state) >= size:
        return state
    return np.concatenate([state, np.full(max(size, 2 * len(state)) - len(state), fill, dtype=state.dtype)])
