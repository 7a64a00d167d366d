"""What was seen when the jobs and traces of the page ran on Spark."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import attrs

from conformance.spark.native.logs import make_log
from conformance.spark.native.query import observe
from conformance.spark.native.traces import Counted, Event, Trace, predict
from conformance.spark.streaming.campaign import Campaign
from conformance.spark.streaming.logs import Outcome, read_outcomes
from conformance.spark.streaming.query import Folder
from conformance.spark_page.differences import Difference, count_as_specified, find_differences
from conformance.spark_page.jobs import (
    BUGS,
    SEED,
    bug_of,
    encode_jobs,
    find_wrongs_of,
    make_right_jobs,
    make_wrong_jobs,
)
from properties.runlog import Verdict, check
from traces.runlog import RunLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLICIES = ("min", "max")

# --- Flink's semantics on Structured Streaming ----------------------------------------------------------------


@attrs.frozen
class JobFacts:
    """`wrongs` is what is wrong with the runs that should be right; `found` are the mistakes that were found out."""

    jobs: int
    rows: int
    results: int
    happened: tuple[str, ...]
    verdicts: dict[str, dict[str, int]]
    wrongs: dict[str, list[str]]
    found: tuple[str, ...]


def run_jobs(spark: "SparkSession", folder: Path) -> tuple[Campaign, dict[str, Outcome]]:
    """All jobs, right and wrong, in one query that goes down again and again."""
    wrong = make_wrong_jobs()
    campaign = Campaign(spark, Folder(folder), {run: bug_of(run) for run in wrong})
    campaign.run(encode_jobs(make_right_jobs() | wrong), SEED)
    return campaign, read_outcomes(campaign.folder)


def judge_jobs(happened: Iterable[str], outcomes: dict[str, Outcome]) -> JobFacts:
    right = make_right_jobs()
    wrongs = {run: find_wrongs_of(config, outcomes[run]) for run, config in right.items()}
    found = {bug_of(run) for run, config in make_wrong_jobs().items() if find_wrongs_of(config, outcomes[run])}
    return JobFacts(
        len(right),
        sum(len(outcomes[run].log.rows) for run in right),
        sum(len(outcomes[run].results.collected) + len(outcomes[run].results.totals) for run in right),
        tuple(happened),
        count_verdicts(outcomes[run].log for run in right),
        {run: found for run, found in wrongs.items() if found},
        tuple(bug for bug in BUGS if bug in found),
    )


def count_verdicts(logs: Iterable[RunLog]) -> dict[str, dict[str, int]]:
    """How often each invariant passed, failed or was skipped."""
    counts: dict[str, Counter[str]] = {}
    for log in logs:
        for verdict in check(log):
            counts.setdefault(verdict.invariant, Counter())[verdict.status.value] += 1
    return {invariant: dict(statuses) for invariant, statuses in counts.items()}


# --- Spark's own event time -----------------------------------------------------------------------------------


@attrs.frozen
class DifferenceFacts:
    """A shortest trace, what the specification makes of it, and what Spark itself did."""

    difference: Difference
    flink: Counted
    spark: Counted
    predicted: Counted


@attrs.frozen
class NativeFacts:
    """`agrees` says for each policy whether the model is right about a trace of sixty records, too."""

    verdicts: dict[str, tuple[Verdict, ...]]
    agrees: dict[str, bool]
    differences: tuple[DifferenceFacts, ...]


def run_native(spark: "SparkSession", folder: Path) -> NativeFacts:
    verdicts, agrees = {}, {}
    for policy in POLICIES:
        trace = draw_trace(Random(1))
        observed = observe(spark, folder / f"log-{policy}", trace, policy)
        verdicts[policy] = check(make_log(trace, observed, policy))
        agrees[policy] = observed.counts == predict(trace, policy)
    differences = [
        confirm(spark, folder / f"trace-{number}", difference) for number, difference in enumerate(find_differences())
    ]
    return NativeFacts(verdicts, agrees, tuple(differences))


def confirm(spark: "SparkSession", folder: Path, difference: Difference) -> DifferenceFacts:
    observed = observe(spark, folder, difference.trace, difference.policy)
    return DifferenceFacts(
        difference,
        count_as_specified(difference.trace),
        observed.counts,
        predict(difference.trace, difference.policy),
    )


def draw_trace(random: Random, batches: int = 5, records: int = 12) -> Trace:
    """Three sources, one of them slow, whose times rise with some disorder."""
    made = []
    for batch in range(batches):
        events = []
        for _ in range(records):
            source = random.randrange(3)
            pace = 4 if source == 2 else 10
            events.append(Event(source, "r", max(1, batch * pace + random.randint(-12, 12))))
        made.append(tuple(events))
    return Trace(tuple(made), sources=3)
