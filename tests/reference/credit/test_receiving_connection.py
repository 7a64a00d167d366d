"""The receiving end of a connection, rule by rule."""

import attrs
import pytest

from tests.reference.walking import claim, seen, state_after


def run(trace, channels=2, exclusive=1):
    return seen("receiving_connection", {"channels": channels, "exclusive": exclusive}, trace)


@pytest.mark.rule("CONN-1", "CONN-3")
def test_conn_3_nothing_is_told_before_the_connection_is_there():
    assert run("0cancel 0request open 0request 1cancel -1cancel 1data1") == [
        "nothing",
        "rejected",
        "nothing",
        "requested(channel 0, credit 1)",
        "cancelled(channel 1)",
        "nothing",
        "cancelled(channel 1)",
    ]


@pytest.mark.rule("CONN-2")
def test_conn_2_parts_are_queued_one_by_one():
    assert run("open 0request 0parts3,2 0measure", channels=1, exclusive=2)[2:] == [
        "credit(channel 0, amount 3)",
        "measured(queued 3, required 4, held 5)",
    ]


@pytest.mark.rule("CONN-4", "CONN-7")
def test_conn_4_one_channel_fails_and_its_memory_comes_back_once():
    assert run("open 0request 1request 0unsaved 0measure 1data1 0release 0measure")[3:] == [
        "failed(channel 0, cause own)",
        "measured(queued 1, required 0, held 2)",
        "credit(channel 1, amount 2)",
        "cancelled(channel 0)",
        "measured(queued 0, required 0, held 3)",
    ]


@pytest.mark.rule("CONN-5")
def test_conn_5_who_waits_says_all_at_once():
    trace = "open 0request 1request writable- 0data1 1data1 0data3 writable+"
    assert run(trace)[4:] == [
        "nothing",
        "nothing",
        "nothing",
        "credit(channel 0, amount 5), credit(channel 1, amount 2)",
    ]


@pytest.mark.rule("CONN-6")
@pytest.mark.parametrize(
    ("how", "cause"), [("error", "local"), ("reset", "remote"), ("closed", "remote"), ("fatal", "remote")]
)
def test_conn_6_whose_fault_it_is(how, cause):
    failed = ", ".join(f"failed(channel {one}, cause {cause})" for one in (0, 1))
    assert run(f"open 0request 1request break:{how} 0data1 0request")[3:] == [
        f"{failed}, closed",
        "nothing",
        "rejected",
    ]


@pytest.mark.rule("CONN-7")
def test_conn_7_the_last_one_closes_the_connection():
    assert run("open 0request 0release 1request 0release")[2:] == ["close_sent", "rejected", "rejected"]


@pytest.mark.rule("CONN-1")
def test_conn_1_a_channel_that_there_is_not_is_refused():
    assert run("open -2cancel -1cancel 2cancel")[1:] == ["rejected", "nothing", "rejected"]


def test_one_channel_whose_memory_does_not_add_up_is_refused():
    state = state_after("receiving_connection", {"channels": 2, "exclusive": 1}, "open 0request 1request")
    adds_up = claim("receiving_connection", "memory-adds-up")
    assert adds_up(state)
    for wrong_field in ({"free": -1}, {"free": 2}, {"required": 2}):
        wrong = attrs.evolve(state.channels[0], **wrong_field)
        assert not adds_up(attrs.evolve(state, channels=(wrong, state.channels[1])))
