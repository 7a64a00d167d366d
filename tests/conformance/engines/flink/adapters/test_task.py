"""A task of Flink 2.3.0 waits for its last checkpoint as the specification says."""

from tests.conformance.engines.flink.replaying import answer

PROCEED = {"type": "proceed"}
INVOKED = [{"type": "start"}, *[PROCEED] * 7]
CONFIG = {"operators": 1, "outputs": 0, "extension": "final_checkpoint"}


def begin(number, *, stops=False):
    return {"type": "begin_checkpoint", "checkpoint": str(number), "stops": stops}


def complete(number):
    return {"type": "complete_checkpoint", "checkpoint": str(number)}


def test_a_checkpoint_from_before_the_end_is_not_the_last(flink):
    drain = {"type": "end_of_data", "drain": True}
    events = [begin(1), drain, begin(2), complete(1), PROCEED, complete(2), PROCEED]
    *_others, waits, told, ends = answer(flink, "task", CONFIG, *INVOKED, *events)
    assert [one["type"] for one in waits] == ["rejected"]
    assert (told, ends) == ([], [{"type": "step", "name": "finish_partitions"}])


def test_a_savepoint_that_is_given_up_fails_the_task(flink):
    given_up = {"type": "abort_checkpoint", "checkpoint": "3", "completed": "0"}
    *_others, failed = answer(flink, "task", CONFIG, *INVOKED, begin(3, stops=True), given_up)
    assert {"type": "final", "state": "failed"} in failed
