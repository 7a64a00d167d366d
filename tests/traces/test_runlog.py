"""What is known about a job: what cannot be is refused where it is made, in words that say what is wrong."""

import attrs
import pytest

from tidegate.reference.model import InvalidInputError
from tidegate.traces.codec import DecodeError, decode, encode
from tidegate.traces.runlog import Edge, Job

EDGE = Edge(0, "in", "out", "hash", "all_to_all", 2, 3, 128, 4)
JOB = Job("test", "flink-7728", (EDGE, attrs.evolve(EDGE, number=1)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_parallelism": None}, "edge 0 is partitioned by hash and has no max_parallelism"),
        ({"max_parallelism": 0}, "max_parallelism of edge 0 must be in 1..32768, not 0"),
        ({"max_parallelism": 2**15 + 1}, "max_parallelism of edge 0 must be in 1..32768, not 32769"),
        ({"number": -1}, "number must be at least 0, not -1"),
        ({"pattern": "ring"}, "pattern must be one of pointwise, all_to_all, not 'ring'"),
        ({"producers": 0}, "producers must be at least 1, not 0"),
        ({"initial_credit": -1}, "initial_credit must be at least 0, not -1"),
    ],
)
def test_an_edge_that_cannot_be_is_refused(change, message):
    with pytest.raises(InvalidInputError, match=message):
        attrs.evolve(EDGE, **change)


def test_an_edge_is_described_once():
    with pytest.raises(InvalidInputError, match="edge 0 is described 2 times"):
        attrs.evolve(JOB, edges=(EDGE, EDGE))


def test_only_hash_needs_key_groups():
    assert attrs.evolve(EDGE, partitioner="my own", max_parallelism=None).max_parallelism is None


def test_a_job_comes_back_from_json():
    made = encode(JOB)
    assert decode(made, Job, "job") == JOB
    del made["edges"][1]["max_parallelism"]
    with pytest.raises(DecodeError, match=r"edge 1 is partitioned by hash and has no max_parallelism.*edges\[1\]"):
        decode(made, Job, "job")


def test_a_job_that_began_again_comes_back_from_json():
    job = attrs.evolve(JOB, restored={"1": None, "2": 4})
    assert decode(encode(job), Job, "job") == job
    for restored in ({"1": "4"}, {"1": 2**32}, [4]):
        with pytest.raises(DecodeError, match="restored"):
            decode(encode(job) | {"restored": restored}, Job, "job")
