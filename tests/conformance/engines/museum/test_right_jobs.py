"""The right job of the museum, against examples worked out by hand from the rules."""

import pytest

from tidegate.conformance.engines.museum import engine
from tidegate.conformance.engines.museum.engines import Right
from tidegate.conformance.engines.museum.job.channels import decode, encode
from tidegate.conformance.engines.museum.job.outputs import compute_max_parallelism
from tidegate.conformance.engines.museum.job.program import Element
from tidegate.conformance.engines.python import InProcess
from tidegate.conformance.judging.golden import read_golden
from tidegate.conformance.judging.suite import Planned
from tidegate.conformance.judging.trial import Runner
from tidegate.conformance.judging.verdicts import Status
from tidegate.properties.cases.directed import directed

RECORD = {"type": "record", "key": "a", "value": "1", "timestamp": "7"}
BARRIER = {"type": "barrier", "checkpoint": 1}
IDLE = {"type": "status", "status": "idle"}
OVER = str(2**63 - 1)


def mark(timestamp):
    return {"type": "watermark", "timestamp": str(timestamp)}


def operator(number, function, parallelism=1, scripts=()):
    return {
        "id": number,
        "name": f"{function}{number}",
        "function": function,
        "parallelism": parallelism,
        "scripts": list(scripts),
    }


def source(*scripts, number=1):
    return operator(number, "source", len(scripts), scripts)


def edge(start, end, partitioner=None, place=0):
    return {"source": start, "target": end, "input": place, **({"partitioner": partitioner} if partitioner else {})}


def make_config(operators, edges, **more):
    return {"operators": operators, "edges": edges, **more}


def replay(config, trace):
    """`emit0 poll1`: the answers to each of these choices."""
    events = [{"type": "choice", "action": word[:-1], "at": int(word[-1])} for word in trace.split()]
    [answer] = engine(None).replay([{"case": "1", "component": "job", "config": config, "events": events}])
    return answer


def rows(config, trace):
    """Of each row its direction, its consumer, its kind, and what it is about."""
    return [
        [
            (row["dir"], row["consumer"], row["kind"], row.get("timestamp", row.get("value")))
            if row["type"] == "log"
            else row["type"]
            for row in step
        ]
        for step in replay(config, trace)["steps"]
    ]


def test_golden_and_directed_traces_pass():
    cases = [*read_golden("job"), *(one.case for one in directed("job"))]
    verdicts = list(Runner(InProcess(Right())).run(Planned("golden", case) for case in cases))
    assert len(verdicts) > 100
    assert [verdict for verdict in verdicts if verdict.status is not Status.PASS] == []


def test_task_7_a_source_ends_time_then_data_then_its_partition():
    config = make_config([source([]), operator(2, "sink", 2)], [edge(1, 2)])
    ends = [("out", 0, "watermark", OVER), ("out", 1, "watermark", OVER)]
    for kind in ("end_of_data", "end_of_partition"):
        ends += [("out", 0, kind, None), ("out", 1, kind, None)]
    assert rows(config, "emit0 emit0") == [ends, ["rejected"]]


def test_out_7_nobody_hears_the_last_watermark_of_an_idle_source():
    config = make_config([source([IDLE]), operator(2, "sink")], [edge(1, 2, "rebalance")])
    kinds = [[kind for _dir, _consumer, kind, _about in step] for step in rows(config, "emit0 emit0")]
    assert kinds == [["status"], ["end_of_data", "end_of_partition"]]


def test_barr_3_the_second_barrier_aligns_and_releases():
    config = make_config(
        [source([BARRIER, RECORD], [BARRIER]), operator(2, "map"), operator(3, "sink", 2)],
        [edge(1, 2), edge(2, 3)],
    )
    answers = rows(config, "emit0 emit0 poll2 poll2 emit1 poll2 poll2")
    assert answers[2] == [("in", 0, "barrier", "1")]
    assert answers[3] == ["rejected"]
    assert answers[5] == [("in", 0, "barrier", "1"), ("out", 0, "barrier", "1"), ("out", 1, "barrier", "1")]
    assert answers[6] == [("in", 0, "record", "7"), ("out", 0, "record", "7")]


