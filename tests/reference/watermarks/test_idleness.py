"""The idleness timer of a split, rule by rule, in short notation."""

import attrs
import pytest

from tests.reference.walking import claim, last
from tests.reference.watermarks.short import play
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import idleness

LOWEST = "w-9223372036854775808"
IDLE = StatusChange(Status.IDLE)


@pytest.mark.parametrize(
    ("rule", "config", "trace", "answers"),
    [
        ("IDLE-1", {}, "emit r5 emit r3 emit", [LOWEST, "", "w4", "", "w4"]),
        ("IDLE-1", {"delay": 3}, "emit r5 emit r-9223372036854775807 emit", [LOWEST, "", "w1", "", "w1"]),
        ("IDLE-2", {}, "r5 emit emit +11 emit r4 emit", ["", "w4", "w4", "", "idle", "", "w4"]),
        ("IDLE-3", {}, "r5 +99 emit +99 emit", ["", "", "w4", "", "w4"]),
        ("IDLE-4", {}, "emit +10 emit +1 emit", [LOWEST, "", LOWEST, "", "idle"]),
        ("IDLE-5", {}, "r5 emit emit +10 emit +1 emit", ["", "w4", "w4", "", "w4", "", "idle"]),
        ("IDLE-6", {}, "emit +11 emit emit +99 emit", [LOWEST, "", "idle", "", "", ""]),
        (
            "IDLE-7",
            {},
            "emit +5 pause +99 emit resume +5 emit +1 emit",
            [LOWEST, *3 * [""], LOWEST, "", "", LOWEST, "", "idle"],
        ),
        ("IDLE-7", {}, "emit pause pause +99 resume +99 emit", [LOWEST, *5 * [""], LOWEST]),
        ("IDLE-8", {"clock": 0}, "emit emit +1 emit +11 emit", [LOWEST, LOWEST, "", LOWEST, "", "idle"]),
        ("IDLE-8", {"clock": -5}, "emit +5 emit +6 emit", [LOWEST, "", LOWEST, "", "idle"]),
    ],
)
def test_rule(rule, config, trace, answers):
    assert play("idleness", {"timeout": 10, "clock": 1, **config}, trace) == answers


@pytest.mark.parametrize("trace", ["resume", "pause resume resume"])
def test_a_resume_too_many_is_refused(trace):
    assert last("idleness", {"timeout": 10}, trace) == ("rejected", "IDLE-7")


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
