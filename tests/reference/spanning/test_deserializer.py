"""The deserializer, rule by rule."""

from random import Random

import pytest

from tidegate.properties.cases.deserializer.draw import draw
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.rules import rules_of
from tidegate.reference.spanning import reading
from tidegate.reference.spanning.deserializer import COMPONENT, spilling
from tidegate.reference.spanning.deserializer import claims as deserializer_laws
from tidegate.reference.spanning.deserializer.step import Buffer, Clear, Config, Partial, Record, State, start, step
from tidegate.reference.spanning.reading import (
    Control,
    Reader,
    Result,
    compute_unconsumed,
    demultiplex,
    read_buffer,
    read_next,
)
from tidegate.reference.spanning.records import encode_record

AB, CDEF, EMPTY = encode_record(b"ab"), encode_record(b"cdef"), encode_record(b"")


def walk(*buffers):
    """The outcome of each buffer; None clears."""
    (state,) = start(Config())
    outcomes = []
    for data in buffers:
        (outcome,) = step(state, Clear() if data is None else Buffer(data))
        outcomes.append(outcome)
        state = outcome.state
    return outcomes


def show(outcome):
    """The payloads, with + where bytes remain; a - for partial."""
    return " ".join(
        "-" if isinstance(seen, Partial) else seen.payload.decode() + "+" * (seen.result is Result.INTERMEDIATE)
        for seen in outcome.observations
    )


def run(*buffers):
    return [show(outcome) for outcome in walk(*buffers)]


@pytest.mark.rule("SPAN-20", "SPAN-21")
@pytest.mark.parametrize(
    ("buffers", "shown", "named"),
    [
        ([AB], ["ab"], ("SPAN-21", "SPAN-20")),
        ([AB + CDEF], ["ab+ cdef"], ("SPAN-21", "SPAN-20")),
        ([EMPTY * 3], ["+ + "], ("SPAN-21", "SPAN-20")),
        ([AB, CDEF], ["ab", "cdef"], ("SPAN-21", "SPAN-20")),
        ([b""], ["-"], ("SPAN-21", "SPAN-20")),
        ([AB[:5], b""], ["-", "-"], ("SPAN-21", "SPAN-20")),
    ],
)
def test_span_21_a_buffer_ends_with_its_last_record(buffers, shown, named):
    assert run(*buffers) == shown
    assert walk(*buffers)[-1].rules == named


@pytest.mark.rule("SPAN-21")
@pytest.mark.parametrize("before", [b"", AB[:1], AB[:3], AB[:4], AB[:5]])
def test_span_21_an_empty_buffer_changes_nothing(before):
    first, second = walk(before, b"")
    assert second.state == first.state
    assert second.observations == (Partial(),)


@pytest.mark.rule("SPAN-22", "SPAN-27")
@pytest.mark.parametrize(
    ("buffers", "shown", "named"),
    [
        ([AB[:1]], ["-"], ("SPAN-22", "SPAN-20")),
        ([AB[:1], AB[1:2]], ["-", "-"], ("SPAN-22", "SPAN-20")),
        ([AB[:3], AB[3:]], ["-", "ab"], ("SPAN-27", "SPAN-21", "SPAN-22", "SPAN-20")),
        ([AB[:3], AB[3:4]], ["-", "-"], ("SPAN-23", "SPAN-22", "SPAN-20")),
        ([AB[:2], AB[2:] + CDEF[:2]], ["-", "ab+ -"], ("SPAN-27", "SPAN-22", "SPAN-20")),
        ([EMPTY[:2], EMPTY[2:]], ["-", ""], ("SPAN-27", "SPAN-21", "SPAN-22", "SPAN-20")),
        ([AB + CDEF[:3], CDEF[3:]], ["ab+ -", "cdef"], ("SPAN-27", "SPAN-21", "SPAN-22", "SPAN-20")),
    ],
)
def test_span_22_headers_may_be_cut_anywhere(buffers, shown, named):
    assert run(*buffers) == shown
    assert walk(*buffers)[-1].rules == named


@pytest.mark.rule("SPAN-22")
def test_span_22_byte_by_byte():
    assert run(*(bytes([byte]) for byte in AB + EMPTY)) == ["-", "-", "-", "-", "-", "ab", "-", "-", "-", ""]


