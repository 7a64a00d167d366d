"""The outputs of an operator: claims, told of what is wrong, and the rule of failures."""

import attrs
import pytest

from tidegate.reference.elements import Status, StatusChange, Watermark
from tidegate.reference.outputs import claims as output_claims
from tidegate.reference.outputs.claims import changes_stay_private_without_reuse
from tidegate.reference.outputs.handing import emit
from tidegate.reference.outputs.step import start, step
from tidegate.reference.outputs.values import Barrier, Change, Config, Failed, Fault, LatencyMarker, Network, Write


def test_the_law_of_copies_sees_a_change_on_the_network(monkeypatch):
    """Every chained operator finds what was emitted, and only what is written to the network is another."""

    def emit_wrong(state, event, order):
        outcome = emit(state, event, order)
        seen = [attrs.evolve(one, content=9) if isinstance(one, Write) else one for one in outcome.observations]
        return attrs.evolve(outcome, observations=tuple(seen))

    assert changes_stay_private_without_reuse.holds((Change.VALUE,), 7)
    monkeypatch.setattr(output_claims, "emit", emit_wrong)
    assert not changes_stay_private_without_reuse.holds((Change.VALUE,), 7)


@pytest.mark.rule("OUT-6")
@pytest.mark.parametrize("event", [Watermark(1), StatusChange(Status.IDLE), LatencyMarker(), Barrier(unaligned=False)])
def test_what_fails_names_the_rule_of_failures_first(event):
    (state,) = start(Config((Network(unaligned=False),), object_reuse=True))
    (failing,) = step(state, Fault(0, 1))
    (outcome,) = step(failing.state, event)
    assert isinstance(outcome.observations[-1], Failed)
    assert outcome.rules == ("OUT-6", *step(state, event)[0].rules)
