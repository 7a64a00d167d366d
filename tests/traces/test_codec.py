"""JSON in and out: every value of every component survives, and nothing is taken for what it is not."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.properties.strategies import cases
from tidegate.reference.components import COMPONENTS
from tidegate.traces.codec import DecodeError, check_parts, decode, decode_case, encode_case, event_type, many
from tidegate.traces.notation.text import read_case, read_trace, write_trace

ALL_CASES = st.sampled_from(sorted(COMPONENTS)).flatmap(cases)


@settings(max_examples=300, deadline=None)
@given(ALL_CASES)
def test_cases_survive_json(case):
    assert decode_case(json.loads(json.dumps(encode_case(case))), strict=True) == case


@settings(max_examples=300, deadline=None)
@given(ALL_CASES)
def test_traces_survive_the_short_notation(case):
    text = write_trace(case.component, case.events)
    assert read_trace(case.component, text) == case.events
    assert len(text.split()) <= len(case.events)


def test_equal_events_in_a_row_are_written_once():
    events = read_trace("partitioner", "r*257 m r r")
    assert len(events) == 260
    assert write_trace("partitioner", events) == "r*257 m r r"


def case_with(**changes):
    event = {"type": "watermark", "channel": 0, "timestamp": "5"}
    case = {"case": "x", "component": "valve", "config": {"channels": 1}, "events": [event]}
    return {**case, **changes}


def event_with(**changes):
    event = {"type": "watermark", "channel": 0, "timestamp": "5", **changes}
    return case_with(events=[{key: value for key, value in event.items() if value is not None}])


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (case_with(component="vlave"), "unknown component 'vlave'"),
        (case_with(config={"channels": 0}), "channels must be at least 1, not 0 at config"),
        (case_with(config={"channels": True}), "must be a 32-bit integer, not True at config.channels"),
        (case_with(config={"channels": "1"}), "must be a 32-bit integer, not '1' at config.channels"),
        (case_with(config={"channels": 2**31}), "must be a 32-bit integer, not 2147483648 at config.channels"),
        (case_with(config={"channels": 1, "semantics": "x"}), "semantics must be one of"),
        (case_with(config={}), "channels is missing"),
        (case_with(config=[]), "must be an object"),
        (case_with(events={}), "must be a list"),
        (case_with(events=["w"]), "must be an object, not 'w' at events[0]"),
        (case_with(expect=[]), "1 events but 0 steps"),
        (case_with(rules=[1]), "must be a string"),
        (case_with(extra=1), "unknown key 'extra'"),
        (event_with(timestamp=5), "64-bit integer as a decimal string, not 5 at events[0].timestamp"),
        (event_with(timestamp="9223372036854775808"), "64-bit integer"),
        (event_with(timestamp="05"), "64-bit integer"),
        (event_with(timestamp=None), "timestamp is missing"),
        (event_with(type="x"), "type must be one of status, watermark, not 'x'"),
        (event_with(type=["watermark"]), "type must be one of"),
        (event_with(surplus=1), "unknown key 'surplus'"),
        ({"case": "x"}, "component is missing"),
        ([], "a case must be an object"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(raw, message):
    with pytest.raises(DecodeError) as caught:
        decode_case(raw, strict=True)
    assert message in str(caught.value)


def test_unknown_keys_are_ignored_outside_strict_mode():
    assert decode_case(case_with(extra=1)) == decode_case(case_with())


@pytest.mark.parametrize("token", ["0x", "w5", "0w", "0w5x", "{", '{"type":"watermark"}'])
def test_what_is_no_event_is_refused(token):
    with pytest.raises(DecodeError):
        read_trace("valve", token)


class Tripwire(list):
    """A list whose end nobody may see."""

    def __iter__(self):
        yield from ([] for _ in range(5))
        raise AssertionError("it was read to its end")


def test_after_a_few_problems_of_a_list_the_rest_is_not_looked_at():
    with pytest.raises(DecodeError) as caught:
        decode(Tripwire(), many(event_type("valve")), "events")
    assert str(caught.value).count("must be an object") == 3


@pytest.mark.parametrize(
    ("component", "config"),
    [
        ("union_gate", {"members": [30_000, 30_000]}),
        ("wiring", {"pattern": "all_to_all", "producers": 1000, "consumers": 1000}),
        ("statuses", {"channels": 1, "operators": 10**9, "outputs": 1}),
        ("source_alignment", {"samples": 2**31 - 1}),
        ("alignment_group", {"sources": [{"group": 0, "drift": "1"}], "subtasks": 2**31 - 1}),
    ],
)
def test_a_config_that_no_memory_holds_is_refused(component, config):
    with pytest.raises(DecodeError, match="parts"):
        check_parts(decode(config, COMPONENTS[component].config))
    with pytest.raises(DecodeError, match="parts"):
        read_case(component, config, "")
