"""The serializer, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, walk
from tidegate.reference.elements import MIN, Long, Status, StatusChange, Watermark
from tidegate.reference.model import InvalidInputError
from tidegate.reference.spanning import dated_writers, stream_elements
from tidegate.reference.spanning.records import decode_length, encode_record
from tidegate.reference.spanning.serializer import Buffer, Config, ControlEvent, Flush, State


@pytest.mark.rule("SPAN-1")
@pytest.mark.parametrize(("payload", "encoded"), [(b"", "00000000"), (b"ab", "000000026162"), (b"\xff", "00000001ff")])
def test_span_1_length_then_payload(payload, encoded):
    assert encode_record(payload).hex() == encoded
    assert decode_length(bytes.fromhex(encoded)) == len(payload)


@pytest.mark.rule("SPAN-1")
def test_span_1_long_length_is_big_endian():
    assert encode_record(bytes(0x010203))[:4] == b"\x00\x01\x02\x03"


@pytest.mark.rule("SPAN-6", "SPAN-10")
def test_span_6_flush_keeps_the_fill_of_the_buffer():
    (_, outcome) = walk("serializer", Config(8), "r6162 flush")
    assert outcome.rules == ("SPAN-6", "SPAN-10")
    assert outcome.state == State(Config(8), filled=6, pending=b"")


@pytest.mark.rule("SPAN-2")
@pytest.mark.parametrize("payload", ["", "07", "0200", "0400000001", "00", "03", "0502ff", "ff"])
def test_span_2_anything_else_is_no_element(payload):
    with pytest.raises(InvalidInputError, match="no stream element"):
        stream_elements.decode_element(bytes.fromhex(payload))


@pytest.mark.rule("SPAN-2")
def test_span_2_values_keep_their_own_bytes():
    assert stream_elements.decode_element(b"\x01\x02") == stream_elements.Record(b"\x02")
    assert stream_elements.decode_element(bytes.fromhex("028000000000000000")) == Watermark(MIN)
    assert stream_elements.decode_element(bytes.fromhex("04ffffffff")) == StatusChange(Status.IDLE)
    assert stream_elements.decode_element(bytes.fromhex("06000000030000000000000005")) == (
        stream_elements.SubpartitionWatermark(3, Long(5))
    )


@pytest.mark.rule("SPAN-7")
@pytest.mark.parametrize(
    ("unwritten", "room", "result"),
    [
        (5, 0, "PARTIAL_RECORD_MEMORY_SEGMENT_FULL"),
        (5, 4, "PARTIAL_RECORD_MEMORY_SEGMENT_FULL"),
        (5, 5, "FULL_RECORD_MEMORY_SEGMENT_FULL"),
        (5, 6, "FULL_RECORD"),
    ],
)
def test_span_7_results_of_1_5(unwritten, room, result):
    assert dated_writers.compute_written(unwritten, room) == result


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        (State(Config(8), 6, b"\x00\x00\x00\x02ab"), "flush-leaves-the-buffer-open"),
        (State(Config(8), 8, b""), "the-open-buffer-has-room"),
        (State(Config(8), 0, b""), "flush-leaves-the-buffer-open"),
    ],
)
def test_properties_tell_a_broken_flush(broken, name):
    (before, outcome) = walk("serializer", Config(8), "r6162 flush")
    wrong = attrs.evolve(outcome, state=broken)
    assert name in broken_claims("serializer", before.state, Flush(), wrong)


def test_properties_tell_lost_and_empty_buffers():
    (before, outcome) = walk("serializer", Config(8), "r6162 event")
    for data, name in ((b"\x00", "the-bytes-are-kept"), (b"", "buffers-hold-something")):
        wrong = attrs.evolve(outcome, observations=(Buffer(data),))
        assert name in broken_claims("serializer", before.state, ControlEvent(), wrong)
