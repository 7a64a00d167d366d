"""The outputs of an operator of Flink 2.3.0 do what the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request

NETWORK = {"type": "network", "unaligned": True}
CHAINED = {"type": "chained", "keyed": False, "changes": "nothing"}


def config(*outputs):
    return {"outputs": list(outputs), "object_reuse": False, "semantics": "flink-2.3"}


def test_a_watermark_goes_to_each_subpartition_where_consumers_are_not_known(flink):
    watermark = {"type": "watermark", "timestamp": "7"}
    (seen,) = answer(flink, "outputs", config({**NETWORK, "subpartitions": 3}), watermark)
    assert [one["subpartition"] for one in seen] == [0, 1, 2]


def test_many_overtaking_barriers_do_not_use_up_the_buffers(flink):
    """Copies of what a barrier overtook belong to whoever saves them."""
    events = [{"type": "record", "content": 1}, {"type": "barrier", "unaligned": True}] * 60
    steps = answer(flink, "outputs", config({**NETWORK, "subpartitions": 2}), *events)
    assert steps[-1] == [{"type": "barrier", "output": 0, "unaligned": True, "priority": True}]


def test_each_hop_wraps_an_error_once(flink):
    fault = {"type": "fault", "output": 0, "hops": 3}
    (_, failed) = answer(flink, "outputs", config(CHAINED), fault, {"type": "status", "status": "idle"})
    assert failed[-1] == {"type": "failed", "output": 0, "error": "chained", "wrapped": 3}


def test_what_is_no_output_is_a_bad_request(flink):
    assert is_bad_request(flink, "outputs", config({"type": "radio"}))
    assert is_bad_request(flink, "outputs", config(CHAINED), {"type": "record", "content": 1_000_001})
    assert is_bad_request(flink, "outputs", config(CHAINED), {"type": "fault", "output": 0, "hops": -1})
