"""The combiner beside the valve."""

from tests.reference.watermarks.short import play


def test_comb_8_differs_from_the_valve_on_the_same_inputs():
    trace = "1i 0w10 1a 0w20"
    assert play("combiner", {"inputs": 2}, trace) == ["", "w10", "", ""]
    assert play("valve", {"channels": 2}, trace) == ["", "w10", "", "w20"]
