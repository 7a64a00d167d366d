"""What an unaligned checkpoint saves of input channels, rule by rule."""

import attrs

from tests.reference.walking import broken_claims, state_after, walk
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import Long
from tidegate.reference.input import channel_state
from tidegate.reference.input.channel_state import Saved
from tidegate.reference.model import Outcome


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
