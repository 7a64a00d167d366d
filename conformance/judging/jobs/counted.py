"""Jobs on Bytewax under kills: a running count of each key, drawn, run, read as a run log, judged.

Bytewax keeps the order of the records of a key, and no other; all records of a key meet in one worker, by a hash that
it tells nobody; what it hands out after a kill it may hand out twice, but what it has counted it counts once. So every
count of a key, from 1 to the last, comes out at least once, and no other.
"""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import attrs

from tidegate.conformance.engines.bytewax.running import BytewaxError, find_version, run_job
from tidegate.conformance.judging.jobs.faulted import FaultedJob, FaultedResult, ignore
from tidegate.properties.runlog import check
from tidegate.reference.watermarks.valve import SEMANTICS
from tidegate.traces.runlog import (
    OWN,
    Capabilities,
    Delivery,
    Direction,
    Edge,
    Job,
    Kind,
    OrderScope,
    Result,
    Row,
    RunLog,
    renumber,
)

Json = dict[str, Any]

NAME = "bytewax"
KILL = "kill"
MOST_WORKERS = 3
KEYS = "abcdefgh"
CAPABILITIES = Capabilities(
    explicit_watermarks=False,
    idleness=False,
    known_routing=False,
    keys_meet=True,
    checkpoints=False,
    endings=False,
    order_scope=OrderScope.KEY,
    delivery=Delivery.AT_LEAST_ONCE,
)


def draw_case(seed: int, index: int, faults: int) -> Json:
    """The same seed and index give the same case, faults included."""
    random = Random(f"bytewax/{seed}/{index}")
    scripts = ["".join(random.choices(KEYS, k=random.randint(40, 200))) for _ in range(random.randint(1, 4))]
    total = sum(map(len, scripts))
    return {
        "name": f"bytewax-{seed}-{index}",
        "scripts": scripts,
        "pause": random.choice((1, 5)),
        "partitions": random.randint(1, 3),
        "workers": random.randint(1, MOST_WORKERS),
        "faults": [
            {
                "fault": KILL,
                "after": random.randrange(total // 2),
                "delay": random.randint(0, 50),
                "workers": random.randint(1, MOST_WORKERS),
            }
            for _ in range(random.randint(1, faults) if faults else 0)
        ],
    }


def compute_expected(case: Json) -> tuple[Result, ...]:
    """Every count of a key, up to how often it comes."""
    counts = Counter("".join(case["scripts"]))
    return tuple(Result("sink", key, None, one + 1) for key in sorted(counts) for one in range(counts[key]))


def read_log(case: Json, answer: Json) -> RunLog:
    """Where a record went is told by who received it, in that attempt or another: Bytewax does not say so before."""
    run, rows = case["name"], []
    attempts = [read_lines(journals) for journals in answer["attempts"]]
    finally_went = find_receivers([line for lines in attempts for line in lines])
    for attempt, lines in enumerate(attempts):
        went = finally_went | find_receivers(lines)
        for worker, kind, number, place, key in lines:
            if kind == "result":
                alone = Direction.OUT, OWN, worker, worker, 0, Kind.RESULT
                row = Row(run, "sink", worker, 0, *alone, key=number, value=int(place))
            else:
                consumer = worker if kind == "in" else went.get((number, place), 0)
                task, subtask = ("count", worker) if kind == "in" else ("source", int(number))
                name = int(number) * 1_000_000 + int(place)
                where = Direction(kind), 0, int(number), consumer, 0, Kind.RECORD
                row = Row(run, task, subtask, 0, *where, key=key, id=name)
            rows.append(attrs.evolve(row, attempt=attempt))
    restored: dict[str, int | None] = {str(number): None for number in range(1, len(answer["attempts"]))}
    job = Job(NAME, SEMANTICS[0], make_edges(case, answer), CAPABILITIES, restored, compute_expected(case))
    return renumber(RunLog(run, job, tuple(rows)))


Line = tuple[int, str, str, str, str]


def read_lines(journals: list[list[str]]) -> list[Line]:
    """Each with its worker, which is a thread; a result is a key and a count, a record has three words."""
    found = []
    for worker, lines in enumerate(journals):
        for line in lines:
            kind, one, other, *rest = line.split(" ")
            found.append((worker, kind, one, other, rest[0] if rest else ""))
    return found


def find_receivers(lines: list[Line]) -> dict[tuple[str, str], int]:
    return {(number, place): worker for worker, kind, number, place, _key in lines if kind == "in"}


def make_edges(case: Json, answer: Json) -> tuple[Edge, ...]:
    workers = max(len(journals) for journals in answer["attempts"]) or 1
    counted = Edge(0, "source", "count", "hash of its own", "all_to_all", len(case["scripts"]), workers)
    return counted, Edge(1, "count", "sink", "forward", "pointwise", workers, workers)


def goes_on(journals: list[list[str]]) -> bool:
    """Whether an attempt was restored: it did not begin with the first record of every partition that it reads."""
    firsts: dict[str, int] = {}
    for _worker, kind, number, place, _key in read_lines(journals):
        if kind == "out":
            firsts[number] = min(int(place), firsts.get(number, int(place)))
    return any(firsts.values())


def judge(case: Json, answer: Json) -> FaultedJob:
    log = read_log(case, answer)
    restores = sum(goes_on(journals) for journals in answer["attempts"][1:])
    return FaultedJob(case, (log,), check(log), tuple(answer["faults"]), restores, answer["seconds"])


def run_counted(
    jobs: int, seed: int, faults: int, *, first: int = 0, observe: Callable[[FaultedJob], None] = ignore
) -> FaultedResult:
    cases = (draw_case(seed, index, faults) for index in range(first, first + jobs))
    return FaultedResult(f"{NAME}:{find_version()}", seed, jobs).run((run_one(case) for case in cases), observe)


def run_one(case: Json) -> FaultedJob:
    try:
        return judge(case, run_job(case))
    except BytewaxError as error:
        return FaultedJob(case, error=str(error))
