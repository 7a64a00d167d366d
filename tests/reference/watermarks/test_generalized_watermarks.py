"""Generalized watermarks: their claims."""

import attrs
import pytest

from tests.reference.walking import claim
from tidegate.reference.elements import Long
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import generalized_watermarks as generalized

STATE = generalized.start(generalized.Config(2, "min", wait=True))[0]
FIVE = generalized.ChannelNumber(0, Long(5))


@pytest.mark.parametrize(
    ("name", "observations", "after"),
    [
        ("only-news-is-emitted", [], {"last": Long(5)}),
        ("only-news-is-emitted", [generalized.Number(Long(5))], {}),
        ("a-value-of-a-channel", [generalized.Number(Long(6))], {"last": Long(6)}),
        ("nobody-is-left-out", [generalized.Number(Long(5))], {"last": Long(5)}),
    ],
)
def test_claim_refuses(name, observations, after):
    outcome = Outcome(attrs.evolve(STATE, **after), tuple(observations), ())
    assert not claim("generalized_watermarks", name)(STATE, FIVE, outcome)
