"""What hosts of Flink's show of a job, as answers of the protocol: no cluster is needed for that."""

import json

import pytest

from tidegate.conformance import schemas
from tidegate.conformance.engines import messages
from tidegate.conformance.engines.base import Ran
from tidegate.conformance.engines.flink.jobs.translation import connect, translate_harmed, translate_run
from tidegate.conformance.judging.jobs.drawing import JobCase
from tidegate.conformance.judging.jobs.judging import Judge
from tidegate.conformance.judging.jobs.reference_jobs import ReferenceJobs
from tidegate.conformance.judging.verdicts import Status
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long
from tidegate.reference.job.programs import Config, Edge, Function, Operator, Record
from tidegate.reference.partitioning import wiring

#: A source and a sink behind a shuffle.
CASE = JobCase(
    "short",
    Config(
        (
            Operator(1, "source", Function.SOURCE, 1, ((Record("a", Long(1), Long(1)),),)),
            Operator(2, "sink", Function.SINK),
        ),
        (Edge(1, 2, Partitioner.HASH),),
    ),
)
GRAPH = CASE.as_request().graph
VERTICES = [
    {"vertex": "v1", "name": "Source: clock1 -> o1", "parallelism": 1, "inputs": []},
    {
        "vertex": "v2",
        "name": "o2",
        "parallelism": 1,
        "inputs": [{"vertex": "v1", "output": 0, "partitioner": "HASH", "pattern": "ALL_TO_ALL"}],
    },
]


def judge(answer):
    """What became of the job; the answer is one that any engine could have given."""
    assert schemas.check({"id": 1, "ok": answer}, "job-reply") == []
    line = json.dumps({"id": 1, "ok": answer}).encode()
    assert messages.read_job_reply(messages.Parser().parse(line)) == Ran(answer)
    return Judge(ReferenceJobs()).judge(CASE, answer)


@pytest.mark.parametrize("pattern", wiring.Pattern)
@pytest.mark.parametrize("producers", range(1, 6))
@pytest.mark.parametrize("consumers", range(1, 6))
def test_channels_are_those_of_the_specification(pattern, producers, consumers):
    (state,) = wiring.start(wiring.Config(pattern, producers, consumers))
    (outcome,) = wiring.step(state, wiring.Wire())
    wired = [(one.producer, one.subpartition, one.consumer) for one in outcome.observations]
    assert sorted(connect(pattern.value, producers, consumers)) == sorted(wired)


# --- runs -----------------------------------------------------------------------------------------------------


def make_run():
    """Vertex, subtask, direction, port, channel, kind, timestamp, number, key, value."""
    ends = [(kind, None, None, None, None) for kind in ("end_of_data", "end_of_partition")]
    told = [("record", 1, 500, "a", 1), ("watermark", 2**63 - 1, None, None, None), *ends]
    rows = [["v1", 0, "out", 0, 0, *cells] for cells in told] + [["v2", 0, "in", 0, 0, *cells] for cells in told]
    return {"graph": VERTICES, "rows": rows, "writers": [], "totals": {}, "collected": {"2": [["a", 1]]}, "read": {}}


def test_a_run_is_told_in_rows_of_the_protocol():
    judged = judge(translate_run(GRAPH, make_run(), unaligned=False))
    assert (judged.status, judged.explained) == (Status.PASS, True)


def test_a_record_that_is_not_received_is_missed():
    shown = make_run()
    shown["rows"] = [row for row in shown["rows"] if row[2] == "out" or row[5] != "record"]
    assert "LOG-LOSS" in {one.name for one in judge(translate_run(GRAPH, shown, unaligned=False)).wrongs}


@pytest.mark.parametrize(("key", "value"), [("name", "o3"), ("parallelism", 3)])
def test_another_job_graph_is_shown_and_fails(key, value):
    shown = make_run()
    shown["graph"] = [VERTICES[0], {**VERTICES[1], key: value}]
    judged = judge(translate_run(GRAPH, shown, unaligned=False))
    assert judged.status is Status.FAIL
    assert "another job graph: its tasks are" in judged.wrongs[0].message


def test_barriers_are_not_shown_where_they_overtake_or_a_checkpoint_is_given_up():
    barrier = ["v1", 0, "out", 0, 0, "barrier", None, 1, None, None]
    shown = {**make_run(), "rows": [barrier, *make_run()["rows"]]}
    plain, unaligned = (translate_run(GRAPH, shown, unaligned=one) for one in (False, True))
    assert ("shows" in plain, plain["rows"][0]["kind"]) == (False, "barrier")
    assert ("barrier" in unaligned["shows"], unaligned["rows"][0]["kind"]) == (False, "record")
    shown["rows"][0] = [*barrier[:5], "CancelCheckpointMarker", *barrier[6:]]
    assert "barrier" not in translate_run(GRAPH, shown, unaligned=False)["shows"]


def test_a_job_that_showed_nothing_has_failed_with_no_rows():
    judged = judge(translate_harmed(GRAPH, {"error": "out of luck", "hit": []}))
    assert (judged.status, judged.wrongs[0].message) == (Status.FAIL, "the job failed: out of luck")


# --- journals -------------------------------------------------------------------------------------------------


def make_short_run():
    """A source that was over when the checkpoint was taken from which its sink went on."""
    sent = [["out", 0, 0, "record", 1, 500, "a", 1], ["out", 0, 0, "end_of_partition", None, None, None, None]]
    received = [["in", None, 77, "record", 1, 500, "a", 1], ["out", None, None, "snapshot", None, 4, None, 1]]
    journals = [
        [["v1", 0, "g", 0, 1000, [77]], *sent],
        [["v2", 0, "g", 0, 1001, []], *received],
        [["v2", 0, "g", 1, 2000, []], ["out", None, None, "restored", None, 4, None, 1]],
    ]
    generation = {"graph": VERTICES, "parallelism": {"1": 1, "2": 1}, "journals": journals}
    return {"generations": [generation], "committed": [[2, "a", 1]], "hit": []}


def test_a_source_that_was_over_is_not_undone():
    shown = make_short_run()
    judged = judge(translate_harmed(GRAPH, shown))
    assert [str(one) for one in judged.wrongs] == []
    assert judged.restores == 1
    shown["generations"][0]["journals"][0].pop()  # it was not over
    assert "LOG-LOSS" in {one.name for one in judge(translate_harmed(GRAPH, shown)).wrongs}


def test_what_was_sent_by_another_generation_is_of_no_channel_of_this_one():
    shown = make_short_run()
    shown["generations"][0]["journals"][1].insert(1, ["in", None, 99, "record", 1, 600, "a", 1])
    assert judge(translate_harmed(GRAPH, shown)).status is Status.PASS


def test_what_is_not_committed_is_missing():
    shown = make_short_run()
    shown["committed"].clear()
    assert {one.name for one in judge(translate_harmed(GRAPH, shown)).wrongs} == {"LOG-RESULT"}
