"""The union gate of Flink 2.3.0 does what the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request

CONFIG = {"members": [1, 2]}


def test_channels_are_numbered_through(flink):
    arrive = {"type": "arrive", "member": 1, "channel": 1, "item": "data"}
    (_, (item,)) = answer(flink, "union_gate", CONFIG, arrive, {"type": "poll"})
    assert item == {"type": "item", "channel": 2, "item": "data", "more": False}


def test_what_is_no_member_is_a_bad_request(flink):
    assert is_bad_request(flink, "union_gate", {"members": [1]})
    assert is_bad_request(flink, "union_gate", CONFIG, {"type": "arrive", "member": 0, "channel": 0, "item": "none"})
