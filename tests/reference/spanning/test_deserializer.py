"""The deserializer, rule by rule."""

import attrs
import pytest

from tests.reference.walking import claim, law_holds, walk
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.spanning import reading
from tidegate.reference.spanning.deserializer import claims as deserializer_laws
from tidegate.reference.spanning.deserializer import spilling
from tidegate.reference.spanning.deserializer.step import Buffer, Clear, Config, Partial, Record
from tidegate.reference.spanning.records import HEADER_BYTES, encode_record

#: The right one, for tests that put a wrong one in its place.
demultiplex = deserializer_laws.demultiplex

AB, CDEF = encode_record(b"ab"), encode_record(b"cdef")


def read(*buffers, breaks=()):
    """The outcome of each buffer; None clears."""
    events = [Clear() if data is None else Buffer(data) for data in buffers]
    return walk("deserializer", Config(), events, breaks=breaks)


@pytest.mark.rule("SPAN-21")
@pytest.mark.parametrize("before", [b"", AB[:1], AB[:3], AB[:4], AB[:5]])
def test_span_21_an_empty_buffer_changes_nothing(before):
    first, second = read(before, b"")
    assert second.state == first.state
    assert second.observations == (Partial(),)


@pytest.mark.rule("SPAN-23", "SPAN-24")
@pytest.mark.parametrize(
    ("header", "asked", "storage"),
    [
        (b"\x00\x00", 1, "none"),
        (b"\x00\x01\x90\x00", 1, "array"),
        (b"\x00\x01\x90\x01", 1, "file"),
        (b"\x00\x50\x00\x00", spilling.DEFAULT_THRESHOLD, "array"),
        (b"\x00\x50\x00\x01", spilling.DEFAULT_THRESHOLD, "file"),
    ],
)
def test_span_24_what_is_longer_than_the_threshold_is_spilled(header, asked, storage):
    (*_, outcome) = read(header)
    assert spilling.compute_storage(outcome.state, asked) == storage
    (*_, cleared) = read(header, None)
    assert spilling.compute_storage(cleared.state, asked) == "none"


@pytest.mark.rule("SPAN-23")
@pytest.mark.parametrize(
    ("usable", "first", "found"),
    [((True, True), 1, 1), ((False, True), 0, 1), ((True, False, False), 1, 0), ((False, False), 0, None)],
)
def test_span_23_a_directory_that_fails_is_dropped(usable, first, found):
    assert spilling.find_directory(usable, first) == found


@pytest.mark.rule("SPAN-26")
def test_span_26_inside_a_buffer_the_user_decides():
    first, second = reading.read_buffer(reading.RecordReader(), CDEF + AB, taken=2)
    assert (first.result, first.payload) == (reading.Result.INTERMEDIATE, b"cd")
    assert (second.result, second.reader.gathered) == (reading.Result.PARTIAL, b"ef" + AB)
    assert reading.read_next(reading.RecordReader(rest=AB), taken=3) is None


@pytest.mark.rule("SPAN-27")
def test_span_27_across_buffers_the_length_decides():
    reads = deserializer_laws.read_pieces((CDEF[:6], CDEF[6:] + AB), taken=2)
    assert deserializer_laws.payloads_of(reads) == (b"cd", b"ab")
    assert deserializer_laws.read_pieces((AB[:5], AB[5:] + CDEF), taken=3)[-1] is None


@pytest.mark.rule("SPAN-28")
def test_span_28_negative_lengths_are_trusted():
    minus_one, lost_bytes = b"\xff\xff\xff\xff", {"records-are-the-bytes-received"}
    ab = Record(b"ab", reading.Result.LAST)
    (emptied,) = read(minus_one + AB, breaks=lost_bytes)
    assert emptied.observations == (Record(b"", reading.Result.INTERMEDIATE), ab)
    (_, lost, after) = read(minus_one[:2], minus_one[2:] + CDEF, AB, breaks=lost_bytes)
    assert (lost.observations, after.observations) == ((Partial(),), (ab,))
    (_, lost) = read(minus_one[:2], minus_one[2:], breaks=lost_bytes)
    assert lost.rules[0] == "SPAN-28"


