"""The right inputs of the museum against examples worked out by hand from the rules."""

import pytest

from tests.conformance.engines.museum.asking import replay, steps

CALL = {"type": "process", "batch": False}


def ending(index, kind):
    return {"type": "event", "input": index, "channel": 0, "kind": kind}


def test_inputs_9_the_circle_starts_behind_input_1():
    records = [{"type": "buffer", "input": index, "channel": 0, "data": "000000020161"} for index in range(3)]
    answers = steps("multiple_inputs", {"inputs": [1, 1, 1]}, [*records, CALL, CALL, CALL])
    assert [answer[0] for answer in answers[3:]] == [{"type": "reads", "input": index} for index in (2, 0, 1)]


@pytest.mark.parametrize(
    ("first", "last", "status"),
    [
        ("end_of_data", "end_of_data", "end_of_data"),
        ("stop", "end_of_data", "stopped"),
        ("end_of_data", "stop", "more_available"),
    ],
)
def test_inputs_9_the_last_end_of_data_speaks_for_all(first, last, status):
    answers = steps("multiple_inputs", {"inputs": [1, 1]}, [ending(0, first), ending(1, last), CALL, CALL])
    assert answers[3][-1] == {"type": "returned", "status": status, "available": True}


def test_channels_22_delays_double_up_to_the_maximum():
    config = {"locations": ["local"], "initial": 100, "maximum": 300}
    events = [{"type": "request_partitions"}, *[{"type": "retry", "channel": 0}] * 3, {"type": "read", "channel": 0}]
    answers = steps("input_channels", config, events)
    assert [answer[0]["delay"] for answer in answers[:3]] == [100, 200, 300]
    failed = {"type": "failed", "channel": 0, "cause": "partition_not_found"}
    assert answers[3:] == [[{"type": "notified", "channel": 0}], [failed]]


def test_channels_24_an_item_out_of_order_is_given_back():
    arrivals = [{"type": "arrive", "channel": 0, "sequence": number, "item": "data"} for number in (0, 2)]
    answers = steps("input_channels", {"locations": ["remote"]}, [{"type": "request_partitions"}, *arrivals])
    told, back = {"type": "notified", "channel": 0}, {"type": "recycled", "channel": 0}
    assert answers == [[{"type": "request", "channel": 0}], [told], [back, told]]


@pytest.mark.parametrize(("semantics", "told"), [("flink-18934", [0, 1]), ("flink-5017", [])])
def test_statuses_3_the_status_passes_through_the_chain(semantics, told):
    config = {"channels": 1, "operators": 2, "outputs": 1, "semantics": semantics}
    [seen] = steps("statuses", config, [{"type": "status", "channel": 0, "status": "idle"}])
    assert [one["operator"] for one in seen[:-1]] == told
    assert seen[-1] == {"type": "sent", "channel": 0, "element": "status", "status": "idle"}


def test_statuses_4_a_watermark_counts_when_active_was_announced():
    watermark = {"type": "watermark", "channel": 0, "timestamp": "5"}
    changes = [{"type": "status", "channel": 0, "status": status} for status in ("idle", "active")]
    config = {"channels": 1, "operators": 1, "outputs": 1}
    answers = steps("statuses", config, [changes[0], watermark, changes[1], watermark])
    assert answers[1] == []
    assert answers[3][-1] == {"type": "sent", "channel": 0, "element": "watermark", "timestamp": "5"}


def of_split(kind, mode="deferred", **more):
    return {"type": kind, "output": 0, "mode": mode, **more}


EMIT, REGISTER = {"type": "periodic_emit"}, {"type": "register", "output": 0}
SIX, IDLE = of_split("watermark", timestamp="6"), of_split("status", status="idle")
IS_IDLE = {"type": "status", "status": "idle"}


@pytest.mark.parametrize(
    ("semantics", "flushed"), [("flink-38454", [{"type": "watermark", "timestamp": "6"}]), ("flink-18934", [])]
)
def test_mux_7_what_an_idle_split_had_noted(semantics, flushed):
    answers = steps("multiplexer", {"semantics": semantics}, [REGISTER, SIX, IDLE, EMIT, EMIT])
    assert answers == [[], [], [], [*flushed, IS_IDLE], [IS_IDLE]]


@pytest.mark.parametrize(("semantics", "said"), [("flink-18934", [IS_IDLE]), ("flink-17653", [])])
def test_mux_10_the_last_split_was_idle_and_went(semantics, said):
    gone = {"type": "unregister", "output": 0}
    answers = steps("multiplexer", {"semantics": semantics}, [EMIT, REGISTER, IDLE, EMIT, gone, EMIT])
    assert answers == [[], [], [], [IS_IDLE], [], said]


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("multiplexer", {"semantics": "flink-7728"}, None),
        ("multiplexer", {}, {"type": "status", "output": 0, "status": "idle"}),
        ("multiplexer", {}, {"type": "watermark", "output": 0, "mode": "deferred", "timestamp": 1}),
        ("multiplexer", {}, {"type": "emit"}),
        ("multiple_inputs", {"inputs": [1]}, None),
        ("multiple_inputs", {"inputs": [1, 0]}, None),
        ("multiple_inputs", {"inputs": [1, 1]}, {"type": "event", "input": 0, "channel": 0, "kind": "data"}),
        ("input_channels", {"locations": []}, None),
        ("input_channels", {"locations": ["local"], "initial": 2, "maximum": 1}, None),
        ("input_channels", {"locations": ["unknown"]}, {"type": "update", "channel": 0, "location": "unknown"}),
        ("statuses", {"channels": 1, "operators": 0, "outputs": 0}, None),
        (
            "statuses",
            {"channels": 1, "operators": 1, "outputs": 0},
            {"type": "watermark", "channel": 5, "timestamp": 1},
        ),
    ],
)
def test_malformed_cases_are_bad_requests(component, config, event):
    answer = replay(component, config, [event] if event else [])
    assert answer["error"]["kind"] == "bad_request"
