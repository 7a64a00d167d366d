"""Sources of a MiniCluster that read in splits."""

import attrs
import pytest

from tests.conformance.judging.jobs.test_splits import ADDED, SCRIPT, make_pipe
from tidegate.conformance.engines.flink.jobs.engine import FlinkJobs
from tidegate.conformance.judging.jobs.drawing import JobCase, draw_job
from tidegate.conformance.judging.jobs.explanation import END_OF_TIME
from tidegate.conformance.judging.jobs.judging import Judge


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
    wrong = judge.judge(case, {**answer, "read": {"1/0": told}}).wrongs[0]
    assert "SRC-4" in wrong.rules
    assert judge.judge(case, answer).wrongs == ()
