"""Scopes: there is one for every component, small enough, of legal events, and stated in words."""

import pytest

from tests.sampling import some
from tidegate.conformance.engines.museum.engines import Engine
from tidegate.conformance.engines.python.engine import InProcess
from tidegate.conformance.judging.expected import expect
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.cases.deserializer import is_stream
from tidegate.properties.complete.suite import build
from tidegate.properties.drawing import scopes
from tidegate.properties.drawing.scopes import has_scopes, small, thorough
from tidegate.properties.drawing.timestamps import MAPS, order_preserving
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import MAX, MIN
from tidegate.reference.model import Rejected
from tidegate.reference.watermarks.valve import ChannelStatus, ChannelWatermark
from tidegate.traces.codec import decode_case, encode_case


@pytest.fixture(scope="module", params=some(COMPONENTS, 3))
def suites(request):
    return [build(scope) for scope in small(request.param)]


def test_right_engines_pass(suites):
    """A sample: all of it is replayed where wrong engines are caught."""
    runner = Runner(InProcess(Engine(None)))
    sample = [case for suite in suites for index, case in enumerate(suite.cases) if index % 23 == 0]
    verdicts = list(runner.run(Planned("complete", case) for case in sample))
    assert [verdict for verdict in verdicts if verdict.status is not Status.PASS] == []


def test_cases_can_be_written_and_read(suites):
    for suite in suites:
        for case in list(suite.cases)[::301]:
            assert decode_case(encode_case(case), strict=True) == case


def test_claims_name_their_scope(suites):
    for suite in suites:
        assert suite.claim.startswith(f"Scope {suite.scope.component} {suite.scope.name}: ")
        assert f"{suite.states} states" in suite.claim
        assert ("Capped" in suite.claim) == bool(suite.scope.cap)
        assert ("equivalent" in suite.claim) == suite.scope.selection.is_complete


def test_every_class_is_entered(suites):
    for suite in suites:
        if suite.scope.selection.is_complete:
            assert suite.classes <= suite.entered <= suite.states
        else:
            assert suite.entered < suite.states


#: These have nothing to refuse: no index, no end.
NOTHING_TO_REFUSE = {"partitioner", "wiring", "chaining", "deserializer", "buffer_needs", "event_kinds"}


def test_refused_events_are_played(suites):
    answered = (expect(case)[0] for suite in suites for case in suite.cases)
    refused = any((Rejected(),) in steps for steps in answered if steps is not None)
    assert refused or suites[0].scope.component in NOTHING_TO_REFUSE


def test_every_component_has_scopes():
    assert [name for name in COMPONENTS if not has_scopes(name)] == []


@pytest.mark.parametrize("component", COMPONENTS)
def test_names_of_scopes_tell_them_apart(component):
    for chosen in (small(component), thorough(component)):
        names = [scope.name for scope in chosen]
        assert names
        assert len(set(names)) == len(names)


def test_thorough_scopes_of_the_valve_are_larger():
    sizes = {scope.name: build(scope).states for scope in thorough("valve") if "flink" not in scope.name}
    assert sizes == {"3x2": 378, "3x3": 980, "4x2": 2688}


def test_unknown_components_have_no_scope():
    assert small("nothing") == []
    assert small("scope") == []
    assert not scopes.has_scopes("closures")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_timestamps_keep_their_order(count):
    for by_count in MAPS.values():
        values = by_count[count]
        assert list(values) == sorted(set(values))
        assert len(values) == count
        assert values[0] > MIN
        assert values[-1] <= MAX


def test_only_timestamps_are_rewritten():
    extremes = order_preserving(2, every=1)[0]
    assert extremes.rewrite(ChannelWatermark(1, 2)) == ChannelWatermark(1, MAX)
    status = ChannelStatus(1, "idle")
    assert extremes.rewrite(status) is status


@pytest.mark.parametrize(
    ("data", "legal"),
    [
        ("", True),
        ("0000", True),
        ("00000000", True),
        ("0000000100", True),
        ("00000001", True),
        ("000000010000", True),
        ("00000002", False),
        ("01", False),
        ("000000010002", False),
    ],
)
def test_streams_state_known_lengths(data, legal):
    assert is_stream(bytes.fromhex(data), (0, 1)) == legal
