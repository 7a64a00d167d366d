"""The gate with priorities, rule by rule."""

import attrs
import pytest

from tests.reference.walking import begin, broken_claims, claim, last, seen, walk
from tidegate.reference.elements import Nothing
from tidegate.reference.gate.gate import Poll
from tidegate.reference.gate.priority_gate import queues
from tidegate.reference.gate.priority_gate import step as priority_gate
from tidegate.reference.gate.priority_gate.values import Cancelled, Config, Item, Polled, Received
from tidegate.reference.gate.sequence_numbers import GREATEST_INT, LEAST_INT, is_outdated, wrap
from tidegate.reference.model import InvalidInputError, Outcome

PLAIN = {"channels": 2}


def polls(trace, config=None):
    """What the polls of a trace give: `0data+` with + for more and ! for more priority; - for nothing."""
    shown = []
    for outcome in walk("priority_gate", config or PLAIN, trace):
        for one in outcome.observations:
            if one.type == "item":
                shown.append(f"{one.channel}{one.item.value}{'+' * one.more}{'!' * one.more_priority}")
            elif one.type in ("none", "finished"):
                shown.append("-" if one.type == "none" else ".")
    return " ".join(shown)


@pytest.mark.rule("GATE-6")
def test_gate_6_a_channel_queued_for_nothing_is_skipped():
    assert last("priority_gate", PLAIN, "0notify") == ("available", "GATE-6")
    assert last("priority_gate", PLAIN, "0notify poll") == ("none", "GATE-6")
    assert polls("0notify 1data poll poll") == "1data -"
    assert last("priority_gate", PLAIN, "0notify 1data poll")[1] == "GATE-6"
    assert polls("0data 0notify poll poll") == "0data -"


@pytest.mark.rule("GATE-10", "GATE-12", "GATE-13")
@pytest.mark.parametrize(
    ("trace", "polled"),
    [
        ("0data 0data 0priority poll poll poll", "0priority+ 0data+ 0data"),
        ("0data 1data 1priority poll poll poll", "1priority+ 0data+ 1data"),
        ("0data 0priority 0priority poll poll poll", "0priority+! 0priority+ 0data"),
        ("1priority 0priority poll poll", "1priority+! 0priority"),
        ("0data 1data 1priority 0priority poll poll poll poll", "1priority+! 0priority+ 1data+ 0data"),
    ],
)
def test_gate_10_what_has_priority_overtakes(trace, polled):
    assert polls(trace) == polled


@pytest.mark.rule("GATE-10", "GATE-12")
def test_gate_12_each_future_is_completed_once():
    assert seen("priority_gate", PLAIN, "0priority 0priority 1priority") == [
        "priority_available, available",
        "nothing",
        "nothing",
    ]
    assert seen("priority_gate", PLAIN, "0data 0priority")[1] == "priority_available"


@pytest.mark.rule("GATE-13")
def test_gate_13_priority_is_over_with_the_last_item_that_has_it():
    states = [outcome.state.priority_available for outcome in walk("priority_gate", PLAIN, "0force 0data poll")]
    assert states == [True, True, True]
    states = [outcome.state.priority_available for outcome in walk("priority_gate", PLAIN, "0priority 0data poll")]
    assert states == [True, True, False]


@pytest.mark.rule("GATE-11")
@pytest.mark.parametrize(
    ("first", "trace", "shown"),
    [
        (0, "0priority poll 0urgent0", "nothing"),
        (0, "0priority poll 0urgent1", "priority_available, available"),
        (2**31 - 1, "0priority poll 0urgent-2147483648", "priority_available, available"),
        (-(2**31), "0priority 0priority poll poll 0urgent2147483647", "nothing"),
        (2**30 - 1, "0data 0priority", "nothing"),
        (2**30 - 2, "0data 0priority", "priority_available"),
    ],
)
def test_gate_11_a_late_notification_is_ignored(first, trace, shown):
    assert seen("priority_gate", {"channels": 1, "first": first}, trace)[-1] == shown


@pytest.mark.rule("GATE-14")
def test_gate_14_a_barrier_that_may_time_out_is_announced():
    assert polls("0data 0barrier poll poll poll") == "0announcement+ 0data+ 0barrier"
    assert polls("0priority 0barrier poll poll poll") == "0priority+! 0announcement+ 0barrier"
    assert last("priority_gate", PLAIN, "0data 0barrier poll")[1] == "GATE-14"


@pytest.mark.rule("GATE-18")
@pytest.mark.parametrize(
    ("trace", "polled"),
    [
        ("0end 0end poll poll", "0end_of_data -"),
        ("0end 0data 0end poll poll", "0data+ 0end_of_data"),
        ("0over poll 0over poll poll", "- 0end_of_partition. -"),
        ("0end 0over 0end 0over poll poll poll", "0end_of_data+ 0end_of_partition. -"),
    ],
)
def test_gate_18_the_last_ending_of_a_shared_channel_counts(trace, polled):
    assert polls(trace, {"channels": 1, "subpartitions": 2}).replace(" .", ".") == polled


@pytest.mark.rule("GATE-18")
def test_gate_18_a_third_ending_of_two_is_refused():
    config = {"channels": 1, "subpartitions": 2}
    assert last("priority_gate", config, "0end 0end 0end") == ("rejected", "GATE-15")
    assert last("priority_gate", config, "0over 0over 0data") == ("rejected", "GATE-16")


@pytest.mark.parametrize("trace", ["2data", "-1notify", "2force", "2urgent0", "0over 0priority"])
def test_refused(trace):
    assert seen("priority_gate", PLAIN, trace)[-1] == "rejected"


