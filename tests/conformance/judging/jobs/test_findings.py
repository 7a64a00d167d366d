"""Campaigns on Flink 2.3.0 find by themselves what docs/findings tells of: make test-long, a quarter of an hour."""

import pytest

from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.kinds import resolve_jobs

pytestmark = pytest.mark.long


def campaign(engine, jobs):
    return run_jobs(resolve_jobs(engine), engine, jobs)


def rules_of(result):
    return {rule for job in result.jobs for wrong in job["wrongs"] for rule in wrong["rules"][:1]}


def test_an_idle_status_that_overtakes_and_an_end_that_is_swallowed_are_found_in_1000_jobs(flink_version):
    flink_version("2.3.0")
    result = campaign("flink:2.3.0", 1000)
    assert {"TASK-7", "TIME-3"} <= rules_of(result)
    (overtaken,) = [found.small for kind, found in result.found.items() if kind == "fail TIME-3"]
    assert overtaken.case.size <= 8


def test_event_time_that_leaves_before_its_timers_is_found_in_200_jobs_of_version_2(flink_version):
    flink_version("2.3.0")
    assert {"TIME-2", "LOG-MADE-LATE"} <= rules_of(campaign("flink-v2:2.3.0", 200))


def test_mini_batches_that_lose_rows_are_found_among_queries(flink_version):
    flink_version("2.3.0")
    result = campaign("flink-sql:2.3.0", 300)
    assert "fail LOG-RESULT of sort" in result.found
