"""The multiplexer of Flink does what the specification says, release by release."""

import pytest

from tests.conformance.engines.flink.replaying import answer, is_bad_request, replay, replay_generated
from tidegate.conformance.engines.flink.engine import FlinkEngine
from tidegate.properties.complete.suite import build
from tidegate.properties.drawing.scopes import small

REGISTER, EMIT = {"type": "register", "output": 3}, {"type": "periodic_emit"}
SIX = {"type": "watermark", "output": 3, "mode": "deferred", "timestamp": "6"}
IDLE = {"type": "status", "output": 3, "mode": "deferred", "status": "idle"}


def test_the_complete_suite(flink):
    cases = [case for scope in small("multiplexer") for case in build(scope).cases]
    assert replay(flink, cases[::3]) > 600


@pytest.mark.parametrize(
    ("version", "semantics", "told"),
    [
        pytest.param("1.12.5", "flink-17653", ["idle"], marks=pytest.mark.long),
        pytest.param("1.17.0", "flink-18934", ["idle"], marks=pytest.mark.long),
        pytest.param("2.1.0", "flink-18934", ["idle"], marks=pytest.mark.long),
        ("2.3.0", "flink-38454", ["6", "idle"]),
    ],
)
@pytest.mark.rule("MUX-7")
def test_flink_38454_in_the_releases(flink_version, version, semantics, told):
    with FlinkEngine(flink_version(version)) as engine:
        assert engine.start().components["multiplexer"].semantics == {semantics}
        seen = answer(engine, "multiplexer", {}, REGISTER, SIX, IDLE, EMIT)[-1]
        assert [one.get("timestamp", one.get("status")) for one in seen] == told
        assert replay_generated(engine, "multiplexer", 150) == 150


def test_flink_says_why_it_refuses(flink):
    (_, (twice,), (unknown,), nothing) = answer(
        flink, "multiplexer", {}, REGISTER, REGISTER, {**SIX, "output": 4}, {"type": "unregister", "output": 4}
    )
    assert "Already contains an output for ID 3" in twice["reason"]
    assert "no output registered under id 4" in unknown["reason"]
    assert nothing == []


@pytest.mark.parametrize("event", [{**SIX, "mode": "at_once"}, {**SIX, "timestamp": 6}, {"type": "emit", "output": 3}])
def test_what_is_no_event_is_a_bad_request(flink, event):
    assert is_bad_request(flink, "multiplexer", {}, REGISTER, event)
