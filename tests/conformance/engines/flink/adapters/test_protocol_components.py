"""Real classes of Flink 2.3.0 do what the specification says."""

import pytest

from tests.conformance.engines.flink.replaying import (
    GOLDEN,
    answer,
    is_bad_request,
    replay,
    replay_generated,
    replay_golden,
)
from tidegate.traces.files import read_traces

#: How many golden cases there are to pass at least, and how many generated ones are tried.
AMOUNTS = {
    "valve": (15, 75),
    "combiner": (10, 75),
    "partitioner": (30, 50),
    "wiring": (10, 30),
    "serializer": (12, 30),
    "deserializer": (10, 30),
    "chaining": (0, 30),
    "credit_sender": (50, 50),
    "credit_receiver": (60, 30),
    "gate": (30, 30),
    "alignment_group": (30, 100),
    "barriers": (30, 60),
    "blocking_subpartition": (30, 100),
    "buffer": (20, 100),
    "buffer_pools": (30, 75),
    "chain_lifecycle": (30, 60),
    "channel_state": (30, 50),
    "generalized_watermarks": (20, 100),
    "idleness": (20, 100),
    "mailbox": (30, 100),
    "multiple_inputs": (30, 30),
    "multiplexer": (30, 200),
    "network_input": (30, 60),
    "outputs": (30, 60),
    "priority_gate": (30, 50),
    "recovered_channel": (30, 40),
    "source_alignment": (30, 100),
    "source_output": (30, 100),
    "subpartition": (30, 100),
    "task": (30, 25),
    "union_gate": (30, 50),
    "writer": (30, 30),
}


@pytest.mark.parametrize("component", [name for name, (golden, _generated) in AMOUNTS.items() if golden])
def test_the_golden_traces(flink, component):
    assert replay_golden(flink, component) >= AMOUNTS[component][0]


def test_golden_graphs(flink):
    """Some of them: each is a whole job graph, and there are many."""
    _header, cases = read_traces(GOLDEN / "chaining.jsonl.gz")
    assert replay(flink, cases[::8]) >= 30


@pytest.mark.parametrize("component", [name for name, (_golden, generated) in AMOUNTS.items() if generated])
def test_generated_cases(flink, component):
    assert replay_generated(flink, component, AMOUNTS[component][1]) == AMOUNTS[component][1]


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("valve", {"channels": 0}, {"type": "status", "channel": 0, "status": "idle"}),
        ("valve", {"channels": 1}, {"type": "status", "channel": 0, "status": "asleep"}),
        ("valve", {"channels": 1}, {"type": "watermark", "channel": 0, "timestamp": "9223372036854775808"}),
        ("combiner", {"inputs": 1}, {"type": "watermark", "input": 0, "timestamp": 5}),
        ("partitioner", {"kind": "hash", "channels": 2, "max_parallelism": 32769}, {"type": "latency_marker"}),
        ("partitioner", {"kind": "hash", "channels": 2, "max_parallelism": 128}, {"type": "record"}),
        ("partitioner", {"kind": "global", "channels": 2}, {"type": "record", "key": {"type": "int", "value": 1}}),
        ("wiring", {"pattern": "ring", "producers": 1, "consumers": 1}, {"type": "wire"}),
        ("serializer", {"buffer_size": 0}, {"type": "flush"}),
        ("serializer", {"buffer_size": 8}, {"type": "record", "payload": "0"}),
        ("deserializer", {}, {"type": "buffer", "data": "zz"}),
        ("chaining", {"chaining": True, "chain_different_max_parallelism": True}, {"type": "graph", "operators": []}),
        ("credit_sender", {"initial_credit": -1}, {"type": "data"}),
        ("credit_receiver", {"channels": 1, "exclusive": 0, "floating": 0}, {"type": "announce", "channel": 0}),
        ("gate", {"channels": 1}, {"type": "arrive", "channel": 0, "item": "barrier"}),
    ],
)
def test_what_is_outside_of_the_protocol_is_a_bad_request(flink, component, config, event):
    assert is_bad_request(flink, component, config, event)


def test_rebalance_and_shuffle_are_reproducible(flink):
    events = [{"type": "record"}] * 12 + [{"type": "latency_marker"}] * 4
    for kind in ("rebalance", "shuffle"):
        first, second = (answer(flink, "partitioner", {"kind": kind, "channels": 5}, *events) for _ in range(2))
        assert first == second
        assert len({step[0]["channel"] for step in first}) > 2


def test_long_records_are_spilled_to_files(flink):
    """Beyond five megabytes a spanning record is gathered on disk, and comes back as it was."""
    payload = (bytes(range(256)) * 20_500).hex()
    stream = f"{len(payload) // 2:08x}{payload}00000001aa"
    cut = 3_000_000
    pieces = [{"type": "buffer", "data": stream[at : at + cut]} for at in range(0, len(stream), cut)]
    steps = answer(flink, "deserializer", {}, *pieces)
    assert [one["type"] for step in steps for one in step] == ["partial"] * (len(pieces) - 1) + ["record", "record"]
    assert steps[-1][0] == {"type": "record", "payload": payload, "result": "intermediate"}
