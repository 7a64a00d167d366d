"""The directed traces: what each of them says is shown is shown, and nothing else, and every claim holds on the way."""

import pytest

from tests.reference.test_drawn_cases import DEFECTS
from tests.reference.walking import walk
from tidegate.conformance.judging.judge import allowed_outcomes, distinct_states
from tidegate.properties.drawing.directed import directed, read_shows
from tidegate.reference.components import COMPONENTS
from tidegate.traces.codec import DecodeError
from tidegate.traces.notation.text import write_observations


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_is_said_to_be_shown_is_shown(component):
    for one in directed(component):
        for number, (shown, outcomes) in enumerate(zip(one.shows, last_steps(one), strict=True)):
            place = f"{one.case.name}: part {number} of shows"
            possible = {write_observations(outcome.observations) for outcome in outcomes}
            assert set(map(write_observations, shown.possible)) == possible, place
            assert not shown.rule or {outcome.rules[0] for outcome in outcomes} == {shown.rule}, place


def last_steps(one):
    """All outcomes that are allowed of each event of which it says what is shown, whatever was chosen before."""
    states, steps = one.case.model.start(one.case.config), []
    for event in one.case.events if one.shows else ():
        steps.append(allowed_outcomes(one.case.model.step, states, event))
        states = distinct_states(steps[-1])
    return steps[len(steps) - len(one.shows) :]


@pytest.mark.parametrize("component", COMPONENTS)
def test_claims_hold_along_directed_traces(component):
    for case in (one.case for one in directed(component)):
        walk(component, case.config, case.events, breaks=DEFECTS.get(getattr(case.config, "semantics", None), set()))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nothing", "2 events, but 'nothing' shows 1"),
        ("nothing | nothing | nothing", "2 events, but 'nothing | nothing | nothing' shows 3"),
        ("... | nothing | nothing | nothing", "shows 3"),
        ("...", "shows 0"),
        ("nothing | watermark(timestamp five)", "must be a 64-bit integer"),
        ("nothing | tide(timestamp 5)", "type must be one of"),
        ("nothing | idle, watermark", "type must be one of"),
        ("nothing | watermark(5)", "is no JSON|not JSON|unknown key"),
        ("nothing | ", "no observation at ''"),
    ],
)
def test_what_nobody_can_show_is_refused(text, problem):
    with pytest.raises(DecodeError, match=problem):
        read_shows("valve", text, 2)