@pytest.mark.rule("SPAN-30", "SPAN-33")
def test_span_30_events_leave_a_half_read_record_alone():
    end, event = deserializer_laws.Control.END_OF_PARTITION, deserializer_laws.Control.EVENT
    assert deserializer_laws.demultiplex(2, ((0, AB[:3]), (1, CDEF[:6]), (0, event), (1, CDEF[6:]), (0, AB[3:]))) == (
        (b"ab",),
        (b"cdef",),
    )
    assert deserializer_laws.demultiplex(1, ((0, AB), (0, end))) == ((b"ab",),)
    assert deserializer_laws.demultiplex(1, ((0, AB), (0, end), (0, b""))) is None
    assert deserializer_laws.demultiplex(2, ((0, end), (1, AB))) == ((), (b"ab",))


@pytest.mark.rule("SPAN-32")
@pytest.mark.parametrize(
    ("gathered", "data", "unconsumed"),
    [(b"", AB + CDEF[:5], [CDEF[:5], CDEF[:5]]), (AB[:5], AB[5:] + CDEF, [CDEF, b""]), (AB[:2], b"\x00", [AB[:3]])],
)
def test_span_32_unconsumed_bytes(gathered, data, unconsumed):
    assert reading.compute_unconsumed(reading.RecordReader(gathered, data)) == gathered + data
    assert [
        reading.compute_unconsumed(read.reader) for read in reading.read_buffer(reading.RecordReader(gathered), data)
    ] == unconsumed


def test_a_record_is_intermediate_or_last():
    with pytest.raises(InvalidInputError, match="result"):
        Record(b"", reading.Result.PARTIAL)


def test_forgotten_header_bytes_are_told_by_the_laws(monkeypatch):
    def forgetful(reader, data, taken=None):
        return reading.read_buffer(
            reading.RecordReader(reader.gathered if len(reader.gathered) >= 4 else b""), data, taken
        )

    monkeypatch.setattr(deserializer_laws, "read_buffer", forgetful)
    names = ["cuts-do-not-matter", "only-what-spans-is-copied", "unconsumed-bytes-can-be-replayed"]
    assert not any(law_holds("deserializer", name) for name in names)


def test_lower_thresholds_are_told_by_the_laws(monkeypatch):
    monkeypatch.setattr(spilling, "compute_threshold", lambda asked=1: asked)
    names = ["long-records-go-to-a-file", "sizes-have-a-floor"]
    assert not any(law_holds("deserializer", name) for name in names)


# --- reading --------------------------------------------------------------------------------------------------


@pytest.mark.rule("SPAN-22")
@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_rest_of_a_header_is_read_by_the_rule_of_headers(length):
    encoded = encode_record(b"a")
    assert "SPAN-22" in read(encoded[:length], encoded[length:])[-1].rules
    assert "SPAN-22" not in read(encoded)[-1].rules
    assert "SPAN-22" not in read(encoded[:HEADER_BYTES], encoded[HEADER_BYTES:])[-1].rules


@pytest.mark.rule("SPAN-28")
def test_the_beginning_of_a_header_has_no_sign_yet():
    """Two bytes that would be a negative number are two bytes of a header."""
    assert reading.read_spanning(reading.RecordReader(b"\xff", b"\xff"), None) == reading.Read(
        reading.Result.PARTIAL, b"", reading.RecordReader(b"\xff\xff")
    )


