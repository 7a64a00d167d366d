"""The combiner, rule by rule, in short notation."""

import pytest

from tests.reference.watermarks.short import play
from tidegate.reference.watermarks import combiner

FLINK_38454, FLINK_18934 = combiner.SEMANTICS


def run(inputs, trace, semantics=FLINK_38454):
    defects = {"all-idle-puts-out-the-maximum"} if semantics == FLINK_18934 else set()
    return play("combiner", {"inputs": inputs, "semantics": semantics}, trace, breaks=defects)


@pytest.mark.parametrize(
    ("rule", "inputs", "trace", "answers"),
    [
        ("COMB-1", 2, "0w5 0i 0w1 1w9", ["", "", "", "w5"]),
        ("COMB-2", 2, "1i 0w10 1a 0w20 1w15", ["", "w10", "", "", "w15"]),
        ("COMB-2", 2, "2w5 -1i", ["rejected", "rejected"]),
        ("COMB-3", 2, "0w6 1w3 0i 1i", ["", "w3", "", "w6 idle"]),
        ("COMB-3", 2, "0w6 1w3 1i 0i", ["", "w3", "w6", "idle"]),
        ("COMB-4", 1, "0w3 0w3 0w2 0w4", ["w3", "", "", "w4"]),
        ("COMB-6", 2, "0w6 0i 1i 0a", ["", "", "w6 idle", "active"]),
        ("COMB-7", 1, "0i 0w3 0i", ["idle", "w3", "idle"]),
    ],
)
def test_rule_in_flink_38454(rule, inputs, trace, answers):
    assert run(inputs, trace) == answers


def test_comb_3_all_idle_changes_nothing_in_flink_18934():
    assert run(2, "0w6 1w3 0i 1i", FLINK_18934) == ["", "w3", "", "idle"]


def test_comb_8_differs_from_the_valve_on_the_same_inputs():
    trace = "1i 0w10 1a 0w20"
    assert run(2, trace) == ["", "w10", "", ""]
    assert play("valve", {"channels": 2}, trace) == ["", "w10", "", "w20"]
