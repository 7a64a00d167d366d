"""The valve: what no trace shows."""

import pytest

from tests.reference.walking import begin, walk
from tidegate.reference.elements import MIN
from tidegate.reference.watermarks import valve


@pytest.mark.rule("VALVE-1")
def test_valve_1_starts_active_aligned_and_at_the_smallest_timestamp():
    state = begin("valve", {"channels": 2})
    assert state.channels == (valve.Channel(MIN, active=True, aligned=True),) * 2
    assert (state.last, state.active) == (MIN, True)


def test_outcomes_name_the_deciding_rule_first():
    (outcome,) = walk("valve", {"channels": 1}, "0i")
    assert outcome.rules == ("VALVE-10", "VALVE-8", "VALVE-14")
