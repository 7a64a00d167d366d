"""One job: run, read, judged."""

import tempfile
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import attrs

from tidegate.conformance.engines.base import (
    QUERY,
    Abilities,
    Broken,
    Crashed,
    Description,
    NotRun,
    Ran,
    Refused,
    TimedOut,
)
from tidegate.conformance.engines.jobs import JobEngine
from tidegate.conformance.engines.text import printable
from tidegate.conformance.judging.jobs.answers import OtherGraphError, Shown, read_answer
from tidegate.conformance.judging.jobs.drawing import JobCase, check_drawable, draw_job
from tidegate.conformance.judging.jobs.evaluation import evaluate
from tidegate.conformance.judging.jobs.explanation import (
    JOB,
    RESULT,
    Wrong,
    check_log,
    find_shown_kinds,
    find_swallowed_ends,
    find_unexplained,
)
from tidegate.conformance.judging.jobs.queries import QueryCase, draw_query, sum_up, tell_difference
from tidegate.conformance.judging.jobs.results import expect_results, is_tidy
from tidegate.conformance.judging.jobs.rows import LAST_ROWS, BadRowsError, quote, read_what_stands
from tidegate.conformance.judging.jobs.splits import BadSplitsError
from tidegate.conformance.judging.jobs.stored import StoredJob, take_job, take_query
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.reports.writing import CannotWriteError
from tidegate.properties.runlog import Verdict
from tidegate.reference.job.programs import Config
from tidegate.traces.codec import encode
from tidegate.traces.runlog import Channel, Direction, Kind, OrderScope, RunLog, renumber

Json = dict[str, Any]
AnyCase = JobCase | QueryCase
Case = TypeVar("Case", bound=AnyCase)


