"""A campaign on Flink 2.3.0 finds by itself what docs/findings tells of DataStream V2: make test-long."""

import pytest

from tidegate.conformance.judging.jobs.run import run_jobs
from tidegate.conformance.kinds import resolve_jobs

pytestmark = pytest.mark.long


def test_event_time_that_leaves_before_its_timers_is_found_in_200_jobs_of_version_2(flink_version):
    flink_version("2.3.0")
    result = run_jobs(resolve_jobs("flink-v2:2.3.0", start_timeout=300.0), "flink-v2:2.3.0", 200)
    rules = {wrong["rules"][0] for job in result.jobs for wrong in job["wrongs"]}
    assert {"TIME-2", "LOG-MADE-LATE"} <= rules