@pytest.mark.rule("SPAN-23", "SPAN-27")
@pytest.mark.parametrize(
    ("buffers", "shown", "named"),
    [
        ([AB[:4]], ["-"], ("SPAN-23", "SPAN-20")),
        ([AB[:5], AB[5:]], ["-", "ab"], ("SPAN-27", "SPAN-21", "SPAN-20")),
        ([AB[:4], AB[4:] + CDEF], ["-", "ab+ cdef"], ("SPAN-27", "SPAN-21", "SPAN-20")),
        ([CDEF[:5], CDEF[5:6], CDEF[6:] + AB[:5]], ["-", "-", "cdef+ -"], ("SPAN-27", "SPAN-23", "SPAN-20")),
        ([CDEF[:5], CDEF[5:6]], ["-", "-"], ("SPAN-23", "SPAN-20")),
    ],
)
def test_span_27_a_gathered_record_ends_with_its_length(buffers, shown, named):
    assert run(*buffers) == shown
    assert walk(*buffers)[-1].rules == named


@pytest.mark.rule("SPAN-29")
@pytest.mark.parametrize("before", [b"", AB, AB[:1], AB[:3], AB[:4], AB[:5], AB + CDEF[:2], AB + CDEF[:7]])
def test_span_29_clear_forgets_what_was_gathered(before):
    _, cleared, after = walk(before, None, AB)
    assert cleared == Outcome(State(), (), ("SPAN-29",))
    assert after.observations == (Record(b"ab", Result.LAST),)


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
    (*_, outcome) = walk(header)
    assert spilling.compute_storage(outcome.state, asked) == storage
    (*_, cleared) = walk(header, None)
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
    first, second = read_buffer(Reader(), CDEF + AB, taken=2)
    assert (first.result, first.payload) == (Result.INTERMEDIATE, b"cd")
    assert (second.result, second.reader.gathered) == (Result.PARTIAL, b"ef" + AB)
    assert read_next(Reader(rest=AB), taken=3) is None


@pytest.mark.rule("SPAN-27")
def test_span_27_across_buffers_the_length_decides():
    reads = deserializer_laws.read_pieces((CDEF[:6], CDEF[6:] + AB), taken=2)
    assert deserializer_laws.payloads_of(reads) == (b"cd", b"ab")
    assert deserializer_laws.read_pieces((AB[:5], AB[5:] + CDEF), taken=3)[-1] is None


@pytest.mark.rule("SPAN-28")
def test_span_28_negative_lengths_are_trusted():
    minus_one = b"\xff\xff\xff\xff"
    assert run(minus_one + AB) == ["+ ab"]
    assert run(minus_one[:2], minus_one[2:] + CDEF, AB) == ["-", "-", "ab"]
    (_, lost) = walk(minus_one[:2], minus_one[2:])
    assert lost.rules[0] == "SPAN-28"


@pytest.mark.rule("SPAN-30", "SPAN-33")
def test_span_30_events_leave_a_half_read_record_alone():
    end, event = Control.END_OF_PARTITION, Control.EVENT
    assert demultiplex(2, ((0, AB[:3]), (1, CDEF[:6]), (0, event), (1, CDEF[6:]), (0, AB[3:]))) == (
        (b"ab",),
        (b"cdef",),
    )
    assert demultiplex(1, ((0, AB), (0, end))) == ((b"ab",),)
    assert demultiplex(1, ((0, AB), (0, end), (0, b""))) is None
    assert demultiplex(2, ((0, end), (1, AB))) == ((), (b"ab",))


@pytest.mark.rule("SPAN-32")
@pytest.mark.parametrize(
    ("gathered", "data", "unconsumed"),
    [(b"", AB + CDEF[:5], [CDEF[:5], CDEF[:5]]), (AB[:5], AB[5:] + CDEF, [CDEF, b""]), (AB[:2], b"\x00", [AB[:3]])],
)
def test_span_32_unconsumed_bytes(gathered, data, unconsumed):
    assert compute_unconsumed(Reader(gathered, data)) == gathered + data
    assert [compute_unconsumed(read.reader) for read in read_buffer(Reader(gathered), data)] == unconsumed


