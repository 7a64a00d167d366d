"""Cases as Hypothesis strategies: along each of them every claim holds, and what fails is made small."""

import attrs
import pytest
from hypothesis import find, given, settings
from hypothesis.errors import InvalidArgument

import tidegate
from tests.hypotheses import QUIET
from tests.reference.test_drawn_cases import DEFECTS
from tests.reference.walking import begin, broken_claims, walk
from tidegate.reference.components import COMPONENTS

BRIEF = settings(QUIET, max_examples=15)


@pytest.mark.parametrize("component", COMPONENTS)
def test_claims_hold_along_drawn_cases(component):
    @BRIEF
    @given(tidegate.strategies.cases(component))
    def holds(case):
        assert case.component == component
        walk(component, case.config, case.events, breaks=DEFECTS.get(getattr(case.config, "semantics", None), set()))

    holds()


def loses_a_watermark(case):
    """FLINK-40475: every channel is idle, and the highest watermark was never emitted."""
    state = begin("valve", case.config)
    for event in case.events:
        [outcome] = COMPONENTS["valve"].step(state, event)
        if "all-idle-puts-out-the-maximum" in broken_claims("valve", state, event, outcome):
            return True
        state = outcome.state
    return False


def test_a_lost_watermark_is_found_and_made_small():
    patient = settings(QUIET, max_examples=3000)
    case = find(tidegate.strategies.cases("valve", semantics="flink-7728"), loses_a_watermark, settings=patient)
    assert len(case.events) <= 10


def test_bounds():
    @BRIEF
    @given(tidegate.strategies.cases("valve", semantics="flink-40475", max_events=4))
    def is_bounded(case):
        assert case.config.semantics == "flink-40475"
        assert len(case.events) <= 4

    is_bounded()


def test_configs_may_be_given():
    wanted = attrs.evolve(begin("valve", {"channels": 2}).config)

    @BRIEF
    @given(tidegate.strategies.cases("valve", configs=tidegate.strategies.st.just(wanted)))
    def has_it(case):
        assert case.config == wanted

    has_it()


@pytest.mark.parametrize(
    ("component", "options", "said"),
    [
        ("valv", {}, "there is no component 'valv'"),
        ("valve", {"semantics": "flink-0"}, "valve has no semantics 'flink-0'"),
        ("valve", {"max_events": -1}, "must not be negative"),
    ],
)
def test_bad_arguments(component, options, said):
    with pytest.raises(InvalidArgument, match=said):
        tidegate.strategies.cases(component, **options)
