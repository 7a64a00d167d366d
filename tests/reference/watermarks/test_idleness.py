"""The idleness timer of a split: its claims."""

import attrs
import pytest

from tests.reference.walking import claim
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import idleness

IDLE = StatusChange(Status.IDLE)


STATE = idleness.start(idleness.Config(10, clock=1))[0]
EMIT = idleness.PeriodicEmit()
LOW = Watermark(Long(-(2**63)))


@pytest.mark.parametrize(
    ("name", "before", "event", "observations", "after"),
    [
        ("watermarks-never-fall", {}, EMIT, [Watermark(Long(0))], {}),
        ("watermarks-never-fall", {}, idleness.Pause(), [IDLE], {}),
        ("never-idle-at-the-first-two-checks", {}, EMIT, [IDLE], {}),
        ("never-idle-at-the-first-two-checks", {"heard": True, "since": 1}, EMIT, [], {}),
        ("idle-is-said-once", {"idle": True}, EMIT, [IDLE], {"idle": True}),
        ("idle-is-said-once", {}, EMIT, [], {"idle": True}),
        ("the-clock-stands-while-paused", {"paused": 1}, idleness.Advance(5), [], {"paused": 1, "clock": 6}),
        ("the-clock-stands-while-paused", {"paused": 1, "since": 1}, EMIT, [LOW], {"paused": 1, "since": -20}),
    ],
)
def test_claim_refuses(name, before, event, observations, after):
    outcome = Outcome(attrs.evolve(STATE, **after), tuple(observations), ())
    assert not claim("idleness", name)(attrs.evolve(STATE, **before), event, outcome)