def test_a_record_is_intermediate_or_last():
    with pytest.raises(InvalidInputError, match="result"):
        Record(b"", Result.PARTIAL)


@pytest.mark.parametrize("law", COMPONENT.laws, ids=lambda law: law.name)
def test_laws_hold(law):
    samples = list(law.samples())
    assert samples
    assert [sample for sample in samples if not law.holds(*sample)] == []


def broken_laws(names):
    laws = {law.name: law for law in COMPONENT.laws}
    return [name for name in names if not all(laws[name].holds(*sample) for sample in laws[name].samples())]


def test_stale_left_over_is_told_by_the_laws(monkeypatch):
    """FLINK-17315: what was gathered is still unconsumed after the record was read."""
    monkeypatch.setattr(deserializer_laws, "compute_unconsumed", lambda reader: reader.rest or reader.gathered or AB)
    assert broken_laws(["unconsumed-bytes-can-be-replayed"]) == ["unconsumed-bytes-can-be-replayed"]


def test_one_reader_for_all_channels_is_told_by_the_laws(monkeypatch):
    shared = lambda channels, arrivals: demultiplex(channels, tuple((0, item) for _, item in arrivals))  # noqa: E731
    monkeypatch.setattr(deserializer_laws, "demultiplex", shared)
    names = ["channels-do-not-mix", "only-the-end-releases-a-reader"]
    assert broken_laws(names) == names


def test_forgotten_header_bytes_are_told_by_the_laws(monkeypatch):
    def forgetful(reader, data, taken=None):
        return read_buffer(Reader(reader.gathered if len(reader.gathered) >= 4 else b""), data, taken)

    monkeypatch.setattr(deserializer_laws, "read_buffer", forgetful)
    names = ["cuts-do-not-matter", "only-what-spans-is-copied", "unconsumed-bytes-can-be-replayed"]
    assert broken_laws(names) == names


def test_early_recycling_is_told_by_the_laws(monkeypatch):
    def drop_rest(payload, rest):
        return reading.Read(Result.LAST, payload, Reader(rest=rest))

    monkeypatch.setattr(reading, "deliver", drop_rest)
    assert broken_laws(["each-buffer-is-given-back-once"]) == ["each-buffer-is-given-back-once"]


def test_lower_thresholds_are_told_by_the_laws(monkeypatch):
    monkeypatch.setattr(spilling, "compute_threshold", lambda asked=1: asked)
    names = ["long-records-go-to-a-file", "sizes-have-a-floor"]
    assert broken_laws(names) == names


def test_properties_hold_in_every_drawn_case():
    for seed in range(300):
        config, events = draw(Random(seed))
        (state,) = start(config)
        for event in events:
            (outcome,) = step(state, event)
            assert [one.name for one in COMPONENT.properties if not one.holds(state, event, outcome)] == []
            state = outcome.state


@pytest.mark.parametrize(
    ("state", "observations", "failed"),
    [
        (State(), (Record(b"ab", Result.LAST), Partial()), {"results-in-order"}),
        (State(), (Record(b"ab", Result.INTERMEDIATE),), {"results-in-order"}),
        (State(), (Record(b"ax", Result.LAST),), {"records-are-the-bytes-received"}),
        (State(AB), (Partial(),), {"gathered-is-part-of-one-record"}),
        (State(b"\x00"), (Record(b"ab", Result.LAST),), {"records-are-the-bytes-received", "last-leaves-nothing"}),
    ],
)
def test_properties_tell_wrong_outcomes(state, observations, failed):
    wrong = Outcome(state, observations, ())
    assert {one.name for one in COMPONENT.properties if not one.holds(State(), Buffer(AB), wrong)} == failed


def test_properties_tell_a_clear_that_keeps_something():
    wrong = Outcome(State(AB[:2]), (), ())
    assert [one.name for one in COMPONENT.properties if not one.holds(State(AB[:2]), Clear(), wrong)] == [
        "clear-forgets-everything"
    ]


def test_every_rule_of_the_component_is_shown():
    named = {rule for one in (*COMPONENT.properties, *COMPONENT.laws) for rule in one.rules}
    named |= {rule for outcome in walk(AB[:2], AB[2:], None) for rule in outcome.rules}
    assert named == {rule.id for rule in rules_of("deserializer")}
