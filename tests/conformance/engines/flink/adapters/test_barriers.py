"""The barrier handlers of Flink 2.3.0 do what the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request

ALIGNED = {"kind": "aligned", "channels": 2, "finished_channels": True}
ALTERNATING = {"kind": "alternating", "channels": 2, "finished_channels": True, "timeout": 30}


def barrier(channel, checkpoint="1", mode="aligned"):
    return {"type": "barrier", "channel": channel, "checkpoint": checkpoint, "mode": mode, "created": "0"}


def test_a_blocked_channel_that_delivers_is_heard(flink):
    steps = answer(flink, "barriers", ALIGNED, barrier(1), barrier(1, "2"))
    assert {"type": "abort", "checkpoint": "1", "reason": "subsumed"} in steps[1]


def test_the_timer_fires_when_the_clock_says_so(flink):
    first = barrier(0, mode="timeout")
    waits, fires = {"type": "advance", "milliseconds": 29}, {"type": "advance", "milliseconds": 1}
    steps = answer(flink, "barriers", ALTERNATING, first, waits, fires)
    assert steps[1] == []
    assert {"type": "trigger", "checkpoint": "1", "aligned": False} in steps[2]


def test_what_is_no_barrier_is_a_bad_request(flink):
    assert is_bad_request(flink, "barriers", ALIGNED, barrier(0, mode="unaligned"))
    assert is_bad_request(flink, "barriers", ALIGNED, barrier(0, "-1"))
    assert is_bad_request(flink, "barriers", {**ALTERNATING, "timeout": 0})
    assert is_bad_request(flink, "barriers", ALIGNED, {"type": "advance", "milliseconds": -1})


def test_a_timer_that_was_on_its_way_does_nothing_after_the_close(flink):
    fires = {"type": "advance", "milliseconds": 31}
    steps = answer(
        flink, "barriers", {**ALTERNATING, "extension": "closing"}, barrier(0, mode="timeout"), {"type": "close"}, fires
    )
    assert steps[1:] == [[], []]
