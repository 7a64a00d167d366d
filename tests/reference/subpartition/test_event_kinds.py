"""Events on their way, rule by rule."""

import pytest

from tidegate.reference.subpartition import event_kinds as events
from tidegate.reference.subpartition.event_kinds import Kind, Label


def put(kind, *, urgent=False):
    (state,) = events.start(events.Config())
    (outcome,) = events.step(state, events.PutIntoBuffer(kind, urgent))
    return outcome.observations[0]


@pytest.mark.rule("EVENT-1")
@pytest.mark.parametrize(
    ("kind", "label", "blocks"),
    [
        (Kind.ALIGNED_BARRIER, Label.ALIGNED_BARRIER, True),
        (Kind.SAVEPOINT_BARRIER, Label.ALIGNED_BARRIER, True),
        (Kind.TIMEOUT_BARRIER, Label.TIMEOUT_BARRIER, True),
        (Kind.UNALIGNED_BARRIER, Label.EVENT, False),
        (Kind.CANCELLATION, Label.EVENT, False),
        (Kind.DRAIN, Label.END_OF_DATA, False),
        (Kind.STOP, Label.END_OF_DATA, False),
        (Kind.END_OF_PARTITION, Label.END_OF_PARTITION, False),
        (Kind.RECOVERY_COMPLETION, Label.RECOVERY_COMPLETION, True),
        (Kind.ALIGNED_WATERMARK, Label.ALIGNED_WATERMARK, True),
        (Kind.UNALIGNED_WATERMARK, Label.UNALIGNED_WATERMARK, False),
    ],
)
def test_event_1_what_a_queue_must_know(kind, label, blocks):
    told = put(kind)
    assert (told.label, told.blocks, told.urgent) == (label, blocks, False)
    assert told.announced == (kind is Kind.TIMEOUT_BARRIER)


@pytest.mark.rule("EVENT-2", "EVENT-3")
@pytest.mark.parametrize("kind", list(Kind))
def test_event_2_priority_is_all_that_is_seen(kind):
    assert put(kind, urgent=True) == events.Labelled(
        Label.URGENT, blocks=False, urgent=True, announced=False, same=True
    )
