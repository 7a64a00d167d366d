"""The network input of Flink 2.3.0 does what the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request

CONFIG = {"channels": 1, "semantics": "flink-1.17"}
PROCESS = {"type": "process", "batch": False}


def buffer(data, channel=0):
    return {"type": "buffer", "channel": channel, "data": data}


def test_records_of_any_length_in_one_buffer_and_across_buffers(flink):
    whole, cut = "0000000101" + "0000000401aabbcc", "0000000b0000000000000000" + "05"
    steps = answer(flink, "network_input", CONFIG, buffer(whole + cut), buffer("0102"), *[PROCESS] * 3)
    values = [(step[0]["value"], step[0].get("timestamp")) for step in steps[2:]]
    assert values == [("", None), ("aabbcc", None), ("0102", "5")]


def test_what_is_no_buffer_is_a_bad_request(flink):
    assert is_bad_request(flink, "network_input", CONFIG, buffer("0g"))
    assert is_bad_request(flink, "network_input", CONFIG, {"type": "event", "channel": 0, "kind": "flush"})
    assert is_bad_request(flink, "network_input", {"channels": 0})
