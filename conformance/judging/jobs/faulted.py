"""Jobs on a real cluster under faults: drawn from a seed, run, read as run logs of several attempts, judged.

A job counts windows, so that what it must commit is known beforehand: LOG-RESULT compares. What it does on the way is
held to all other invariants, spliced where it was restored. A fault that hit nothing is not survived, and a job that
was never restored says nothing about recovery: both are counted by themselves.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from random import Random
from typing import Any, Self

import attrs

from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.flink.cluster.processes import ClusterError, FlinkCluster
from tidegate.conformance.engines.flink.cluster.running import FAULTS, KILL_JOB_MANAGER, RESCALE, run_job
from tidegate.conformance.exits import Exit
from tidegate.conformance.stopping import STOP
from tidegate.properties.runlog import Status, Verdict, Violation, check
from tidegate.reference.watermarks.valve import SEMANTICS
from tidegate.traces.codec import encode
from tidegate.traces.runlog import OWN, Capabilities, Direction, Edge, Job, Kind, Result, Row, RunLog, renumber

Json = dict[str, Any]

NAME = "flink-cluster"
MAX_PARALLELISM = 128
MOST_PARALLELISM = 3
KEYS = 12
#: What our operators can be seen to do: records and clocks, neither barriers nor statuses, nor the ends of channels.
CAPABILITIES = Capabilities(idleness=False, checkpoints=False, endings=False)
MOST_WITH_ROWS = 50
#: Jobs whose faults are looked at when a cluster is started.
LOOKED_AHEAD = 1000
#: Clusters in a row that did not come up: the next will not, either.
MOST_MISSES = 3
UNALIGNED = "execution.checkpointing.unaligned.enabled"

# --- drawing --------------------------------------------------------------------------------------------------


def draw_case(seed: int, index: int, faults: int, kinds: tuple[str, ...] = FAULTS) -> Json:
    """The same seed and index give the same case, faults included. There is one fault at least, if there may be any."""
    random = Random(f"cluster/{seed}/{index}")
    parallelism = random.randint(1, MOST_PARALLELISM)
    length = random.randint(300, 600)
    return {
        "name": f"cluster-{seed}-{index}",
        "max_parallelism": MAX_PARALLELISM,
        "width": random.choice((5, 10, 50)),
        "padding": random.choice((0, 50, 500)),
        "pause": random.randint(8, 12),
        "slow_micros": random.choice((0, 200, 2000)),
        "sink": "committing",
        "settings": {UNALIGNED: random.choice(("false", "true"))},
        "parallelism": parallelism,
        "scripts": [[draw_script(random, length) for _ in range(parallelism)] for _ in range(random.choice((1, 1, 2)))],
        "faults": [draw_fault(random, kinds) for _ in range(random.randint(1, faults) if faults and kinds else 0)],
    }


def draw_script(random: Random, length: int) -> list[str]:
    """No record comes behind a watermark that its own script has announced: what a job commits has no choice."""
    items: list[str] = []
    time, announced = 0, -1
    for _ in range(length):
        if random.random() < 0.8:
            time = max(time + random.randint(-2, 4), announced + 1)
            items.append(f"r k{random.randrange(KEYS)} {time}")
        else:
            announced = max(announced + 1, time - random.randint(0, 6))
            items.append(f"w {announced}")
    return items


def draw_fault(random: Random, kinds: tuple[str, ...]) -> Json:
    fault = {"fault": random.choice(kinds), "after": random.randint(0, 400), "which": random.randint(0, 9)}
    return fault | ({"parallelism": random.randint(1, MOST_PARALLELISM)} if fault["fault"] == RESCALE else {})


# --- reading --------------------------------------------------------------------------------------------------


def compute_expected(case: Json) -> tuple[Result, ...]:
    """How many records each window of each key has."""
    counts: Counter[tuple[str, int]] = Counter()
    width = case["width"]
    for item in (item for scripts in case["scripts"] for script in scripts for item in script):
        if item.startswith("r "):
            _kind, key, time = item.split()
            counts[key, int(time) // width * width + width - 1] += 1
    return tuple(Result("sink", key, last, count) for (key, last), count in sorted(counts.items()))


def read_logs(case: Json, answer: Json) -> list[RunLog]:
    """A log for each generation: at another parallelism there are other channels. Results are in the last."""
    logs = []
    for number, generation in enumerate(answer["generations"]):
        is_last = number == len(answer["generations"]) - 1
        committed: list[str] = answer["committed"] if is_last else []
        logs.append(read_generation(case, generation, f"{case['name']}.{number}", committed, is_last=is_last))
    return logs


def read_generation(case: Json, generation: Json, run: str, committed: list[str], *, is_last: bool) -> RunLog:
    journals = [lines for lines in generation["journals"] if len(lines[0].split()) == len(HEADER)]
    starts: dict[tuple[str, str], int] = {}
    for lines in journals:
        _task, _subtask, graph, attempt, start = lines[0].split()
        starts[graph, attempt] = min(int(start), starts.get((graph, attempt), int(start)))
    attempts = {which: number for number, which in enumerate(sorted(starts, key=lambda one: starts[one]))}
    rows = [row for lines in journals for row in read_journal(run, lines, attempts)]
    begun_from = {row.value for row in rows if row.kind is Kind.RESTORED and row.attempt == 0}
    # What a savepoint of the generation before brought is the beginning of this one.
    rows = [row for row in rows if row.kind is not Kind.RESTORED or row.value not in begun_from]
    restored: dict[str, int | None] = {str(number): None for number in range(1, len(attempts))}
    for row in rows:
        if row.kind is Kind.RESTORED:
            restored[str(row.attempt)] = row.value
    rows += [read_result(run, line, len(attempts) - 1) for line in committed]
    edges = make_edges(len(case["scripts"]), generation["parallelism"])
    expected = compute_expected(case) if is_last else None
    job = Job(NAME, SEMANTICS[0], edges, CAPABILITIES, restored, expected)
    return renumber(RunLog(run, job, tuple(rows)))


HEADER = ("task", "subtask", "graph", "attempt", "start")


def make_edges(sources: int, parallelism: int) -> tuple[Edge, ...]:
    joined = [(f"source{number}", "count") for number in range(sources)] + [("count", "sink")]
    return tuple(
        Edge(number, source, target, "hash", "all_to_all", parallelism, parallelism, MAX_PARALLELISM)
        for number, (source, target) in enumerate(joined)
    )


def read_journal(run: str, lines: list[str], attempts: dict[tuple[str, str], int]) -> Iterator[Row]:
    task, number, graph, count, _start = lines[0].split()
    subtask, attempt = int(number), attempts[graph, count]

    def alone(kind: str, time: int | None = None, key: str | None = None, name: int | None = None) -> Row:
        where = Direction.OUT, OWN, subtask, subtask, 0, Kind(kind)
        return Row(run, task, subtask, 0, *where, timestamp=time, key=key, id=name, attempt=attempt)

    for line in lines[1:]:
        kind, *words = line.split(" ")
        match kind:
            case "in" | "out":
                edge, producer, consumer, name, time = map(int, words[:5])
                where = Direction(kind), edge, producer, consumer, 0, Kind.RECORD
                yield Row(run, task, subtask, 0, *where, time, words[5], name, attempt=attempt)
            case "snapshot" | "restored":
                yield attrs.evolve(alone(kind, name=int(words[1])), value=int(words[0]))
            case "clock":
                yield alone(kind, int(words[0]))
            case "timer":
                yield alone(kind, int(words[0]), words[1])
            case "late":
                yield alone(kind, int(words[1]), words[2], int(words[0]))


def read_result(run: str, line: str, attempt: int) -> Row:
    """Who has committed it does not matter, and may be a subtask of another parallelism."""
    _subtask, time, value, key = line.split()
    where = Direction.OUT, OWN, 0, 0, 0, Kind.RESULT
    return Row(run, "sink", 0, 0, *where, timestamp=int(time), key=key, value=int(value), attempt=attempt)


# --- judging --------------------------------------------------------------------------------------------------


@attrs.frozen
class FaultedJob:
    """What became of a job. `restores`: how often it went on from a checkpoint or savepoint. `error`: why it hangs."""

    case: Json
    logs: tuple[RunLog, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    faults: tuple[Json, ...] = ()
    restores: int = 0
    seconds: float = 0.0
    error: str = ""
    #: What was wrong, as a report tells.
    told: tuple[str, ...] = ()
    rows: int = attrs.field(default=attrs.Factory(lambda job: sum(len(log.rows) for log in job.logs), takes_self=True))

    def without_rows(self) -> "FaultedJob":
        return attrs.evolve(self, logs=tuple(attrs.evolve(log, rows=()) for log in self.logs))

    @property
    def violations(self) -> list[str]:
        seen = (one for verdict in self.verdicts for one in verdict.violations)
        return [*self.told, *map(tell_violation, seen)]

    @property
    def hits(self) -> int:
        return sum(one["hit"] for one in self.faults)

    @property
    def status(self) -> str:
        return "fail" if self.violations else "timeout" if self.error else "pass"

    def as_json(self) -> Json:
        """As a report tells of any job."""
        statuses: dict[str, Counter[str]] = defaultdict(Counter)
        for verdict in self.verdicts:
            statuses[verdict.invariant][verdict.status] += 1
        wrongs = [{"rules": [one.split(":")[0]], "message": one} for one in self.violations]
        wrongs += [{"rules": [], "message": self.error}] if self.error else []
        records = (row for log in self.logs for row in log.rows if row.kind is Kind.RECORD and row.dir is Direction.IN)
        return {
            "job": self.case["name"],
            "status": self.status,
            "explained": False,
            "rows": self.rows,
            "records": sum(1 for _ in records),
            "faults": list(self.faults),
            "hit": [one["hit"] for one in self.faults],
            "restores": self.restores,
            "invariants": {name: dict(counts) for name, counts in statuses.items()},
            "skipped": {verdict.invariant: verdict.reason for verdict in self.verdicts if verdict.reason},
            "wrongs": wrongs,
            "seconds": self.seconds,
        }


def tell_violation(one: Violation) -> str:
    return f"{one.invariant}: {one.run}, attempt {one.attempt}, channel {one.channel}: {one.message}"


def judge(case: Json, answer: Json) -> FaultedJob:
    logs = read_logs(case, answer)
    verdicts = tuple(verdict for log in logs for verdict in check(log))
    restores = sum(checkpoint is not None for log in logs for checkpoint in log.job.restored.values())
    restores += len(logs) - 1
    return FaultedJob(case, tuple(logs), verdicts, tuple(answer["faults"]), restores, answer["seconds"])


def remember(case: Json, told: Json) -> FaultedJob:
    """A job that passed or failed, as a report tells of it."""
    wrongs = tuple(str(one["message"]) for one in told["wrongs"])
    verdicts = tuple(
        Verdict(name, Status(status), reason=told["skipped"].get(name, "") if status != Status.PASSED else "")
        for name, statuses in told["invariants"].items()
        for status, count in statuses.items()
        for _ in range(count)
    )
    seconds = told.get("seconds", 0.0)
    restores, rows = told["restores"], told["rows"]
    return FaultedJob(case, (), verdicts, tuple(told["faults"]), restores, seconds, told=wrongs, rows=rows)


@attrs.define
class FaultedResult:
    """`engine`: as it is named on the command line."""

    engine: str
    seed: int
    asked: int
    jobs: list[FaultedJob] = attrs.Factory(list)
    #: false if it was interrupted
    complete: bool = True

    def run(self, jobs: Generator[FaultedJob], observe: Callable[[FaultedJob], None]) -> Self:
        """Take jobs as they come to an end, until there are no more, or somebody interrupts us.

        Rows are kept of the first few jobs, and only where something is wrong: a page draws them.
        """
        try:
            STOP.arm()
            with closing(jobs):
                for job in jobs:
                    is_drawn = bool(job.violations or job.error) and len(self.jobs) < MOST_WITH_ROWS
                    self.jobs.append(job if is_drawn else job.without_rows())
                    observe(job)
            STOP.disarm()
        except KeyboardInterrupt:
            self.complete = False
        return self

    @property
    def restored(self) -> int:
        return sum(job.restores > 0 for job in self.jobs)

    @property
    def violated(self) -> int:
        return sum(bool(job.violations) for job in self.jobs)

    @property
    def failed(self) -> int:
        return sum(bool(job.error) for job in self.jobs)

    def counts(self) -> dict[str, Counter[str]]:
        """Of each invariant, what became of it in how many logs."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for verdict in (verdict for job in self.jobs for verdict in job.verdicts):
            found[verdict.invariant][verdict.status] += 1
        return found

    @property
    def exit_code(self) -> Exit:
        if self.violated:
            return Exit.VIOLATIONS
        return Exit.UNDETERMINED if self.failed or not self.jobs or not self.complete else Exit.CONFORMANT

    def as_json(self) -> Json:
        """As the report of any jobs."""
        verdicts = [verdict for job in self.jobs for verdict in job.verdicts]
        right = len(self.jobs) - self.violated - self.failed
        statuses = {"pass": right, "fail": self.violated, "timeout": self.failed}
        return {
            "engine": self.engine,
            "seed": self.seed,
            "jobs": len(self.jobs),
            "rows": sum(job.rows for job in self.jobs),
            "faults_drawn": sum(len(job.faults) for job in self.jobs),
            "hits": sum(job.hits for job in self.jobs),
            "restored": self.restored,
            "restores": sum(job.restores for job in self.jobs),
            "statuses": {name: count for name, count in statuses.items() if count},
            "invariants": {name: dict(counts) for name, counts in self.counts().items()},
            "skipped": {verdict.invariant: verdict.reason for verdict in verdicts if verdict.reason},
            "declared": encode(CAPABILITIES),
        }

    def as_text(self) -> str:
        rows = sum(job.rows for job in self.jobs)
        hits, faults = sum(job.hits for job in self.jobs), sum(len(job.faults) for job in self.jobs)
        times = sum(job.restores for job in self.jobs)
        lines = [
            f"{len(self.jobs)} jobs on {self.engine}, {rows:,} events",
            f"{self.violated} of them violate an invariant, {self.failed} did not end",
            f"{hits} of {faults} faults hit; {self.restored} jobs were restored, {times} times in all",
        ]
        lines += ["The run was interrupted: this is what was known by then."] * (not self.complete)
        for name, counts in self.counts().items():
            told = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
            lines.append(f"{name:14} {told}")
        for job in self.jobs:
            lines += [f"{job.case['name']}: {one}" for one in [*job.violations[:3], *[job.error][: bool(job.error)]]]
        return "\n".join(lines)


