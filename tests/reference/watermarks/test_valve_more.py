"""The claims about the valve refuse what they are there to refuse."""

import pytest

from tidegate.reference.elements import Long, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import valve
from tidegate.reference.watermarks.valve import Channel, Config, State

CLAIMS = {claim.name: claim for claim in valve.COMPONENT.claims}
BEFORE = State(Config(2), (Channel(Long(5)), Channel(Long(7))), last=Long(5))


def refuses(name, after, *seen):
    return not CLAIMS[name].holds(BEFORE, valve.ChannelWatermark(0, Long(6)), Outcome(after, seen, ()))


@pytest.mark.parametrize(
    ("last", "emitted"), [(5, [5]), (4, []), (5, [6, 5]), (6, [4])], ids=["again", "fallen", "twice", "behind"]
)
def test_a_watermark_that_is_not_new_is_refused(last, emitted):
    after = State(BEFORE.config, BEFORE.channels, Long(last))
    assert refuses("watermarks-increase", after, *(Watermark(Long(timestamp)) for timestamp in emitted))


def test_one_channel_that_falls_is_refused():
    after = State(BEFORE.config, (Channel(Long(6)), Channel(Long(6))), Long(6))
    assert refuses("channel-watermarks-never-fall", after)


@pytest.mark.parametrize("channel", [Channel(Long(9), active=False), Channel(Long(4), active=True)])
def test_an_aligned_channel_that_is_idle_or_behind_is_refused(channel):
    assert not CLAIMS["aligned-means-caught-up"].holds(State(Config(1), (channel,), Long(5)))
