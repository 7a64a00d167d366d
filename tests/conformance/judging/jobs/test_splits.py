"""Sources that read in splits: what their edge makes of it, and what splits cannot have done."""

import attrs
import pytest

from tidegate.conformance.engines.flink.jobs.engine import SOURCES, FlinkJobs
from tidegate.conformance.judging.jobs.drawing import JobCase, draw_job
from tidegate.conformance.judging.jobs.explanation import END_OF_TIME
from tidegate.conformance.judging.jobs.judging import Judge, judge_log, outcomes_of
from tidegate.conformance.judging.jobs.reading import read_run
from tidegate.conformance.judging.jobs.splits import BadSplitsError, as_read
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
    return as_read(make_pipe(*script), {"1/0": [list(word) for word in words]})


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
    assert as_read(config, {}).config == config


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


def test_ways_of_sources_are_drawn_for_themselves(judge):
    """What was drawn before there were such ways is drawn as it was."""
    without = attrs.evolve(judge.abilities, sources={})
    drawn = [(draw_job(3, index, judge.abilities), draw_job(3, index, without)) for index in range(40)]
    for case, plain in drawn:
        assert (case.config, case.faults) == (plain.config, plain.faults)
        assert {name: case.settings[name] for name in plain.settings} == plain.settings
    assert {case.settings["splits"] for case, _plain in drawn} == {*SOURCES["splits"]}


# --- on a MiniCluster -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judge(flink_version):
    with FlinkJobs(flink_version("2.3.0"), start_timeout=300, kit="splits") as running:
        yield Judge(running)


def test_jobs_that_read_in_splits_are_runs_of_the_specification(judge):
    ways = (
        {"splits": 1},
        {"splits": 3},
        {"splits": 2, "splits_in_turn": True, "items_fetched": 4},
        {"splits": 3, "splits_in_parts": True, "idle_after": 5, "item_rest_micros": 200},
        {"splits": 2, "alignment_drift": 1, "alignment_samples": 1, "item_rest_micros": 200},
    )
    usual = {**judge.abilities.usual, "checkpoint_interval": 10}
    for at, way in enumerate(ways):
        judged = judge.run(attrs.evolve(draw_job(3, at, judge.abilities), settings={**usual, **way}))
        assert [wrong for wrong in judged.wrongs if wrong.name != END_OF_TIME] == [], way
        assert judged.explained


def test_a_watermark_that_the_edge_does_not_make_is_named(judge):
    """The same run, told as if the splits had been read otherwise, is none of the specification."""
    case = JobCase("pipe", make_pipe(*SCRIPT), {**judge.abilities.usual, "splits": 2})
    answer = judge._engine.run(case.as_request()).answer
    assert [word[0] for word in answer["read"]["1/0"]].count("item") == len(SCRIPT)
    told = [*ADDED, ["item", 0, 0], ["item", 0, 1], ["item", 0, 2], ["item", 1, 3], ["release", 0], ["release", 1]]
    read = as_read(case.config, {"1/0": told})
    log = read_run(read.config, answer, "pipe", "flink")
    wrong = judge_log(attrs.evolve(case, config=read.config), log, *outcomes_of(answer), reasons=read.reasons).wrongs[0]
    assert "SRC-4" in wrong.rules
    assert judge.judge(case, answer).wrongs == ()
