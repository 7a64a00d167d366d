"""The right components of the museum, against examples worked out by hand from the rules."""

import pytest

from tests.conformance.engines.museum.asking import replay, steps
from tidegate.conformance.engines.museum.partitioner.keys import murmur

MAX = str(2**63 - 1)


def watermark(channel, timestamp, key="channel"):
    return {"type": "watermark", key: channel, "timestamp": str(timestamp)}


def status(channel, value, key="channel"):
    return {"type": "status", key: channel, "status": value}


def last_of(answers):
    return [tuple(observation.values())[1] for observation in answers[-1]]


#: Three channels, up to the point where channel 0 holds 20 and the output stands at 10.
STALLED = [
    status(2, "idle"),
    watermark(0, 20),
    watermark(1, 10),
    status(0, "idle"),
    status(2, "active"),
    status(1, "idle"),
]


@pytest.mark.parametrize(
    ("semantics", "event", "expected"),
    [
        ("flink-7728", status(2, "idle"), ["idle"]),
        ("flink-40475", status(2, "idle"), ["20", "idle"]),
        ("flink-7728", status(0, "active"), []),
        ("flink-40475", status(0, "active"), ["20"]),
    ],
)
def test_valve_after_a_stall(semantics, event, expected):
    config = {"channels": 3, "semantics": semantics}
    assert last_of(steps("valve", config, [*STALLED, event])) == expected


def test_valve_12_pending_minimum_waits_for_an_increase():
    events = [*STALLED, status(0, "active"), watermark(0, 20), watermark(0, 21)]
    answers = steps("valve", {"channels": 3}, events)
    assert answers[-2] == []
    assert last_of(answers) == ["21"]


@pytest.mark.parametrize(("semantics", "expected"), [("flink-38454", ["6", "idle"]), ("flink-18934", ["idle"])])
def test_combiner_3_all_idle(semantics, expected):
    events = [watermark(0, 6, "input"), status(0, "idle", "input"), status(1, "idle", "input")]
    assert last_of(steps("combiner", {"inputs": 2, "semantics": semantics}, events)) == expected


def test_combiner_7_statuses_need_not_alternate():
    events = [status(0, "idle", "input"), watermark(0, 3, "input"), status(0, "idle", "input")]
    answers = steps("combiner", {"inputs": 1}, events)
    assert [tuple(answer[0].values())[1] for answer in answers] == ["idle", "3", "idle"]


def test_partitioner_7_murmur_of_nothing():
    assert murmur(0, "") == 593689054


def test_partitioner_rebalance_takes_turns_and_markers_do_not():
    events = [{"type": "record"}, {"type": "latency_marker"}, {"type": "record"}, {"type": "record"}]
    for _ in range(20):
        answers = steps("partitioner", {"kind": "rebalance", "channels": 3}, events)
        first, second, third = (answers[index][0]["channel"] for index in (0, 2, 3))
        assert ((first + 1) % 3, (second + 1) % 3) == (second, third)


def test_wiring_17_three_producers_seven_consumers():
    [answer] = steps("wiring", {"pattern": "pointwise", "producers": 3, "consumers": 7}, [{"type": "wire"}])
    pairs = [(pair["consumer"], pair["producer"], pair["subpartition"]) for pair in answer]
    assert pairs == [(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 1, 1), (4, 1, 0), (5, 2, 1), (6, 2, 0)]


def test_serializer_flush_leaves_the_buffer_open():
    events = [{"type": "record", "payload": "616263"}, {"type": "flush"}, {"type": "record", "payload": ""}]
    answers = steps("serializer", {"buffer_size": 8}, events)
    assert [[buffer["data"] for buffer in answer] for answer in answers] == [[], ["00000003616263"], ["00"]]


def test_deserializer_header_byte_by_byte():
    events = [{"type": "buffer", "data": data} for data in ("00", "00", "00", "01", "aa00", "")]
    answers = steps("deserializer", {}, events)
    assert [[o["type"] for o in answer] for answer in answers] == [
        *[["partial"]] * 4,
        ["record", "partial"],
        ["partial"],
    ]


def make_operator(operator_id, **fields):
    plain = {
        "name": f"n{operator_id}",
        "kind": "operator",
        "strategy": "always",
        "parallelism": 1,
        "max_parallelism": -1,
        "slot_group": "default",
        "yielding": False,
    }
    return {"id": operator_id, **plain, **fields}


def chain(operators, pairs):
    edges = [{"source": a, "target": b, "partitioner": "forward", "exchange": "undefined"} for a, b in pairs]
    config = {"chaining": True, "chain_different_max_parallelism": True}
    [vertices] = steps("chaining", config, [{"type": "graph", "operators": operators, "edges": edges}])
    return [vertex["name"] for vertex in vertices]


def test_chaining_long_yielding_chain():
    operators = [make_operator(0, kind="source"), *(make_operator(index, yielding=True) for index in range(1, 150))]
    names = chain(operators, [(index, index + 1) for index in range(149)])
    assert names == [" -> ".join(f"n{index}" for index in range(150))]


