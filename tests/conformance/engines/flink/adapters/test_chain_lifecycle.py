"""Chains of Flink 2.3.0 live as the specification says."""

from tests.conformance.engines.flink.replaying import answer, is_bad_request

OPERATORS = [{"lingers": False}, {"lingers": False, "parent": 0}]
CONFIG = {"operators": OPERATORS, "sources": 0, "inputs": 1, "semantics": "flink-2.3"}
CREATE, OPEN = {"type": "create"}, {"type": "open"}


def test_keyed_state_is_told_of_a_subsumed_checkpoint(flink):
    subsume = {"type": "checkpoint", "step": "subsume"}
    (*_others, told) = answer(flink, "chain_lifecycle", CONFIG, CREATE, OPEN, subsume)
    assert [(one["call"], one["operator"]) for one in told] == [("subsume", 1), ("subsume", 0)]


def test_errors_of_a_close_are_attached_to_the_first(flink):
    faults = [{"type": "fault", "operator": index, "call": "close", "failing": True} for index in (0, 1)]
    (*_others, closed) = answer(flink, "chain_lifecycle", CONFIG, CREATE, OPEN, *faults, {"type": "close"})
    assert closed[-1] == {"type": "failed", "operator": 1, "suppressed": [0]}


def test_what_is_no_chain_is_a_bad_request(flink):
    assert is_bad_request(flink, "chain_lifecycle", {**CONFIG, "operators": []})
    assert is_bad_request(
        flink, "chain_lifecycle", {**CONFIG, "operators": [*OPERATORS, {"lingers": True, "parent": 2}]}
    )
    fault = {"type": "fault", "operator": 0, "call": "mail", "failing": True}
    assert is_bad_request(flink, "chain_lifecycle", CONFIG, fault)


def test_a_chain_that_had_finished_says_that_event_time_is_over(flink):
    """MultipleInputStreamTaskTest.testSkipExecutionsIfFinishedOnRestore."""
    config = {**CONFIG, "inputs": 2, "extension": "finished"}
    ends = [{"type": "watermark", "input": index, "timestamp": str(2**63 - 1)} for index in (0, 1)]
    early = {"type": "watermark", "input": 0, "timestamp": "7"}
    rejected, first, second = answer(flink, "chain_lifecycle", config, CREATE, OPEN, early, *ends)[2:]
    assert [one["type"] for one in rejected] == ["rejected"]
    assert (first, second) == ([], [{"type": "watermark", "timestamp": str(2**63 - 1)}])
