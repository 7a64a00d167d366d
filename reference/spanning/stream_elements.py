"""The payload of a record on the wire: one stream element, a tag byte in front (SPAN-2).

A channel carries more than records. The tag says which kind of element follows, and each kind but the record has a
fixed size; the value of a record is the user's own and fills the rest of the payload.
"""

import struct
from collections.abc import Iterator
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import law
from tidegate.reference.elements import MAX, MIN, Long, Status, StatusChange, Watermark
from tidegate.reference.model import InvalidInputError
from tidegate.reference.spanning.records import encode_record


@attrs.frozen
class Record:
    """A value as the user's serializer wrote it, with its event time if it has one."""

    type: ClassVar[str] = "record"
    value: Annotated[bytes, "The value of the record."]
    timestamp: Annotated[Long | None, "Its event time, if it has one."] = None


@attrs.frozen
class LatencyMarker:
    """Where and when a marker was made: time, operator id (two 64-bit halves, the lower first), subtask."""

    type: ClassVar[str] = "latency_marker"
    marked: Annotated[Long, "When it was made."]
    lower: Annotated[Long, "The lower half of the id of the operator that made it."]
    upper: Annotated[Long, "The upper half of that id."]
    subtask: Annotated[int, "The subtask that made it."]


@attrs.frozen
class RecordAttributes:
    """Whether the records that follow are a backlog."""

    type: ClassVar[str] = "record_attributes"
    backlog: Annotated[bool, "Whether they are a backlog."]


@attrs.frozen
class SubpartitionWatermark:
    """A watermark of one subpartition, on a channel that several of them share."""

    subpartition: int
    timestamp: Long


StreamElement = Record | Watermark | LatencyMarker | StatusChange | RecordAttributes | SubpartitionWatermark

STATUS_CODES = {Status.ACTIVE: 0, Status.IDLE: -1}


def encode_element(element: StreamElement) -> bytes:
    match element:
        case Record(value, None):
            return b"\x01" + value
        case Record(value, timestamp):
            return struct.pack(">bq", 0, timestamp) + value
        case Watermark(timestamp):
            return struct.pack(">bq", 2, timestamp)
        case LatencyMarker(marked, lower, upper, subtask):
            return struct.pack(">bqqqi", 3, marked, lower, upper, subtask)
        case StatusChange(status):
            return struct.pack(">bi", 4, STATUS_CODES[status])
        case RecordAttributes(backlog):
            return struct.pack(">b?", 5, backlog)
        case SubpartitionWatermark(subpartition, timestamp):
            return struct.pack(">biq", 6, subpartition, timestamp)


def decode_element(payload: bytes) -> StreamElement:
    try:
        return decode_tagged(payload[0], payload[1:])
    except (IndexError, KeyError, struct.error) as error:
        raise InvalidInputError(f"no stream element: {payload.hex()}") from error


def decode_tagged(tag: int, rest: bytes) -> StreamElement:
    match tag:
        case 0:
            return Record(rest[8:], *struct.unpack(">q", rest[:8]))
        case 1:
            return Record(rest)
        case 2:
            return Watermark(*struct.unpack(">q", rest))
        case 3:
            return LatencyMarker(*struct.unpack(">qqqi", rest))
        case 4:
            return StatusChange({code: status for status, code in STATUS_CODES.items()}[struct.unpack(">i", rest)[0]])
        case 5:
            return RecordAttributes(*struct.unpack(">?", rest))
        case 6:
            return SubpartitionWatermark(*struct.unpack(">iq", rest))
    raise KeyError(tag)


# --- laws -----------------------------------------------------------------------------------------------------


def elements() -> Iterator[tuple[StreamElement]]:
    numbers = (MIN, Long(-1), Long(0), Long(9), MAX)
    for value in (b"", b"\x00", b"\x00\x00\x00\x07"):
        yield (Record(value),)
        yield from ((Record(value, timestamp),) for timestamp in numbers)
    for number in numbers:
        yield (Watermark(number),)
        yield (SubpartitionWatermark(2, number),)
        yield (LatencyMarker(number, Long(1), Long(2), 4),)
    yield from ((StatusChange(status),) for status in Status)
    yield from ((RecordAttributes(backlog),) for backlog in (False, True))


@law("SPAN-2", samples=elements)
def elements_decode_to_themselves(element: StreamElement) -> bool:
    """A stream element that was encoded and decoded is the same element."""
    return decode_element(encode_element(element)) == element


def observed_bytes() -> Iterator[tuple[StreamElement, str]]:
    """What Flink 2.3.0 writes; the value of the records is the int 7."""
    seven = b"\x00\x00\x00\x07"
    yield Record(seven), "000000050100000007"
    yield Record(seven, Long(5)), "0000000d00000000000000000500000007"
    yield Watermark(Long(9)), "00000009020000000000000009"
    yield Watermark(MIN), "00000009028000000000000000"
    marker = LatencyMarker(Long(3), Long(1), Long(2), 4)
    yield marker, "0000001d0300000000000000030000000000000001000000000000000200000004"
    yield StatusChange(Status.ACTIVE), "000000050400000000"
    yield StatusChange(Status.IDLE), "0000000504ffffffff"
    yield RecordAttributes(backlog=True), "000000020501"
    yield SubpartitionWatermark(2, Long(9)), "0000000d06000000020000000000000009"


@law("SPAN-2", "SPAN-1", samples=observed_bytes)
def elements_have_the_bytes_observed(element: StreamElement, hexadecimal: str) -> bool:
    """Each kind of element has the tag and the fields, in order and size, that were seen on the wire."""
    return encode_record(encode_element(element)).hex() == hexadecimal