def test_comb_2_a_join_has_the_time_of_its_slower_input():
    config = make_config(
        [source([mark(5)]), source([mark(3)], number=2), operator(3, "join"), operator(4, "sink", 2)],
        [edge(1, 3), edge(2, 3, place=1), edge(3, 4)],
    )
    answers = rows(config, "emit0 poll2 emit1 poll2")
    assert answers[1] == [("in", 0, "watermark", "3")]
    assert answers[3][1:] == [("out", 0, "watermark", "3"), ("out", 1, "watermark", "3")]


def test_credit_30_a_producer_beyond_its_pool_stays_stopped():
    wire = {"buffer_size": 64, "exclusive": 0, "floating": 1, "output": 2}
    config = make_config([source([mark(1)]), operator(2, "sink", 3)], [edge(1, 2)], wire=wire)
    answers = rows(config, "emit0 flush0 flush1 emit0 flush2 emit0")
    assert [answer == ["rejected"] for answer in answers] == [False, False, False, True, False, True]


@pytest.mark.parametrize(
    "element",
    [
        Element("record", -1, "ä b", -(2**63), 5),
        Element("record", 2**63 - 1, "", 0, 0),
        Element("watermark", -(2**63)),
        Element("status", status="idle"),
        Element("status"),
    ],
)
def test_elements_pass_through_bytes(element):
    assert decode(encode(element)) == element


@pytest.mark.parametrize(("parallelism", "groups"), [(1, 128), (85, 128), (86, 256), (30_000, 32_768)])
def test_part_10_key_groups(parallelism, groups):
    assert compute_max_parallelism(parallelism, bug="") == groups


SOUND = make_config([source([RECORD]), operator(2, "sink")], [edge(1, 2)])


@pytest.mark.parametrize(
    "change",
    [
        {"edges": [edge(1, 3)]},
        {"edges": [edge(1, 2), edge(1, 2)]},
        {"edges": [edge(1, 2, place=1)]},
        {"edges": [edge(1, 2, "shuffle")]},
        {"edges": []},
        {"operators": [source([RECORD]), operator(2, "sink", 2)], "edges": [edge(1, 2, "forward")]},
        {"operators": [source([mark(2), mark(2)]), operator(2, "sink")]},
        {"operators": [source([mark(OVER)]), operator(2, "sink")]},
        {"operators": [source([BARRIER], []), operator(2, "sink")]},
        {"operators": [{**source([]), "scripts": []}, operator(2, "sink")]},
        {"operators": [source([{"type": "end_of_data"}]), operator(2, "sink")]},
        {"operators": [source([]), {**operator(2, "sink"), "name": "source1"}]},
        {
            "operators": [source([]), operator(2, "union"), operator(3, "union"), operator(4, "sink")],
            "edges": [edge(1, 2), edge(3, 2), edge(2, 3), edge(3, 4)],
        },
        {"operators": [source([]), operator(2, "sink"), operator(3, "map")], "edges": [edge(1, 2), edge(2, 3)]},
        {"wire": {"buffer_size": 0, "exclusive": 0, "floating": 1, "output": 1}},
        {"wire": 3},
        {"semantics": "flink-1"},
    ],
)
def test_bad_programs_are_refused(change):
    assert "steps" in replay(SOUND, "emit0")
    assert replay({**SOUND, **change}, "")["error"]["kind"] == "bad_request"


def test_bad_choices_are_refused():
    for event in ({"type": "emit"}, {"type": "choice", "action": "run", "at": 0}, {"type": "choice", "action": "emit"}):
        [answer] = engine(None).replay([{"case": "1", "component": "job", "config": SOUND, "events": [event]}])
        assert answer["error"]["kind"] == "bad_request"
