"""The record writers of Flink do what the specification says, buffer by buffer."""

import pytest

from tests.conformance.engines.flink.replaying import answer, is_bad_request, replay
from tidegate.properties.complete.suite import build
from tidegate.properties.drawing.scopes import small

CONFIG = {"kind": "selecting", "channels": 2, "buffer_size": 8, "timeout": -1}
SHARED = {**CONFIG, "kind": "broadcast"}
TEN = {"type": "record", "channel": 0, "payload": "00010203040506070809"}
ALL = {"type": "broadcast", "payload": "61"}


def added(channel, held):
    return {"type": "add", "channel": channel, "committed": held, "partial": held}


def test_the_complete_suite(flink):
    cases = [case for scope in small("writer") for case in build(scope).cases]
    assert replay(flink, cases[::20]) > 300


@pytest.mark.rule("SPAN-5")
def test_what_continues_a_record_is_queued_with_its_bytes(flink):
    (steps,) = answer(flink, "writer", CONFIG, TEN)
    assert [one for one in steps if one["type"] == "add"] == [added(0, 0), added(0, 6)]


@pytest.mark.rule("SPAN-12", "SPAN-13")
def test_a_broadcast_writer_takes_one_buffer_for_all(flink):
    shared, single = answer(flink, "writer", SHARED, ALL, {**TEN, "payload": ""})
    assert shared == [{"type": "request"}, added(0, 0), added(1, 0)]
    seen = [{"type": "buffer", "channel": channel, "data": "0000000161"} for channel in (0, 1)]
    assert single == [*seen, {"type": "count", "bytes": 10, "buffers": 2}, {"type": "request"}, added(0, 0)]


@pytest.mark.rule("SPAN-11")
def test_a_failed_flusher_is_noticed(flink):
    config = {**CONFIG, "timeout": 5}
    assert answer(flink, "writer", config, {"type": "fail"}, ALL, {"type": "fail"})[1:] == [
        [{"type": "io_error"}],
        [{"type": "rejected"}],
    ]


@pytest.mark.parametrize(
    ("config", "event"),
    [
        ({**CONFIG, "kind": "sorting"}, ALL),
        ({**CONFIG, "timeout": -2}, ALL),
        ({**CONFIG, "timeout": 2**31}, ALL),
        (CONFIG, {**ALL, "payload": "6"}),
        (CONFIG, {"type": "hint", "channel": 0, "size": -1}),
    ],
)
def test_what_is_outside_of_the_domain_is_a_bad_request(flink, config, event):
    assert is_bad_request(flink, "writer", config, event)
