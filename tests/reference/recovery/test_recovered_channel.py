"""Recovered channels, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims as claims_of
from tests.reference.walking import last, state_after, walk
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import Long
from tidegate.reference.model import Outcome
from tidegate.reference.recovery.recovered_channel import step, values

DATED = {"declined": "flink-2.3", "over": "flink-39018", "marked": "flink-39521"}


@pytest.mark.rule("REC-1")
@pytest.mark.parametrize("event", ["0r", "0poll", "0d", "0event", "0complete", "0u1"])
@pytest.mark.parametrize("number", ["-1", "1"])
def test_channels_that_do_not_exist_are_refused(event, number):
    config = {"channels": 1, "location": "local"}
    assert last("recovered_channel", config, f"finish 0poll convert {number}{event[1:]}") == ("rejected", "REC-1")


@pytest.mark.parametrize("dated", ["over", "marked"])
def test_what_is_done_to_all_channels_does_not_copy_them_for_each(dated, monkeypatch):
    """Or a gate with as many channels as there may be would take minutes."""
    config = values.Config(3, values.Location.REMOTE, DATED[dated])
    (state,) = step.start(config)
    monkeypatch.delattr(step, "with_channel")
    events = [values.Convert(), values.Finish(), values.Convert(), values.Mark(1), values.Start(1), values.Stop(1)]
    for event in events:
        (outcome,) = step.step(state, event)
        state = outcome.state
    assert state.live


@pytest.mark.rule("REC-5")
def test_who_was_stopped_before_is_stopped_when_it_becomes_live():
    config = {"channels": 1, "location": "remote", "semantics": DATED["over"]}
    assert walk("recovered_channel", config, "finish stop3 convert")[-1].rules == ("REC-8", "REC-5")
    assert walk("recovered_channel", config, "finish convert")[-1].rules == ("REC-8",)


# --- claims, told of what is wrong ----------------------------------------------------------------------------


def after(kind, trace):
    channels, location, dated = kind.split()
    return state_after(
        "recovered_channel", {"channels": int(channels), "location": location, "semantics": DATED[dated]}, trace
    )


def tell(before, event, *observations, state=None):
    return claims_of("recovered_channel", before, event, Outcome(state or before, observations, ()))


def test_sent_data_that_is_read_before_recovered_data_is_refused():
    polled = values.Polled(values.Kind.DATA, False, 0, values.Next.NONE)  # noqa: FBT003
    assert "recovered-before-sent" in tell(after("1 remote over", "0r finish convert 0d"), values.Poll(0), polled)
    assert "recovered-before-sent" in tell(after("1 remote marked", "convert 0d"), values.Poll(0), polled)
    assert "recovered-before-sent" not in tell(
        after("1 remote over", "finish convert 0poll 0d"), values.Poll(0), polled
    )


def test_a_channel_that_stays_blocked_is_refused():
    before = after("2 remote declined", "finish 0poll 1poll convert 0complete 0poll 1complete")
    (right,) = step.step(before, values.Poll(1))
    assert "resumed-when-all-are-complete" not in claims_of("recovered_channel", before, values.Poll(1), right)
    blocked = attrs.evolve(right.state.channels[0], blocked=True)
    state = attrs.evolve(right.state, channels=(blocked, right.state.channels[1]))
    wrong = attrs.evolve(right, state=state)
    assert "resumed-when-all-are-complete" in claims_of("recovered_channel", before, values.Poll(1), wrong)


def test_what_is_saved_for_another_checkpoint_is_refused():
    before = after("1 remote over", "finish convert 0poll start1")
    for checkpoint, is_broken in ((1, False), (2, True)):
        seen = values.Saved(0, Long(checkpoint), (), (0,))
        assert ("saves-while-the-barrier-is-to-come" in tell(before, values.Data(0), seen)) == is_broken
    over = after("1 remote over", "finish convert 0poll start1 0u1")
    assert "saves-while-the-barrier-is-to-come" in tell(over, values.Data(0), values.Saved(0, Long(1), (), (0,)))


def test_one_channel_that_saves_before_life_is_refused():
    state = after("2 remote declined", "0r")
    (invariant,) = [one for one in COMPONENTS["recovered_channel"].invariants if "before-life" in one.name]
    assert invariant.holds(state)
    early = attrs.evolve(state.channels[0], queue=(values.Item(values.Kind.DATA, 0),))
    assert not invariant.holds(attrs.evolve(state, channels=(early, state.channels[1])))
