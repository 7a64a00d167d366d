"""Several inputs of one task, rule by rule."""

import attrs
import pytest

from tests.reference.walking import begin, broken_claims, claim, last, seen, walk
from tidegate.reference.input import multiple_inputs
from tidegate.reference.input.multiple_inputs import NoProgress, Reads, select_next
from tidegate.reference.input.network_input.values import InputStatus, Process, Returned
from tidegate.reference.model import InvalidInputError, Outcome
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


# --- an operator that selects ----------------------------------------------------------------------------------

SELECTS = {"inputs": [1, 1, 1], "extension": "selection"}


@pytest.mark.rule("NIN-10")
@pytest.mark.parametrize("trace", ["select3", "select-1", "select0,3", "select-1,0"])
def test_nin_10_an_input_that_is_not_there_cannot_be_selected(trace):
    assert last("multiple_inputs", SELECTS, trace) == ("rejected", "NIN-10")


def test_nin_10_inputs_are_selected_in_the_extension_only():
    with pytest.raises(InvalidInputError, match="extension selection"):
        seen("multiple_inputs", TWO, "select0")


@pytest.mark.rule("NIN-10")
@pytest.mark.parametrize(
    ("wished", "selected", "read", "holds"),
    [
        ({0}, None, 0, True),
        ({0}, None, 1, False),
        ({0}, {1}, 0, True),
        ({0}, {1}, 1, True),
        ({0}, {1}, 2, False),
    ],
)
def test_nin_10_what_is_read_was_selected(wished, selected, read, holds):
    start = begin("multiple_inputs", SELECTS)
    before = attrs.evolve(start, wished=frozenset(wished), selected=None if selected is None else frozenset(selected))
    outcome = Outcome(before, (Reads(read),), ())
    assert claim("multiple_inputs", "reads-what-is-selected")(before, CALL, outcome) == holds


@pytest.mark.rule("NIN-10")
@pytest.mark.parametrize(
    ("extension", "over", "holds"),
    [
        ("selection", (False, False), True),
        ("selection", (True, False), True),
        ("selection", (True, True), False),
        (None, (False, False), False),
        (None, (True, False), False),
    ],
)
def test_nin_10_only_who_selects_makes_no_progress(extension, over, holds):
    state = attrs.evolve(begin("multiple_inputs", multiple_inputs.Config((1, 1), extension)), over=over)
    stuck, quiet = Outcome(state, (NoProgress(),), ()), Outcome(state, (), ())
    assert claim("multiple_inputs", "no-progress-without-selection")(state, CALL, stuck) == holds
    assert claim("multiple_inputs", "no-progress-without-selection")(state, CALL, quiet)


@pytest.mark.rule("NIN-10")
def test_nin_10_an_operator_is_asked_before_the_first_call_and_behind_each_that_read():
    """Who has selected nothing by then is not asked again: no call reads anything."""
    shown, rule = last("multiple_inputs", SELECTS, "select call select0 call")
    assert (shown, rule) == ("returned(status nothing_available, available false)", "NIN-9")
    assert "reads(input 0)" in last("multiple_inputs", SELECTS, "select select0 call")[0]


@pytest.mark.rule("NIN-9")
@pytest.mark.parametrize("inputs", [(1,), (1,) * 64, (1, 0)])
def test_nin_9_there_are_2_to_63_inputs_each_with_a_channel(inputs):
    assert begin("multiple_inputs", multiple_inputs.Config((1,) * 63))
    with pytest.raises(InvalidInputError, match="inputs must"):
        multiple_inputs.Config(inputs)
