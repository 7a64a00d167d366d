"""The right writer, job graph, connection and credit loop of the museum, against examples worked out by hand."""

import pytest

from tests.conformance.engines.museum.asking import replay, steps


def emit(payload, channel=None):
    event = {"type": "broadcast", "payload": payload}
    return event if channel is None else {"type": "record", "channel": channel, "payload": payload}


def seen(channel, data):
    return {"type": "buffer", "channel": channel, "data": data}


def test_writer_13_a_marker_ends_the_shared_buffer():
    config = {"kind": "broadcast", "channels": 2, "buffer_size": 32, "timeout": -1}
    answers = steps("writer", config, [emit("61"), emit("", 1), {"type": "finish"}])
    added = {"type": "add", "committed": 0, "partial": 0}
    assert answers[0] == [{"type": "request"}, {**added, "channel": 0}, {**added, "channel": 1}]
    finished = [seen(0, "0000000161"), seen(1, "0000000161"), {"type": "count", "bytes": 10, "buffers": 2}]
    assert answers[1] == [*finished, {"type": "request"}, {**added, "channel": 1}]
    assert answers[2] == [seen(1, "00000000"), {"type": "count", "bytes": 4, "buffers": 1}]


def test_writer_9_grows_by_the_record_and_a_byte():
    config = {"kind": "selecting", "channels": 1, "buffer_size": 16, "timeout": -1}
    asked = [{"type": "hint", "channel": 0, "size": 5}, {"type": "pool", "available": False}]
    answers = steps("writer", config, [*asked, emit("61", 0), emit("", 0), {"type": "event"}])
    assert [one["type"] for one in answers[2]] == ["request", "add"]
    assert answers[3] == []
    counted = {"type": "count", "bytes": 9, "buffers": 1}
    assert answers[4] == [seen(0, "000000016100000000"), counted, {"type": "event", "channel": 0}]


def test_writer_11_a_failure_surfaces_within_a_hundred_emits_and_stays():
    config = {"kind": "selecting", "channels": 1, "buffer_size": 4096, "timeout": 5}
    answers = steps("writer", config, [{"type": "fail"}, *[emit("", 0)] * 102])
    failed = [answer == [{"type": "io_error"}] for answer in answers[1:]]
    assert any(failed[:101])
    assert all(failed[failed.index(True) :])


def make_operator(operator_id, name, kind="operator", **fields):
    plain = {"parallelism": 2, "max_parallelism": -1, "slot_group": "default", "yielding": False}
    return {
        "id": operator_id,
        "name": name,
        "kind": kind,
        **plain,
        "has_operator": True,
        "buffer_timeout": "-1",
        **fields,
    }


def make_edge(source, target, *via, number=0):
    return {"source": source, "target": target, "input": number, "via": list(via)}


def make_job(mode, operators, edges):
    config = {"chaining": True, "chain_different_max_parallelism": True, "mode": mode}
    [answer] = steps("job_graph", config, [{"type": "graph", "operators": operators, "edges": edges}])
    return answer


def test_job_graph_17_sources_run_in_the_task_of_their_consumer():
    sources = [make_operator(1, "a", "source"), make_operator(2, "b", "source")]
    join = make_operator(3, "join", strategy="head_with_sources")
    edges = [make_edge(2, 3), make_edge(1, 3, number=1)]
    [vertex] = make_job("all_edges_pipelined", [*sources, join], edges)
    assert (vertex["head"], vertex["name"]) == (3, "join [b, a]")
    assert [member["index"] for member in vertex["members"]] == [0, 0, 1]


def test_job_graph_25_selective_results_that_are_shared_are_full():
    operators = [make_operator(1, "src", "source"), make_operator(2, "a"), make_operator(3, "b")]
    hashed = {"type": "partition", "partitioner": "hash", "exchange": "undefined"}
    answer = make_job("all_edges_hybrid_selective", operators, [make_edge(1, 2, hashed), make_edge(1, 3, hashed)])
    assert [seen.get("head") for seen in answer] == [2, 3, 1, None]
    output = {"vertex": 1, "operator": 1, "partitioner": "hash", "pattern": "all_to_all", "result": "hybrid_full"}
    assert answer[-1] == {"type": "output", **output, "consumers": [2, 3]}


def test_job_graph_27_no_timeout_at_a_blocking_result():
    operators = [make_operator(1, "src", "source", buffer_timeout="0"), make_operator(2, "map", parallelism=3)]
    assert make_job("all_edges_blocking", operators, [make_edge(1, 2)]) == [{"type": "rejected"}]


def add(reader, item="data"):
    return {"type": "add", "reader": reader, "item": item}


def test_connection_21_readers_take_turns():
    writable = [{"type": "writable", "value": value} for value in (False, True)]
    events = [writable[0], add(1), add(1), add(1), add(0), add(0), writable[1]]
    answers = steps("credit_connection", {"initial_credits": [2, 2]}, events)
    assert answers[:-1] == [[]] * 6
    assert [(seen["reader"], seen["sequence"], seen["backlog"]) for seen in answers[-1]] == [
        (1, 0, 1),
        (0, 0, 0),
        (1, 1, 0),
        (0, 1, 0),
    ]


def test_connection_29_a_failed_producer_concerns_its_own_receiver():
    writable = [{"type": "writable", "value": value} for value in (False, True)]
    events = [writable[0], add(0), add(1), {"type": "fail", "reader": 0}, writable[1], {"type": "break"}, add(1)]
    answers = steps("credit_connection", {"initial_credits": [1, 1]}, events)
    sent = {"type": "send", "reader": 1, "kind": "data", "sequence": 0, "backlog": 0}
    assert answers[4] == [{"type": "reader_error", "reader": 0}, sent]
    assert answers[5:] == [[{"type": "closed"}], []]


def test_loop_24_data_gets_through_without_exclusive_buffers():
    config = {"channels": 1, "exclusive": 0, "floating": 1, "data": 1, "barriers": 0, "output": 1}
    actions = ["write", "write", "flush", "deliver", "announce", "deliver_credit", "deliver", "consume"]
    answers = steps("credit_loop", config, [{"type": "choice", "channel": 0, "action": one} for one in actions])
    assert answers[1] == [{"type": "rejected"}]
    assert answers[-1] == [{"type": "consumed", "channel": 0, "kind": "data"}]
    assert answers[2:-1] == [[]] * 5


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("writer", {"kind": "selecting", "channels": 1, "buffer_size": 0, "timeout": 0}, None),
        ("writer", {"kind": "selecting", "channels": 1, "buffer_size": 1, "timeout": -2}, None),
        (
            "writer",
            {"kind": "broadcast", "channels": 1, "buffer_size": 1, "timeout": 0},
            {"type": "elapse", "milliseconds": 0},
        ),
        ("job_graph", {"chaining": True, "chain_different_max_parallelism": True, "mode": "none"}, None),
        ("credit_connection", {"initial_credits": [-1]}, None),
        ("credit_connection", {"initial_credits": [0]}, {"type": "credit", "reader": 0, "amount": 0}),
        ("credit_loop", {"channels": 1, "exclusive": 0, "floating": 1, "data": 0, "barriers": 0, "output": 0}, None),
        (
            "job_graph",
            {"chaining": True, "chain_different_max_parallelism": True, "mode": "all_edges_blocking"},
            {"type": "graph", "operators": [make_operator(1, "alone")], "edges": []},
        ),
    ],
)
def test_malformed_cases_are_bad_requests(component, config, event):
    answer = replay(component, config, [event] if event else [])
    assert answer["error"]["kind"] == "bad_request"
