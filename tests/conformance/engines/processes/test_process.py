"""The life of an engine process, seen by a caller who behaves well, and by one who does not."""

import gc
import os
import signal
import sys
import time

import pytest

from tests.conformance.engines.conftest import MARK, survivors, survivors_in_the_end
from tests.processes import PATIENCE, launch, wait_until
from tidegate.conformance.engines import Broken, Crashed, NotRun, Request, Steps, TimedOut
from tidegate.conformance.engines.errors import BadHelloError, EngineBusyError
from tidegate.conformance.kinds import resolve

EVENTS = [{"type": "watermark", "channel": 0, "timestamp": str(step)} for step in range(3)]
RIGHT = Steps([[{"type": "watermark", "timestamp": str(step)}] for step in range(3)])


def case(name="good", **changes):
    parts = {"case": name, "component": "valve", "config": {"channels": 1}, "events": EVENTS}
    return Request(**(parts | changes))


@pytest.fixture
def mark(monkeypatch):
    """Marks the processes that a test starts, and looks for them afterwards."""
    value = os.urandom(12).hex()
    # Only what is exec'd with the environment shows the mark: this very process does not.
    monkeypatch.setenv(MARK, value)
    yield value
    assert survivors_in_the_end(value) == []


@pytest.fixture
def engine(hostile, mark):
    """An engine that answers rightly, and dies of whatever is bad."""
    with resolve(hostile("dies_in_a_case"), case_timeout=PATIENCE) as started:
        yield started


def test_an_engine_that_was_launched_gets_ready_meanwhile(hostile, mark):
    engine = resolve(hostile("dies_in_a_case"), case_timeout=PATIENCE)
    engine.launch()
    process = engine._launched
    engine.launch()
    with engine:
        assert engine.connection is process
        assert [reply for _request, reply in engine.replay([case()])] == [RIGHT]


def test_an_engine_that_was_launched_and_not_needed_is_gone(hostile, mark):
    engine = resolve(hostile("dies_in_a_case"))
    engine.launch()
    engine.close()
    assert survivors_in_the_end(mark) == []


def test_requests_are_drawn_only_as_far_as_the_window(hostile, mark):
    drawn = []

    def requests():
        for number in range(1000):
            drawn.append(number)
            yield case(f"case-{number}")

    with resolve(hostile("dies_in_a_case"), window=8) as engine:
        replies = engine.replay(requests())
        assert drawn == []
        for given in range(1, 20):
            assert next(replies)[1] == RIGHT
            assert given <= len(drawn) <= given + 9


def test_requests_are_bounded_by_their_bytes_too(hostile, mark):
    drawn = []

    def requests():
        for number in range(50):
            drawn.append(number)
            yield case("x" * 100_000)

    with resolve(hostile("dies_in_a_case"), window_bytes=250_000) as engine:
        replies = engine.replay(requests())
        for given in range(1, 10):
            next(replies)
            assert len(drawn) <= given + 4


def test_long_requests_and_replies_do_not_block_each_other(hostile, mark):
    events = [{"type": "watermark", "channel": 0, "timestamp": "1" * 1000} for _ in range(2000)]
    with resolve(hostile("dies_in_a_case"), window_bytes=100_000_000) as engine:
        replies = [reply for _, reply in engine.replay(case(events=events) for _ in range(8))]
    assert all(isinstance(reply, Steps) and len(reply.steps) == 2000 for reply in replies)


def test_many_replays_one_after_the_other(engine):
    for _ in range(20):
        assert [reply for _, reply in engine.replay([case()])] == [RIGHT]
    assert list(engine.replay([])) == []
    assert engine.restarts == 0


def test_a_single_bad_case_is_blamed_at_once(engine):
    list(engine.replay([case()]))
    (found,) = engine.replay([case("bad")])
    assert isinstance(found[1], Crashed)
    assert engine.restarts == 1
    assert [reply for _, reply in engine.replay([case()])] == [RIGHT], "the next replay starts it again"


def test_the_time_that_the_caller_takes_does_not_count(hostile, mark, monkeypatch):
    clock, taken = time.monotonic, [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock() + sum(taken))
    with resolve(hostile("dies_in_a_case"), case_timeout=PATIENCE) as engine:
        for _, reply in engine.replay(case(f"case-{i}") for i in range(3)):
            assert reply == RIGHT
            taken.append(2 * PATIENCE)
        assert engine.restarts == 0


def test_a_replay_that_is_left_early_leaves_no_answers_behind(engine):
    for number, _ in enumerate(engine.replay(case(f"case-{i}") for i in range(100))):
        if number == 3:
            break
    gc.collect()
    assert [reply for _, reply in engine.replay([case()])] == [RIGHT]
    assert engine.restarts == 0, "that was not the engine's fault"


