"""Generalized watermarks, rule by rule, in short notation."""

import attrs
import pytest

from tests.reference.walking import claim, last, walk
from tidegate.reference.elements import Long
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import generalized_watermarks as generalized


def short(seen):
    match seen:
        case generalized.Number(value=value):
            return str(value)
        case generalized.Truth(value=value):
            return "+" if value else "-"
    return seen.type


def run(combination, wait, channels, trace):
    config = {"channels": channels, "combination": combination, "wait": wait}
    outcomes = walk("generalized_watermarks", config, trace)
    return [" ".join(map(short, outcome.observations)) for outcome in outcomes]


@pytest.mark.parametrize(
    ("rule", "combination", "wait", "trace", "answers"),
    [
        ("GWM-1", "min", False, "0w5 0w3 1w4", ["5", "3", ""]),
        ("GWM-1", "min", False, "2w5 -1w5 0w+", ["rejected"] * 3),
        ("GWM-1", "or", False, "0w5", ["rejected"]),
        ("GWM-2", "min", False, "0w5 1w3 1w9", ["5", "3", "5"]),
        ("GWM-2", "max", False, "0w-5 1w-3 1w-9", ["-5", "-3", "-5"]),
        ("GWM-3", "and", False, "0w+ 1w- 1w+", ["+", "-", "+"]),
        ("GWM-3", "or", False, "0w- 1w+ 1w-", ["-", "+", "-"]),
        ("GWM-4", "min", True, "0w5 0w4 1w9", ["", "", "4"]),
        ("GWM-4", "or", True, "0w+ 1w-", ["", "+"]),
        ("GWM-5", "max", False, "0w5 1w5 1w3 0w0 1w3", ["5", "", "", "3", ""]),
        ("GWM-6", "aligned", False, "0w5 0w6 1w6 1w6 0w6", ["", "", "6 resume", "", "6 resume"]),
        ("GWM-6", "aligned", True, "0w+ 1w-", ["", "- resume"]),
    ],
)
def test_rule(rule, combination, wait, trace, answers):
    assert run(combination, wait, 2, trace) == answers


def test_what_is_refused_by_which_rule():
    assert last("generalized_watermarks", {"channels": 1, "combination": "and"}, "0w1") == ("rejected", "GWM-1")


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
