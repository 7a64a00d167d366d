"""Checkpoint barriers, rule by rule."""

from types import SimpleNamespace

import attrs
import pytest

from tests.reference.walking import begin, claim, state_after, walk
from tidegate.reference.barriers import buffering, channel_state, values
from tidegate.reference.barriers.buffering import Arrival, Cut
from tidegate.reference.barriers.channel_state import Channel, SubsumedError, on_barrier, on_poll, on_start
from tidegate.reference.barriers.claims import trigger_before_resume
from tidegate.reference.elements import Long
from tidegate.reference.mailbox.values import Kind as MailKind
from tidegate.reference.model import InvalidInputError, Outcome, Rejected

SIGNS = {"block": "-", "resume": "+", "start_persisting": "[", "stop_persisting": "]", "prioritize": "!"}


def config_of(kind, channels, *, finished=True, timeout=None, extension=None):
    timeout = 30 if kind == "alternating" and timeout is None else timeout
    return values.Config(values.Kind(kind), channels, finished, timeout, extension)


def short(seen):
    """`-0` block, `+0` resume, `T1` trigger (`U1` unaligned), `A1s` abort with its reason, `[1` save `]1`, `!0`."""
    if isinstance(seen, Rejected):
        return "x"
    if isinstance(seen, values.Trigger):
        return f"{'T' if seen.aligned else 'U'}{seen.checkpoint}"
    if seen.type == "abort":
        return f"A{seen.checkpoint}{seen.reason[0]}"
    number = seen.checkpoint if seen.type.endswith("persisting") else seen.channel
    return f"{SIGNS[seen.type]}{number}"


def run(kind, channels, trace, **more):
    outcomes = walk("barriers", config_of(kind, channels, **more), trace)
    return " ".join("".join(map(short, one.observations)) or "~" for one in outcomes)


@pytest.mark.rule("BARR-1", "BARR-2", "BARR-3", "BARR-4")
@pytest.mark.parametrize(
    ("channels", "trace", "shown"),
    [
        (3, "0b1 2b1 1b1", "-0 -2 -1T1+0+1+2"),
        (1, "0b1 0b1 0b0 0b2", "-0T1+0 +0 +0 -0T2+0"),
        (2, "0b1 1b2 0b1 0b2", "-0 +0A1s-1 +0 -0T2+0+1"),
        (2, "0b2 1b1 1b2 0b2", "-0 +1 -1T2+0+1 +0"),
        (2, "0b0 1b0", "-0 -1T0+0+1"),
        (2, "0n1#0@0 0b1 1b1", "~ -0 -1T1+0+1"),
        (2, "0b1 1n2#0@0 0b1 1n1#3@0", "-0 +0A1s +0 ~"),
    ],
)
def test_barr_3_aligned(channels, trace, shown):
    assert run("aligned", channels, trace) == shown


@pytest.mark.rule("BARR-5")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0b1 1c1 1b1 1c1", "-0 +0A1c +1 ~"),
        ("0c5 1b5 1c5 0b6 1b6", "A5c +1 ~ -0 -1T6+0+1"),
        ("0b1 1c2 0b1 0b2 0b3", "-0 +0A2c +0 +0 -0"),
        ("0n1#0@0 1c1 0b1 1b1", "~ ~ -0 -1T1+0+1"),
    ],
)
def test_barr_5_cancelled(trace, shown):
    assert run("aligned", 2, trace) == shown


@pytest.mark.rule("BARR-6", "BARR-7")
@pytest.mark.parametrize(
    ("trace", "finished", "shown"),
    [
        ("0b1 1e 2b1 0b2 2b2", True, "-0 ~ -2T1+0+2 -0 -2T2+0+2"),
        ("0b1 1e 2e", True, "-0 ~ T1+0"),
        ("0b1 1e 0b1 0b2 2b2", False, "-0 +0A1e +0 -0 -2T2+0+2"),
        ("0e 1e 2b1", True, "~ ~ -2T1+2"),
        ("0n1#0@0 0e 1e 2e", True, "~ ~ ~ ~"),
        ("0e 0e 0b1 3b1 -1c1", True, "~ x x x x"),
    ],
)
def test_barr_6_a_channel_that_ends_counts_as_aligned(trace, finished, shown):
    assert run("aligned", 3, trace, finished=finished) == shown


