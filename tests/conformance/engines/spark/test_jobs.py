"""Whole jobs on Spark, one streaming query each, in the terms of the specification and in Spark's own."""

import json

import pytest

from tidegate.conformance.engines import messages
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.engines.python.batches import describe_to_hello, run_job
from tidegate.conformance.engines.spark.native.jobs import SparkNativeJobs, find_disorder
from tidegate.conformance.engines.spark.streaming.jobs import SparkJobs
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.jobs.run import run_jobs


class Here(JobEngine):
    """In this process, where a session is anyway."""

    def __init__(self, hosted):
        self.hosted = hosted

    def start(self):
        return messages.describe(describe_to_hello(self.hosted), 1)

    def run(self, request):
        answer = run_job(self.hosted, request.as_job())
        return messages.read_job_reply(messages.Parser().parse(json.dumps({"id": 1, **answer}).encode()))

    def close(self):
        pass


def tell(result):
    return [str(wrong) for found in result.found.values() for wrong in found.first.wrongs]


@pytest.mark.long
def test_a_job_that_goes_down_is_a_run_of_the_specification(spark):
    result = run_jobs(Here(SparkJobs(session=spark)), "spark", 1, seed=1, faults=1, shrink=0)
    assert (tell(result), result.exit_code) == ([], Exit.CONFORMANT)
    assert result.counts["explained"] == 1
    assert result.counts["hits"] == result.counts["faults"] == 1


def test_windows_of_spark_are_those_of_the_specification(spark):
    result = run_jobs(Here(SparkNativeJobs(session=spark)), "spark-native", 1, seed=1, first=3, faults=1, shrink=0)
    assert (tell(result), result.exit_code) == ([], Exit.CONFORMANT)
    assert result.invariants["LOG-RESULT"]["passed"] == 1


@pytest.mark.parametrize(("times", "late"), [([], 0), ([1, 2, 2], 0), ([5, 1, 4, 9, 7], 4)])
def test_a_delay_is_as_long_as_the_disorder(times, late):
    assert find_disorder(times) == late
