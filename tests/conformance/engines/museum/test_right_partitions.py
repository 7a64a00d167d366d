"""The right partitions of the museum against examples worked out by hand from the rules."""

import pytest

from tests.conformance.engines.museum.asking import replay, steps


def test_blocking_34_the_third_poll_waits_for_a_buffer_that_comes_back():
    written = [{"type": "buffer", "data": data, "finished": True} for data in ("0a", "0b")]
    reading = [{"type": "view"}, *[{"type": "poll", "view": 0}] * 3, {"type": "recycle", "view": 0}]
    answers = steps("blocking_subpartition", {"store": "file"}, [*written, {"type": "finish"}, *reading])
    assert answers[4] == [{"type": "item", "kind": "data", "data": "0a", "backlog": 1, "next": "data", "sequence": 0}]
    assert answers[5] == [{"type": "item", "kind": "data", "data": "0b", "backlog": 0, "next": "none", "sequence": 1}]
    assert answers[6:] == [[{"type": "none"}], [{"type": "data_available", "view": 0}]]


def test_partition_24_goes_with_the_last_of_its_users():
    users = [{"type": "release_view", "view": 0}, {"type": "release_view", "view": 0}, {"type": "close"}]
    opened = [{"type": "setup"}, *({"type": "request", "subpartition": one, "listen": False} for one in (0, 1))]
    events = [*opened, *users, {"type": "release_view", "view": 1}, {"type": "poll", "view": 0}]
    answers = steps("result_partition", {"kind": "pipelined", "subpartitions": 2}, events)
    assert answers[1:3] == [[{"type": "view", "view": 0}], [{"type": "view", "view": 1}]]
    assert answers[3:] == [[], [], [], [{"type": "released"}], [{"type": "rejected"}]]


def test_partition_23_the_end_of_data_says_whether_it_drains():
    events = [{"type": "setup"}, {"type": "end_of_data", "drain": False}, {"type": "finish"}]
    reading = [{"type": "request", "subpartition": 0, "listen": False}, {"type": "poll", "view": 0}]
    answers = steps("result_partition", {"kind": "blocking", "subpartitions": 1}, [*events, *reading])
    assert answers[-1][0]["data"] == "0000000801"


def test_exchange_3_a_pushed_item_is_added_told_and_pulled():
    opened = [{"type": "register"}, {"type": "request", "consumer": 0}]
    pulls = [{"type": "pull", "consumer": 0, "credit": credit} for credit in (False, True, False)]
    ending = [{"type": "finish"}, pulls[2], {"type": "leave", "consumer": 0}]
    events = [*opened, {"type": "produce"}, *pulls[:2], *ending]
    answers = steps("exchange", {"result": "pipelined_bounded", "consumers": 1, "limit": 1}, events)
    told, taken = [{"type": "notified", "consumer": 0}], [{"type": "item", "number": 0, "end": False}]
    assert answers[2:6] == [told, [{"type": "none"}], taken, told]
    assert answers[6:] == [[{"type": "item", "number": 1, "end": True}], [{"type": "released"}]]


@pytest.mark.parametrize(
    ("component", "config", "event"),
    [
        ("blocking_subpartition", {}, None),
        ("blocking_subpartition", {"store": "file"}, {"type": "poll", "view": "0"}),
        ("result_partition", {"kind": "pipelined", "subpartitions": 0}, None),
        ("result_partition", {"kind": "blocking", "subpartitions": 1}, {"type": "release", "by": "nobody"}),
        ("exchange", {"result": "pushed", "consumers": 1, "limit": 1}, None),
        ("exchange", {"result": "blocking", "consumers": 1, "limit": 1}, {"type": "pull", "consumer": 0}),
    ],
)
def test_malformed_cases_are_bad_requests(component, config, event):
    answer = replay(component, config, [event] if event else [])
    assert answer["error"]["kind"] == "bad_request"