@attrs.frozen
class Judged:
    """A job and its verdict. `explained`: every subtask was replayed by the specification.

    `known`: why the job was expected to fail, if it was.
    `earlier`: the logs from before a restore at another parallelism. `hit`: whether each fault hit.
    `runs`: the number of this run among the runs of the job.
    """

    case: AnyCase
    status: Status
    wrongs: tuple[Wrong, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    log: RunLog | None = None
    explained: bool = False
    known: str = ""
    earlier: tuple[RunLog, ...] = ()
    hit: tuple[bool, ...] = ()
    runs: int = 1

    @property
    def logs(self) -> tuple[RunLog, ...]:
        return self.earlier if self.log is None else (*self.earlier, self.log)

    @property
    def restores(self) -> int:
        """How often the job was restored from a checkpoint."""
        return len(self.earlier) + sum(map(count_restores, self.logs))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of failure: the status, and each broken rule, once.

        A trouble of every other job must not hide a rare one.
        """
        return tuple(dict.fromkeys(f"{self.status} {wrong.kind}" for wrong in self.wrongs)) or (str(self.status),)

    @property
    def kind(self) -> str:
        """The kind with the first rule."""
        return self.kinds[0]


def fail(case: AnyCase, status: Status, message: str, log: RunLog | None = None) -> Judged:
    of = case.shape if isinstance(case, QueryCase) else ""
    return Judged(case, status, (Wrong((JOB,), message, of=of),), log=log)


class AnyJudge(ABC, Generic[Case]):
    """Draws cases for an engine, runs them on it, and judges the answers."""

    def __init__(self, engine: JobEngine) -> None:
        self._engine = engine
        self._given_up = False
        self.description: Description = engine.start()
        assert self.description.jobs is not None
        self.abilities: Abilities = self.description.jobs

    @property
    def name(self) -> str:
        return f"{self.description.name} {self.description.version}"

    def refresh(self) -> None:
        """Restart an engine that was given up."""
        if self._given_up:
            self._engine.close()
            self._engine.start()
            self._given_up = False

    @abstractmethod
    def draw(self, seed: int, index: int, faults: int) -> Case: ...

    @abstractmethod
    def take(self, stored: StoredJob) -> Case:
        """The job of a file. Raise TraceFileError if the engine cannot run it."""

    @abstractmethod
    def run(self, case: Case) -> Judged: ...


def make_judge(engine: JobEngine) -> "Judge | QueryJudge":
    """The judge for what the engine declares: queries, or programs.

    Raises
    ------
    BadHelloError
        No program can be drawn within its abilities.
    """
    description = engine.start()
    assert description.jobs is not None
    if QUERY in description.jobs.operators:
        return QueryJudge(engine)
    check_drawable(description.jobs)
    return Judge(engine)


class QueryJudge(AnyJudge[QueryCase]):
    """For queries: the result must equal that under default settings, and that of SQL where it is known."""

    def draw(self, seed: int, index: int, faults: int) -> QueryCase:  # noqa: ARG002 - nothing is killed here
        return draw_query(seed, index, self.abilities)

    def take(self, stored: StoredJob) -> QueryCase:
        return take_query(stored, self.abilities)

    def run(self, case: QueryCase) -> Judged:
        usual = self.abilities.usual
        results = []
        for settings in (usual, case.settings):
            match self._engine.run(case.as_request(settings)):
                case Ran({"error": error, **rest}):
                    return fail(
                        case, Status.TIMEOUT if rest.get("timeout") else Status.FAIL, f"the job failed: {error}"
                    )
                case Ran(answer):
                    results.append(sum_up(answer["changes"]))
                case Refused("refused", message):
                    return Judged(case, Status.SKIP, (Wrong((JOB,), f"the engine makes no job of it: {message}"),))
                case Refused(kind, message):
                    return fail(case, Status.ERROR, f"{kind}: {message}")
                case NotRun(reason):
                    self._given_up = True
                    return fail(case, Status.NOT_RUN, reason)
                case other:
                    return fail(case, Status.CRASH, str(other))
        usually, now = results
        ruled = evaluate(case)
        difference = tell_difference(usually, now) or (
            tell_difference(ruled, usually, "the rows of the tables", "usual settings") if ruled is not None else ""
        )
        wrongs = (Wrong((RESULT,), difference, of=case.shape),) if difference else ()
        return Judged(case, Status.FAIL if wrongs else Status.PASS, wrongs)


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A folder that is deleted afterwards."""
    try:
        made = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
    except OSError as error:
        why = error.strerror or error
        raise CannotWriteError(f"no temporary folder can be made: {why}; set TMPDIR to a folder with space") from error
    with made as folder:
        yield Path(folder)


class Judge(AnyJudge[JobCase]):
    """For programs."""

    def draw(self, seed: int, index: int, faults: int) -> JobCase:
        return draw_job(seed, index, self.abilities, faults)

    def take(self, stored: StoredJob) -> JobCase:
        return take_job(stored, self.abilities)

    def run(self, case: JobCase) -> Judged:
        with scratch_folder("tidegate-job-") as folder:
            path = folder / "rows.jsonl"
            match self._engine.run(case.as_request(str(path))):
                case Ran(answer):
                    return self.judge(case, answer)
                case Refused(kind, message):
                    return fail(case, Status.ERROR, f"{kind}: {message}")
                case Broken(message):
                    return fail(case, Status.ERROR, message)
                case TimedOut(seconds):
                    return fail(case, Status.TIMEOUT, f"no end after {seconds:g} s; {tell_rows(path)}")
                case Crashed(message):
                    return fail(case, Status.CRASH, f"{message}; {tell_rows(path)}")
                case NotRun(reason):
                    self._given_up = True
                    return fail(case, Status.NOT_RUN, reason)

    def judge(self, case: JobCase, answer: Json) -> Judged:
        """Judge a job that the engine answered."""
        try:
            shown = read_answer(case, answer, self.name, self.abilities)
        except OtherGraphError as error:
            return fail(case, Status.FAIL, f"another job graph: {error}")
        except (BadRowsError, BadSplitsError) as error:
            return fail(case, Status.ERROR, str(error))
        hit = tuple(answer.get("hit", ()))
        if len(hit) > len(case.faults):
            return fail(case, Status.ERROR, f"hit has {len(hit)} values, and the job has {len(case.faults)} faults")
        if "error" in answer:
            judged = judge_failed(case, shown, answer)
        elif "generations" in answer:
            judged = judge_restored(case, shown, counts_once=self.abilities.counts_once)
        else:
            judged = judge_shown(case, shown, counts_once=self.abilities.counts_once)
        return attrs.evolve(judged, hit=hit)


def judge_failed(case: JobCase, shown: Shown, answer: Json) -> Judged:
    """A job that did not complete, with what it had shown by then."""
    *earlier, log = shown.logs
    told = f"; {tell_log(log)}" if answer.get("timeout") else ""
    status = Status.TIMEOUT if answer.get("timeout") else Status.FAIL
    failed = fail(case, status, f"the job failed: {answer['error']}{told}", log)
    return attrs.evolve(failed, earlier=tuple(earlier))


def count_restores(log: RunLog) -> int:
    """Attempts restored from a checkpoint or, without checkpoint ids, not from the beginning.

    An attempt without rows does not count.
    """
    shown = {row.attempt for row in log.rows}
    readers = {edge.target for edge in log.job.edges}
    firsts: dict[int, dict[Channel, int | None]] = defaultdict(dict)
    for row in log.rows:
        if row.kind is Kind.RECORD and row.dir is Direction.OUT and row.task not in readers:
            firsts[row.attempt].setdefault((row.edge, row.producer, 0), row.id)
    went_on = (
        checkpoint is not None or any(firsts[0].get(channel) != one for channel, one in firsts[attempt].items())
        for attempt, checkpoint in log.job.restores.items()
        if attempt in shown
    )
    return sum(went_on)


def is_explained(case: JobCase, log: RunLog, shows: Container[str]) -> bool:
    """Whether the log shows enough of the job. Operators of event time need watermarks, and timers that fire.

    Nothing is explained for an engine that routes or orders records differently, or after a restore.
    """
    able = log.job.capabilities
    if log.job.restored or not able.known_routing or able.order_scope is not OrderScope.CHANNEL:
        return False
    if case.config.extension and not (Kind.TIMER in shows and log.job.capabilities.explicit_watermarks):
        return False
    return Kind.RECORD in find_shown_kinds(log)


def judge_shown(case: JobCase, shown: Shown, *, counts_once: bool = True) -> Judged:
    """A completed run: by its results where these are shown, and by its log."""
    (log,) = shown.logs
    if Kind.RESULT in shown.kinds:
        log = renumber(expect_results(case.config, log, counts_once=counts_once))
    return judge_log(case, attrs.evolve(shown, logs=(log,)))


def judge_log(case: JobCase, shown: Shown) -> Judged:
    """Check a log by the invariants, and every subtask by the specification where the log shows enough of it."""
    (log,) = shown.logs
    checked = check_log(log)
    explained = checked.is_log and is_explained(case, log, shown.kinds)
    wrongs = list(checked.wrongs)
    if explained:
        wrongs += find_unexplained(shown.config, log, shown.collected, shown.totals, shown.reasons)
    wrongs += find_swallowed_ends(log)
    return Judged(case, Status.FAIL if wrongs else Status.PASS, tuple(wrongs), checked.verdicts, log, explained)


def judge_restored(case: JobCase, shown: Shown, *, counts_once: bool = True) -> Judged:
    """A run restored at another parallelism: each generation by the invariants, and the last by its results.

    Idleness is not shown: where it advances time, which records are late is unknown.
    """
    *earlier, last = shown.logs
    logs = [*earlier, expect_results(case.config, last, counts_once=counts_once)]
    if not is_tidy(case.config):
        logs = [attrs.evolve(one, rows=tuple(row for row in one.rows if row.kind is not Kind.CLOCK)) for one in logs]
    logs = [renumber(one) for one in logs]
    checked = [check_log(one) for one in logs]
    wrongs = tuple(wrong for one in checked for wrong in one.wrongs)
    verdicts = tuple(verdict for one in checked for verdict in one.verdicts)
    return Judged(case, Status.FAIL if wrongs else Status.PASS, wrongs, verdicts, logs[-1], earlier=tuple(logs[:-1]))


# --- in words -------------------------------------------------------------------------------------------------


def tell_rows(path: Path) -> str:
    """What the engine had written by then."""
    count, last = read_what_stands(path)
    if not count:
        return "it had shown no rows by then"
    told = [printable(" ".join(f"{name} {quote(value)}" for name, value in row.items()), 200) for row in last]
    return f"it had shown {count} rows by then, the last of them: " + "; ".join(told)


def tell_log(log: RunLog) -> str:
    last = [f"{row.task}/{row.subtask} {row.dir} {row.kind}" for row in log.rows[-LAST_ROWS:]]
    return f"{len(log.rows)} rows by then, the last of them: {'; '.join(last)}" if last else "no rows by then"


def tell_job(case: AnyCase) -> str:
    lines = [case.tell()] if isinstance(case, QueryCase) else tell_program(case.config)
    if case.settings:
        lines.append("settings: " + ", ".join(f"{name} {quote(value)}" for name, value in case.settings.items()))
    if case.faults:
        lines.append("faults: " + ", ".join(f"{one['fault']} after {one['after']} %" for one in case.faults))
    return "\n".join(lines)


def tell_program(config: Config) -> list[str]:
    lines = []
    for operator in config.operators:
        reads = [
            f"{next(one.name for one in config.operators if one.id == edge.source)} ({edge.partitioner or 'default'})"
            for edge in config.edges
            if edge.target == operator.id
        ]
        lines.append(
            f"{operator.name}: {operator.function} × {operator.parallelism}" + "".join(f", reads {r}" for r in reads)
        )
        for number, script in enumerate(operator.scripts):
            lines.append(f"  script {number}: " + (" · ".join(map(tell_item, script)) or "nothing") + " · end")
    return lines


def tell_item(item: object) -> str:
    data = encode(item)
    kind = data.pop("type")
    return " ".join([kind, *(str(value) for value in data.values() if value is not None)])
