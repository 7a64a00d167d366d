"""The right components of the museum inside a task, against examples worked out by hand from the rules."""

import pytest

from tests.conformance.engines.museum.asking import replay, steps

ALIGNED = {"kind": "aligned", "channels": 2, "finished_channels": True}
ALTERNATING = {"kind": "alternating", "channels": 2, "finished_channels": True, "timeout": 10}
CHAINED = {"type": "chained", "keyed": False, "changes": "value"}
NETWORK = {"type": "network", "unaligned": True}
CHAIN = {"operators": [{"lingers": False}, {"lingers": True, "parent": 0}], "sources": 0, "inputs": 1}


def put(mail, *, kind="normal", thread="other", priority=0):
    return {"type": "put", "mail": mail, "priority": priority, "kind": kind, "thread": thread}


def barrier(channel, checkpoint=1, mode="aligned", created=0):
    created, checkpoint = str(created), str(checkpoint)
    return {"type": "barrier", "channel": channel, "checkpoint": checkpoint, "mode": mode, "created": created}


def test_task_5_an_error_while_canceling_is_no_failure():
    events = [{"type": "start"}, {"type": "cancel", "seen": "created"}, {"type": "throw", "cancelled": False}]
    answers = steps("task", {"operators": 1, "outputs": 0}, events)
    assert [one["type"] for one in answers[1]] == ["lost", "state"]
    assert answers[2] == [
        {"type": "state", "state": "canceled"},
        {"type": "released"},
        {"type": "final", "state": "canceled"},
    ]


def test_task_8_partitions_wait_for_their_consumers():
    life = [{"type": "start"}, *[{"type": "proceed"}] * 7, {"type": "end_of_data", "drain": False}]
    acknowledge = [{"type": "acknowledge", "output": output} for output in (0, 0, 1)]
    proceed = {"type": "proceed"}
    answers = steps("task", {"operators": 2, "outputs": 2}, [*life, *acknowledge[:2], proceed, acknowledge[2], proceed])
    assert [answer[0]["type"] if answer else "" for answer in answers[-5:]] == ["", "rejected", "rejected", "", "step"]


@pytest.mark.parametrize(("semantics", "expected"), [("flink-35051", [3, 1, 2]), ("flink-14304", [1, 3, 2])])
def test_mailbox_3_an_urgent_mail_of_another_thread(semantics, expected):
    events = [put(1), {"type": "batch"}, put(2), put(3, kind="urgent"), *[{"type": "take", "priority": -1}] * 3]
    assert [answer[0]["mail"] for answer in steps("mailbox", {"semantics": semantics}, events)[-3:]] == expected


def test_mailbox_9_the_end_comes_too_late_and_is_no_error():
    events = [{"type": "close", "thread": "mailbox"}, {"type": "complete", "thread": "other"}]
    assert steps("mailbox", {}, events) == [[], []]


def test_subpartition_7_a_flush_is_remembered_while_blocked():
    events = [
        {"type": "view"},
        {"type": "event", "kind": "barrier"},
        {"type": "poll"},
        {"type": "buffer", "data": "61", "finished": False},
        {"type": "flush"},
        {"type": "resume"},
        {"type": "query", "credit": True},
    ]
    answers = steps("subpartition", {"exclusive": 2, "size_hint": 7}, events)
    assert answers[3:] == [
        [{"type": "added", "size_hint": 7}],
        [],
        [],
        [{"type": "availability", "available": True, "backlog": 1}],
    ]


def test_chain_lifecycle_34_one_operator_after_the_other():
    events = [
        {"type": "create"},
        {"type": "open"},
        {"type": "end_input", "input": 0},
        {"type": "finish", "drain": True},
    ]
    answers = steps("chain_lifecycle", CHAIN, events)
    calls = [(one["operator"], one["call"]) for one in answers[-1]]
    assert calls[:2] == [(0, "quiesce"), (0, "finish")]
    assert calls[2:] == [(1, "end_input"), (1, "quiesce"), (1, "finish"), (1, "mail")]


def test_barriers_3_trigger_before_resume():
    answers = steps("barriers", ALIGNED, [barrier(1), barrier(0)])
    assert answers[0] == [{"type": "block", "channel": 1}]
    assert [one["type"] for one in answers[1]] == ["block", "trigger", "resume", "resume"]