def ignore(_job: FaultedJob) -> None:
    """Nobody watches."""


def run_faulted(
    version: str,
    jobs: int,
    seed: int,
    faults: int,
    *,
    first: int = 0,
    kinds: tuple[str, ...] = FAULTS,
    known: Sequence[Json] = (),
    observe: Callable[[FaultedJob], None] = ignore,
) -> FaultedResult:
    """Jobs one by one, on one cluster; one that hangs costs the cluster, and the next gets a new one.

    `known` are jobs that have passed or failed, as an earlier run has reported: they are counted, and not run again.
    """
    passed = {told["job"]: told for told in known}
    cases = (draw_case(seed, index, faults, kinds) for index in range(first, first + jobs))
    result = FaultedResult(f"{NAME}:{version}", seed, jobs)
    result.jobs = [remember({"name": name}, told) for name, told in passed.items()]
    return result.run(run_all(version, (case for case in cases if case["name"] not in passed)), observe)


def run_all(version: str, drawn: Iterator[Json]) -> Generator[FaultedJob]:
    """A cluster that does not come up is an error at first; later on, it costs a job, and a few in a row the rest.

    Raises
    ------
    CannotStartError
        There is no cluster; the message says which log to read.
    """
    came_up, misses = False, 0
    while cases := list(islice(drawn, LOOKED_AHEAD)):
        while cases:
            needs_keeper = any(fault["fault"] == KILL_JOB_MANAGER for case in cases for fault in case["faults"])
            try:
                with FlinkCluster(version, highly_available=needs_keeper) as cluster:
                    came_up, misses = True, 0
                    while cases:
                        job = run_one(cluster, cases.pop(0))
                        if job.error:
                            cluster.keeps_logs = True
                        yield job
                        if job.error:
                            break
            except ClusterError as error:
                if not came_up:
                    raise CannotStartError(str(error), "on a busy machine, try it once more") from error
                yield FaultedJob(cases.pop(0), error=str(error))
                misses += 1
                if misses == MOST_MISSES:
                    return


def run_one(cluster: FlinkCluster, case: Json) -> FaultedJob:
    try:
        return judge(case, run_job(cluster, case))
    except (ClusterError, OSError) as error:
        return FaultedJob(case, error=str(error))
