"""The union of gates, rule by rule."""

import pytest

from tests.reference.walking import last, seen, walk
from tidegate.reference.gate.union_gate import DataEnded, Item, Polled

TWO = {"members": [2, 1]}


def polls(trace, config=None):
    return [shown for shown in seen("union_gate", config or TWO, trace) if "item" in shown or shown == "none"]


@pytest.mark.rule("GATE-26")
def test_gate_26_channels_are_numbered_through():
    assert polls("1.0data 0.1data poll poll") == [
        "item(channel 2, item data, more true)",
        "item(channel 1, item data, more false)",
    ]


@pytest.mark.rule("GATE-26")
def test_gate_26_members_take_turns():
    outcomes = walk("union_gate", TWO, "0.0data 0.0data 0.1data 1.0data poll poll poll poll")
    assert [outcome.observations[0].channel for outcome in outcomes[4:]] == [0, 2, 1, 0]
    assert outcomes[4].rules[0] == "GATE-26"


@pytest.mark.rule("GATE-27")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0.0data", "available"),
        ("0.0data 1.0data", "nothing"),
        ("0.0data poll 0.0data", "nothing"),
        ("0.0data poll poll 0.0data", "available"),
        ("0.0data poll 0.0data poll", "item(channel 0, item data, more false)"),
        ("0.0data 1.0data poll", "item(channel 0, item data, more true)"),
        ("0.0over 0.1over poll poll", "item(channel 1, item end_of_partition, more false)"),
        ("1.0over poll 0.0over 0.1over poll poll", "item(channel 1, item end_of_partition, more false), finished"),
        ("1.0over 0.0over 0.1over poll poll poll poll", "none"),
    ],
)
def test_gate_27_members_are_listened_to_until_they_are_finished(trace, shown):
    assert last("union_gate", TWO, trace) == (shown, "GATE-27")


@pytest.mark.rule("GATE-27")
@pytest.mark.parametrize(
    ("trace", "drained"),
    [("0.0end 0.1end 1.0end", True), ("0.0stop 0.1end 1.0end", False), ("0.0end 0.1end 1.0stop", False)],
)
def test_gate_27_drained_only_if_every_member_is(trace, drained):
    outcomes = walk("union_gate", TWO, f"{trace} poll poll poll")
    ends = [[one.drained for one in outcome.observations if one.type == "data_ended"] for outcome in outcomes]
    assert ends == [[]] * 5 + [[drained]]


@pytest.mark.parametrize(
    ("trace", "rule"),
    [
        ("2.0data", "GATE-26"),
        ("-1.0data", "GATE-26"),
        ("1.1data", "GATE-1"),
        ("0.0end 0.0stop", "GATE-15"),
        ("0.0over 0.0data", "GATE-16"),
    ],
)
def test_refused(trace, rule):
    assert last("union_gate", TWO, trace) == ("rejected", rule)


# --- the end of all data --------------------------------------------------------------------------------------


@pytest.mark.rule("GATE-27")
def test_the_end_of_all_data_is_named_though_its_member_has_more():
    *_, outcome = walk("union_gate", {"members": [1, 1]}, "0.0end 1.0end 1.0over poll poll")
    assert outcome.observations == (Polled(1, Item.END_OF_DATA, more=True), DataEnded(drained=True))
    assert outcome.rules == ("GATE-27", "GATE-26")
