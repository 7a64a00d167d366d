"""The channels of a gate in corners that no trace comes to."""

import pytest

from tests.reference.walking import last, seen

LOCAL, REMOTE = {"locations": ["local"]}, {"locations": ["remote"]}


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
