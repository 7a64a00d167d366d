"""The barrier handler in corners that no trace comes to."""

import pytest

from reference.barriers.channel_state import Channel, on_barrier, on_poll, on_start
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


def test_at_least_once_the_end_of_a_channel_completes_all_that_waited_for_it_and_takes_the_newest():
    config = Config(Kind.AT_LEAST_ONCE, 3, finished_channels=True)
    barriers = [Barrier(channel, Long(number), Mode.ALIGNED, Long(0)) for number in (1, 2) for channel in (0, 1)]
    assert play(config, *barriers, EndOfPartition(2)) == (Trigger(Long(2), aligned=True),)
    assert play(config, *barriers, EndOfPartition(2), EndOfPartition(1)) == ()


def test_barriers_that_were_not_polled_wait_in_their_order():
    channel = on_barrier(on_barrier(Channel(), 1), 2)
    assert channel.barriers == (1, 2)
    assert on_poll(channel).barriers == (2,)


def test_only_its_own_barrier_or_a_newer_one_ends_what_a_checkpoint_saves():
    saving = on_start(Channel(), 2)
    assert on_barrier(saving, 1).saving == 2
    assert on_barrier(saving, 2).saving is None
    assert on_barrier(saving, 3).saving is None
