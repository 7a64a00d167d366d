"""The key groups of many keys at once: the arithmetic of reference/keygroups, in numpy."""

from importlib import import_module
from typing import Any

import numpy as np

from tidegate.properties.kernels.layout import Array
from tidegate.reference.partitioning import keys as reference_keys


def compute_hash_codes(strings: Any) -> Array:
    """String.hashCode of each string of an Arrow array, as unsigned 32-bit numbers."""
    if not len(strings):
        return np.empty(0, dtype=np.uint32)
    pyarrow: Any = import_module("pyarrow")
    strings = strings.cast(pyarrow.large_string())
    offset, count = strings.offset, len(strings)
    offsets = np.frombuffer(strings.buffers()[1], dtype=np.int64)[offset : offset + count + 1]
    data = np.frombuffer(strings.buffers()[2] or b"", dtype=np.uint8)
    starts, lengths = offsets[:-1], np.diff(offsets)
    codes = np.zeros(count, dtype=np.uint32)
    for place in range(int(lengths.max())):
        longer = np.flatnonzero(lengths > place)
        codes[longer] = codes[longer] * np.uint32(31) + data[starts[longer] + place]
    # Non-ASCII characters are not single bytes: few keys have them, and the specification computes those.
    beyond = np.flatnonzero(np.add.reduceat(np.append(data > 127, False), np.minimum(starts, len(data)))[:count])
    for place in beyond[lengths[beyond] > 0].tolist():
        codes[place] = reference_keys.compute_string_hash(strings[place].as_py()) % 2**32
    return codes


def compute_key_groups(codes: Array, max_parallelism: int) -> Array:
    """PART-6 and PART-7."""
    mixed = codes * np.uint32(0xCC9E2D51)
    mixed = rotate_left(mixed, 15) * np.uint32(0x1B873593)
    mixed = rotate_left(mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    mixed ^= np.uint32(4)
    mixed ^= mixed >> np.uint32(16)
    mixed *= np.uint32(0x85EBCA6B)
    mixed ^= mixed >> np.uint32(13)
    mixed *= np.uint32(0xC2B2AE35)
    mixed ^= mixed >> np.uint32(16)
    signed = mixed.view(np.int32).astype(np.int64)
    return np.where(signed == -(2**31), 0, np.abs(signed)) % max_parallelism


def rotate_left(values: Array, bits: int) -> Array:
    return (values << np.uint32(bits)) | (values >> np.uint32(32 - bits))


def compute_owners(groups: Array, parallelism: Array | int, max_parallelism: int) -> Array:
    return groups * parallelism // max_parallelism
