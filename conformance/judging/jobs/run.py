"""Random whole jobs on an engine: run one by one, judged and counted; one failure of each kind is shrunken."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from tidegate.conformance.engines.base import Description
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.engines.text import printable
from tidegate.conformance.exits import CONCLUSIONS, Exit
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.jobs.again import Again
from tidegate.conformance.judging.jobs.explanation import JOB, Wrong
from tidegate.conformance.judging.jobs.judging import AnyJudge, Judged, make_judge
from tidegate.conformance.judging.jobs.shrinking import MOST_SECONDS, shrink_job
from tidegate.conformance.judging.jobs.stored import StoredJob
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Status
from tidegate.conformance.reports.writing import CannotWriteError
from tidegate.conformance.stopping import STOP
from tidegate.properties.runlog import Status as Checked
from tidegate.reference.elements import at_least
from tidegate.traces.codec import DecodeError, decode
from tidegate.traces.runlog import Direction, Kind


@attrs.frozen
class Found:
    """One kind of failure: the first job with it, and the smallest."""

    first: Judged
    small: Judged


@attrs.define
class JobsResult:
    """The results of the jobs. `kinds` counts failures by rule; `found` has an example of each."""

    engine: str
    description: Description
    seed: int
    asked: int
    faults: int = 0
    expectations: Expectations = attrs.Factory(Expectations)
    counts: Counter[str] = attrs.Factory(Counter)
    invariants: dict[str, Counter[str]] = attrs.Factory(dict)
    reasons: dict[str, str] = attrs.Factory(dict)
    kinds: Counter[str] = attrs.Factory(Counter)
    found: dict[str, Found] = attrs.Factory(dict)
    jobs: list[dict[str, Any]] = attrs.Factory(list)
    seconds: float = 0.0
    #: false after an interrupt
    complete: bool = True
    #: why no more jobs could run
    trouble: str = ""
    first: int = 0
    #: each job runs until it fails, by this rule if there is one, and at most this many times
    until_fail: int = 1
    rule: str = ""
    #: each failed job runs this many times more; the results by its name
    more: int = 0
    #: the one job, if it is not drawn
    stored: StoredJob | None = None
    again: dict[str, Again] = attrs.Factory(dict)

    @property
    def problems(self) -> tuple[str, ...]:
        return self.expectations.problems()

    @property
    def violations(self) -> int:
        return sum(self.counts[status] for status in VIOLATIONS)

    @property
    def exit_code(self) -> Exit:
        if self.violations or self.problems:
            return Exit.VIOLATIONS
        unknown = any(self.counts[status] for status in UNDETERMINED) or not self.counts[Status.PASS]
        if not self.complete or (unknown and not self.counts[Status.XFAIL]):
            return Exit.UNDETERMINED
        return Exit.CONFORMANT

    @property
    def conclusion(self) -> str:
        return CONCLUSIONS[self.exit_code]

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The jobs that failed."""
        return [job for job in self.jobs if job["status"] in VIOLATIONS]

    def count(self, job: dict[str, Any]) -> None:
        """A job as in a report."""
        status = Status(job["status"])
        self.counts["jobs"] += 1
        self.counts["runs"] += job.get("runs", 1)
        self.counts[status] += 1
        self.counts["explained"] += job["explained"] and status is Status.PASS
        self.counts.update({name: job[name] for name in ("rows", "records", "restores")})
        self.counts["faults"] += len(job["faults"])
        self.counts["hits"] += sum(job["hit"])
        self.counts["restored"] += job["restores"] > 0
        for name, statuses in job["invariants"].items():
            self.invariants.setdefault(name, Counter()).update(statuses)
        for name, reason in job["skipped"].items():
            self.reasons.setdefault(name, reason)
        if status in VIOLATIONS:
            self.kinds.update(job.get("kinds", ()))
        self.jobs.append(job)

    def expect(self, judged: Judged) -> Judged:
        """Remove expected failures and those not asked for: a job without others is an expected failure."""
        if self.rule and judged.status in VIOLATIONS:
            judged = self.keep_the_rule(judged)
        name = judged.case.name
        if judged.status in (Status.XFAIL, Status.UNKNOWN):
            return judged
        if judged.status is Status.PASS:
            status, _reason = self.expectations.judge(name, judged.status, ())
            return attrs.evolve(judged, status=status)
        found = [self.expectations.judge(name, judged.status, one.rules, one.message) for one in judged.wrongs]
        left = [one for one, (status, _why) in zip(judged.wrongs, found, strict=True) if status is not Status.XFAIL]
        if left or not found:
            return attrs.evolve(judged, wrongs=tuple(left))
        return attrs.evolve(judged, status=Status.XFAIL, known=found[0][1])

    def keep_the_rule(self, judged: Judged) -> Judged:
        """Remove violations of other rules. Whether a job that failed, hung or died breaks it is unknown."""
        broken = [one.name for one in judged.wrongs]
        if self.rule in broken:
            return attrs.evolve(judged, wrongs=tuple(one for one in judged.wrongs if one.name == self.rule))
        told = f"{judged.status} by {', '.join(dict.fromkeys(broken))}, and not by {self.rule}"
        return attrs.evolve(judged, status=Status.UNKNOWN if JOB in broken else Status.XFAIL, known=told)


