"""Sources that read in splits: what their edge makes of it, and what splits cannot have done."""

import pytest

from tidegate.conformance.judging.jobs.splits import BadSplitsError, read_scripts
from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import Long, Status, StatusChange, Watermark
from tidegate.reference.job.programs import Config, Edge, Function, Operator, Record

IDLE, ACTIVE = StatusChange(Status.IDLE), StatusChange(Status.ACTIVE)
A, B = Record("a", Long(1), Long(5)), Record("b", Long(1), Long(6))
SCRIPT = (A, Watermark(Long(4)), B, Watermark(Long(9)))
ADDED = [["add", 0], ["add", 1]]


def make_pipe(*script):
    operators = (Operator(1, "source", Function.SOURCE, 1, (script,)), Operator(2, "sink", Function.SINK))
    return Config(operators, (Edge(1, 2, Partitioner.HASH),))


def follow(script, *words):
    return read_scripts(make_pipe(*script), {"1/0": [list(word) for word in words]})


def test_a_watermark_is_that_of_the_slowest_split():
    read = follow(SCRIPT, *ADDED, ("item", 0, 0), ("item", 1, 1), ("item", 0, 2), ("item", 1, 3), ("release", 0))
    assert read.config.operators[0].scripts == ((A, B),), "the first split has told none"
    turned = follow(SCRIPT, *ADDED, ("item", 0, 0), ("item", 0, 1), ("item", 1, 2), ("item", 1, 3), ("periodic",))
    assert turned.config.operators[0].scripts == ((A, B, Watermark(Long(4))),)
    assert turned.reasons[1, 0][-1][-1] == "SRC-4"


def test_what_a_generator_says_by_itself_is_heard():
    words = (["add", 0], ("item", 0, 0), ("status", 0, "deferred", "idle"), ("periodic",), ("item", 0, 1))
    read = follow((A, Watermark(Long(4))), *words)
    assert read.config.operators[0].scripts == ((A, IDLE, ACTIVE, Watermark(Long(4))),)


def test_a_source_without_splits_follows_its_script():
    config = make_pipe(*SCRIPT)
    assert read_scripts(config, {}).config == config


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([("item", 0, 0), ("item", 1, 1), ("item", 0, 2)], "has not read 1 items, the first of them 3"),
        ([("item", 0, 0), ("item", 0, 0)], "cannot have done"),
        ([("item", 0, 2), ("item", 0, 0)], "item 0 of split 0 too late"),
        ([("item", 0, 9)], "cannot have done"),
        ([("leap", 0)], "cannot have done"),
        ([("item", 7, 0)], "comes out of turn"),
    ],
)
def test_what_splits_cannot_have_done_is_refused(words, message):
    with pytest.raises(BadSplitsError, match=message):
        follow(SCRIPT, *ADDED, *words)
