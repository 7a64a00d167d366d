"""The gate of Flink 2.3.0 treats priorities as the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request

CONFIG = {"channels": 2, "subpartitions": 1, "first": 0}


def test_a_barrier_that_may_time_out_is_announced_first(flink):
    arrivals = [{"type": "arrive", "channel": 0, "item": item} for item in ("data", "barrier")]
    steps = answer(flink, "priority_gate", CONFIG, *arrivals, *[{"type": "poll"}] * 3)
    assert [step[0]["item"] for step in steps[2:]] == ["announcement", "data", "barrier"]


def test_what_does_not_fit_is_a_bad_request(flink):
    assert is_bad_request(flink, "priority_gate", {**CONFIG, "first": 2**31})
    arrive = {"type": "arrive", "channel": 0, "item": "announcement"}
    assert is_bad_request(flink, "priority_gate", CONFIG, arrive)
