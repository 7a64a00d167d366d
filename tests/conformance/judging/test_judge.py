"""The judge: allowed or not, at which step, by which rules."""

import attrs
import pytest

from tidegate.conformance.engines.base import Steps
from tidegate.conformance.judging.expected import expect
from tidegate.conformance.judging.judge_fast import Judge
from tidegate.conformance.judging.reference_engine import Reference, ReferenceEngine
from tidegate.conformance.judging.verdicts import Malformed, Passed, Status, Violation
from tidegate.properties.drawing.cases import draw_case
from tidegate.reference.components import COMPONENTS
from tidegate.reference.elements import Watermark
from tidegate.traces.cases import Case
from tidegate.traces.codec import decode, encode_case
from tidegate.traces.notation.text import read_trace


def case_of(component, config, trace, **more):
    made = decode(config, COMPONENTS[component].config)
    return Case("test", component, made, read_trace(component, trace), **more)


LOST = case_of("valve", {"channels": 3}, "2i 0w20 1w10 0i 2a 1i 2i")
IDLE = {"type": "status", "status": "idle"}
W10, W20 = {"type": "watermark", "timestamp": "10"}, {"type": "watermark", "timestamp": "20"}
RIGHT = [[], [], [W10], [], [], [], [IDLE]]


def with_last(step):
    return [*RIGHT[:-1], step]


def test_what_the_specification_says_passes():
    judge = Judge()
    assert judge.judge(LOST, RIGHT) == Passed()
    assert judge.exercised[("VALVE-10", "VALVE-13", "VALVE-8"), ("status",)] == 1


def test_a_violation_names_step_rules_allowed_and_seen():
    judged = Judge().judge(LOST, with_last([W20, IDLE]))
    assert isinstance(judged, Violation)
    assert judged.step == 6
    assert judged.rules == ("VALVE-10", "VALVE-13", "VALVE-8")
    assert [one.observations for one in judged.allowed] == [expect(LOST)[0][-1]]
    assert judged.seen[0] == Watermark(20)
    assert judged.trail[0] == "VALVE-9"


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ([{"type": "status"}], "status is missing"),
        ([{"type": "watermark", "timestamp": 20}], "decimal string"),
        ([{"type": "watermark", "timestamp": "9223372036854775808"}], "64-bit"),
        ([{"type": "send", "channel": 1}], "type must be one of"),
        (["idle"], "must be an object"),
        ([None], "must be an object"),
        ([{}], "type must be one of"),
    ],
)
def test_what_is_no_observation_is_malformed(last, message):
    judged = Judge().judge(LOST, with_last(last))
    assert isinstance(judged, Malformed)
    assert judged.step == 6
    assert message in judged.message


def test_unknown_keys_are_ignored():
    assert Judge().judge(LOST, with_last([{**IDLE, "debug": [1]}])) == Passed()


@pytest.mark.parametrize(("records", "allowed"), [(0, False), (None, True)])
def test_a_field_that_the_protocol_knows_must_not_be_there_unless_it_is_wanted(records, allowed):
    """Without its extension `input_gauges` counts no records; null is none."""
    case = case_of("input_gauges", {"inputs": ["network"]}, "measure")
    lowest = str(-(2**63))
    shown = {"type": "gauges", "inputs": [lowest], "input": lowest, "records": records, "debug": 1}
    assert isinstance(Judge().judge(case, [[shown]]), Passed if allowed else Violation)


def test_a_reason_beside_rejected_is_not_compared():
    case = case_of("valve", {"channels": 1}, "7w1")
    assert Judge().judge(case, [[{"type": "rejected", "reason": "no such channel"}]]) == Passed()


def test_true_is_not_one():
    case = case_of("partitioner", {"kind": "rescale", "channels": 2}, "r r")
    assert isinstance(
        Judge().judge(case, [[{"type": "send", "channel": 0}], [{"type": "send", "channel": True}]]), Malformed
    )


def sends(*channels):
    return [[{"type": "send", "channel": channel}] for channel in channels]


@pytest.mark.parametrize(
    ("shown", "allowed"), [((0, 1, 2), True), ((2, 0, 1), True), ((1, 1, 1), False), ((0, 2, 1), False)]
)
def test_rebalance_may_start_anywhere_and_must_then_go_on_in_turn(shown, allowed):
    case = case_of("partitioner", {"kind": "rebalance", "channels": 3}, "r r r")
    assert isinstance(Judge().judge(case, sends(*shown)), Passed) == allowed


@pytest.mark.parametrize(("shown", "allowed"), [((0, 0, 1), True), ((2, 2, 2), True), ((0, 1, 3), False)])
def test_shuffle_may_take_any_channel_there_is(shown, allowed):
    case = case_of("partitioner", {"kind": "shuffle", "channels": 3}, "r r r")
    assert isinstance(Judge().judge(case, sends(*shown)), Passed) == allowed


def test_expected_answers_of_a_file_decide():
    wrong_file = case_of("valve", {"channels": 1}, "0w5", expect=((Watermark(6),),))
    assert isinstance(Judge().judge(wrong_file, [[{"type": "watermark", "timestamp": "5"}]]), Violation)
    assert Judge().judge(wrong_file, [[{"type": "watermark", "timestamp": "6"}]]) == Passed()


@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_the_reference_is_never_accused(component):
    judge = Judge()
    for index in range(40):
        case = draw_case(component, "judge", index)
        (answer,) = ReferenceEngine(seed=index).replay([encode_case(case)])
        assert judge.judge(case, answer["steps"]) == Passed(), case


@pytest.mark.parametrize("component", sorted(COMPONENTS))
def test_what_the_generator_found_out_is_what_the_judge_would_find(component):
    for index in range(8):
        case = draw_case(component, "way", index)
        bare = attrs.evolve(case, way=None)
        (answer,) = ReferenceEngine().replay([encode_case(case)])
        assert Reference().answer(case).steps == Reference().answer(bare).steps == answer["steps"]
        known, anew = Judge(), Judge()
        assert known.judge(case, answer["steps"]) == anew.judge(bare, answer["steps"]) == Passed()
        assert known.exercised == anew.exercised


def test_what_was_found_out_of_another_case_is_not_believed():
    way = next(made for index in range(50) if len((made := draw_case("valve", "way", index)).events) > 9)
    assert len(way.way.steps) == len(way.events)
    for other in (
        attrs.evolve(way, config=attrs.evolve(way.config, channels=way.config.channels + 1)),
        attrs.evolve(way, events=way.events[3:]),
        attrs.evolve(way, events=(*way.events[:3], *way.events[5:])),
    ):
        bare = attrs.evolve(other, way=None)
        assert list(other.follow()) == list(bare.follow())
        assert Judge().judge(other, Reference().answer(bare).steps) == Passed()


def test_a_finding_does_not_keep_states():
    case = next(made for index in range(50) if (made := draw_case("valve", "way", index)).events)
    verdict = Judge().reach(case, "generated", Steps([[IDLE] * 9 for _ in case.events]))
    assert verdict.status is Status.FAIL
    assert verdict.case == case
    assert verdict.case.way is None