@pytest.mark.rule("SPAN-27")
@pytest.mark.parametrize(("taken", "payload"), [(None, b"abcd"), (0, b""), (3, b"abc"), (4, b"abcd")])
def test_a_reader_may_take_all_of_a_gathered_record(taken, payload):
    encoded = encode_record(b"abcd")
    assert reading.read_spanning(reading.RecordReader(encoded[:5], encoded[5:]), taken).payload == payload
    assert reading.read_spanning(reading.RecordReader(encoded[:5], encoded[5:]), 5) is None


@pytest.mark.parametrize(
    ("gathered", "is_right"),
    [(b"\0\0\0", True), (b"\0\0\0\1", True), (b"\0\0\0\0", False), (b"\0\0\0\2a", True), (b"\0\0\0\1a", False)],
)
def test_a_whole_record_is_not_kept(gathered, is_right):
    outcome = Outcome(reading.RecordReader(gathered), (), ())
    assert (
        claim("deserializer", "gathered-is-part-of-one-record")(reading.RecordReader(), Buffer(b"a"), outcome)
        == is_right
    )


# --- readers and lengths that are wrong -----------------------------------------------------------------------


def read_of(payload, result=reading.Result.LAST):
    return reading.Read(result, payload, reading.RecordReader())


@pytest.mark.parametrize(
    ("first", "second", "is_right"),
    [
        (read_of(b"\0"), read_of(b"\0"), True),
        (None, read_of(b"\0"), False),
        (read_of(b"\0"), None, False),
        (read_of(b""), read_of(b"\0"), False),
        (read_of(b"\0"), read_of(b""), False),
    ],
)
def test_a_negative_length_fits(monkeypatch, first, second, is_right):
    monkeypatch.setattr(deserializer_laws, "read_buffer", lambda *_arguments: (first, second))
    assert deserializer_laws.negative_length_in_a_buffer.holds(-1, 1) == is_right


PARTIAL = read_of(b"", reading.Result.PARTIAL)


@pytest.mark.parametrize("at", [1, 4, 7])
def test_a_reader_that_the_end_of_its_buffer_bounds_is_refused_where_a_record_spans_buffers(monkeypatch, at):
    """It may go one byte beyond its record, since one byte of the next record is there."""
    right = reading.read_spanning

    def go_beyond(reader, taken):
        data = reader.gathered + reader.rest
        read = right(reader, taken)
        end = HEADER_BYTES + (taken or 0)
        return read if read is not None or end > len(data) else reading.deliver(data[HEADER_BYTES:end], data[end:])

    four, two = encode_record(b"cdef"), encode_record(b"ab")
    pieces = (four[:at], four[at:] + two[:1], two[1:])
    assert claim("deserializer", "wrong-reader-across-buffers")(pieces)
    monkeypatch.setattr(reading, "read_spanning", go_beyond)
    assert not claim("deserializer", "wrong-reader-across-buffers")(pieces)


def test_across_buffers_a_negative_length_is_no_error(monkeypatch):
    monkeypatch.setattr(deserializer_laws, "read_pieces", lambda _pieces: [PARTIAL, None])
    assert not claim("deserializer", "negative-length-across-buffers")(-1, 1)


# --- buffers and channels -------------------------------------------------------------------------------------

ONE, TWO = encode_record(b"a"), encode_record(b"bc")


def test_a_buffer_that_continues_a_record_is_given_back_too(monkeypatch):
    """The record that it continues had begun behind another one."""

    def keep_what_continues(reader, data):
        reads = reading.read_buffer(reader, data)
        return (attrs.evolve(reads[0], result=reading.Result.INTERMEDIATE), *reads[1:]) if reader.gathered else reads

    pieces = (ONE + TWO[:5], TWO[5:])
    holds = claim("deserializer", "each-buffer-is-given-back-once")
    assert holds((b"a", b"bc"), pieces)
    monkeypatch.setattr(deserializer_laws, "read_buffer", keep_what_continues)
    assert not holds((b"a", b"bc"), pieces)


