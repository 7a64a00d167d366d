"""Several inputs of one task in corners that no trace comes to."""

import attrs
import pytest

from tests.reference.walking import failing_claims, last, walk
from tidegate.reference.input import multiple_inputs
from tidegate.reference.input.multiple_inputs import Reads
from tidegate.reference.input.network_input.values import InputStatus, Process, Record, Returned

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
    [
        ("0.0over call call call", "nothing_available", "false"),
        ("0.0end call", "more_available", "true"),
    ],
)
def test_nin_9_the_end_of_one_input_is_not_the_end_of_all(trace, status, available):
    shown, rule = last("multiple_inputs", TWO, trace)
    assert shown.endswith(f"returned(status {status}, available {available})")
    assert rule == "NIN-9"


# --- claims, told of what is wrong ------------------------------------------------------------------------------


def test_a_call_that_reads_two_inputs_is_refused():
    before = walk("multiple_inputs", TWO, BUFFER)[-1].state
    (outcome,) = multiple_inputs.step(before, CALL)
    assert failing_claims("multiple_inputs", before, CALL, outcome) == set()
    both = attrs.evolve(outcome, observations=(Reads(1), *outcome.observations))
    assert failing_claims("multiple_inputs", before, CALL, both) == {"reads-one-input"}


def test_a_call_that_overlooks_the_one_input_that_has_something_is_refused():
    before = walk("multiple_inputs", TWO, f"call call {BUFFER}")[-1].state
    (outcome,) = multiple_inputs.step(before, CALL)
    nothing = Returned(InputStatus.NOTHING_AVAILABLE, available=True)
    overlooked = attrs.evolve(outcome, state=before, observations=(nothing,))
    assert failing_claims("multiple_inputs", before, CALL, overlooked) == {"nothing-means-nothing"}
