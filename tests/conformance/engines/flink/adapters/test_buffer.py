"""The network buffer of Flink 2.3.0 does what the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request


def test_the_recycler_is_called_when_the_last_slice_is_given_back(flink):
    events = [{"type": "consume"}, {"type": "build", "consumer": 0}, {"type": "close", "consumer": 0}]
    events += [{"type": "close_builder"}, {"type": "recycle", "consumer": 0}]
    assert answer(flink, "buffer", {"capacity": 8}, *events)[2:] == [[], [], [{"type": "recycled"}]]


def test_what_is_no_event_is_a_bad_request(flink):
    assert is_bad_request(flink, "buffer", {"capacity": 0})
    assert is_bad_request(flink, "buffer", {"capacity": 1}, {"type": "build"})