@pytest.mark.rule("GATE-13")
def test_the_law_of_the_plain_gate_fails_where_data_overtakes(monkeypatch):
    law = priority_gate.without_priorities_the_plain_gate
    monkeypatch.setattr(queues, "enqueue", queues.prioritise)
    monkeypatch.setattr(queues, "put_back", lambda state, _index: state)
    assert not all(law.holds(*sample) for sample in law.samples())


@pytest.mark.parametrize(
    ("changes", "claims"),
    [
        ({"queue": (0, 1, 1)}, {"nobody-is-missed"}),
        ({"queue": ()}, {"nobody-is-missed", "available-with-a-queue"}),
        ({"available": False}, {"available-with-a-queue"}),
        ({"priority_available": True}, {"priority-falls-with-the-last"}),
    ],
)
def test_claims_fail_on_a_broken_poll(changes, claims):
    before = walk("priority_gate", PLAIN, "0data 1priority 1data")[-1].state
    (outcome,) = priority_gate.step(before, Poll())
    broken = attrs.evolve(outcome, state=attrs.evolve(outcome.state, **changes))
    assert broken_claims("priority_gate", before, Poll(), broken) == claims


# --- sequence numbers -----------------------------------------------------------------------------------------

HALF = 2**30


@pytest.mark.parametrize(
    ("number", "wrapped"), [(2**31, -(2**31)), (2**31 - 1, 2**31 - 1), (-(2**31) - 1, 2**31 - 1), (2**32 + 5, 5)]
)
def test_numbers_wrap_around_after_32_bits(number, wrapped):
    assert wrap(number) == wrapped


@pytest.mark.rule("GATE-11")
@pytest.mark.parametrize(
    ("sequence", "polled", "outdated"),
    [
        (HALF, -1, True),
        (HALF - 1, -1, False),
        (-1, HALF, False),
        (-1, HALF - 1, True),
        (0, HALF, True),
        (HALF, 0, False),
        (LEAST_INT, GREATEST_INT, False),
        (GREATEST_INT, LEAST_INT, True),
    ],
)
def test_a_negative_number_is_newer_than_one_beyond_half_the_range(sequence, polled, outdated):
    assert is_outdated(sequence, polled) == outdated


def test_numbers_begin_with_0_where_nothing_else_is_said():
    assert [channel.expected for channel in begin("priority_gate", PLAIN).channels] == [0, 0]
    assert Config(2) == Config(2, subpartitions=1, first=0)


@pytest.mark.rule("GATE-28")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0priority poll close poll", "cancelled"),
        ("0priority close poll", "cancelled"),
        ("0data close close poll", "cancelled"),
        ("0over 1over poll poll close poll", "none"),
        ("close 0data", "rejected"),
        ("close 0force", "priority_available, available"),
    ],
)
def test_a_gate_that_is_closed_cancels_who_polls(trace, shown):
    assert last("priority_gate", PLAIN | {"extension": "closing"}, trace)[0] == shown


@pytest.mark.rule("GATE-16")
def test_a_channel_has_ended_when_its_last_end_was_polled():
    config = {"channels": 2, "subpartitions": 2, "extension": "closing"}
    shown = seen("priority_gate", config, "0over 0over unfinished poll unfinished 1over poll unfinished")
    assert [one for one in shown if "unfinished" in one] == [
        f"unfinished(channels {left})" for left in ("[0,1]", "[1]", "[1]")
    ]


@pytest.mark.parametrize("event", ["close", "unfinished"])
def test_a_gate_is_closed_in_the_extension_only(event):
    with pytest.raises(InvalidInputError, match="extension closing"):
        seen("priority_gate", PLAIN, event)


@pytest.mark.rule("GATE-28")
@pytest.mark.parametrize(
    ("closed", "shown", "holds"),
    [
        (False, Polled(0, Item.DATA, more=False, more_priority=False), True),
        (True, Polled(0, Item.DATA, more=False, more_priority=False), False),
        (False, Cancelled(), False),
        (True, Cancelled(), True),
    ],
)
def test_a_poll_is_cancelled_exactly_where_the_gate_is_closed(closed, shown, holds):
    state = attrs.evolve(begin("priority_gate", PLAIN | {"extension": "closing"}), closed=closed)
    name = "nothing-comes-out-of-a-closed-gate"
    assert claim("priority_gate", name)(state, Poll(), Outcome(state, (shown,), ())) == holds


@pytest.mark.rule("GATE-13")
def test_a_poll_that_finds_nothing_where_priority_waits_is_refused():
    before = walk("priority_gate", PLAIN, "0data 1priority")[-1].state
    assert claim("priority_gate", "priority-first")(before, Poll(), Outcome(before, (Nothing(),), ())) is False


@pytest.mark.rule("GATE-10")
@pytest.mark.parametrize(
    ("rows", "holds"),
    [
        (((Item.PRIORITY, Item.DATA), (Item.DATA,)), True),
        (((Item.DATA, Item.PRIORITY), (Item.DATA,)), False),
        (((), (Item.DATA, Item.PRIORITY)), False),
    ],
)
def test_priority_stands_first_in_each_channel(rows, holds):
    state = begin("priority_gate", PLAIN)
    waiting = [tuple(Received(item, number) for number, item in enumerate(row)) for row in rows]
    channels = tuple(attrs.evolve(one, waiting=row) for one, row in zip(state.channels, waiting, strict=True))
    assert claim("priority_gate", "priority-stands-first")(attrs.evolve(state, channels=channels)) == holds
