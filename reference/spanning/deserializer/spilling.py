"""Where the bytes of a record that spans buffers are gathered: in an array, or in a file if it is long.

None of this can be seen in the records. It bounds the memory of a reader: a length that claims gigabytes costs a file.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product

from tidegate.reference.claims import law
from tidegate.reference.spanning.reading import RecordReader, read_buffer
from tidegate.reference.spanning.records import HEADER_BYTES, decode_length

KIB = 1024
INITIAL_CAPACITY = KIB
DEFAULT_THRESHOLD = 5 * KIB * KIB
LEAST_THRESHOLD = 100 * KIB
DEFAULT_READ_BUFFER = 2 * KIB * KIB
LEAST_READ_BUFFER = 50 * KIB
MOST_ATTEMPTS = 10


class Storage(StrEnum):
    NONE = "none"
    ARRAY = "array"
    FILE = "file"


def compute_threshold(asked: int = DEFAULT_THRESHOLD) -> int:
    """SPAN-24: the longest record that stays in memory."""
    return max(asked, LEAST_THRESHOLD)


def compute_read_buffer(asked: int = DEFAULT_READ_BUFFER) -> int:
    return max(asked, LEAST_READ_BUFFER)


def compute_storage(reader: RecordReader, asked: int = DEFAULT_THRESHOLD) -> Storage:
    """Where the reader keeps what it has gathered; up to three bytes of a header need no place of their own."""
    if len(reader.gathered) < HEADER_BYTES:
        return Storage.NONE
    return Storage.FILE if decode_length(reader.gathered) > compute_threshold(asked) else Storage.ARRAY


def compute_capacity(length: int) -> int:
    """SPAN-23: the size of the array for a record of that length; it grows at once, and at least twofold."""
    return INITIAL_CAPACITY if length <= INITIAL_CAPACITY else max(length, 2 * INITIAL_CAPACITY)


def compute_file_name(random_bytes: bytes) -> str:
    return random_bytes.hex() + ".inputchannel"


def find_directory(usable: tuple[bool, ...], first: int) -> int | None:
    """SPAN-23: which directory gets the file. One that fails is dropped while another remains."""
    left = list(range(len(usable)))
    for attempt in range(MOST_ATTEMPTS):
        position = (first + attempt) % len(left)
        if usable[left[position]]:
            return left[position]
        if len(left) == 1:
            return None
        del left[position]
    return None


# --- laws -----------------------------------------------------------------------------------------------------


def directories() -> Iterator[tuple[tuple[bool, ...], int]]:
    for count in range(1, 6):
        for usable in product((False, True), repeat=count):
            yield from ((usable, first) for first in range(count))


@law("SPAN-23", samples=directories)
def a_usable_directory_is_found(usable: tuple[bool, ...], first: int) -> bool:
    """The file goes to a usable directory if there is one, whichever is tried first."""
    found = find_directory(usable, first)
    return usable[found] if found is not None else not any(usable)


def first_directories() -> Iterator[tuple[int]]:
    yield from ((first,) for first in range(11))


@law("SPAN-23", samples=first_directories)
def ten_attempts_at_a_file(first: int) -> bool:
    """After ten attempts the reader gives up, even if another directory is left.

    Eleven directories of which only one is usable: it is missed where it would have been the eleventh attempt.
    """
    missed = [find_directory(tuple(n == only for n in range(11)), first) is None for only in range(11)]
    return missed.count(True) == 1


def lengths_around_the_capacity() -> Iterator[tuple[int]]:
    yield from ((length,) for length in (0, 1, 1023, 1024, 1025, 2047, 2048, 2049, 102400))


@law("SPAN-23", samples=lengths_around_the_capacity)
def the_array_holds_the_record(length: int) -> bool:
    """The array is 1024 bytes or, for a longer record, its length and at least twice that."""
    capacity = compute_capacity(length)
    return length <= capacity <= max(2 * INITIAL_CAPACITY, length) and (capacity == KIB) == (length <= KIB)


def twenty_random_bytes() -> Iterator[tuple[bytes]]:
    yield from ((bytes([byte] * 20),) for byte in (0, 9, 255))


@law("SPAN-23", samples=twenty_random_bytes)
def a_spill_file_has_forty_digits(random_bytes: bytes) -> bool:
    """A spill file is named by forty hexadecimal digits."""
    digits, dot, kind = compute_file_name(random_bytes).partition(".")
    return len(digits) == 40 and bytes.fromhex(digits) == random_bytes and dot + kind == ".inputchannel"


def lengths_and_thresholds() -> Iterator[tuple[int, int, Storage]]:
    yield 2, 1, Storage.ARRAY
    yield LEAST_THRESHOLD, 1, Storage.ARRAY
    yield LEAST_THRESHOLD + 1, 1, Storage.FILE
    yield LEAST_THRESHOLD + 1, LEAST_THRESHOLD + 1, Storage.ARRAY
    yield LEAST_THRESHOLD + 1, DEFAULT_THRESHOLD, Storage.ARRAY


@law("SPAN-24", "SPAN-23", samples=lengths_and_thresholds)
def long_records_go_to_a_file(length: int, asked: int, storage: Storage) -> bool:
    """A record longer than the threshold, and no other, is gathered in a file, which is gone once it is read."""
    *_, gathering = read_buffer(RecordReader(), length.to_bytes(HEADER_BYTES, "big") + b"x")
    assert gathering is not None
    *_, done = read_buffer(gathering.reader, bytes(length - 1))
    assert done is not None
    return compute_storage(gathering.reader, asked) is storage and compute_storage(done.reader, asked) is Storage.NONE


def asked_sizes() -> Iterator[tuple[int, int, int]]:
    yield 1, 102400, 51200
    yield 51200, 102400, 51200
    yield 51201, 102400, 51201
    yield 102401, 102401, 102401
    yield DEFAULT_THRESHOLD, 5242880, 5242880


@law("SPAN-24", samples=asked_sizes)
def sizes_have_a_floor(asked: int, threshold: int, read_buffer_size: int) -> bool:
    """Whatever is asked for, the threshold is 100 KiB or more and the read buffer 50 KiB or more."""
    return (compute_threshold(asked), compute_read_buffer(asked)) == (threshold, read_buffer_size)