def test_chaining_17_a_union_takes_no_chained_source():
    sources = [make_operator(1, kind="source"), make_operator(2, kind="source")]
    host = make_operator(3, strategy="head_with_sources")
    assert chain([sources[0], host], [(1, 3)]) == ["n3 [n1]"]
    assert chain([*sources, host], [(1, 3), (2, 3)]) == ["n1", "n2", "n3"]


def test_credit_sender_announces_without_initial_credit():
    answers = steps("credit_sender", {"initial_credit": 0}, [{"type": "data"}] * 3)
    assert answers == [[], [{"type": "backlog", "backlog": 1}], []]


def test_credit_receiver_12_tops_up_to_exclusive():
    events = [{"type": "data", "channel": 0, "backlog": 0}, {"type": "announce", "channel": 0}]
    answers = steps("credit_receiver", {"channels": 1, "exclusive": 2, "floating": 8}, events)
    assert answers == [[{"type": "notify", "channel": 0}], [{"type": "credit", "channel": 0, "amount": 1}]]


def test_gate_serves_channels_in_turn():
    arrive = [{"type": "arrive", "channel": channel, "item": "data"} for channel in (1, 1, 0)]
    answers = steps("gate", {"channels": 2}, [*arrive, *[{"type": "poll"}] * 4])
    items = [(answer[0]["channel"], answer[0]["more"]) for answer in answers[3:6]]
    assert items == [(1, True), (0, True), (1, False)]
    assert answers[6] == [{"type": "none"}]


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("valve", {"channels": 0}, None),
        ("valve", {"channels": "2"}, None),
        ("valve", {"channels": 2, "semantics": None}, None),
        ("valve", {"channels": 2, "semantics": "flink-1"}, None),
        ("valve", {"channels": 2}, watermark(0, 2**63)),
        ("valve", {"channels": 2}, {"type": "watermark", "channel": 0, "timestamp": 5}),
        ("valve", {"channels": 2}, watermark(0, "1_0")),
        ("valve", {"channels": 2}, watermark(0, "+1")),
        ("valve", {"channels": 2}, {"type": "watermark", "channel": True, "timestamp": "1"}),
        ("valve", {"channels": 2}, watermark(0.0, 1)),
        ("valve", {"channels": 2}, status(0, "asleep")),
        ("valve", {"channels": 2}, {"type": "tick", "channel": 0}),
        ("combiner", {"inputs": 0}, None),
        ("combiner", {"inputs": 1}, {"type": "watermark", "channel": 0, "timestamp": "1"}),
        ("partitioner", {"kind": "custom", "channels": 2}, None),
        ("partitioner", {"kind": "hash", "channels": 2}, None),
        (
            "partitioner",
            {"kind": "hash", "channels": 2, "max_parallelism": 128},
            {"type": "record", "key": {"type": "int", "value": 2**31}},
        ),
        (
            "partitioner",
            {"kind": "hash", "channels": 2, "max_parallelism": 128},
            {"type": "record", "key": {"type": "string", "value": "\ud800"}},
        ),
        ("wiring", {"pattern": "pointwise", "producers": 0, "consumers": 1}, None),
        ("serializer", {"buffer_size": 0}, None),
        ("serializer", {"buffer_size": 8}, {"type": "record", "payload": "ABC0"}),
        ("serializer", {"buffer_size": 8}, {"type": "record", "payload": "abc"}),
        ("deserializer", {}, {"type": "buffer"}),
        ("chaining", {"chaining": 1, "chain_different_max_parallelism": True}, None),
        (
            "chaining",
            {"chaining": True, "chain_different_max_parallelism": True},
            {"type": "graph", "operators": [], "edges": [{}]},
        ),
        ("credit_sender", {"initial_credit": -1}, None),
        ("credit_sender", {"initial_credit": 0}, {"type": "writable", "value": 1}),
        ("credit_receiver", {"channels": 1, "exclusive": 0, "floating": 0}, None),
        ("gate", {"channels": 1}, {"type": "arrive", "channel": 0, "item": "barrier"}),
        ("gate", [], None),
    ],
)
def test_malformed_cases_are_bad_requests(component, config, event):
    answer = replay(component, config, [event] if event else [])
    assert answer["error"]["kind"] == "bad_request"


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("valve", {"channels": 2}, watermark(2, 1)),
        ("valve", {"channels": 2}, status(-1, "idle")),
        ("combiner", {"inputs": 2}, status(2, "idle", "input")),
        ("credit_sender", {"initial_credit": 0}, {"type": "resume"}),
        ("credit_sender", {"initial_credit": 0}, {"type": "credit", "amount": 0}),
        ("credit_receiver", {"channels": 1, "exclusive": 0, "floating": 1}, {"type": "recycle", "channel": 0}),
        ("credit_receiver", {"channels": 1, "exclusive": 0, "floating": 1}, {"type": "resume", "channel": 1}),
        ("gate", {"channels": 1}, {"type": "arrive", "channel": 1, "item": "data"}),
    ],
)
def test_impossible_events_are_rejected(component, config, event):
    assert steps(component, config, [event]) == [[{"type": "rejected"}]]
