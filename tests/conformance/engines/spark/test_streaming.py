"""Many jobs in one streaming query that goes down again and again: nothing is lost, doubled or out of order."""

from collections import Counter

import pytest

from tests.paths import ROOT
from tidegate.conformance.documents.spark_page.facts import judge_jobs, run_jobs
from tidegate.conformance.documents.spark_page.jobs import BUGS, COUNT, encode_jobs, make_right_jobs
from tidegate.conformance.documents.spark_page.page import describe_jobs
from tidegate.conformance.engines.spark.streaming.layout import make_layout
from tidegate.conformance.engines.spark.streaming.logs import write_logs
from tidegate.properties.runlog import INVARIANTS, Status, check
from tidegate.traces.runlog import read_runlog

PAGE = ROOT / "docs" / "spark.md"


@pytest.fixture(scope="module", params=[30, pytest.param(COUNT, marks=pytest.mark.long)])
def jobs(request):
    return make_right_jobs(request.param)


@pytest.fixture(scope="module")
def campaign(spark, jobs, tmp_path_factory):
    return run_jobs(spark, tmp_path_factory.mktemp("streaming") / "query", jobs)


@pytest.fixture(scope="module")
def outcomes(campaign):
    return campaign[1]


@pytest.fixture(scope="module")
def facts(campaign, jobs):
    made, outcomes = campaign
    return judge_jobs(made.happened, outcomes, jobs)


def test_the_query_went_down_in_every_way(campaign):
    made, _outcomes = campaign
    assert made.happened == [
        "stopped in a micro-batch",
        "failed after the write of a micro-batch",
        "lost a Python worker",
        "ended between two micro-batches",
        "ended with the last script",
    ]
    assert sorted(place.name for place in made.folder.batches.iterdir()) == list("012345")


def test_every_run_is_one_of_the_specification(facts, jobs):
    assert facts.jobs == len(jobs) > 30
    assert facts.wrongs == {}


def test_the_jobs_are_worth_running(outcomes, jobs):
    """Every function, partitioner and depth, and enough rows to be wrong in."""
    layouts = [make_layout(job) for job in encode_jobs(jobs).values()]
    functions = {operator.function for layout in layouts for operator in layout.operators.values()}
    assert functions == {"source", "map", "flat_map", "filter", "sum", "union", "join", "sink"}
    partitioners = {edge.partitioner for layout in layouts for edge in layout.edges}
    assert partitioners == {"forward", "rebalance", "rescale", "global", "broadcast", "hash"}
    assert {layout.levels for layout in layouts} == {1, 2, 3, 4}
    assert sum(len(outcomes[run].log.rows) for run in jobs) > 40 * len(jobs)
    assert sum(len(outcomes[run].results.collected) for run in jobs) > len(jobs)


def test_run_logs_are_files_that_keep_every_invariant(outcomes, jobs, tmp_path):
    paths = write_logs({run: outcomes[run] for run in jobs}, tmp_path)
    verdicts = Counter()
    for path in paths:
        log = read_runlog(path)
        assert log == outcomes[path.stem].log
        verdicts.update((verdict.invariant, verdict.status) for verdict in check(log))
    assert not any(status is Status.FAILED for _name, status in verdicts)
    assert {name for name, status in verdicts if verdicts[name, status] == len(jobs) and status is Status.SKIPPED} == {
        "LOG-CREDIT",
        "LOG-RESULT",
        "LOG-RECOVER",
    }
    assert len([name for name, status in verdicts if status is Status.PASSED]) == len(INVARIANTS) - 3


@pytest.mark.parametrize("bug", BUGS)
def test_mistakes_are_found_out(facts, bug):
    assert bug in facts.found


@pytest.mark.parametrize("jobs", [pytest.param(COUNT, marks=pytest.mark.long)], indirect=True)
def test_the_page_says_what_was_seen(facts):
    assert describe_jobs(facts) in PAGE.read_text(encoding="utf-8")
