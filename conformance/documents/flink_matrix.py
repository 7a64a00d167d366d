"""Runs releases of Flink on the cases of each component and on whole jobs; the matrix is made of the reports.

A release is judged by the semantics that it declares, which may be a dated one. Further known differences are listed in
`conformance/judging/expected/`, each with a ticket number. The matrix is there to find unexplained differences.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path

import attrs

from tidegate.conformance.engines.base import Description, JobReply, JobRequest
from tidegate.conformance.engines.flink.jobs.compiling import OLDEST
from tidegate.conformance.engines.flink.jobs.engine import FlinkJobs
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.judging.expectations import Expectations, parse_expectations
from tidegate.conformance.judging.jobs.judging import Judged
from tidegate.conformance.judging.jobs.report import JobsReport, finish_report, head_of
from tidegate.conformance.judging.jobs.run import JobsResult, describe, ignore_verdict, run_jobs
from tidegate.conformance.judging.run import Candidate, run
from tidegate.conformance.judging.suite import Budget
from tidegate.conformance.reports.folder import Report
from tidegate.conformance.web.jobs import make_page
from tidegate.conformance.web.matrix.columns import read_report
from tidegate.traces.files import TraceFileError

STAGES = ("directed", "golden", "generated")
#: Seconds for an answer: generous, so that a busy machine causes no timeouts.
PATIENCE = 120.0


def write_reports(
    versions: Iterable[str],
    budget: Budget,
    jobs: int,
    folder: Path,
    tell: Callable[[str], None],
    *,
    resume: bool = False,
) -> Iterator[Path]:
    """Report each release on its components and on whole jobs; yields the folders as they are finished.

    With resume, complete reports are kept.
    """
    for version in versions:
        place = folder / version
        if not resume or not is_whole(place, budget.seed):
            examine(version, attrs.evolve(budget, stages=STAGES), place, tell)
        yield place
        if jobs and tuple(map(int, version.split(".")))[:2] >= OLDEST:
            place = folder / f"{version}-jobs"
            if not resume or not is_whole(place, budget.seed):
                examine_jobs(version, budget.seed, jobs, place, tell)
            yield place


def is_whole(folder: Path, seed: int) -> bool:
    """Whether there is a report of this seed whose run ended."""
    try:
        report = read_report(folder)
    except (TraceFileError, OSError):
        return False
    return report.complete and report.seed == str(seed)


def examine(version: str, budget: Budget, folder: Path, tell: Callable[[str], None]) -> Path:
    engine = f"flink:{version}"
    candidate = Candidate(engine, limits={"case_timeout": PATIENCE})
    with Report(folder, engine, budget.seed) as report:
        known = expectations_of(f"flink-{version}")
        result = run(candidate, budget, floor=0, expectations=known, observers=(report,))
    if not result.complete:
        raise KeyboardInterrupt
    tell(f"{engine}: {result.cases} cases, {result.conclusion}")
    return folder


def examine_jobs(version: str, seed: int, jobs: int, folder: Path, tell: Callable[[str], None]) -> Path:
    with JobsReport(folder) as report:
        report.add(head_of(f"flink:{version}", seed))

        def observe(judged: Judged, result: JobsResult) -> None:
            report.add(describe(judged, result.description.implementation))

        result = run_usual_jobs(version, seed, jobs, observe)
        finish_report(report, result, lambda: make_page(result))
    tell(f"flink:{version}: {result.counts['jobs']} jobs, {result.conclusion}")
    return folder


def run_usual_jobs(
    version: str, seed: int, jobs: int, observe: Callable[[Judged, JobsResult], None] = ignore_verdict
) -> JobsResult:
    known = expectations_of(f"flink-jobs-{version}", "flink-jobs")
    return run_jobs(Usual(FlinkJobs(version)), f"flink:{version}", jobs, seed, expectations=known, observe=observe)


@attrs.frozen(eq=False)
class Usual(JobEngine):
    """An engine that runs jobs with default settings: releases are compared as users run them."""

    engine: JobEngine

    def start(self) -> Description:
        description = self.engine.start()
        assert description.jobs is not None
        return attrs.evolve(description, jobs=attrs.evolve(description.jobs, settings={}))

    def run(self, request: JobRequest) -> JobReply:
        return self.engine.run(request)

    def close(self) -> None:
        self.engine.close()


def expectations_of(*names: str) -> Expectations:
    """Read the first existing list of this name."""
    for name in names:
        file = resources.files("tidegate.conformance.judging").joinpath("expected", f"{name}.txt")
        if file.is_file():
            return parse_expectations(file.read_text(encoding="utf-8"), f"expected/{name}.txt")
    return Expectations()
