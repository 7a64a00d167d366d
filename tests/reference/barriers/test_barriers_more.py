"""The barrier handler in corners that no trace comes to."""

import pytest

from tidegate.reference.barriers import buffering, channel_state
from tidegate.reference.barriers.buffering import Arrival, Cut
from tidegate.reference.barriers.channel_state import Channel, SubsumedError, on_barrier, on_poll, on_start
from tidegate.reference.barriers.claims import trigger_before_resume
from tidegate.reference.barriers.step import start, step
from tidegate.reference.barriers.values import (
    Abort,
    Advance,
    Announcement,
    Barrier,
    Block,
    Cancel,
    Config,
    EndOfPartition,
    Kind,
    Mode,
    Prioritize,
    Reason,
    Resume,
    StartPersisting,
    Trigger,
)
from tidegate.reference.elements import Long
from tidegate.reference.model import Outcome

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


def test_at_least_once_a_cancelled_checkpoint_ends_the_older_ones_for_good():
    config = Config(Kind.AT_LEAST_ONCE, 2, finished_channels=True)
    barriers = [Barrier(0, Long(number), Mode.ALIGNED, Long(0)) for number in (1, 3)]
    assert play(config, *barriers, Cancel(1, Long(2))) == (Abort(ONE, Reason.CANCELLED),)
    assert play(config, *barriers, Cancel(1, Long(2)), Barrier(1, ONE, Mode.ALIGNED, Long(0))) == ()


# --- claims, told of what is wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead", "holds"),
    [
        ((Abort(ONE, Reason.SUBSUMED), Resume(0)), False),
        ((Resume(0), Abort(ONE, Reason.SUBSUMED)), True),
        ((Resume(0), Abort(ONE, Reason.SUBSUMED), Resume(1)), False),
        ((Abort(ONE, Reason.SUBSUMED), Resume(1), Abort(Long(2), Reason.SUBSUMED)), True),
    ],
)
def test_the_last_resume_ahead_of_a_trigger_comes_before_the_last_checkpoint_given_up(ahead, holds):
    (state,) = start(Config(Kind.ALIGNED, 2, finished_channels=True))
    outcome = Outcome(state, (*ahead, Trigger(Long(3), aligned=True), Resume(0)), ())
    assert trigger_before_resume.holds(state, EndOfPartition(0), outcome) == holds


def test_each_way_to_align_must_keep_each_channel_in_order(monkeypatch):
    """The same elements before the same checkpoints, but those of one channel in another order."""
    arrivals = (Arrival(0, 1), Arrival(0, 2), Arrival(1, 11))
    assert buffering.same_cut_by_blocking_and_buffering.holds(2, arrivals)
    monkeypatch.setattr(buffering, "process_buffering", lambda _channels, _arrivals: Cut((), (2, 1, 11)))
    assert not buffering.same_cut_by_blocking_and_buffering.holds(2, arrivals)


def test_a_barrier_that_is_dropped_has_overtaken_nothing(monkeypatch):
    def poll_data_first(channel):
        return on_poll(channel_state.attrs.evolve(channel, barriers=()))

    monkeypatch.setattr(channel_state, "on_poll", poll_data_first)
    assert not channel_state.barrier_overtakes.holds(2, 0, 0)


def test_a_checkpoint_is_not_too_late_for_its_own_barrier(monkeypatch):
    def refuse_its_own(channel, checkpoint):
        if checkpoint <= channel.last:
            raise SubsumedError
        return on_start(channel, checkpoint)

    monkeypatch.setattr(channel_state, "on_start", refuse_its_own)
    assert not channel_state.older_checkpoint_is_too_late.holds(1, (1,))
