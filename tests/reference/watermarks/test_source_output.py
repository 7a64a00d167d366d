"""The edge of a source, rule by rule, in short notation."""

import attrs
import pytest

from tests.reference.walking import claim, ending, last, law_holds
from tests.reference.watermarks.short import play
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.model import Outcome
from tidegate.reference.watermarks import source_output

FLINK_38454, FLINK_18934 = source_output.SEMANTICS
IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)


def run(trace, semantics=FLINK_38454):
    return play("source_output", {"semantics": semantics}, trace)


@pytest.mark.parametrize(
    ("rule", "trace", "answers"),
    [
        ("SRC-1", "add0 0w5 add0 0w5 0w6", ["", "w5", "", "", "w6"]),
        ("SRC-1", "add0 0w5 add1 0w9 1w7", ["", "w5", "", "", "w7"]),
        ("SRC-2", "add0 add1 0w5 drop1 emit 1w9 drop1", ["", "", "", "", "w5", "rejected", "rejected"]),
        ("SRC-2", "0r1 0w1 0i drop0", ["rejected", "rejected", "rejected", "rejected"]),
        ("SRC-3", "add0 0i 0r7 0r7w7", ["", "idle", "record", "record active w7"]),
        ("SRC-3", "i r7 r7w7", ["idle", "record", "record active w7"]),
        ("SRC-4", "add0 add1 0later-w5 1w3 emit 1later-w4 emit", ["", "", "", "w3", "", "", "w4"]),
        ("SRC-5", "add0 0w5 w4 w6 0w6 0w7", ["", "w5", "", "w6", "", "w7"]),
        ("SRC-5", "add0 w9 i 0w5 0i 0w9 0w10", ["", "w9", "idle", "", "", "", "active w10"]),
        ("SRC-6", "add0 0w5 0i 0w6", ["", "w5", "idle", "active w6"]),
        ("SRC-7", "add0 0w5 i 0i w6 0i i", ["", "w5", "", "idle", "active w6", "", "idle"]),
        ("SRC-7", "add0 0w5 a 0i i", ["", "w5", "", "", "idle"]),
        ("SRC-8", "add0 0i 0i emit i a a i", ["", "idle", "", "", "", "active", "", "idle"]),
        ("SRC-8", "add0 0w5 0i 0a emit 0w6", ["", "w5", "idle", "", "", "active w6"]),
        ("SRC-9", "later-w5 later-i later-a w6", ["w5", "idle", "active", "w6"]),
    ],
)
def test_rule(rule, trace, answers):
    assert run(trace) == answers


def test_the_multiplexer_follows_its_own_semantics():
    trace = "add0 0later-w6 0later-i emit"
    assert run(trace)[-1] == "w6 idle"
    assert run(trace, FLINK_18934)[-1] == "idle"


def test_a_flush_while_idle_is_announced():
    """Both splits are idle; one that has noted a higher watermark says idle once more: active, watermark, idle."""
    assert run("add0 add1 0i 1i 0later-w6 0later-i emit")[-2:] == ["", "active w6 idle"]


@pytest.mark.parametrize(("rule", "trace"), [("SRC-2", "0w5"), ("SRC-2", "drop0"), ("SRC-2", "add0 1r5")])
def test_what_is_refused_by_which_rule(rule, trace):
    assert last("source_output", {}, trace) == ("rejected", rule)


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
