"""The outcome of the page's jobs on Spark."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from tidegate.conformance.documents.spark_page import jobs as jobs_module
from tidegate.conformance.engines.spark.streaming.campaign import Campaign
from tidegate.conformance.engines.spark.streaming.logs import Outcome, read_outcomes
from tidegate.conformance.engines.spark.streaming.query import Folder
from tidegate.properties.runlog import check
from tidegate.reference.job.programs import Config
from tidegate.traces.runlog import RunLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@attrs.frozen
class JobFacts:
    """`wrongs`: errors in runs that should be right; `found`: the mistakes that the checks found."""

    jobs: int
    rows: int
    results: int
    happened: tuple[str, ...]
    verdicts: dict[str, dict[str, int]]
    wrongs: dict[str, list[str]]
    found: tuple[str, ...]


def run_jobs(spark: "SparkSession", folder: Path, right: Mapping[str, Config]) -> tuple[Campaign, dict[str, Outcome]]:
    """Run these jobs and the wrong ones in one query that is interrupted several times."""
    wrong = jobs_module.make_wrong_jobs()
    campaign = Campaign(spark, Folder(folder), {run: jobs_module.bug_of(run) for run in wrong})
    campaign.run(jobs_module.encode_jobs({**right, **wrong}), jobs_module.SEED)
    return campaign, read_outcomes(campaign.folder)


def judge_jobs(happened: Iterable[str], outcomes: dict[str, Outcome], right: Mapping[str, Config]) -> JobFacts:
    wrongs = {run: jobs_module.find_wrongs_of(config, outcomes[run]) for run, config in right.items()}
    found = {
        jobs_module.bug_of(run)
        for run, config in jobs_module.make_wrong_jobs().items()
        if jobs_module.find_wrongs_of(config, outcomes[run])
    }
    return JobFacts(
        len(right),
        sum(len(outcomes[run].log.rows) for run in right),
        sum(len(outcomes[run].results.collected) + len(outcomes[run].results.totals) for run in right),
        tuple(happened),
        count_verdicts(outcomes[run].log for run in right),
        {run: found for run, found in wrongs.items() if found},
        tuple(bug for bug in jobs_module.BUGS if bug in found),
    )


def count_verdicts(logs: Iterable[RunLog]) -> dict[str, dict[str, int]]:
    """Counts of passed, failed and skipped runs per invariant."""
    counts: dict[str, Counter[str]] = {}
    for log in logs:
        for verdict in check(log):
            counts.setdefault(verdict.invariant, Counter())[verdict.status.value] += 1
    return {invariant: dict(statuses) for invariant, statuses in counts.items()}
