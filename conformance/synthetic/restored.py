"""Small synthetic runs with a restore, each with one fault, and the results that they must commit.

Two sources send keyed records to two counters, which forward them to their sinks; channels deliver at random times.
Any prefix of such a run is a checkpoint: the rows behind it are logged as undone, and again after the restore.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import attrs

from tidegate.reference.partitioning.keys import StringKey
from tidegate.reference.partitioning.partitioner import Config, Partitioner, compute_channel_of_key
from tidegate.reference.watermarks.valve import SEMANTICS
from tidegate.traces.runlog import (
    OWN,
    Capabilities,
    Direction,
    Edge,
    Job,
    Kind,
    Result,
    Row,
    RunLog,
    renumber,
    write_runlog,
)

PARALLELISM = 2
RECORDS = 60
UNDONE = 25
CHECKPOINT = 7
#: The fingerprint of every state.
STATE = 11
EDGES = (
    Edge(0, "source", "count", "hash", "all_to_all", PARALLELISM, PARALLELISM, 128),
    Edge(1, "count", "sink", "forward", "pointwise", PARALLELISM, PARALLELISM),
)
CAPABILITIES = Capabilities(explicit_watermarks=False, idleness=False, checkpoints=False, endings=False)


def own(run: str, task: str, subtask: int, kind: Kind, **fields: Any) -> Row:
    return Row(run, task, subtask, 0, Direction.OUT, OWN, subtask, subtask, 0, kind, **fields)


class Flow:
    """A run in causal order."""

    def __init__(self, run: str, random: Random) -> None:
        self.run, self.random = run, random
        self.rows: list[Row] = []
        self.waiting: dict[tuple[int, int, int], list[tuple[str, int]]] = {}
        self.counts: Counter[str] = Counter()

    def log(self, task: str, subtask: int, side: Direction, channel: tuple[int, int, int], key: str, name: int) -> None:
        shown = key if channel[0] == 0 else None
        self.rows.append(Row(self.run, task, subtask, 0, side, *channel, 0, Kind.RECORD, key=shown, id=name))

    def send(self, task: str, subtask: int, channel: tuple[int, int, int], key: str, name: int) -> None:
        self.log(task, subtask, Direction.OUT, channel, key, name)
        self.waiting.setdefault(channel, []).append((key, name))

    def deliver(self) -> bool:
        channels = [channel for channel, held in self.waiting.items() if held]
        if not channels:
            return False
        channel = self.random.choice(channels)
        key, name = self.waiting[channel].pop(0)
        edge, _producer, consumer = channel
        self.log(EDGES[edge].target, consumer, Direction.IN, channel, key, name)
        if edge == 0:
            self.counts[key] += 1
            self.send("count", consumer, (1, consumer, consumer), key, name + RECORDS)
        return True

    def go(self) -> None:
        config = Config(Partitioner.HASH, PARALLELISM, EDGES[0].max_parallelism)
        for name in range(RECORDS):
            key, source = f"key-{self.random.randrange(9)}", self.random.randrange(PARALLELISM)
            self.send("source", source, (0, source, compute_channel_of_key(config, StringKey(key))), key, name)
            for _ in range(self.random.randrange(4)):
                self.deliver()
        while self.deliver():
            pass


def make_run(run: str, seed: int) -> RunLog:
    flow = Flow(run, Random(f"{seed}/{run}"))
    flow.go()
    cut = flow.random.randrange(len(flow.rows) // 4, len(flow.rows) // 2)
    places = [(task, subtask) for task in ("source", "count", "sink") for subtask in range(PARALLELISM)]
    before = flow.rows[:cut] + [own(run, *place, Kind.SNAPSHOT, value=CHECKPOINT, id=STATE) for place in places]
    before += flow.rows[cut : cut + UNDONE]
    after = [own(run, *place, Kind.RESTORED, value=CHECKPOINT, id=STATE) for place in places] + flow.rows[cut:]
    expected = tuple(Result("sink", key, None, count) for key, count in sorted(flow.counts.items()))
    after += [own(run, "sink", 0, Kind.RESULT, key=one.key, value=one.value) for one in expected]
    rows = (*before, *(attrs.evolve(row, attempt=1) for row in after))
    job = Job("synthetic", SEMANTICS[0], EDGES, CAPABILITIES, {"1": CHECKPOINT}, expected)
    return renumber(RunLog(run, job, rows))


# --- faults ---------------------------------------------------------------------------------------------------

#: A log with a fault, the invariant that must show it, and the row at which it does.
Planted = tuple[RunLog, str, Row]


def commit_twice(log: RunLog) -> Planted:
    """The last result, which is the last row."""
    log = renumber(attrs.evolve(log, rows=(*log.rows, log.rows[-1])))
    return log, "LOG-RESULT", log.rows[-1]


def forget_a_result(log: RunLog) -> Planted:
    """A missing result shows as the first possible row of its task."""
    gone = log.rows[-1]
    log = attrs.evolve(log, rows=log.rows[:-1])
    return log, "LOG-RESULT", attrs.evolve(gone, position=0)


def restore_another_state(log: RunLog) -> Planted:
    at = next(at for at, row in enumerate(log.rows) if row.kind is Kind.RESTORED and row.task == "count")
    wrong = attrs.evolve(log.rows[at], id=STATE + 1)
    return attrs.evolve(log, rows=(*log.rows[:at], wrong, *log.rows[at + 1 :])), "LOG-RECOVER", wrong


PLANT: dict[str, Callable[[RunLog], Planted]] = {
    "committed-twice": commit_twice,
    "uncommitted": forget_a_result,
    "misrestored": restore_another_state,
}


def write_restored(folder: Path, faults: dict[str, int], seed: int) -> list[dict[str, Any]]:
    """A run for each fault, as planted.json lists them."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, name in enumerate(name for name, count in faults.items() for _ in range(count)):
        log, invariant, row = PLANT[name](make_run(f"restored-{number:04}", seed))
        path = folder / f"{log.run}.parquet"
        write_runlog(path, log)
        shows = {"invariant": invariant, "channel": list(row.channel), "dir": str(row.dir), "position": row.position}
        fault = {"fault": name, "epoch": 1, "shows": [shows]}
        written.append({"run": log.run, "files": [path.name], "events": len(log.rows), "faults": [fault]})
    return written
