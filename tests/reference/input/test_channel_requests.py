"""What is asked of channels, rule by rule."""

import pytest

from tests.reference.walking import seen, state_after
from tidegate.reference.components import COMPONENTS
from tidegate.reference.input.channel_requests import BarrierArrives
from tidegate.reference.model import InvalidInputError
from tidegate.traces.notation.text import read_trace, write_observations


def run(kinds, trace):
    return seen("channel_requests", {"channels": kinds.split()}, trace)


@pytest.mark.rule("CHAN-3")
@pytest.mark.parametrize("kind", ["remote", "local"])
def test_chan_3_a_released_channel_refuses(kind):
    assert run(kind, "request 0release 0resume 0size7")[-2:] == ["rejected", "rejected"]


@pytest.mark.rule("CHAN-3")
def test_chan_3_readers_of_what_is_gone_are_cancelled():
    assert run("remote", "request 0d1 0release 0read")[-1] == "cancelled"
    assert run("local", "request 0d1 0gone 0read 0release 0read")[2:] == ["nothing", "cancelled", "nothing", "empty"]


@pytest.mark.rule("CHAN-4")
def test_chan_4_data_behind_a_barrier_waits():
    trace = "request 0b64 0read 0d1 0read 0resume 0read"
    expected = ["got(item barrier)", "nothing", "empty", "woken(channel 0)", "got(item data, bytes 1)"]
    assert run("local", trace)[2:] == expected


@pytest.mark.rule("CHAN-5")
def test_chan_5_a_size_goes_to_all_that_are_not_released():
    told = run("remote local unknown remote", "size7 request 3release size7")
    assert told[0] == "rejected"
    assert told[-1] == "size(channel 0, size 7), size(channel 1, size 7)"


@pytest.mark.rule("CHAN-6")
@pytest.mark.parametrize(("kinds", "told"), [("remote local", "started"), ("remote unknown", "declined")])
def test_chan_6_checkpoints_are_declined_while_a_channel_is_not_ready(kinds, told):
    assert run(kinds, "request checkpoint")[-1] == told
    assert run("recovering", "checkpoint") == ["declined"]


@pytest.mark.rule("CHAN-7")
def test_chan_7_what_is_queued_and_what_is_in_use():
    measured = run("remote", "request 0d60+1 measure 0d60+3 measure 0read measure 0read measure")
    assert [one.rpartition("in_use ")[2] for one in measured if "in_use" in one] == ["2)", "5)", "4)", "3)"]
    assert run("local", "0d4 0d4 measure request measure")[2::2] == [
        "measured(queued 0, bytes 0, in_use 0)",
        "measured(queued 2, bytes 0, in_use 2)",
    ]


# --- what is left open ----------------------------------------------------------------------------------------


def allowed(kinds, trace):
    """What each allowed outcome of the last event shows."""
    *earlier, event = read_trace("channel_requests", trace)
    state = state_after("channel_requests", {"channels": kinds.split()}, earlier)
    outcomes = COMPONENTS["channel_requests"].step(state, event)
    return [write_observations(outcome.observations) for outcome in outcomes], [one.state for one in outcomes]


@pytest.mark.rule("CHAN-7")
def test_chan_7_bytes_of_a_released_channel_may_still_be_counted():
    counts, _states = allowed("remote remote", "request 0d60 0d4 1d1 0release measure")
    assert counts == ["measured(queued 1, bytes 65, in_use 1)", "measured(queued 1, bytes 1, in_use 1)"]
    assert allowed("remote", "request 0d60 measure")[0] == ["measured(queued 1, bytes 60, in_use 1)"]
    assert allowed("local", "request 0d60 0release measure")[0] == ["measured(queued 0, bytes 0, in_use 0)"]


@pytest.mark.rule("CHAN-4")
def test_chan_4_a_channel_whose_partition_is_gone_may_be_silent():
    shown, states = allowed("local", "request 0b64 0read 0gone 0resume")
    assert shown == ["woken(channel 0)", "nothing"]
    assert not any(state.channels[0].blocked for state in states)
    assert allowed("local", "request 0b64 0read 0resume")[0] == ["nothing"]
    assert allowed("local", "request 0b64 0read 0d1 0resume")[0] == ["woken(channel 0)"]


def test_a_barrier_has_a_length():
    assert run("local", "request 0b64 0read")[-1] == "got(item barrier)"
    with pytest.raises(InvalidInputError, match="64"):
        BarrierArrives(0, 63)
