"""The serializer, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, walk
from tidegate.reference.elements import MIN, Long, Status, StatusChange, Watermark
from tidegate.reference.model import InvalidInputError, Rejected
from tidegate.reference.spanning import dated_writers, stream_elements
from tidegate.reference.spanning.records import decode_length, encode_record
from tidegate.reference.spanning.serializer import Buffer, Config, ControlEvent, Flush, State

WORDS = {"!": "flush", "e": "event", ".": "finish"}


def write(size, trace):
    """The outcome of each event: a number is a record with such a payload of ab…, ! flushes, e is an event, . ends."""
    words = [WORDS.get(word) or f"r{b'abcdefghijklmnop'[: int(word)].hex()}" for word in trace.split()]
    return walk("serializer", Config(size), " ".join(words))


def show(outcome):
    """Each buffer with = for a zero byte, digits for the lengths, x for refused."""
    digits = str.maketrans({n: str(n) for n in range(1, 10)} | {0: "="})
    return ",".join(
        "x" if isinstance(seen, Rejected) else seen.data.decode().translate(digits) for seen in outcome.observations
    )


def run(size, trace):
    return " ".join(show(outcome) or "~" for outcome in write(size, trace))


@pytest.mark.rule("SPAN-1")
@pytest.mark.parametrize(("payload", "encoded"), [(b"", "00000000"), (b"ab", "000000026162"), (b"\xff", "00000001ff")])
def test_span_1_length_then_payload(payload, encoded):
    assert encode_record(payload).hex() == encoded
    assert decode_length(bytes.fromhex(encoded)) == len(payload)


@pytest.mark.rule("SPAN-1")
def test_span_1_long_length_is_big_endian():
    assert encode_record(bytes(0x010203))[:4] == b"\x00\x01\x02\x03"


@pytest.mark.rule("SPAN-1", "SPAN-3", "SPAN-4")
@pytest.mark.parametrize(
    ("size", "trace", "shown", "named"),
    [
        (8, "3", "~", ("SPAN-3", "SPAN-1")),
        (8, "0", "~", ("SPAN-1", "SPAN-3")),
        (8, "4", "===4abcd", ("SPAN-4", "SPAN-3", "SPAN-1")),
        (8, "0 0", "~ ========", ("SPAN-4", "SPAN-1", "SPAN-3")),
        (8, "5", "===5abcd", ("SPAN-3", "SPAN-1")),
        (8, "3 1", "~ ===3abc=", ("SPAN-3", "SPAN-1")),
        (8, "2 1", "~ ===2ab==", ("SPAN-3", "SPAN-1")),
        (8, "1 1", "~ ===1a===", ("SPAN-3", "SPAN-1")),
        (5, "0 7", "~ =====,==7ab,cdefg", ("SPAN-4", "SPAN-3", "SPAN-1")),
        (1, "1", "=,=,=,1,a", ("SPAN-4", "SPAN-3", "SPAN-1")),
        (3, "4", "===,4ab", ("SPAN-3", "SPAN-1")),
    ],
)
def test_span_3_buffers_are_cut_where_they_are_full(size, trace, shown, named):
    assert run(size, trace) == shown
    assert write(size, trace)[-1].rules == named


@pytest.mark.rule("SPAN-4")
def test_span_4_an_exactly_full_buffer_leaves_none_open():
    (*_, outcome) = write(8, "4")
    assert outcome.state == State(Config(8))
    assert run(8, "4 ! e .") == "===4abcd ~ ~ ~"


@pytest.mark.rule("SPAN-6", "SPAN-10")
@pytest.mark.parametrize(
    ("size", "trace", "shown"),
    [
        (8, "!", "~"),
        (8, "2 ! !", "~ ===2ab ~"),
        (8, "2 ! 2", "~ ===2ab =="),
        (8, "2 ! 2 !", "~ ===2ab == =2ab"),
        (8, "2 ! 0 ! 2", "~ ===2ab == == ===2ab"),
        (8, "2 ! e 0 e", "~ ===2ab ~ ~ ===="),
        (8, "2 ! . !", "~ ===2ab ~ ~"),
        (4, "0 !", "==== ~"),
        (6, "0 ! 6", "~ ==== ==,=6abcd"),
    ],
)
def test_span_6_a_flush_hands_out_each_byte_once_and_closes_nothing(size, trace, shown):
    assert run(size, trace) == shown


@pytest.mark.rule("SPAN-6", "SPAN-10")
def test_span_6_flush_keeps_the_fill_of_the_buffer():
    (_, outcome) = write(8, "2 !")
    assert outcome.rules == ("SPAN-6", "SPAN-10")
    assert outcome.state == State(Config(8), filled=6, pending=b"")


@pytest.mark.rule("SPAN-14")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("e", "~"),
        ("2 e 2 e", "~ ===2ab ~ ===2ab"),
        ("5 e", "===5abcd e"),
        ("2 .", "~ ===2ab"),
        (". 1 e . !", "~ x x x ~"),
        ("2 ! . 0 e . !", "~ ===2ab ~ x x x ~"),
    ],
)
def test_span_14_events_and_the_end_finish_the_open_buffer(trace, shown):
    assert run(8, trace) == shown


@pytest.mark.rule("SPAN-14")
@pytest.mark.parametrize("word", ["1", "e", "."])
def test_span_14_what_is_refused_after_the_end_changes_nothing(word):
    refused = write(8, f"2 . {word}")[-1]
    assert (refused.observations, refused.rules) == ((Rejected(),), ("SPAN-14",))


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
    (before, outcome) = write(8, "2 !")
    wrong = attrs.evolve(outcome, state=broken)
    assert name in broken_claims("serializer", before.state, Flush(), wrong)


def test_properties_tell_lost_and_empty_buffers():
    (before, outcome) = write(8, "2 e")
    for data, name in ((b"\x00", "the-bytes-are-kept"), (b"", "buffers-hold-something")):
        wrong = attrs.evolve(outcome, observations=(Buffer(data),))
        assert name in broken_claims("serializer", before.state, ControlEvent(), wrong)