def test_one_replay_at_a_time(engine):
    first = engine.replay(case(f"case-{i}") for i in range(100))
    next(first)
    with pytest.raises(EngineBusyError):
        engine.replay([case()])
    first.close()
    assert [reply for _, reply in engine.replay([case()])] == [RIGHT]


def test_an_error_of_the_caller_passes_through(engine):
    def requests():
        yield case()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(engine.replay(requests()))
    assert [reply for _, reply in engine.replay([case()])] == [RIGHT]


def test_closing_in_mid_replay_and_starting_again(hostile, mark):
    engine = resolve(hostile("dies_in_a_case"))
    replies = engine.replay(case(f"case-{i}") for i in range(100))
    next(replies)
    engine.close()
    engine.close()
    assert list(replies) == []
    assert survivors_in_the_end(mark) == []
    assert engine.start().name == "hostile"
    assert [reply for _, reply in engine.replay([case()])] == [RIGHT]
    engine.close()
    assert engine.exit_status == 0


def test_an_engine_that_is_forgotten_is_killed(hostile, mark):
    engine = resolve(hostile("hangs_in_a_case"))
    engine.start()
    assert survivors(mark)
    del engine
    gc.collect()
    assert survivors_in_the_end(mark) == []


def test_an_engine_without_bye_status(hostile, mark):
    engine = resolve(hostile("ignores_bye"), bye_grace=0.1, kill_grace=0.1)
    with engine:
        pass
    assert engine.exit_status is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_harness_leaves_nothing_behind(laboratory, number):
    command = laboratory.command("ignores_sigterm", ["before", "bad"], case_timeout=PATIENCE, kill_grace=0.2)
    with launch(command, env=laboratory.environment) as harness:
        wait_until((laboratory.scratch / "hangs").exists, harness)
        harness.send_signal(number)
        _, stderr = harness.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in stderr
    assert survivors_in_the_end(laboratory.mark) == []


def test_strict_mode_names_the_place_in_a_reply(hostile, mark):
    with resolve(hostile("answers_two_to_the_63"), strict=True) as engine:
        replies = [reply for _, reply in engine.replay([case(), case("bad"), case()])]
    assert replies[0] == replies[2] == RIGHT
    assert isinstance(replies[1], Broken)
    assert "ok/steps/0/0/timestamp: '9223372036854775808' does not match" in replies[1].message
    assert engine.restarts == 0


def test_strict_mode_names_the_place_in_a_request(hostile, mark):
    with resolve(hostile("dies_in_a_case"), strict=True) as engine:
        replies = [reply for _, reply in engine.replay([case(), case("bad", config={"channels": 0}), case()])]
    assert replies[0] == replies[2] == RIGHT
    assert replies[1] == Broken(
        "the request breaks the schema of the protocol: config/channels: 0 is less than the minimum of 1"
    )


def test_strict_mode_checks_hello(tmp_path):
    script = tmp_path / "engine.py"
    script.write_text(
        'print(\'{"id":1,"ok":{"protocol":1,"implementation":{"name":"","version":"1","language":"x"},"components":{}}}\','
        "flush=True); input(); input()"
    )
    with pytest.raises(BadHelloError, match="ok/implementation/name"):
        resolve(f"exec:{sys.executable} {script}", strict=True).start()


def test_a_timeout_says_how_long_it_was(hostile, mark):
    with resolve(hostile("hangs_in_a_case"), case_timeout=0.3, kill_grace=0.1) as engine:
        ((_, reply),) = engine.replay([case("bad")])
    assert reply == TimedOut(0.3)


def test_who_has_hung_twice_is_waited_for_a_shorter_time(hostile, mark):
    with resolve(hostile("hangs_in_a_case"), case_timeout=0.5, kill_grace=0.1) as engine:
        replies = [reply for _ in range(4) for _, reply in engine.replay([case("bad")])]
    assert replies == [TimedOut(0.5), TimedOut(0.5), TimedOut(0.1), TimedOut(0.1)]


def test_an_engine_that_becomes_another_one_is_refused(tmp_path):
    """It calls itself by another name each time it is started, and dies of every case."""
    engine = tmp_path / "engine.py"
    count = tmp_path / "count"
    engine.write_text(
        "import json, pathlib, sys\n"
        f"count = pathlib.Path({str(count)!r})\n"
        "number = len(count.read_text()) if count.exists() else 0\n"
        "count.write_text('x' * (number + 1))\n"
        "json.loads(sys.stdin.readline())\n"
        "about = {'name': f'engine-{number}', 'version': '1', 'language': 'python'}\n"
        "ok = {'protocol': 1, 'implementation': about, 'components': {'valve': {}}}\n"
        "print(json.dumps({'id': 1, 'ok': ok}), flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with resolve(f"exec:{sys.executable} {engine}") as started:
        replies = [reply for _request, reply in started.replay([case(), case()])]
        assert {type(reply) for reply in replies} <= {NotRun, Crashed}
        assert "reports another name: engine-1 1 (valve), not engine-0 1 (valve)" in replies[-1].reason
