"""A JVM that dies costs one case, whatever it dies of, and the run goes on."""

import os
import signal

import pytest

from tests.paths import PYTHONPATH
from tidegate.conformance.engines import Crashed, Request, Steps
from tidegate.conformance.engines.flink.engine import FlinkEngine
from tidegate.conformance.kinds import resolve

EVENTS = [{"type": "watermark", "channel": 0, "timestamp": "5"}]


def requests(names):
    return [Request(name, "valve", {"channels": 1}, EVENTS) for name in names]


@pytest.mark.parametrize("harm", ["killed", pytest.param("native", marks=pytest.mark.long)])
def test_a_death_is_one_verdict(flink_version, harm, tmp_path, monkeypatch):
    flink_version("2.3.0")
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    monkeypatch.chdir(tmp_path)
    names = [*(f"before-{i}" for i in range(5)), harm, *(f"after-{i}" for i in range(5))]
    with resolve("python:tests.conformance.engines.flink.crashing:Crashing") as engine:
        replies = {request.case: reply for request, reply in engine.replay(requests(names))}
        assert 1 <= engine.restarts <= 2
    assert list(replies) == names
    assert isinstance(replies.pop(harm), Crashed)
    assert all(reply == Steps([[{"type": "watermark", "timestamp": "5"}]]) for reply in replies.values())
    assert not list(tmp_path.iterdir()), "a dying JVM leaves no files where one happens to be"


def test_a_config_that_fills_the_heap_is_one_crash(flink_version):
    """No trick: the valve is asked for more channels than there is memory."""
    greedy = Request("greedy", "valve", {"channels": 2_000_000_000}, EVENTS)
    with FlinkEngine(flink_version("2.3.0")) as engine:
        replies = [reply for _request, reply in engine.replay([*requests(["a"]), greedy, *requests(["b"])])]
    assert [type(reply) for reply in replies] == [Steps, Crashed, Steps]


def test_killing_the_process_from_outside(flink_version):
    with FlinkEngine(flink_version("2.3.0")) as engine:
        replies = []
        for index, (_request, reply) in enumerate(engine.replay(requests(map(str, range(400))))):
            replies.append(reply)
            if index == 100:
                os.kill(engine.connection._child.process.pid, signal.SIGKILL)
        assert engine.restarts >= 1
    assert len(replies) == 400
    assert sum(not isinstance(reply, Steps) for reply in replies) <= 1
