"""Random whole jobs on an engine: run one by one, judged, counted, and of each kind of trouble one made small."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from tidegate.conformance.engines.base import Description
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.exits import CONCLUSIONS, Exit
from tidegate.conformance.judging.expectations import Expectations
from tidegate.conformance.judging.jobs.again import Again
from tidegate.conformance.judging.jobs.explanation import JOB, Wrong
from tidegate.conformance.judging.jobs.judging import AnyJudge, Judged, make_judge
from tidegate.conformance.judging.jobs.shrinking import MOST_SECONDS, shrink_job
from tidegate.conformance.judging.verdicts import UNDETERMINED, VIOLATIONS, Status
from tidegate.conformance.reports.writing import CannotWriteError
from tidegate.conformance.stopping import STOP
from tidegate.properties.runlog import Status as Checked
from tidegate.traces.runlog import Direction, Kind


@attrs.frozen
class Found:
    """One kind of trouble: the job that showed it first, and the smallest that still does."""

    first: Judged
    small: Judged


@attrs.define
class JobsResult:
    """What the jobs have shown. `kinds` counts what is wrong, by rule; `found` has an example of each."""

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
    #: false if it was interrupted
    complete: bool = True
    #: why no more jobs could be run
    trouble: str = ""
    first: int = 0
    #: each job is run until it fails, by this rule if there is one, and at most so many times
    until_fail: int = 1
    rule: str = ""
    #: each job that failed is run so many times more; what became of that, by its name
    more: int = 0
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
        """A job as a report tells it."""
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
        """Without what is known, or not asked for: a job in which nothing else is wrong is an expected failure."""
        if self.rule and judged.status in VIOLATIONS:
            judged = self.hold_to_the_rule(judged)
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

    def hold_to_the_rule(self, judged: Judged) -> Judged:
        """Of a job that failed, hung or died, nobody knows whether it breaks the rule."""
        broken = [one.name for one in judged.wrongs]
        if self.rule in broken:
            return attrs.evolve(judged, wrongs=tuple(one for one in judged.wrongs if one.name == self.rule))
        told = f"{judged.status} by {', '.join(dict.fromkeys(broken))}, and not by {self.rule}"
        return attrs.evolve(judged, status=Status.UNKNOWN if JOB in broken else Status.XFAIL, known=told)


def describe(judged: Judged) -> dict[str, Any]:
    rows = [row for log in judged.logs for row in log.rows]
    invariants: dict[str, Counter[str]] = {}
    for verdict in judged.verdicts:
        invariants.setdefault(verdict.invariant, Counter())[verdict.status.value] += 1
    return {
        "job": judged.case.name,
        "status": str(judged.status),
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


def is_settled(told: Any) -> bool:
    """Whether this is what a report tells of a job that passed, or failed; whatever else became of one may change."""
    if not isinstance(told, dict) or told.get("status") not in SETTLED or not isinstance(told.get("job"), str):
        return False
    statuses, hit, skipped = (told.get(name) for name in ("invariants", "hit", "skipped"))
    return (
        all(type(told.get(name)) is int and told[name] >= 0 for name in ("rows", "records", "restores"))
        and type(told.get("explained")) is bool
        and type(told.get("faults")) is list
        and type(hit) is list
        and all(type(one) is bool for one in hit)
        and type(skipped) is dict
        and all(type(one) is str for one in skipped.values())
        and type(statuses) is dict
        and all(type(one) is dict and set(map(type, one.values())) <= {int} for one in statuses.values())
        and are_wrongs(told.get("wrongs"))
        and bool(told["wrongs"]) is (told["status"] == Status.FAIL)
        and type(told.get("runs", 1)) is int
        and told.get("runs", 1) >= 1
        and type(told.get("kinds", [])) is list
        and all(type(one) is str for one in told.get("kinds", []))
    )


#: What became of jobs that are not run again.
SETTLED = (Status.PASS, Status.FAIL)


def are_wrongs(told: Any) -> bool:
    return type(told) is list and all(
        type(one) is dict
        and type(one.get("message")) is str
        and type(one.get("rules")) is list
        and all(type(rule) is str for rule in one["rules"])
        for one in told
    )


def unobserved(_judged: Judged, _result: JobsResult) -> None:
    """Nobody watches."""


def untold(_words: str) -> None:
    """Nobody listens."""


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
    expectations: Expectations | None = None,
    known: Sequence[dict[str, Any]] = (),
    shrink: float = MOST_SECONDS,
    observe: Callable[[Judged, JobsResult], None] = unobserved,
    tell: Callable[[str], None] = untold,
) -> JobsResult:
    """So many jobs on an engine that is closed afterwards, each until it fails, at most `until_fail` times.

    With a `rule`, only what breaks it is a failure. Of a job, the last run counts, and `observe` is told of it. In the
    end each that failed is run `again` so many times, to know how often it fails. `tell` hears of each further run.

    An interrupt ends it; what is known by then is the result. Failures are made small in the end, so that nothing that
    an engine does meanwhile keeps it from the jobs that are left: `shrink` is how many seconds each kind of them gets.

    `known` are jobs that have passed or failed, as an earlier run has reported: they are counted, and not judged again.
    """
    began = time.monotonic()
    STOP.arm()
    with engine:
        judge: AnyJudge[Any] = make_judge(engine)
        result = JobsResult(name, judge.description, seed, jobs, faults, expectations or Expectations(), first=first)
        result.until_fail, result.rule, result.more = until_fail, rule, again
        done = {job["job"] for job in known}
        for job in known:
            result.count(job)
            for kind in job.get("kinds", ()) if job["status"] == Status.FAIL else ():
                judged = remember(judge, seed, faults, job)
                result.found.setdefault(kind, Found(judged, judged))
        try:
            STOP.arm()
            for index in range(first, first + jobs):
                case = judge.draw(seed, index, faults)
                if case.name in done:
                    continue
                judged = run_until_it_fails(judge, case, result, tell)
                result.count(describe(judged))
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


#: What became of a run behind which the job is run once more, if it may.
UNTROUBLED = (Status.PASS, Status.XFAIL, Status.UNKNOWN)


def run_until_it_fails(judge: AnyJudge[Any], case: Any, result: JobsResult, tell: Callable[[str], None]) -> Judged:
    """Its last run."""
    for number in range(1, result.until_fail + 1):
        if number > 1:
            tell(f"{case.name}: run {number} of at most {result.until_fail}")
        judged = result.expect(judge.run(case))
        result.counts["others"] += judged.status in (Status.XFAIL, Status.UNKNOWN)
        if judged.status not in UNTROUBLED:
            break
    return attrs.evolve(judged, runs=number)


def run_again(judge: AnyJudge[Any], name: str, result: JobsResult, tell: Callable[[str], None]) -> None:
    """As often as is asked for. A run that says nothing about the job (the engine was given up) is none."""
    case = judge.draw(result.seed, number_of(name), result.faults)
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
    """Of a job, among those of its seed."""
    return int(name.rpartition("-")[2])


def remember(judge: AnyJudge[Any], seed: int, faults: int, job: dict[str, Any]) -> Judged:
    """A job that failed, as a report tells of it."""
    case = judge.draw(seed, number_of(job["job"]), faults)
    return Judged(case, Status.FAIL, tuple(Wrong(tuple(one["rules"]), one["message"]) for one in job["wrongs"]))


def shrink_found(judge: AnyJudge[Any], kind: str, found: Found, seconds: float) -> Judged:
    """With an engine that is not given up yet, for whatever it did before."""
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
