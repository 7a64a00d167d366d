"""Records read out of buffers, one record at a time: what the deserializer is made of.

A record that lies inside one buffer is read where it is. Of one that spans buffers the bytes are gathered until it is
complete. The two ways differ in what they trust: inside a buffer the user's own deserializer decides how much it takes
(SPAN-26), while a gathered record is bounded by its length (SPAN-27).
"""

from enum import StrEnum

import attrs

from tidegate.reference.spanning.records import HEADER_BYTES, decode_length


class Result(StrEnum):
    """SPAN-20: what came of asking for the next record."""

    INTERMEDIATE = "intermediate"  # a record, and bytes of the buffer remain
    LAST = "last"  # a record, and the buffer is used up
    PARTIAL = "partial"  # no record, and the buffer is used up


@attrs.frozen
class RecordReader:
    """`gathered` are header and payload, as far as they came, of a record that spans buffers.

    `rest` is what has not been looked at of the current buffer; between two buffers it is empty.
    """

    gathered: bytes = b""
    rest: bytes = b""


@attrs.frozen
class Read:
    result: Result
    payload: bytes
    reader: RecordReader


def read_next(reader: RecordReader, taken: int | None = None) -> Read | None:
    """Ask for the next record. None is an I/O error: the user's deserializer ran past the end.

    `taken` is how many bytes the user's deserializer takes, whatever the length says; by default what it says.
    """
    return read_spanning(reader, taken) if reader.gathered else read_in_buffer(reader.rest, taken)


def read_in_buffer(rest: bytes, taken: int | None) -> Read | None:
    if len(rest) < HEADER_BYTES or decode_length(rest) > len(rest) - HEADER_BYTES:
        return gather(rest)
    # SPAN-28: a negative length counts as one that fits. SPAN-26: only the end of the buffer stops the reader.
    end = HEADER_BYTES + (max(0, decode_length(rest)) if taken is None else taken)
    return None if end > len(rest) else deliver(rest[HEADER_BYTES:end], rest[end:])


def read_spanning(reader: RecordReader, taken: int | None) -> Read | None:
    data = reader.gathered + reader.rest
    if len(data) < HEADER_BYTES:
        return gather(data)
    length = decode_length(data)
    if length < 0:
        # SPAN-28: it can never be complete. The rest of the buffer is lost, and nothing counts as gathered.
        return gather(b"")
    end = HEADER_BYTES + length
    if len(data) < end:
        return gather(data)
    if taken is not None and taken > length:
        return None
    return deliver(data[HEADER_BYTES:end][:taken], data[end:])


def gather(data: bytes) -> Read:
    return Read(Result.PARTIAL, b"", RecordReader(gathered=data))


def deliver(payload: bytes, rest: bytes) -> Read:
    """SPAN-21: a record that ends with its buffer is the last one, and says so itself."""
    return Read(Result.INTERMEDIATE if rest else Result.LAST, payload, RecordReader(rest=rest))


def read_buffer(reader: RecordReader, data: bytes, taken: int | None = None) -> tuple[Read | None, ...]:
    """All that is read from the next buffer: until it is used up, or the user's deserializer fails."""
    read = read_next(RecordReader(reader.gathered, data), taken)
    reads = [read]
    while read is not None and read.result is Result.INTERMEDIATE:
        read = read_next(read.reader, taken)
        reads.append(read)
    return tuple(reads)


def compute_unconsumed(reader: RecordReader) -> bytes:
    """SPAN-32: the bytes that were received and are not yet part of a record that was read."""
    return reader.gathered + reader.rest
