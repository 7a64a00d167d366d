"""The claims about the outputs of an operator, told of what is wrong."""

import attrs

from reference import output_claims
from reference.output_claims import changes_stay_private_without_reuse
from reference.output_handing import emit
from reference.output_parts import Change, Write


def test_the_law_of_copies_sees_a_change_on_the_network(monkeypatch):
    """Every chained operator finds what was emitted, and only what is written to the network is another."""

    def emit_wrong(state, event, order):
        outcome = emit(state, event, order)
        seen = [attrs.evolve(one, content=9) if isinstance(one, Write) else one for one in outcome.observations]
        return attrs.evolve(outcome, observations=tuple(seen))

    assert changes_stay_private_without_reuse((Change.VALUE,), 7)
    monkeypatch.setattr(output_claims, "emit", emit_wrong)
    assert not changes_stay_private_without_reuse((Change.VALUE,), 7)
