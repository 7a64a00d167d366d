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


def test_a_poll_of_a_closed_gate_is_cancelled_although_a_barrier_waits(flink):
    arrive, poll = {"type": "arrive", "channel": 0, "item": "priority"}, {"type": "poll"}
    closing = {**CONFIG, "extension": "closing"}
    steps = answer(flink, "priority_gate", closing, arrive, {"type": "close"}, poll, {"type": "ask_unfinished"})
    assert steps[1:3] == [[], [{"type": "cancelled"}]]
    assert steps[3][0]["channels"][0] == 0
