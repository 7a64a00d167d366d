"""The pipelined subpartition of Flink 2.3.0 does what the specification says."""

import pytest

from tests.conformance.engines.flink.replaying import answer, is_bad_request

CONFIG = {"exclusive": 2, "size_hint": 2**31 - 1}


def test_the_bytes_are_those_of_flink(flink):
    buffer = {"type": "buffer", "data": "00ff80", "finished": True}
    steps = answer(flink, "subpartition", CONFIG, {"type": "view"}, buffer, {"type": "poll"}, {"type": "poll"})
    item = {"type": "item", "kind": "data", "data": "00ff80", "backlog": 0, "next": "none", "sequence": 0}
    assert steps[2:] == [[item], [{"type": "none"}]]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "pull"},
        {"type": "buffer", "data": "0", "finished": True},
        {"type": "buffer", "data": "00"},
        {"type": "event", "kind": "none"},
        {"type": "query", "credit": 1},
    ],
)
def test_what_is_no_event_is_a_bad_request(flink, event):
    assert is_bad_request(flink, "subpartition", CONFIG, event)


def test_what_is_no_config_is_a_bad_request(flink):
    assert is_bad_request(flink, "subpartition", {"exclusive": -1, "size_hint": 1})