def test_a_buffer_in_which_the_reader_fails_is_not_given_back(monkeypatch):
    monkeypatch.setattr(
        deserializer_laws, "read_buffer", lambda reader, data: (reading.read_buffer(reader, data)[0], None)
    )
    assert not claim("deserializer", "each-buffer-is-given-back-once")((b"a", b"bc"), (ONE + TWO,))


def forget_who_ended(channels, arrivals):
    """Wrong: the end of a partition takes back what was read of it."""
    payloads = demultiplex(channels, arrivals)
    if payloads is None:
        return None
    forgotten = [channel for channel, item in arrivals if item is deserializer_laws.Control.END_OF_PARTITION]
    left = list(payloads)
    for channel in forgotten:
        left[channel] = ()
    return tuple(left)


def stop_when_all_have_ended(channels, arrivals):
    """Wrong: who has seen all ends does not look at what comes after them."""
    left = set(range(channels))
    for place, (channel, item) in enumerate(arrivals):
        if item is deserializer_laws.Control.END_OF_PARTITION:
            left.discard(channel)
        if not left:
            return demultiplex(channels, arrivals[: place + 1])
    return demultiplex(channels, arrivals)


@pytest.mark.parametrize("wrong", [forget_who_ended, stop_when_all_have_ended])
def test_readers_that_are_released_in_another_way_are_refused(monkeypatch, wrong):
    pieces = (encode_record(b"ab")[:3], encode_record(b"ab")[3:])
    assert claim("deserializer", "only-the-end-releases-a-reader")(*pieces)
    monkeypatch.setattr(deserializer_laws, "demultiplex", wrong)
    assert not claim("deserializer", "only-the-end-releases-a-reader")(*pieces)


# --- spilling -------------------------------------------------------------------------------------------------


@pytest.mark.rule("SPAN-24")
def test_sizes_that_nobody_asked_for():
    assert (spilling.compute_threshold(), spilling.compute_read_buffer()) == (5 * 2**20, 2 * 2**20)


@pytest.mark.rule("SPAN-23")
@pytest.mark.parametrize(("length", "capacity"), [(1024, 1024), (1025, 2048), (2048, 2048), (2049, 2049)])
def test_an_array_grows_at_least_twofold(length, capacity):
    assert spilling.compute_capacity(length) == capacity


@pytest.mark.parametrize(("capacity", "is_right"), [(2048, True), (1025, True), (1024, False), (2049, False)])
def test_an_array_that_is_too_small_or_too_large_is_refused(monkeypatch, capacity, is_right):
    monkeypatch.setattr(spilling, "compute_capacity", lambda _length: capacity)
    assert spilling.the_array_holds_the_record.holds(1025) == is_right
    monkeypatch.setattr(spilling, "compute_capacity", lambda _length: 2048)
    assert not spilling.the_array_holds_the_record.holds(1024)


@pytest.mark.rule("SPAN-23")
@pytest.mark.parametrize(
    ("usable", "first", "found"),
    [("--uu", 0, 2), ("--uu", 1, 3), ("---u", 0, 3), ("u---", 1, 0), ("-u-u", 2, 1), ("----", 3, None)],
)
def test_directories_are_tried_in_turn(usable, first, found):
    """The next attempt goes one further, in the list from which the one that failed is gone."""
    assert spilling.find_directory(tuple(mark == "u" for mark in usable), first) == found


@pytest.mark.parametrize(("usable", "is_right"), [((False, False), True), ((True, False), False)])
def test_giving_up_with_a_usable_directory_left_is_refused(monkeypatch, usable, is_right):
    monkeypatch.setattr(spilling, "find_directory", lambda _usable, _first: None)
    assert spilling.a_usable_directory_is_found.holds(usable, 0) == is_right


def test_never_giving_up_is_refused(monkeypatch):
    def try_all(usable, _first):
        return usable.index(True) if any(usable) else None

    monkeypatch.setattr(spilling, "find_directory", try_all)
    assert not spilling.ten_attempts_at_a_file.holds(0)
