"""The rule that a union names when all data has ended."""

import pytest

from tidegate.reference.gate.gate import Poll
from tidegate.reference.gate.union_gate import Arrive, Config, DataEnded, Item, Polled, start, step


@pytest.mark.rule("GATE-27")
def test_the_end_of_all_data_is_named_though_its_member_has_more():
    (state,) = start(Config((1, 1)))
    arrivals = [Arrive(0, 0, Item.END_OF_DATA), Arrive(1, 0, Item.END_OF_DATA), Arrive(1, 0, Item.END_OF_PARTITION)]
    for event in (*arrivals, Poll()):
        state = step(state, event)[0].state
    (outcome,) = step(state, Poll())
    assert outcome.observations == (Polled(1, Item.END_OF_DATA, more=True), DataEnded(drained=True))
    assert outcome.rules == ("GATE-27", "GATE-26")
