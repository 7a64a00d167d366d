"""All metadata entries of a schema. pyarrow returns them as a dictionary, which hides duplicates.

Arrow's C data interface has all of them: a count, and a length and bytes for each key and value.
"""

import ctypes
from collections.abc import Iterator
from typing import Any


def list_metadata(schema: Any) -> Iterator[tuple[bytes, bytes]]:
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = schema.__arrow_c_schema__()  # it owns the memory that this reads
    _format, _name, place = (ctypes.c_void_p * 3).from_address(get_pointer(capsule, b"arrow_schema"))
    if not place:
        return
    count, place = read_number(place)
    for _ in range(count):
        key, place = read_bytes(place)
        value, place = read_bytes(place)
        yield key, value


def read_number(place: int) -> tuple[int, int]:
    """The value, and the place behind it."""
    return ctypes.c_int32.from_address(place).value, place + 4


def read_bytes(place: int) -> tuple[bytes, int]:
    length, place = read_number(place)
    return ctypes.string_at(place, length), place + length