def describe(judged: Judged, implementation: dict[str, str]) -> dict[str, Any]:
    rows = [row for log in judged.logs for row in log.rows]
    invariants: dict[str, Counter[str]] = {}
    for verdict in judged.verdicts:
        invariants.setdefault(verdict.invariant, Counter())[verdict.status.value] += 1
    return {
        "job": judged.case.name,
        "status": str(judged.status),
        "implementation": implementation,
        "runs": judged.runs,
        "kinds": list(judged.kinds),
        "explained": judged.explained,
        "rows": len(rows),
        "records": sum(row.kind is Kind.RECORD and row.dir is Direction.IN for row in rows),
        "faults": list(judged.case.faults),
        "hit": list(judged.hit),
        "restores": judged.restores,
        "invariants": {name: dict(counts) for name, counts in invariants.items()},
        "skipped": {one.invariant: one.reason for one in judged.verdicts if one.status is Checked.SKIPPED},
        "wrongs": [{"rules": list(one.rules), "message": one.message} for one in judged.wrongs[:10]],
        **({"message": judged.known} if judged.known else {}),
    }


@attrs.frozen
class ReportedWrong:
    rules: tuple[str, ...]
    message: str


@attrs.frozen
class ReportedJob:
    """A job in a report, as `describe` writes it."""

    job: str
    status: Status
    explained: bool
    rows: int = attrs.field(validator=at_least(0))
    records: int = attrs.field(validator=at_least(0))
    restores: int = attrs.field(validator=at_least(0))
    faults: tuple[Any, ...]
    hit: tuple[bool, ...]
    invariants: dict[str, dict[str, int]]
    skipped: dict[str, str]
    wrongs: tuple[ReportedWrong, ...]
    runs: int = attrs.field(default=1, validator=at_least(1))
    kinds: tuple[str, ...] = ()
    #: What the engine said that it is; older reports do not say it.
    implementation: dict[str, str] | None = None


#: Statuses of jobs that do not run again.
SETTLED = (Status.PASS, Status.FAIL)


def is_settled(line: Any) -> bool:
    """Whether a line of a report is about a job that passed or failed; any other status may still change."""
    try:
        job = decode(line, ReportedJob)
    except DecodeError:
        return False
    return job.status in SETTLED and bool(job.wrongs) is (job.status is Status.FAIL)


class OtherImplementationError(ValueError):
    """Known jobs ran on another implementation than the one that was started."""


def check_implementation(known: Sequence[dict[str, Any]], now: dict[str, str]) -> None:
    for job in known:
        before = job.get("implementation") or now
        if before != now:
            told, is_now = (printable(" ".join(one.values())) for one in (before, now))
            raise OtherImplementationError(f"{job['job']} ran on {told}, but the engine is {is_now} now")


def ignore_verdict(_judged: Judged, _result: JobsResult) -> None:
    """The default observer."""


def ignore_words(_words: str) -> None:
    """The default for `tell`."""


