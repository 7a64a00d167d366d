"""The multiplexer, rule by rule, in short notation."""

import pytest

from tests.reference.walking import claim, last, law_holds
from tests.reference.watermarks.short import play
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import multiplexer

FLINK_38454, FLINK_18934, FLINK_17653 = multiplexer.SEMANTICS
IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)


#: What is known to be wrong: always, and until FLINK-38454.
DEFECTS, OLD_DEFECTS = {"idle-only-with-outputs"}, {"idle-has-put-out-the-maximum"}


def run(trace, semantics=FLINK_38454):
    defects = DEFECTS if semantics == FLINK_38454 else DEFECTS | OLD_DEFECTS
    return play("multiplexer", {"semantics": semantics}, trace, breaks=defects)


@pytest.mark.parametrize(
    ("rule", "trace", "answers"),
    [
        ("MUX-1", "add0 0w5 add1 0w9 1w3 1w7", ["", "w5", "", "", "", "w7"]),
        ("MUX-1", "add0 0w5 add0 0w6", ["", "w5", "rejected", "w6"]),
        ("MUX-1", "add0 0i add1 emit", ["", "idle", "", ""]),
        ("MUX-2", "add0 0w5 0i 0w3 emit", ["", "w5", "idle", "", ""]),
        ("MUX-2", "add0 0w5 0i 0later-w3 emit", ["", "w5", "idle", "", ""]),
        ("MUX-2", "0w5 0later-i add0 1w5 1later-i", ["rejected", "rejected", "", "rejected", "rejected"]),
        ("MUX-3", "add0 0w5 0w5 0w4 0w6", ["", "w5", "", "", "w6"]),
        ("MUX-3", "add0 0later-w5 0w5 0a", ["", "", "", "w5"]),
        ("MUX-3", "add0 add1 0w5 1w5 0later-w9 1later-w8 1w6 1a", ["", "", "", "w5", "", "", "", "w8"]),
        ("MUX-4", "add0 0later-w5 0later-i 0later-a emit", ["", "", "", "", "w5"]),
        ("MUX-5", "add0 0later-w5 emit emit 0later-w6 emit", ["", "", "w5", "", "", "w6"]),
        ("MUX-6", "add0 add1 0w5 1w3 1i 1a 0w9 1w7", ["", "", "", "w3", "w5", "", "", "w7"]),
        ("MUX-7", "add0 0later-w6 0later-i emit", ["", "", "", "w6 idle"]),
        ("MUX-7", "add0 add1 0w5 1w4 0i 1i", ["", "", "", "w4", "", "w5 idle"]),
        ("MUX-8", "add0 0i 0i emit 0w3 0i 0a 0i", ["", "idle", "idle", "idle", "w3", "idle", "", "idle"]),
        ("MUX-9", "add0 add1 0w5 1w3 drop1 emit drop1 1w9", ["", "", "", "w3", "", "w5", "", "rejected"]),
        ("MUX-9", "add0 0w5 drop0 add0 add1 1w9 0w4 0w7", ["", "w5", "", "", "", "", "", "w7"]),
        ("MUX-10", "emit add0 0w5 drop0 emit", ["", "", "w5", "", ""]),
        ("MUX-10", "add0 0i drop0 emit emit add1 emit", ["", "idle", "", "idle", "idle", "", ""]),
        ("MUX-10", "add0 0w5 0i 0w3 drop0 emit", ["", "w5", "idle", "", "", "idle"]),
        ("MUX-10", "add0 0w5 0i drop0 add0 0w5 drop0 emit", ["", "w5", "idle", "", "", "", "", "idle"]),
        ("MUX-10", "add0 0i 0a drop0 emit", ["", "idle", "", "", ""]),
    ],
)
def test_rule_in_flink_38454(rule, trace, answers):
    assert run(trace) == answers


@pytest.mark.parametrize(("rule", "trace"), [("MUX-1", "add0 add0"), ("MUX-2", "0w5"), ("MUX-2", "add0 1later-i")])
def test_what_is_refused_by_which_rule(rule, trace):
    assert last("multiplexer", {}, trace) == ("rejected", rule)


@pytest.mark.rule("MUX-7")
@pytest.mark.parametrize("semantics", [FLINK_18934, FLINK_17653])
def test_mux_7_all_idle_changed_nothing(semantics):
    assert run("add0 0later-w6 0later-i emit 0later-w5 emit", semantics) == ["", "", "", "idle", "", "w6"]
    assert run("add0 add1 0w5 1w4 0i 1i", semantics) == ["", "", "", "w4", "", "idle"]


@pytest.mark.rule("MUX-10", "MUX-11")
def test_mux_11_until_1_13_only_a_watermark_wakes():
    trace = "add0 0w5 0i 0a 0later-a emit 0w5 emit 0i drop0 emit"
    first = ["", "w5", "idle"]
    assert run(trace, FLINK_17653) == [*first, "rejected", "rejected", "idle", "", "", "idle", "", ""]
    assert run(trace, FLINK_18934) == [*first, "", "", "", "", "", "idle", "", "idle"]


@pytest.mark.rule("MUX-12")
def test_mux_12_a_combiner_says_less_of_idleness():
    trace = "0w5 1w3 1i 0i 0i 1a 1w4 1w9"
    assert run(f"add0 add1 {trace}")[2:] == ["", "w3", "w5", "idle", "idle", "", "", "w9"]
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