@pytest.mark.rule("BARR-8")
@pytest.mark.parametrize(
    ("kind", "trace", "finished", "shown"),
    [
        ("aligned", "0b1 0e 1b1", True, "-0 ~ -1T1+1"),
        ("aligned", "0b1 0e 1b1", False, "-0 +0A1e +1"),
        ("aligned", "0b2 0b1 0b2 1b2", True, "-0 +0 -0 -1T2+0+1"),
        ("aligned", "0b1 0b2 1b1 1b2", True, "-0 +0A1s-0 +1 -1T2+0+1"),
        ("alternating", "0t1 0c1 1c1 +31", True, "-0 +0A1c ~ ~"),
        ("alternating", "0t1 0n1#7@0 +30", True, "-0 ~ !0[1U1"),
    ],
)
def test_barr_8_a_blocked_channel_is_heard(kind, trace, finished, shown):
    assert run(kind, 2, trace, finished=finished) == shown


@pytest.mark.rule("BARR-10")
def test_barr_10_at_most_fifty_are_pending():
    trace = " ".join(f"0b{number}" for number in range(1, 53))
    state = state_after("barriers", config_of("at_least_once", 2), trace)
    assert [count.checkpoint for count in state.pending] == list(range(3, 53))


@pytest.mark.rule("BARR-13")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0u1 2u1 1u1 1u1", "[1U1 ~ ]1 ~"),
        ("0u1 1u2 1u1 0u2 2u2", "[1U1 ]1A1s[2U2 ~ ~ ]2"),
        ("0b1 1u1 2u1", "-0[1U1 ~ ]1+0"),
        ("0u1 1b1 2c1", "[1U1 -1 ]1+1A1c"),
        ("0u1 1e 2e", "[1U1 ~ ]1"),
        ("0u1 1c2 2u1", "[1U1 ]2A2c ~"),
        ("0n1#4@0 0u1", "!0 [1U1"),
    ],
)
def test_barr_13_unaligned(trace, shown):
    assert run("unaligned", 3, trace) == shown


@pytest.mark.rule("BARR-17")
@pytest.mark.parametrize(
    ("channels", "trace", "shown"),
    [
        (2, "0n1#4@0 0t1 1n1#2@0 1t1 +99", "~ -0 ~ -1T1+0+1 ~"),
        (3, "0n1#4@0 0t1 1n1#7@0 +29 +1 2n1#1@0 1u1 2u1", "~ -0 ~ ~ !1[1U1 !2 ~ ]1+0"),
        (2, "0n1#4@0 1n1#5@0 +30 1u1 0u1", "~ ~ !0!1 [1U1 ]1"),
        (3, "+30 0t1 1t1 2t1", "~ -0 -1 -2T1+0+1+2"),
        (3, "+31 0t1 1t1 2t1", "~ -0[1U1 -1 -2]1+0+1+2"),
        (2, "+31 0t1 +0 1t1", "~ -0[1U1 ~ -1]1+0+1"),
        (2, "+30 0t1 +0 1t1", "~ -0 [1U1 -1]1+0+1"),
        (3, "0t1 1u1 2u1", "-0 [1U1 ]1+0"),
        (3, "0n1#6@0 0u1 1t1 2t1", "~ !0[1U1 -1 -2]1+1+2"),
        (2, "0b1 +99 1b1", "-0 ~ -1T1+0+1"),
        (3, "0b1 +99 1e 2b1", "-0 ~ ~ -2T1+0+2"),
        (2, "0t1 +30 1t2 0c2 +100", "-0 [1U1 ]1+0A1s-1 +1A2c ~"),
        (1, "0n1#0@0 0e", "~ ~"),
        (2, "0n1#0@0 1e +30 0u1", "~ ~ !0 [1U1]1"),
        (3, "0t1 1n1#5@0 +10 1e 2e", "-0 ~ ~ ~ T1+0"),
    ],
)
def test_barr_17_alternating(channels, trace, shown):
    assert run("alternating", channels, trace) == shown