def run_jobs(
    engine: JobEngine,
    name: str,
    jobs: int,
    seed: int = 0,
    *,
    faults: int = 0,
    first: int = 0,
    until_fail: int = 1,
    rule: str = "",
    again: int = 0,
    stored: StoredJob | None = None,
    expectations: Expectations | None = None,
    known: Sequence[dict[str, Any]] = (),
    shrink: float = MOST_SECONDS,
    observe: Callable[[Judged, JobsResult], None] = ignore_verdict,
    tell: Callable[[str], None] = ignore_words,
) -> JobsResult:
    """Run jobs on an engine and close it, each until it fails, at most `until_fail` times.

    The jobs are drawn from the seed, starting with the first; or there is one job, `stored` in a file. With a `rule`,
    only its violations are failures. The last run of a job counts, and `observe` gets it. At the end each failed job
    runs `again` more times, to measure how often it fails. `tell` hears of each further run.

    An interrupt ends it; the result is what is known by then. Failures are shrunken at the end, so that an engine that
    breaks meanwhile does not lose the remaining jobs: `shrink` is the seconds for each kind.

    `known` are jobs that passed or failed in the report of an earlier run: they count, and are not judged again.

    Raises
    ------
    OtherImplementationError
        The known jobs ran on something else than the engine that was started.
    """
    began = time.monotonic()
    STOP.arm()
    with engine:
        judge: AnyJudge[Any] = make_judge(engine)
        result = JobsResult(name, judge.description, seed, jobs, faults, expectations or Expectations(), first=first)
        result.until_fail, result.rule, result.more, result.stored = until_fail, rule, again, stored
        check_implementation(known, judge.description.implementation)
        done = {job["job"] for job in known}
        for job in known:
            result.count(job)
            for kind in job.get("kinds", ()) if job["status"] == Status.FAIL else ():
                judged = remember(judge, result, job)
                result.found.setdefault(kind, Found(judged, judged))
        try:
            STOP.arm()
            for case in find_cases(judge, result):
                if case.name in done:
                    continue
                judged = run_until_it_fails(judge, case, result, tell)
                result.count(describe(judged, judge.description.implementation))
                for kind in judged.kinds if judged.status in VIOLATIONS else ():
                    result.found.setdefault(kind, Found(judged, judged))
                observe(judged, result)
            for job in result.failures:
                run_again(judge, job["job"], result, tell)
            for kind, found in result.found.items():
                result.found[kind] = Found(found.first, shrink_found(judge, kind, found, shrink))
            STOP.disarm()
        except KeyboardInterrupt:
            result.complete = False
        except CannotWriteError as error:
            result.complete, result.trouble = False, str(error)
    result.seconds = time.monotonic() - began
    return result


def find_cases(judge: AnyJudge[Any], result: JobsResult) -> Iterator[Any]:
    if result.stored is not None:
        yield judge.take(result.stored)
        return
    for index in range(result.first, result.first + result.asked):
        yield judge.draw(result.seed, index, result.faults)


def find_case(judge: AnyJudge[Any], result: JobsResult, name: str) -> Any:
    """The job of that name."""
    if result.stored is not None:
        return judge.take(result.stored)
    return judge.draw(result.seed, number_of(name), result.faults)


#: Statuses of a run after which the job runs once more, if it may.
UNTROUBLED = (Status.PASS, Status.XFAIL, Status.UNKNOWN)


def run_until_it_fails(judge: AnyJudge[Any], case: Any, result: JobsResult, tell: Callable[[str], None]) -> Judged:
    """The last run of the job, judged: the first that fails, or the last allowed."""
    for number in range(1, result.until_fail + 1):
        if number > 1:
            tell(f"{case.name}: run {number} of at most {result.until_fail}")
        judged = result.expect(judge.run(case))
        result.counts["others"] += judged.status in (Status.XFAIL, Status.UNKNOWN)
        if judged.status not in UNTROUBLED:
            break
    return attrs.evolve(judged, runs=number)


def run_again(judge: AnyJudge[Any], name: str, result: JobsResult, tell: Callable[[str], None]) -> None:
    """Run a failed job as often as requested, and count how often it fails.

    A run without a verdict, because the engine was given up, does not count.
    """
    case = find_case(judge, result, name)
    for number in range(1, result.more + 1):
        tell(f"{name} failed: run again, {number} of {result.more}")
        judge.refresh()
        judged = result.expect(judge.run(case))
        if judged.status in UNDETERMINED:
            continue
        broken = {one.name for one in judged.wrongs} if judged.status in VIOLATIONS else set()
        before = result.again.get(name, Again())
        result.again[name] = Again(before.runs + 1, before.failed + Counter(broken))


def number_of(name: str) -> int:
    """The number of a job among those of its seed."""
    return int(name.rpartition("-")[2])


def remember(judge: AnyJudge[Any], result: JobsResult, job: dict[str, Any]) -> Judged:
    """A failed job, from a report."""
    case = find_case(judge, result, job["job"])
    return Judged(case, Status.FAIL, tuple(Wrong(tuple(one["rules"]), one["message"]) for one in job["wrongs"]))


def shrink_found(judge: AnyJudge[Any], kind: str, found: Found, seconds: float) -> Judged:
    """Restart the engine first, so that earlier crashes do not count."""
    judge.refresh()
    return shrink_job(judge, found.first, lambda again: kind in again.kinds, seconds=seconds)


def encode_case(judged: Judged) -> dict[str, Any]:
    return {
        "program": judged.case.as_json(),
        "settings": judged.case.settings,
        "faults": list(judged.case.faults),
        "items": judged.case.size,
        "wrongs": [str(one) for one in judged.wrongs[:10]],
    }
