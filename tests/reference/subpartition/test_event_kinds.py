"""Events on their way, rule by rule."""

import pytest

from tidegate.reference.subpartition import event_kinds as events
from tidegate.reference.subpartition.event_kinds import Kind, Label


def put(kind, *, urgent=False):
    (state,) = events.start(events.Config())
    (outcome,) = events.step(state, events.PutIntoBuffer(kind, urgent))
    return outcome.observations[0]


@pytest.mark.rule("EVENT-2", "EVENT-3")
@pytest.mark.parametrize("kind", list(Kind))
def test_event_2_priority_is_all_that_is_seen(kind):
    assert put(kind, urgent=True) == events.Labelled(
        Label.URGENT, blocks=False, urgent=True, announced=False, same=True
    )
