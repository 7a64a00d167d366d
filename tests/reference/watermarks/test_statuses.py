"""Statuses and latency markers through a task, rule by rule."""

import pytest

from tests.reference.walking import begin, broken_claims, claim, state_after, walk
from tidegate.reference.model import Outcome, Rejected
from tidegate.reference.watermarks import latency, statuses
from tidegate.reference.watermarks.statuses import Config, Element, Handled, Sent
from tidegate.traces.notation.text import read_trace

NEW, OLD = "flink-18934", "flink-5017"


CONFIG = {"channels": 2, "operators": 1, "outputs": 2, "semantics": NEW}


def short(seen):
    """`o1r` for a record in operator 1; `0r`, `0w5`, `0i` and `0m` for what is sent on channel 0."""
    if isinstance(seen, Rejected):
        return "x"
    if isinstance(seen, Handled):
        return f"o{seen.operator}{seen.element[0]}"
    if seen.element is Element.WATERMARK:
        return f"{seen.channel}w{seen.timestamp}"
    return f"{seen.channel}{seen.status[0] if seen.status else 'm' if seen.element[0] == 'l' else seen.element[0]}"


def run(trace, **config):
    outcomes = walk("statuses", CONFIG | config, trace)
    return " | ".join(" ".join(map(short, one.observations)) or "~" for one in outcomes)


@pytest.mark.rule("STAT-1", "STAT-2")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0w3 1w5", "~ | o0w 0w3 1w3"),
        ("0r 1r 0r", "o0r 0r | o0r 1r | o0r 0r"),
        ("0i 1i", "~ | o0s 0i 1i"),
        ("0i 1i 0r 0i", "~ | o0s 0i 1i | o0r 0r | ~"),
        ("0w3 1w5 0i 1i 0a", "~ | o0w 0w3 1w3 | o0w 0w5 1w5 | o0s 0i 1i | o0s 0a 1a"),
        ("2r -1m 2w3", "x | x | x"),
    ],
)
def test_stat_1_statuses_travel_with_the_data(trace, shown):
    assert run(trace) == shown


@pytest.mark.rule("STAT-3")
def test_stat_3_of_old_only_the_output_is_told():
    assert run("0i 0a", channels=1, operators=2) == "o0s o1s 0i 1i | o0s o1s 0a 1a"
    assert run("0i 0a", channels=1, operators=2, semantics=OLD) == "0i 1i | 0a 1a"


@pytest.mark.rule("STAT-4")
def test_stat_4_a_quiet_return_is_ignored():
    assert run("0i 0w5 0a 0w5", channels=1, outputs=1) == "o0s 0i | ~ | o0s 0a | o0w 0w5"
    assert walk("statuses", CONFIG | {"channels": 1}, "0i 0w5")[-1].rules == ("STAT-4", "VALVE-2")


@pytest.mark.rule("LAT-1", "LAT-2")
def test_lat_2_a_marker_takes_any_one_channel():
    idle = state_after("statuses", CONFIG | {"outputs": 3}, "0i 1i")
    shown = [" ".join(map(short, one.observations)) for one in statuses.step(idle, statuses.LatencyMarker(0))]
    assert shown == ["o0l 0m", "o0l 1m", "o0l 2m"]
    assert run("0m", operators=2, outputs=0) == "o0l o1l"


@pytest.mark.rule("LAT-1")
@pytest.mark.parametrize(
    ("interval", "until", "times"), [(5, 11, (0, 5, 10)), (5, 10, (0, 5, 10)), (5, 0, (0,)), (0, 9, ()), (-1, 9, ())]
)
def test_lat_1_a_marker_every_interval(interval, until, times):
    assert latency.compute_marker_times(interval, until) == times


@pytest.mark.parametrize(
    ("trace", "observations", "claims"),
    [
        ("0w5", (Sent(0, Element.WATERMARK, timestamp=5),), {"time-to-all-channels"}),
        ("0m", (Sent(0, Element.LATENCY_MARKER), Sent(1, Element.LATENCY_MARKER)), {"time-to-all-channels"}),
        ("0r", (), {"records-pass-while-idle"}),
    ],
)
def test_properties_fail_on_a_broken_step(trace, observations, claims):
    (event,) = read_trace("statuses", trace)
    (right,) = walk("statuses", Config(1, 1, 2), trace)
    assert (
        broken_claims("statuses", begin("statuses", Config(1, 1, 2)), event, Outcome(right.state, observations, ()))
        == claims
    )


# --- latency markers ------------------------------------------------------------------------------------------


@pytest.mark.rule("LAT-1")
def test_lat_1_markers_came_every_two_seconds_until_1_6_and_are_off_since():
    assert latency.compute_default_interval((1, 6)) == 2000
    assert latency.compute_default_interval((1, 7)) == 0


@pytest.mark.parametrize("times", [(0,), (0, 1, 7), (0, 7), (1, 7, 14), (0, 7, 15)])
def test_markers_that_are_not_regular_are_refused(monkeypatch, times):
    holds = claim("statuses", "markers-are-regular")
    assert holds(7, 14)
    monkeypatch.setattr(latency, "compute_marker_times", lambda _interval, _until: times)
    assert not holds(7, 14)


# --- statuses -------------------------------------------------------------------------------------------------


@pytest.mark.rule("STAT-1")
def test_stat_1_a_record_that_passes_while_the_input_is_idle_names_the_status_that_does_not_stop_it():
    before, _idle, while_idle = walk("statuses", CONFIG | {"channels": 1}, "0r 0i 0r")
    assert (before.rules, while_idle.rules) == (("STAT-2",), ("STAT-2", "STAT-1"))
