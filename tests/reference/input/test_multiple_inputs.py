"""Several inputs of one task, rule by rule."""

import attrs
import pytest

from tests.reference.walking import broken_claims, last, walk
from tidegate.reference.input import multiple_inputs
from tidegate.reference.input.multiple_inputs import Reads, select_next
from tidegate.reference.input.network_input.values import InputStatus, Process, Returned
from tidegate.reference.spanning.stream_elements import Record

A, AB = "b000000020161", "b000000020161000000020162"


def run(trace, inputs=(1, 1)):
    """`0a` and `0ab` are buffers of input 0 with one or two records; `0end`, `0stop`, `0over` its endings."""
    words = [
        f"{word[0]}.0{ {'a': A, 'ab': AB}.get(word[1:], word[1:]) }" if word[0].isdigit() else word
        for word in trace.split()
    ]
    return walk("multiple_inputs", {"inputs": list(inputs)}, " ".join(words))


def short(outcome):
    """The input that was read, and the status, with * where there is more to find."""
    read = [str(one.input) for one in outcome.observations if one.type == "reads"]
    status = [one.status.value + "*" * one.available for one in outcome.observations if one.type == "returned"]
    return " ".join(read + status)


def calls(trace, inputs=(1, 1)):
    return [short(outcome) for outcome in run(trace, inputs) if short(outcome)]


def reads(trace, inputs=(1, 1)):
    return "".join(shown[0] if shown[0].isdigit() else "-" for shown in calls(trace, inputs))


@pytest.mark.rule("NIN-9")
@pytest.mark.parametrize(
    ("trace", "inputs", "order"),
    [
        ("0ab 1ab call call call call", (1, 1), "0101"),
        ("0a 1a 2a call call call", (1, 1, 1), "201"),
        ("call call call", (1, 1), "01-"),
        ("call call 1ab call call call", (1, 1), "01111"),
        ("call call 0ab 0ab call 1a call call", (1, 1), "01001"),
        ("0over call call call call 1a call", (1, 1), "010-1"),
    ],
)
def test_nin_9_inputs_are_read_in_turn(trace, inputs, order):
    assert reads(trace, inputs) == order


@pytest.mark.rule("NIN-9")
@pytest.mark.parametrize(
    ("trace", "shown"),
    [
        ("0a call call", "1 more_available*"),
        ("0a call call call", "0 nothing_available"),
        ("0end 1end call call", "1 end_of_data*"),
        ("0stop 1end call call", "1 stopped*"),
        ("0end 1stop call call", "1 more_available*"),
        ("0over 1over call call call call", "1 end_of_input*"),
        ("0over 1over call call call call call", "nothing_available*"),
    ],
)
def test_nin_9_the_status_of_all_inputs(trace, shown):
    outcome = run(trace)[-1]
    assert short(outcome) == shown
    assert outcome.rules[0] == "NIN-9"


@pytest.mark.rule("NIN-9")
def test_nin_9_only_selected_inputs_are_chosen():
    assert select_next((True, False, True), (True, True, True), 0) == 2
    assert select_next((True, False, False), (True, True, True), 0) == 0
    assert select_next((False, True, False), (True, False, True), 0) is None


@pytest.mark.parametrize("trace", ["2.0b00", "-1.0over", "0.1b00", "0.0over 0.0b00"])
def test_refused(trace):
    assert last("multiple_inputs", {"inputs": [1, 1]}, trace)[0] == "rejected"


# --- corners --------------------------------------------------------------------------------------------------

TWO = {"inputs": [1, 1]}
BUFFER = "0.0b000000020161"
CALL = Process(batch=False)


@pytest.mark.rule("NIN-9")
def test_nin_9_what_is_read_comes_behind_the_input_that_it_comes_from():
    shown = walk("multiple_inputs", TWO, f"{BUFFER} call")[-1].observations
    assert shown == (Reads(0), Record(b"a"), Returned(InputStatus.MORE_AVAILABLE, available=True))


@pytest.mark.rule("NIN-9")
@pytest.mark.parametrize(
    ("trace", "status", "available"),
    [("0.0over call call call", "nothing_available", "false"), ("0.0end call", "more_available", "true")],
)
def test_nin_9_the_end_of_one_input_is_not_the_end_of_all(trace, status, available):
    shown, rule = last("multiple_inputs", TWO, trace)
    assert shown.endswith(f"returned(status {status}, available {available})")
    assert rule == "NIN-9"


# --- claims, told of what is wrong ------------------------------------------------------------------------------


def test_a_call_that_overlooks_the_one_input_that_has_something_is_refused():
    before = walk("multiple_inputs", TWO, f"call call {BUFFER}")[-1].state
    (outcome,) = multiple_inputs.step(before, CALL)
    nothing = Returned(InputStatus.NOTHING_AVAILABLE, available=True)
    overlooked = attrs.evolve(outcome, state=before, observations=(nothing,))
    assert broken_claims("multiple_inputs", before, CALL, overlooked) == {"nothing-means-nothing"}
