"""Statuses and latency markers through a task, rule by rule."""

import pytest

from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.reference.watermarks import latency, statuses
from tidegate.reference.watermarks.statuses import COMPONENT, Config, Element, Handled, Sent, start, step
from tidegate.traces.notation.text import read_trace

NEW, OLD = "flink-18934", "flink-5017"


def walk(trace, channels=2, operators=1, outputs=2, semantics=NEW):
    (state,) = start(Config(channels, operators, outputs, semantics))
    steps = []
    for event in read_trace("statuses", trace):
        outcomes = step(state, event)
        steps.append(outcomes)
        state = outcomes[0].state
    return steps


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
    shown = (" ".join(map(short, outcomes[0].observations)) or "~" for outcomes in walk(trace, **config))
    return " | ".join(shown)


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
    assert walk("0i 0w5", channels=1)[-1][0].rules == ("STAT-4", "VALVE-2")


@pytest.mark.rule("LAT-1", "LAT-2")
def test_lat_2_a_marker_takes_any_one_channel():
    (*_, outcomes) = walk("0i 1i 0m", outputs=3)
    assert [" ".join(map(short, one.observations)) for one in outcomes] == ["o0l 0m", "o0l 1m", "o0l 2m"]
    assert run("0m", operators=2, outputs=0) == "o0l o1l"


@pytest.mark.rule("LAT-1")
@pytest.mark.parametrize(
    ("interval", "until", "times"), [(5, 11, (0, 5, 10)), (5, 10, (0, 5, 10)), (5, 0, (0,)), (0, 9, ()), (-1, 9, ())]
)
def test_lat_1_a_marker_every_interval(interval, until, times):
    assert latency.compute_marker_times(interval, until) == times


@pytest.mark.parametrize("config", [(0, 1, 1), (1, 0, 1), (1, 1, -1), (1, 1, 1, "flink-1")])
def test_configs_that_make_no_sense(config):
    with pytest.raises(InvalidInputError):
        Config(*config)


@pytest.mark.parametrize("law", COMPONENT.laws, ids=lambda law: law.name)
def test_law_holds_on_every_sample(law):
    assert all(law.holds(*sample) for sample in law.samples())


@pytest.mark.parametrize(
    ("name", "module", "function", "mutant"),
    [
        ("markers-are-regular", latency, "compute_marker_times", lambda _interval, until: tuple(range(0, until, 9))),
        ("markers-off-by-default", latency, "compute_default_interval", lambda _release: 2000),
        ("quiet-return-is-ignored", statuses, "on_valve", lambda state, _event: Outcome(state, (), ())),
    ],
)
def test_laws_fail_on_mutants(monkeypatch, name, module, function, mutant):
    (law,) = [law for law in COMPONENT.laws if law.name == name]
    monkeypatch.setattr(module, function, mutant)
    assert not all(law.holds(*sample) for sample in law.samples())


@pytest.mark.parametrize(
    ("trace", "observations", "claims"),
    [
        ("0w5", (Sent(0, Element.WATERMARK, timestamp=5),), {"time-to-all-channels"}),
        ("0m", (Sent(0, Element.LATENCY_MARKER), Sent(1, Element.LATENCY_MARKER)), {"time-to-all-channels"}),
        ("0r", (), {"records-pass-while-idle"}),
    ],
)
def test_properties_fail_on_a_broken_step(trace, observations, claims):
    (before,) = start(Config(1, 1, 2))
    (event,) = read_trace("statuses", trace)
    (right, *_others) = step(before, event)
    shown = Outcome(right.state, observations, ())
    assert {claim.name for claim in COMPONENT.properties if not claim.holds(before, event, shown)} == claims
