"""The valve, rule by rule, in short notation."""

import pytest

from tests.reference.walking import begin, walk
from tests.reference.watermarks.short import play
from tidegate.reference.elements import MAX, MIN
from tidegate.reference.watermarks import valve

FLINK_7728, FLINK_40475 = valve.SEMANTICS
DEFECTS = {FLINK_7728: {"all-idle-puts-out-the-maximum", "no-pending-minimum"}, FLINK_40475: set()}


def run(channels, trace, semantics=FLINK_7728):
    return play("valve", {"channels": channels, "semantics": semantics}, trace, breaks=DEFECTS[semantics])


@pytest.mark.rule("VALVE-1")
def test_valve_1_starts_active_aligned_and_at_the_smallest_timestamp():
    state = begin("valve", {"channels": 2})
    assert state.channels == (valve.Channel(MIN, active=True, aligned=True),) * 2
    assert (state.last, state.active) == (MIN, True)


@pytest.mark.rule("VALVE-1")
@pytest.mark.parametrize("trace", ["2w5", "-1w5", "2i", "-1a"])
def test_valve_1_refuses_an_index_outside_the_range(trace):
    assert run(2, trace) == ["rejected"]


@pytest.mark.parametrize(
    ("rule", "channels", "trace", "answers"),
    [
        ("VALVE-2", 2, "0i 0w7 1w3 0a 1w5", ["", "", "w3", "", "w5"]),
        ("VALVE-3", 1, "0w5 0w5 0w4 0w6", ["w5", "", "", "w6"]),
        ("VALVE-4", 2, "1i 0w10 1a 1w10 0w20", ["", "w10", "", "", ""]),
        ("VALVE-5", 2, "0w5 1w3 1w9", ["", "w3", "w5"]),
        ("VALVE-5", 2, "1i 0w5 1a 0i 1w3", ["", "w5", "", "", ""]),
        ("VALVE-6", 2, "1i 0w10 1a 1w5 0w20", ["", "w10", "", "", "w20"]),
        ("VALVE-7", 2, "0a 0i 0i", ["", "", ""]),
        ("VALVE-8", 2, "0w5 1w3 1i 1a 0w6", ["", "w3", "w5", "", "w6"]),
        ("VALVE-9", 3, "2i 0w20 1w10 0i 2a 1i 0a 2i", ["", "", "w10", "", "", "", "", ""]),
        ("VALVE-10", 2, "0w3 1w5 1i 0i", ["", "w3", "", "w5 idle"]),
        ("VALVE-11", 2, "0w3 0i 1i 0a 1a", ["", "", "w3 idle", "active", ""]),
        ("VALVE-12", 3, "2i 0w20 1w10 0i 2a 1i 0a 0w20 0w21", ["", "", "w10", "", "", "", "", "", "w21"]),
        ("VALVE-13", 3, "2i 0w20 1w10 0i 2a 1i 2i", ["", "", "w10", "", "", "", "idle"]),
        ("VALVE-14", 2, "0i 1i", ["", "idle"]),
        ("VALVE-15", 1, f"0w{MAX} 0i 0a 0w{MAX}", [f"w{MAX}", "idle", "active", ""]),
    ],
)
def test_rule_in_flink_7728(rule, channels, trace, answers):
    assert run(channels, trace) == answers


@pytest.mark.parametrize(
    ("rule", "channels", "trace", "answers"),
    [
        ("VALVE-12", 3, "2i 0w20 1w10 0i 2a 1i 0a 0w20 0w21", ["", "", "w10", "", "", "", "w20", "", "w21"]),
        ("VALVE-13", 3, "2i 0w20 1w10 0i 2a 1i 2i", ["", "", "w10", "", "", "", "w20 idle"]),
        ("VALVE-10", 2, "0w3 1w5 1i 0i", ["", "w3", "", "w5 idle"]),
    ],
)
def test_rule_in_flink_40475(rule, channels, trace, answers):
    assert run(channels, trace, FLINK_40475) == answers


def test_outcomes_name_the_deciding_rule_first():
    (outcome,) = walk("valve", {"channels": 1}, "0i")
    assert outcome.rules == ("VALVE-10", "VALVE-8", "VALVE-14")
