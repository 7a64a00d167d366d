"""The barrier handler in corners that no trace comes to."""

import pytest

from reference.barriers.handler import start, step
from reference.barriers.values import (
    Advance,
    Announcement,
    Barrier,
    Block,
    Config,
    EndOfPartition,
    Kind,
    Mode,
    Prioritize,
    StartPersisting,
    Trigger,
)
from reference.elements import Long

ONE = Long(1)


def play(config, *events):
    (state,) = start(config)
    seen = ()
    for event in events:
        (outcome,) = step(state, event)
        state, seen = outcome.state, outcome.observations
    return seen


@pytest.mark.parametrize(
    ("late", "seen"), [(10, ()), (11, (Prioritize(0, 5), StartPersisting(ONE), Trigger(ONE, aligned=False)))]
)
def test_the_end_of_a_channel_notices_that_the_alignment_took_too_long(late, seen):
    """The barrier that was announced first is strictly later than the time-out; that which was read is not."""
    config = Config(Kind.ALTERNATING, 3, finished_channels=True, timeout=10)
    events = (Advance(late), Announcement(0, ONE, 5, Long(0)), Barrier(1, ONE, Mode.TIMEOUT, Long(9)))
    assert play(config, *events) == (Block(1),)
    assert play(config, *events, EndOfPartition(2)) == seen
