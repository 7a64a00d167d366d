"""The edge of a source: its laws and claims."""

import attrs
import pytest

from tests.reference.walking import claim, ending, law_holds
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import source_output

IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)


def test_a_valve_behind_it_loses_nothing():
    assert law_holds("source_output", "a-valve-loses-nothing")


def test_a_valve_behind_an_edge_that_is_never_active_again_loses_watermarks(monkeypatch):
    """An idle channel has no say in a valve: so SRC-6."""
    right = source_output.hear

    def hear(state, said, *, main):
        outcome = right(state, said, main=main)
        return attrs.evolve(outcome, observations=tuple(seen for seen in outcome.observations if seen != ACTIVE))

    monkeypatch.setattr(source_output, "hear", hear)
    assert not law_holds("source_output", "a-valve-loses-nothing")


@pytest.mark.parametrize(
    ("trace", "rules"),
    [
        ("add0 0w5 i", ("SRC-7", "SRC-9")),
        ("add0 i 0i", ("SRC-8", "SRC-4")),
        ("i i", ("SRC-8", "SRC-9")),
    ],
)
def test_who_says_idle_again_and_who_too_early(trace, rules):
    assert ending("source_output", {}, trace) == ("", rules)


STATE = source_output.start(source_output.Config())[0]
WORD = source_output.EmitWatermark(source_output.Mode.IMMEDIATE, Long(5))
RECORD = source_output.EmitRecord(Long(5))


@pytest.mark.parametrize(
    ("name", "before", "event", "observations", "after"),
    [
        ("watermarks-rise", {"last": Long(5)}, WORD, [Watermark(Long(5))], {"last": Long(5)}),
        ("watermarks-rise", {}, WORD, [Watermark(Long(5))], {}),
        ("watermarks-rise", {"last": Long(5)}, WORD, [Watermark(Long(4)), Watermark(Long(6))], {"last": Long(6)}),
        ("statuses-alternate", {"idle": True}, WORD, [IDLE], {"idle": True}),
        ("statuses-alternate", {}, WORD, [IDLE], {}),
        ("no-watermark-while-idle", {"idle": True}, WORD, [Watermark(Long(5)), ACTIVE], {"last": Long(5)}),
        ("idle-when-both-sides-are", {}, WORD, [IDLE], {"idle": True, "main_idle": False}),
        ("records-come-first", {}, RECORD, [], {}),
        ("records-come-first", {"idle": True}, RECORD, [source_output.Record(Long(5))], {}),
        ("records-come-first", {}, WORD, [source_output.Record(Long(5))], {}),
        ("silent-while-splits-come-and-go", {}, source_output.AddSplit(0), [], {"last": Long(5)}),
        ("silent-while-splits-come-and-go", {}, source_output.AddSplit(0), [IDLE], {}),
    ],
)
def test_claim_refuses(name, before, event, observations, after):
    outcome = Outcome(attrs.evolve(STATE, **after), tuple(observations), ())
    assert not claim("source_output", name)(attrs.evolve(STATE, **before), event, outcome)
