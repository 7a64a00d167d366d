"""The multiplexer beside the combiner, and its claims."""

import pytest

from tests.reference.walking import claim, law_holds
from tests.reference.watermarks.short import play
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import multiplexer

IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)


@pytest.mark.rule("MUX-12")
def test_mux_12_a_combiner_says_less_of_idleness():
    trace = "0w5 1w3 1i 0i 0i 1a 1w4 1w9"
    shown = play("multiplexer", {}, f"add0 add1 {trace}", breaks={"idle-only-with-outputs"})
    assert shown[2:] == ["", "w3", "w5", "idle", "idle", "", "", "w9"]
    assert play("combiner", {"inputs": 2}, trace) == ["", "w3", "w5", "idle", "", "active", "", "w9"]


@pytest.mark.rule("MUX-12")
def test_mux_12_law_fails_where_watermarks_go_unheard(monkeypatch):
    monkeypatch.setattr(multiplexer, "on_watermark", lambda state, *_rest: Outcome(state, (), ()))
    assert not law_holds("multiplexer", "puts-out-the-watermarks-of-a-combiner")


# --- claims refuse what they are there to refuse ----------------------------------------------------------------

EMIT = multiplexer.PeriodicEmit()


def state(combined, *outputs, idle=False):
    return multiplexer.State(multiplexer.Config(), outputs, Long(combined), idle)


def refuses(name, after, *seen, event=EMIT):
    return not claim("multiplexer", name)(state(5, multiplexer.Output(Long(5), id=0)), event, Outcome(after, seen, ()))


@pytest.mark.parametrize(("combined", "emitted"), [(5, [5]), (4, []), (5, [4]), (5, [6]), (6, [])])
def test_a_combined_watermark_that_is_not_the_new_one_is_refused(combined, emitted):
    assert refuses("combined-never-falls", state(combined), *(Watermark(Long(one)) for one in emitted))


def test_idle_of_nobody_and_of_some_is_refused():
    asleep, awake = multiplexer.Output(idle=True, id=0), multiplexer.Output(id=1)
    assert refuses("idle-only-with-outputs", state(5), IDLE)
    assert refuses("idle-only-with-outputs", state(5, asleep, awake), IDLE)
    assert not refuses("idle-only-with-outputs", state(5, asleep), IDLE)
