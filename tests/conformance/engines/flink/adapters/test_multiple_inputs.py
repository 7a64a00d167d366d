"""Several inputs of one task of Flink 2.3.0 are read as the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request


def test_the_first_call_of_three_inputs_reads_the_last(flink):
    (seen,) = answer(flink, "multiple_inputs", {"inputs": [1, 1, 1]}, {"type": "process", "batch": False})
    assert seen[0] == {"type": "reads", "input": 2}


def test_fewer_than_two_inputs_are_a_bad_request(flink):
    assert is_bad_request(flink, "multiple_inputs", {"inputs": [1]})
    assert is_bad_request(flink, "multiple_inputs", {"inputs": [1, 0]})