@pytest.mark.rule("BARR-17")
def test_barr_17_an_end_later_than_the_time_out_does_not_wait_for_the_timer():
    # The timer was not set by the barrier that is read first, and the clock has passed the time-out unnoticed.
    assert run("alternating", 3, "+50 0t1@20 1e 2e", timeout=40) == "~ -0 ~ T1+0"
    assert run("alternating", 3, "+50 0t1@5 1e 2e", timeout=40) == "~ -0[1U1 ~ ]1+0"


@pytest.mark.parametrize(
    ("kind", "trace", "rules"),
    [
        ("aligned", "0b1", ("BARR-3", "BARR-2", "BARR-7")),
        ("aligned", "0b1 1b1", ("BARR-3",)),
        ("aligned", "0b1 1b1 1b1", ("BARR-1",)),
        ("aligned", "1e 0b1", ("BARR-4", "BARR-3", "BARR-2", "BARR-7")),
        ("aligned", "0e", ("BARR-6", "BARR-7")),
        ("unaligned", "0u1 1u1", ("BARR-13",)),
        ("alternating", "0t1 1t1", ("BARR-17",)),
        ("alternating", "0t1 1u1", ("BARR-17", "BARR-13")),
        ("alternating", "0t1 1e", ("BARR-6", "BARR-17")),
        ("at_least_once", "0b1", ("BARR-10", "BARR-7")),
        ("at_least_once", "0c1 1b1", ("BARR-11", "BARR-10")),
        ("at_least_once", "1e 0b1", ("BARR-9",)),
    ],
)
def test_outcomes_name_their_rules(kind, trace, rules):
    assert walk("barriers", config_of(kind, 2), trace)[-1].rules == rules


@pytest.mark.parametrize("kind", ["aligned", "at_least_once"])
def test_unaligned_barriers_are_for_handlers_that_know_them(kind):
    with pytest.raises(InvalidInputError):
        walk("barriers", config_of(kind, 2), "0u1")


def late(channel, checkpoint):
    return attrs.evolve(channel, barriers=(*channel.barriers, checkpoint), last=checkpoint, cut=99)


@pytest.mark.rule("BARR-18")
def test_barr_18_law_fails_where_the_trigger_is_a_normal_mail(monkeypatch):
    monkeypatch.setattr(channel_state, "Kind", SimpleNamespace(NORMAL=MailKind.NORMAL, URGENT=MailKind.NORMAL))
    assert not channel_state.no_data_between_barrier_and_trigger.holds("flink-35051", 1, 1, 2)


# --- corners --------------------------------------------------------------------------------------------------

ONE = Long(1)


@pytest.mark.rule("BARR-17")
@pytest.mark.parametrize(("late", "shown"), [(10, "~ ~ -1 ~"), (11, "~ ~ -1 !0[1U1")])
def test_barr_17_the_end_of_a_channel_notices_that_the_alignment_took_too_long(late, shown):
    """The barrier that was announced first is strictly later than the time-out; that which was read is not."""
    assert run("alternating", 3, f"+{late} 0n1#5@0 1t1@9 2e", timeout=10) == shown


def test_barriers_that_were_not_polled_wait_in_their_order():
    channel = on_barrier(on_barrier(Channel(), 1), 2)
    assert channel.barriers == (1, 2)
    assert on_poll(channel).barriers == (2,)


def test_only_its_own_barrier_or_a_newer_one_ends_what_a_checkpoint_saves():
    saving = on_start(Channel(), 2)
    assert on_barrier(saving, 1).saving == 2
    assert on_barrier(saving, 2).saving is None
    assert on_barrier(saving, 3).saving is None


# --- claims, told of what is wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead", "holds"),
    [
        ((values.Abort(ONE, values.Reason.SUBSUMED), values.Resume(0)), False),
        ((values.Resume(0), values.Abort(ONE, values.Reason.SUBSUMED)), True),
        ((values.Resume(0), values.Abort(ONE, values.Reason.SUBSUMED), values.Resume(1)), False),
        (
            (
                values.Abort(ONE, values.Reason.SUBSUMED),
                values.Resume(1),
                values.Abort(Long(2), values.Reason.SUBSUMED),
            ),
            True,
        ),
    ],
)
def test_the_last_resume_ahead_of_a_trigger_comes_before_the_last_checkpoint_given_up(ahead, holds):
    state = begin("barriers", config_of("aligned", 2))
    outcome = Outcome(state, (*ahead, values.Trigger(Long(3), aligned=True), values.Resume(0)), ())
    assert trigger_before_resume.holds(state, values.EndOfPartition(0), outcome) == holds


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


