"""The union of gates, rule by rule."""

import pytest

from tests.reference.walking import walk
from tidegate.reference.gate.union_gate import DataEnded, Item, Polled


@pytest.mark.rule("GATE-27")
def test_the_end_of_all_data_is_named_though_its_member_has_more():
    *_, outcome = walk("union_gate", {"members": [1, 1]}, "0.0end 1.0end 1.0over poll poll")
    assert outcome.observations == (Polled(1, Item.END_OF_DATA, more=True), DataEnded(drained=True))
    assert outcome.rules == ("GATE-27", "GATE-26")
