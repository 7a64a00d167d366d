"""What an unaligned checkpoint saves of input channels, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, last, state_after, walk
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import Long
from tidegate.reference.input import channel_state
from tidegate.reference.input.channel_state import Polled, Saved, Subsumed
from tidegate.reference.model import Outcome, Rejected


def short(seen):
    """`0:1[2,3]` channel 0 saves 2 and 3 for checkpoint 1, `d2` data 2 polled, `!0` channel 0 refuses the start."""
    match seen:
        case Saved():
            return f"{seen.channel}:{seen.checkpoint}[{','.join(map(str, seen.sequences))}]"
        case Polled():
            return f"{seen.kind[0]}{seen.sequence}"
        case Subsumed():
            return f"!{seen.channel}"
        case Rejected():
            return "x"


def run(channels, trace):
    outcomes = walk("channel_state", {"channels": channels}, trace)
    return " ".join("".join(map(short, one.observations)) or "~" for one in outcomes)


@pytest.mark.rule("BARR-14")
@pytest.mark.parametrize(
    ("channels", "trace", "shown"),
    [
        (1, "0d 0d 0u1 0d start1", "~ ~ ~ ~ 0:1[0,1]"),
        (1, "0d 0poll 0d start1 0d 0u1 0d", "~ d0 ~ 0:1[1] 0:1[2] ~ ~"),
        (1, "0event 0d 0event 0d start1 0event", "~ ~ ~ ~ 0:1[1,3] ~"),
        (2, "0d 1d 0u1 start1 1d 0d 1u1 1d", "~ ~ ~ 0:1[0]1:1[0] 1:1[1] ~ ~ ~"),
        (1, "start1 0u1 start1", "~ ~ ~"),
        (1, "0d 0u1 start2 0d 0u1 0d 0u2 0d", "~ ~ 0:2[0] 0:2[2] ~ 0:2[4] ~ ~"),
    ],
)
def test_barr_14_what_was_overtaken_is_saved(channels, trace, shown):
    assert run(channels, trace) == shown


@pytest.mark.rule("BARR-15", "BARR-19")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0poll", "~"),
        ("0d 0u1 0u2 0poll 0poll 0poll 0poll", "~ ~ ~ b1 b2 d0 ~"),
        ("0d 0b1 0poll 0poll", "~ ~ d0 b1"),
        ("0d 0t1 0poll 0prioritize1 0poll 0poll", "~ ~ a1 ~ b1 d0"),
        ("0d 0t1 0u1 0poll 0poll 0prioritize1", "~ ~ ~ a1 b2 ~"),
        ("0d 0t1 0prioritize1", "~ ~ x"),
        ("0d 0t1 0poll stop1 0prioritize1", "~ ~ a1 ~ x"),
        ("0t1 0poll 0prioritize0 0prioritize0", "~ a0 ~ x"),
        ("0t1 0t2 0poll 0poll 0prioritize0 0prioritize1", "~ ~ a0 a1 x ~"),
    ],
)
def test_barr_15_what_overtakes_and_what_stays(trace, shown):
    assert run(1, trace) == shown


@pytest.mark.rule("BARR-16")
@pytest.mark.parametrize(
    ("channels", "trace", "shown"),
    [
        (1, "0d 0u2 start1 start2", "~ ~ !0 0:2[0]"),
        (3, "0d 1d 2d 1u2 start1 0d 2d", "~ ~ ~ ~ 0:1[0]!1 0:1[1] ~"),
        (1, "0u2 stop2 start1", "~ ~ ~"),
        (1, "0u1 start1 0u3 start2", "~ ~ ~ !0"),
    ],
)
def test_barr_16_a_checkpoint_that_starts_too_late_fails(channels, trace, shown):
    assert run(channels, trace) == shown


@pytest.mark.rule("BARR-20")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("start1 0d stop1 0d", "~ 0:1[0] ~ ~"),
        ("start2 stop1 0d", "~ ~ 0:2[0]"),
        ("start1 stop1 0d 0u1 0d start1", "~ ~ ~ ~ ~ 0:1[0,2]"),
        ("start2 0u1 0d", "~ ~ 0:2[1]"),
        ("1d -1poll 1prioritize0", "x x x"),
    ],
)
def test_barr_20_when_saving_stops(trace, shown):
    assert run(1, trace) == shown


@pytest.mark.parametrize("trace", ["1d", "1event", "1u1", "-1poll", "1prioritize0"])
def test_there_is_no_such_channel(trace):
    assert last("channel_state", {"channels": 1}, trace) == ("rejected", "BARR-20")


def test_saving_what_was_polled_is_refused():
    before = walk("channel_state", {"channels": 1}, "0d 0d 0poll")[-1].state
    event = channel_state.Start(Long(1))
    (right,) = channel_state.step(before, event)
    wrong = Outcome(right.state, (Saved(0, Long(1), (0, 1)),), right.rules)
    assert broken_claims("channel_state", before, event, right) == set()
    assert broken_claims("channel_state", before, event, wrong) == {
        "saves-data-that-waits",
        "nothing-behind-the-barrier",
    }


def test_saving_an_event_is_refused():
    before = walk("channel_state", {"channels": 1}, "0d 0event")[-1].state
    event = channel_state.Start(Long(1))
    (right,) = channel_state.step(before, event)
    wrong = attrs.evolve(right, observations=(Saved(0, Long(1), (0, 1)),))
    assert "saves-data-that-waits" not in broken_claims("channel_state", before, event, right)
    assert "saves-data-that-waits" in broken_claims("channel_state", before, event, wrong)


@pytest.mark.rule("BARR-16", "BARR-20")
def test_barr_16_a_barrier_outlives_a_newer_checkpoint_that_was_stopped():
    assert run(1, "0u2 stop3 start1 start2") == "~ ~ !0 ~"


def test_what_the_channel_that_refuses_saves_is_refused():
    model = COMPONENTS["channel_state"]
    before = state_after("channel_state", {"channels": 2}, "0d 1d 1u2")
    event = channel_state.Start(Long(1))
    (right,) = model.step(before, event)
    assert "nothing-behind-the-barrier" not in broken_claims("channel_state", before, event, right)
    wrong = attrs.evolve(right, observations=(*right.observations, Saved(1, Long(1), (0,))))
    assert "nothing-behind-the-barrier" in broken_claims("channel_state", before, event, wrong)


def test_one_channel_that_is_out_of_order_is_refused():
    (invariant,) = [one for one in COMPONENTS["channel_state"].invariants if one.name == "data-keeps-its-order"]
    state = state_after("channel_state", {"channels": 2}, "0d 0d 1d")
    assert invariant.holds(state)
    turned = attrs.evolve(state.channels[0], queue=state.channels[0].queue[::-1])
    assert not invariant.holds(attrs.evolve(state, channels=(turned, state.channels[1])))