def test_barr_21_nothing_is_measured_without_the_extension():
    with pytest.raises(InvalidInputError, match="extension measures"):
        walk("barriers", config_of("aligned", 2), "measure")


@pytest.mark.parametrize(
    "trace", ["0t1 close +31", "0n1#3@0 close +31", "0t1 +30 close +1 close", "close 0t1", "close 1e"]
)
def test_barr_23_time_brings_about_nothing_after_the_close(trace):
    config = config_of("alternating", 2, timeout=31, extension="closing")
    last = walk("barriers", config, trace)[-1]
    assert last.observations in ((), (Rejected(),))
    assert last.state.closed


def test_barr_23_a_handler_is_closed_in_the_extension_only():
    with pytest.raises(InvalidInputError, match="extension closing"):
        walk("barriers", config_of("aligned", 2), "close")


def test_barr_17_timers_are_late_in_the_extension_only():
    with pytest.raises(InvalidInputError, match="extension late_timers"):
        walk("barriers", config_of("alternating", 2), [values.Delay(1)])


@pytest.mark.rule("BARR-21")
@pytest.mark.parametrize(
    ("since", "measured", "holds"),
    [
        (None, (0, 0), True),
        (None, (5, 0), True),
        (None, (6, 0), False),
        (None, (-1, 0), False),
        (None, (5, -1), False),
        (None, (5, 7, 4, 3), True),
        (None, (5, 7, 4, None), False),
        (None, (5, 7, None, 3), False),
        (2, (3, 0), True),
        (2, (2, 0), False),
        (2, (5, 0), False),
        (5, (0, 0), True),
    ],
)
def test_barr_21_no_more_time_is_measured_than_has_passed(since, measured, holds):
    """The clock is at 5; an alignment under way began at `since`."""
    start = begin("barriers", config_of("aligned", 2, extension="measures"))
    state = attrs.evolve(start, now=5, measures=values.Measures(since=since))
    outcome = Outcome(state, (values.Measured(*measured),), ())
    assert claim("barriers", "measures-fit-the-alignment")(state, values.Measure(), outcome) == holds


TRIGGER = values.Trigger(ONE, aligned=True)


@pytest.mark.rule("BARR-23")
@pytest.mark.parametrize(
    ("before", "event", "seen", "after", "holds"),
    [
        (False, values.Advance(1), (TRIGGER,), False, True),
        (False, values.Close(), (), True, True),
        (True, values.Close(), (), True, True),
        (True, values.Advance(1), (), True, True),
        (True, values.EndOfPartition(0), (Rejected(),), True, True),
        (True, values.Advance(1), (TRIGGER,), True, False),
        (True, values.Close(), (TRIGGER,), True, False),
        (False, values.Close(), (TRIGGER,), True, False),
        (False, values.Close(), (), False, False),
        (True, values.Close(), (), False, False),
        (True, values.Advance(1), (), False, False),
        (False, values.Advance(1), (), True, False),
    ],
)
def test_barr_23_a_closed_handler_stays_so_and_shows_nothing(before, event, seen, after, holds):
    start = begin("barriers", config_of("aligned", 2, extension="closing"))
    outcome = Outcome(attrs.evolve(start, closed=after), seen, ())
    assert claim("barriers", "nothing-after-the-close")(attrs.evolve(start, closed=before), event, outcome) == holds


def test_barr_21_what_nobody_asks_for_is_not_remembered():
    """States that differ in it alone would be the same to everybody, and not be known as the same."""
    counted = config_of("at_least_once", 2)
    assert state_after("barriers", counted, "0b1 +5") == state_after("barriers", counted, "0b1")
    assert state_after("barriers", config_of("aligned", 2), "+5 0b1@2 +1 1b1").measures == values.Measures()
