"""The network input, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, walk
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.input import backlogs
from tidegate.reference.input.network_input import step as network_input
from tidegate.reference.input.network_input.values import Buffer, Config, InputStatus, Process, Returned
from tidegate.reference.model import InvalidInputError, Outcome
from tidegate.reference.spanning import stream_elements
from tidegate.reference.spanning.reading import RecordReader
from tidegate.reference.spanning.records import encode_record
from tidegate.reference.spanning.stream_elements import (
    LatencyMarker,
    Record,
    RecordAttributes,
    SubpartitionWatermark,
    encode_element,
)

ELEMENTS = {
    "a": Record(b"a"),
    "b": Record(b"b", Long(7)),
    "c": Record(b"c"),
    "5": Watermark(Long(5)),
    "3": Watermark(Long(3)),
    "i": StatusChange(Status.IDLE),
    "m": LatencyMarker(Long(1), Long(2), Long(3), 4),
    "+": RecordAttributes(backlog=True),
    "-": RecordAttributes(backlog=False),
}


def data(letters):
    return b"".join(encode_record(encode_element(ELEMENTS[letter])) for letter in letters).hex()


def run(trace, channels=2, semantics="flink-1.17"):
    """The trace with `0:ab` for a buffer with these elements; the outcomes."""
    words = [f"{word[0]}b{data(word[2:])}" if word[1:2] == ":" else word for word in trace.split()]
    return walk("network_input", {"channels": channels, "semantics": semantics}, " ".join(words))


def short(outcome):
    """Values of records, numbers of watermarks, then the status, with * where the input is available."""
    words = []
    for one in outcome.observations:
        match one.type:
            case "record":
                words.append(one.value.decode())
            case "watermark":
                words.append(str(one.timestamp))
            case "returned":
                words.append(one.status.value + "*" * one.available)
            case _:
                words.append(one.type)
    return " ".join(words)


def last(trace, **more):
    outcome = run(trace, **more)[-1]
    return short(outcome), outcome.rules[0]


@pytest.mark.rule("NIN-1", "NIN-2")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("call", "nothing_available"),
        ("0:ab call", "a more_available*"),
        ("0:ab call call", "b more_available"),
        ("0:ab call call call", "nothing_available"),
        ("0:ab 1:c call call", "b more_available*"),
        ("0:ab 1:c batch", "a b c nothing_available"),
        ("0:ab 1:c call batch", "b c nothing_available"),
    ],
)
def test_nin_2_one_element_a_call_unless_it_may_go_on(trace, shown):
    assert last(trace)[0] == shown


@pytest.mark.rule("NIN-3")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0:5 call", "more_available"),
        ("0:5 1:3 call call", "3 more_available"),
        ("0:i 1:5 batch", "5 nothing_available"),
        ("0:i 1:i batch", "status nothing_available"),
        ("0:m call", "latency_marker more_available"),
        ("0:+a batch", "record_attributes more_available*"),
        ("0:- batch", "more_available"),
        ("0:- 1:- call call", "record_attributes more_available"),
        ("0:+ 1:- 0:- batch batch batch", "record_attributes more_available"),
        ("0:+ 0:+ batch batch", "more_available"),
    ],
)
def test_nin_3_each_kind_of_element_goes_its_way(trace, shown):
    assert last(trace) == (shown, "NIN-1" if "nothing" in shown else "NIN-3")


@pytest.mark.rule("NIN-3", "NIN-4")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0:5ma call", "5 latency_marker a more_available"),
        ("0barrier 0:a call", "a more_available"),
        ("0:ab batch", "a more_available*"),
        ("0over call", "end_of_input*"),
        ("0:5 call", "5 nothing_available"),
        ("0end", "rejected"),
    ],
)
def test_nin_3_of_old_only_a_record_ended_a_call(trace, shown):
    assert last(trace, channels=1, semantics="flink-1.5")[0] == shown


@pytest.mark.rule("NIN-4")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0barrier 0:a call", "more_available*"),
        ("0end call", "more_available"),
        ("0end 1end call call", "end_input end_of_data"),
        ("0end 1stop call call", "stopped"),
        ("0over 1over call call", "more_available*"),
        ("0over 1over call call call", "end_of_input*"),
        ("0over 1over batch", "end_of_input*"),
        ("0end 1end 0:a batch", "end_input end_of_data*"),
    ],
)
def test_nin_4_events(trace, shown):
    assert last(trace) == (shown, "NIN-4")


@pytest.mark.rule("NIN-6")
def test_nin_6_available_while_a_buffer_is_read():
    assert [short(outcome) for outcome in run("0:ab call 1:c call call 0:a")] == [
        "available",
        "a more_available*",
        "",
        "b more_available*",
        "c more_available",
        "available",
    ]


@pytest.mark.rule("NIN-7")
@pytest.mark.parametrize("cut", range(1, len(data("ab")) // 2))
def test_nin_7_other_channels_do_not_disturb_a_cut_record(cut):
    stream = data("ab")
    shown = last(f"0b{stream[: 2 * cut]} 1:c 0b{stream[2 * cut :]} batch")[0]
    assert sorted(shown.split()) == ["a", "b", "c", "nothing_available"]
    assert shown.index("a ") < shown.index("b ")


@pytest.mark.rule("NIN-8")
def test_nin_8_a_finished_operator_is_spared():
    assert last("0end 1end call call 0:a5 call") == ("more_available*", "NIN-8")
    assert last("0stop 1end call call 0:a call")[0] == "a more_available"


@pytest.mark.parametrize(("trace", "rule"), [("2:a", "GATE-1"), ("0over 0:a", "GATE-16"), ("0end 0stop", "GATE-15")])
def test_refused(trace, rule):
    assert last(trace) == ("rejected", rule)


@pytest.mark.parametrize(
    "payload", [b"", b"\x09", b"\x02\x00", encode_element(SubpartitionWatermark(0, Long(1)))], ids=bytes.hex
)
def test_what_is_no_element_is_no_input(payload):
    (state,) = network_input.start(Config(1))
    state = network_input.step(state, Buffer(0, encode_record(payload)))[0].state
    with pytest.raises(InvalidInputError):
        network_input.step(state, Process(batch=False))


@pytest.mark.rule("NIN-3")
def test_nin_3_law_fails_where_silence_is_a_denial(monkeypatch):
    law = backlogs.backlog_is_said_once
    assert all(law.holds(*sample) for sample in law.samples())
    monkeypatch.setattr(backlogs, "combine", lambda known, index, backlog: (attrs.evolve(known, last=index), backlog))
    assert not all(law.holds(*sample) for sample in law.samples())


@pytest.mark.rule("NIN-2", "NIN-5", "NIN-8")
def test_claims_fail_on_wrong_observations():
    before = run("0:ab")[-1].state
    call = Process(batch=False)
    (outcome,) = network_input.step(before, call)
    silent = attrs.evolve(outcome, observations=outcome.observations[:1])
    assert broken_claims("network_input", before, call, silent) == {"statuses-of-the-release"}
    twice = attrs.evolve(outcome, observations=(*outcome.observations[:1], *outcome.observations))
    assert broken_claims("network_input", before, call, twice) == {"one-element-a-call"}
    finished = attrs.evolve(before, finished=True)
    assert broken_claims("network_input", finished, call, outcome) == {"finished-operator-is-spared"}


# --- corners --------------------------------------------------------------------------------------------------

OLD = "flink-1.5"
CALL = Process(batch=False)


@pytest.mark.rule("NIN-4")
@pytest.mark.parametrize("semantics", ["flink-1.17", OLD])
def test_nin_4_barriers_are_no_end(semantics):
    shown = [short(outcome) for outcome in run("0barrier 0barrier 0:a", semantics=semantics)]
    assert shown == ["available", "", ""]


@pytest.mark.rule("GATE-25")
def test_gate_25_a_buffer_of_no_length_does_not_arrive():
    assert last("0b") == ("", "GATE-25")
    assert last("0b call")[0] == "nothing_available"


@pytest.mark.rule("NIN-3")
def test_nin_3_a_call_that_may_go_on_goes_on_after_a_latency_marker():
    assert last("0:ma batch")[0] == "latency_marker a nothing_available"


@pytest.mark.rule("NIN-4", "NIN-8")
def test_nin_8_what_came_before_the_end_reaches_the_operator():
    assert last("0:a 0end 1end batch")[0] == "a end_input end_of_data"


@pytest.mark.parametrize(
    ("trace", "rules"),
    [
        ("call", "NIN-1 NIN-2 NIN-5"),
        ("0:a batch", "NIN-1 NIN-2 NIN-3 NIN-5 SPAN-2"),
        ("0:5 call", "NIN-3 NIN-1 NIN-2 NIN-5 SPAN-2 VALVE-4"),
        ("0:i 1:i call call", "NIN-3 NIN-1 NIN-2 NIN-5 SPAN-2 VALVE-10"),
        ("0end 1end call call", "NIN-4 GATE-15 NIN-2 NIN-5 NIN-8"),
        ("0stop 1end call call", "NIN-4 GATE-15 NIN-2 NIN-5 NIN-8"),
        ("0:a 0end 1end batch", "NIN-4 GATE-15 NIN-1 NIN-2 NIN-3 NIN-5 NIN-8 SPAN-2"),
        (f"0b{data('a')[:4]} 0b{data('a')[4:]} call", "NIN-3 NIN-1 NIN-2 NIN-5 NIN-7 SPAN-2"),
        (f"0b{data('a')[:4]} call 0b{data('a')[4:]} call", "NIN-3 NIN-1 NIN-2 NIN-5 NIN-7 SPAN-2"),
    ],
)
def test_a_call_names_the_rules_of_all_its_turns(trace, rules):
    assert run(trace)[-1].rules == tuple(rules.split())


def test_of_old_there_was_no_rule_when_a_call_ends():
    assert run("call", semantics=OLD)[-1].rules == ("NIN-1", "NIN-5")


# --- claims, told of what is wrong ------------------------------------------------------------------------------


def test_of_old_a_call_with_two_records_is_refused():
    before = run("0:ab", semantics=OLD)[-1].state
    (outcome,) = network_input.step(before, CALL)
    assert broken_claims("network_input", before, CALL, outcome) == set()
    twice = attrs.evolve(outcome, observations=(stream_elements.Record(b"a"), *outcome.observations))
    assert broken_claims("network_input", before, CALL, twice) == {"one-element-a-call"}


@pytest.mark.parametrize(("trace", "current"), [("call", None), ("0over 1over call call", 0)])
def test_an_end_of_input_before_all_is_over_and_read_is_refused(trace, current):
    before = run(trace)[-1].state
    after = attrs.evolve(before, current=current)
    ended = Outcome(after, (Returned(InputStatus.END_OF_INPUT, available=True),), ())
    assert "ends-when-all-channels-have" in broken_claims("network_input", before, CALL, ended)


def test_a_buffer_that_arrives_changes_nothing_that_was_gathered():
    before = run("0b0000 call")[-1].state
    event = Buffer(0, bytes.fromhex(data("a"))[2:])
    (outcome,) = network_input.step(before, event)
    assert broken_claims("network_input", before, event, outcome) == set()
    forgotten = attrs.evolve(outcome, state=attrs.evolve(outcome.state, readers=(RecordReader(), RecordReader())))
    assert broken_claims("network_input", before, event, forgotten) == {"readers-keep-their-own"}


def test_records_in_another_order_and_records_of_no_channel_are_refused(monkeypatch):
    law = network_input.each_channel_on_its_own
    samples = list(law.samples())
    assert all(law.holds(*sample) for sample in samples)
    right = network_input.on_process

    def turn_round(state, *, batch):
        outcome = right(state, batch=batch)
        return attrs.evolve(outcome, observations=outcome.observations[::-1])

    def make_one_up(state, *, batch):
        outcome = right(state, batch=batch)
        return attrs.evolve(outcome, observations=(stream_elements.Record(b"x"), *outcome.observations))

    for wrong in (turn_round, make_one_up):
        monkeypatch.setattr(network_input, "on_process", wrong)
        assert not any(law.holds(*sample) for sample in samples)
