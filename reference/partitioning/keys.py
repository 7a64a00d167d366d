"""Keys, and the hash codes that Java gives them.

The first step from a key to its consumer is the hash code of its Java type, so every engine has to compute it as Java
does: a string over its UTF-16 units, a long by folding its halves, all with 32-bit wrap-around.

Choices. The engine protocol has string, int and long keys. Booleans and doubles are here because the rule covers
them; the shorter integers and characters hash as ints.
"""

import struct
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import attrs

from tidegate.reference.claims import law
from tidegate.reference.elements import MAX, MIN, Long, Text, between, check_long
from tidegate.reference.model import InvalidInputError

# --- keys -----------------------------------------------------------------------------------------------------


def check_text(_instance: Any, _attribute: "attrs.Attribute[Any]", value: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidInputError("a string key has no unpaired surrogates")


@attrs.frozen
class StringKey:
    """A string key."""

    type: ClassVar[str] = "string"
    value: Annotated[Text, "The key."] = attrs.field(validator=check_text)


@attrs.frozen
class IntKey:
    """A 32-bit key, a number."""

    type: ClassVar[str] = "int"
    value: Annotated[int, "The key."] = attrs.field(validator=between(-(2**31), 2**31 - 1))


@attrs.frozen
class LongKey:
    """A 64-bit key, a decimal string."""

    type: ClassVar[str] = "long"
    value: Annotated[Long, "The key."] = attrs.field(validator=check_long)


Key = StringKey | IntKey | LongKey


# --- hash codes -----------------------------------------------------------------------------------------------


def compute_hash_code(key: Key) -> int:
    if isinstance(key, StringKey):
        return compute_string_hash(key.value)
    if isinstance(key, IntKey):
        return compute_int_hash(key.value)
    return compute_long_hash(key.value)


def to_int32(value: int) -> int:
    """The value with all but its lowest 32 bits cut off, as Java reads them: signed."""
    return (value + 2**31) % 2**32 - 2**31


def compute_string_hash(text: str) -> int:
    """PART-8: a polynomial in 31 over the UTF-16 units, of which a character beyond the basic plane has two."""
    units = struct.iter_unpack(">H", text.encode("utf-16-be"))
    code = 0
    for (unit,) in units:
        code = to_int32(31 * code + unit)
    return code


def compute_int_hash(value: int) -> int:
    """PART-8: the value itself; the same for shorter integers and characters."""
    return value


def compute_long_hash(value: int) -> int:
    """PART-8: the lower half, xor the upper half."""
    return to_int32(value ^ (value >> 32))


def compute_boolean_hash(value: bool) -> int:  # noqa: FBT001 - the value is the key
    """PART-8: two constants."""
    return 1231 if value else 1237


def compute_double_hash(value: float) -> int:
    """PART-8: as the long with the same bits. There is one NaN, and there are two zeros."""
    is_nan = value != value  # noqa: PLR0124 - what makes a NaN one
    bits = 0x7FF8000000000000 if is_nan else int.from_bytes(struct.pack(">d", value), "big")
    return compute_long_hash(bits)


# --- laws -----------------------------------------------------------------------------------------------------


def known_string_hashes() -> Iterator[tuple[str, int]]:
    yield from (("", 0), ("a", 97), ("hello", 99162322), ("é", 233), ("\N{GRINNING FACE}", 1772899))
    yield from (("a\N{GRINNING FACE}b", 57849694), ("polygenelubricants", -(2**31)))


@law("PART-8", samples=known_string_hashes)
def string_hash_codes(text: str, code: int) -> bool:
    """The hash code of a string is computed over its UTF-16 units."""
    return compute_string_hash(text) == code


def known_long_hashes() -> Iterator[tuple[int, int]]:
    yield from ((0, 0), (-1, 0), (7, 7), (2**31, -(2**31)), (2**32, 1), (-(2**32), -1))
    yield from ((2**53 + 1, 2**21 + 1), (MIN, -(2**31)), (MAX, -(2**31)))


@law("PART-8", samples=known_long_hashes)
def long_hash_codes(value: int, code: int) -> bool:
    """The hash code of a long is its lower half, xor its upper half."""
    return compute_long_hash(value) == code


def known_boolean_and_double_hashes() -> Iterator[tuple[bool | float, int]]:
    yield from ((True, 1231), (False, 1237), (0.0, 0), (-0.0, -(2**31)), (1.0, 1072693248), (-1.5, -1074266112))
    yield from ((float("nan"), 2146959360), (float("-nan"), 2146959360), (float("inf"), 2146435072), (5e-324, 1))


@law("PART-8", samples=known_boolean_and_double_hashes)
def boolean_and_double_hash_codes(value: bool | float, code: int) -> bool:  # noqa: FBT001
    """Booleans hash to two constants; doubles by their bits, with one NaN and two zeros."""
    hashed = compute_boolean_hash(value) if isinstance(value, bool) else compute_double_hash(value)
    return hashed == code


def some_integers() -> Iterator[tuple[int]]:
    yield from ((value,) for value in (-(2**31), -(2**16), -1, 0, 1, 255, 2**16, 2**31 - 1))


@law("PART-8", samples=some_integers)
def int_and_long_hash_codes(value: int) -> bool:
    """The same number as int and as long has the same hash code exactly where it is not negative."""
    return (compute_int_hash(value) == compute_long_hash(value)) == (value >= 0)
