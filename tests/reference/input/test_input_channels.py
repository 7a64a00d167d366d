"""The channels of a gate, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, last, seen, walk
from tidegate.reference.input.input_channels import step as input_channels
from tidegate.reference.input.input_channels.values import Arrive, Config, Item, Location, NotFound
from tidegate.reference.model import InvalidInputError


def config(*locations, **more):
    return {"locations": list(locations), **more}


REMOTE, LOCAL, UNKNOWN = config("remote"), config("local"), config("unknown")


@pytest.mark.rule("GATE-20")
def test_gate_20_task_events_are_forgotten_with_the_last_unknown_channel():
    outcomes = walk("input_channels", config("unknown", "unknown", "remote"), "request task1 0remote task2 1remote")
    assert [outcome.state.pending for outcome in outcomes] == [(), (1,), (1,), (1, 2), ()]


@pytest.mark.rule("GATE-22")
@pytest.mark.parametrize(("timeout", "retries"), [(0, 0), (1, 39), (10, 3), (13, 3), (14, 2), (20, 1), (40, 0)])
def test_gate_22_a_remote_channel_waits_for_less_than_twice_the_maximum(timeout, retries):
    made = config("remote", initial=5, maximum=20, timeout=timeout)
    shown = seen("input_channels", made, "request" + " 0missing" * (retries + 1))
    assert shown == ["request(channel 0)"] * (retries + 1) + ["notified(channel 0)"]


def test_the_greatest_delay_is_not_below_the_first():
    with pytest.raises(InvalidInputError):
        Config((Location.LOCAL,), 10, 5)


@pytest.mark.parametrize(
    ("event", "changes", "claims"),
    [
        (Arrive(0, 0, Item.DATA), {"expected": 2}, {"no-gap"}),
        (Arrive(0, 0, Item.EMPTY), {"waiting": (Item.EMPTY,)}, {"nothing-of-no-length"}),
        (Arrive(0, 0, Item.DATA), {"location": Location.LOCAL}, {"known-channels-stay"}),
        (NotFound(0), {"location": Location.UNKNOWN}, {"known-channels-stay", "nothing-of-no-length"}),
    ],
)
def test_claims_fail_on_broken_outcomes(event, changes, claims):
    before = walk("input_channels", REMOTE, "request")[-1].state
    (outcome,) = input_channels.step(before, event)
    channel = attrs.evolve(outcome.state.channels[0], **changes)
    broken = attrs.evolve(outcome, state=attrs.evolve(outcome.state, channels=(channel,)))
    assert broken_claims("input_channels", before, event, broken) == claims


# --- corners --------------------------------------------------------------------------------------------------


@pytest.mark.rule("GATE-22")
@pytest.mark.parametrize(
    ("config", "trace"),
    [(LOCAL, "request 0register 0retry"), ({**LOCAL, "initial": 5, "maximum": 5}, "request 0retry")],
)
def test_gate_22_a_timer_goes_off_once(config, trace):
    assert seen("input_channels", config, trace)[-1] == "notified(channel 0)"
    assert last("input_channels", config, f"{trace} 0retry") == ("rejected", "GATE-22")


@pytest.mark.rule("GATE-25")
def test_gate_25_buffers_of_no_length_are_skipped_once():
    trace = "0register request 0empty0 0read"
    assert last("input_channels", LOCAL, trace) == ("none", "GATE-25")
    assert last("input_channels", LOCAL, f"{trace} 0read") == ("none", "GATE-24")


# --- what is configured where nothing is said -------------------------------------------------------------------


@pytest.mark.rule("GATE-22")
def test_gate_22_without_a_config_a_local_channel_waits_for_ten_seconds_at_most():
    shown = seen("input_channels", LOCAL, "request" + " 0retry" * 8)
    delays = (100, 200, 400, 800, 1600, 3200, 6400, 10_000)
    assert shown == [*(f"retry_in(channel 0, delay {delay})" for delay in delays), "notified(channel 0)"]


@pytest.mark.rule("GATE-22")
@pytest.mark.parametrize(("maximum", "requests"), [(10_000, 2), (10_001, 3)])
def test_gate_22_without_a_config_a_remote_producer_parks_a_request_for_ten_seconds(maximum, requests):
    shown = seen("input_channels", {**REMOTE, "maximum": maximum}, "request" + " 0missing" * requests)
    assert shown == ["request(channel 0)"] * requests + ["notified(channel 0)"]


@pytest.mark.rule("GATE-23")
def test_gate_23_a_channel_that_failed_says_so_before_it_has_asked():
    assert last("input_channels", REMOTE, "0read") == ("rejected", "GATE-19")
    assert last("input_channels", REMOTE, "0lost 0read") == ("failed(channel 0, cause connection_lost)", "GATE-23")


@pytest.mark.rule("GATE-20")
def test_gate_20_task_events_before_the_request():
    assert last("input_channels", UNKNOWN, "task7") == ("nothing", "GATE-20")
    assert last("input_channels", UNKNOWN, "task7 0remote") == ("rejected", "GATE-20")
    assert last("input_channels", UNKNOWN, "task7 request 0remote") == (
        "request(channel 0), sent(channel 0, event 7)",
        "GATE-21",
    )


@pytest.mark.rule("GATE-22")
def test_gate_22_the_gate_stops_at_a_final_look_of_a_channel_that_had_failed():
    config = {"locations": ["local", "remote"], "initial": 0}
    assert last("input_channels", config, "0failed request") == ("nothing", "GATE-19")
    assert last("input_channels", config, "0failed 0register request") == (
        "notified(channel 0), request(channel 1)",
        "GATE-19",
    )