def test_barriers_17_exactly_at_the_timeout_the_timer_decides():
    events = [
        {"type": "advance", "milliseconds": 10},
        barrier(0, mode="timeout"),
        {"type": "advance", "milliseconds": 0},
    ]
    answers = steps("barriers", ALTERNATING, events)
    assert answers[1] == [{"type": "block", "channel": 0}]
    assert [one["type"] for one in answers[2]] == ["start_persisting", "trigger"]


def test_network_input_6_available_while_a_buffer_is_read():
    two_records = "0000000101" * 2
    events = [{"type": "buffer", "channel": 0, "data": two_records}, *[{"type": "process", "batch": False}] * 2]
    answers = steps("network_input", {"channels": 1}, events)
    assert [answer[-1].get("available") for answer in answers[1:]] == [True, False]


def test_outputs_3_object_reuse_shares_the_value():
    config = {"outputs": [CHAINED, CHAINED, NETWORK], "object_reuse": True}
    [answer] = steps("outputs", config, [{"type": "record", "content": 5}])
    assert answer == [
        {"type": "write", "output": 2, "content": 5},
        {"type": "process", "output": 0, "record": 1, "value": 0, "content": 5},
        {"type": "process", "output": 1, "record": 0, "value": 0, "content": 6},
    ]


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("task", {"operators": 0, "outputs": 0}, None),
        ("task", {"operators": 1, "outputs": 0}, {"type": "cancel", "seen": "asleep"}),
        ("task", {"operators": 1, "outputs": 0}, {"type": "throw"}),
        ("mailbox", {"semantics": "flink-1"}, None),
        ("mailbox", {}, put(1, priority=-2)),
        ("mailbox", {}, {"type": "close"}),
        ("subpartition", {"exclusive": -1}, None),
        ("subpartition", {}, {"type": "event", "kind": "data"}),
        ("subpartition", {}, {"type": "buffer", "data": "6", "finished": True}),
        ("chain_lifecycle", {**CHAIN, "operators": []}, None),
        ("chain_lifecycle", {**CHAIN, "operators": [{"lingers": True}, {"lingers": True, "parent": 1}]}, None),
        ("chain_lifecycle", {**CHAIN, "sources": 2}, None),
        ("chain_lifecycle", CHAIN, {"type": "fault", "operator": 0, "call": "create", "failing": True}),
        ("barriers", {**ALIGNED, "timeout": 5}, None),
        ("barriers", ALIGNED, barrier(0, mode="unaligned")),
        ("barriers", ALIGNED, barrier(0, checkpoint=-1)),
        ("network_input", {"channels": 0}, None),
        ("network_input", {"channels": 1}, {"type": "event", "channel": 0, "kind": "data"}),
        ("outputs", {"outputs": [{"type": "network"}], "object_reuse": True}, None),
        ("outputs", {"outputs": [{**NETWORK, "names": []}], "object_reuse": True}, None),
        ("outputs", {"outputs": [], "object_reuse": True}, {"type": "record", "content": -1}),
        ("outputs", {"outputs": [], "object_reuse": True}, {"type": "record", "content": 1, "selected": []}),
    ],
)
def test_malformed_cases_are_bad_requests(component, config, event):
    answer = replay(component, config, [event] if event else [])
    assert answer["error"]["kind"] == "bad_request"


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("task", {"operators": 1, "outputs": 1}, {"type": "proceed"}),
        ("mailbox", {}, {"type": "suspend_default", "thread": "other"}),
        ("subpartition", {}, {"type": "poll"}),
        ("chain_lifecycle", CHAIN, {"type": "close"}),
        ("barriers", ALIGNED, barrier(2)),
        ("network_input", {"channels": 1}, {"type": "event", "channel": -1, "kind": "barrier"}),
        ("outputs", {"outputs": [NETWORK], "object_reuse": True}, {"type": "fault", "output": 0, "hops": 2}),
    ],
)
def test_impossible_events_are_rejected(component, config, event):
    assert steps(component, config, [event]) == [[{"type": "rejected"}]]
