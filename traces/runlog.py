"""Run logs: what every task of a job received and emitted, row by row, with a description of the job.

An engine shows a whole job as a run log. Each side of a channel counts positions, separately for elements, buffers and
credit; each subtask counts steps. Clocks play no role: only channels order the rows of two subtasks.

A restored run has several attempts. Each counts from 0, and the description of the job names its checkpoint. Rows of a
subtask alone (snapshots, outcomes, its clock) have no channel: see OWN.

Files are Parquet, one run per file, with the description of the job as JSON in the metadata. Only files need
`pyarrow`.
"""

import json
from collections import Counter
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate.reference import elements
from tidegate.reference.elements import at_least, one_of
from tidegate.reference.model import InvalidInputError
from tidegate.reference.partitioning.keygroups import MOST_KEY_GROUPS
from tidegate.reference.partitioning.partitioner import Partitioner
from tidegate.reference.partitioning.wiring import Pattern
from tidegate.traces.codec import decode, encode

# --- rows -----------------------------------------------------------------------------------------------------


Direction = elements.Direction
Kind = elements.LogKind

#: A job edge, the number of the producing subtask, the number of the consuming one.
Channel = tuple[int, int, int]

#: The edge of rows of a subtask alone: sent from the subtask to itself.
OWN = -1
OWN_KINDS = frozenset({Kind.SNAPSHOT, Kind.RESTORED, Kind.RESULT, Kind.LATE, Kind.TIMER, Kind.CLOCK})


@attrs.frozen
class Row:
    """One event. `value` is a status (1 active, 0 idle), the number of a checkpoint, an amount of credit, or bytes.

    For a result it is the result. The `id` of a snapshot is a fingerprint of the state, if the engine has one.
    """

    run: str
    task: str
    subtask: int
    step: int
    dir: Direction
    edge: int
    producer: int
    consumer: int
    position: int
    kind: Kind
    timestamp: int | None = None
    key: str | None = None
    id: int | None = None
    value: int | None = None
    attempt: int = 0

    @property
    def channel(self) -> Channel:
        return self.edge, self.producer, self.consumer

    @property
    def flow(self) -> str | None:
        """The rows that its position counts: buffers, credit, rows of a subtask alone, or (None) elements."""
        if self.edge == OWN:
            return "own"
        return self.kind if self.kind in (Kind.BUFFER, Kind.CREDIT) else None


# --- description of the job ----------------------------------------------------------------------------------


class ClockScope(StrEnum):
    """Whether every subtask has its own event time, or the whole job shares one."""

    SUBTASK = "subtask"
    JOB = "job"


class OrderScope(StrEnum):
    """Whether a channel keeps the order of all elements, of the records of each key, or none."""

    CHANNEL = "channel"
    KEY = "key"
    NONE = "none"


class Delivery(StrEnum):
    """After a fault: exactly once, or at least once."""

    EXACTLY_ONCE = "exactly_once"
    AT_LEAST_ONCE = "at_least_once"


@attrs.frozen
class Capabilities:
    """What an engine can show and promises. What it cannot show is not checked, and does not count as passed.

    `equal_watermarks`: a watermark may be repeated. `known_routing`: keys are assigned as in the specification; if not,
    `keys_meet` says that all records of a key still meet in one subtask.
    """

    explicit_watermarks: bool = True
    equal_watermarks: bool = False
    idleness: bool = True
    clock_scope: ClockScope = ClockScope.SUBTASK
    known_routing: bool = True
    credit: bool = False
    checkpoints: bool = True
    endings: bool = True
    keys_meet: bool = False
    order_scope: OrderScope = OrderScope.CHANNEL
    delivery: Delivery = Delivery.EXACTLY_ONCE


#: Range of a 32-bit column.
MOST_OF_SHORT = 2**31 - 1


def check_max_parallelism(edge: "Edge", _field: object, value: int | None) -> None:
    if edge.partitioner != Partitioner.HASH:
        return
    if value is None:
        raise InvalidInputError(f"edge {edge.number} is partitioned by hash and has no max_parallelism")
    if not 1 <= value <= MOST_KEY_GROUPS:
        raise InvalidInputError(f"max_parallelism of edge {edge.number} must be in 1..{MOST_KEY_GROUPS}, not {value}")


@attrs.frozen
class Edge:
    """An edge between tasks, by its number in the rows. The initial credit is that of each of its channels."""

    number: int = attrs.field(validator=at_least(0))
    source: str
    target: str
    partitioner: str
    pattern: str = attrs.field(validator=one_of(*Pattern))
    producers: int = attrs.field(validator=at_least(1))
    consumers: int = attrs.field(validator=at_least(1))
    max_parallelism: int | None = attrs.field(default=None, validator=check_max_parallelism)
    initial_credit: int | None = attrs.field(default=None, validator=attrs.validators.optional(at_least(0)))


def check_edges(_job: "Job", _field: object, edges: tuple[Edge, ...]) -> None:
    for number, count in Counter(edge.number for edge in edges).items():
        if count > 1:
            raise InvalidInputError(f"edge {number} is described {count} times")


@attrs.frozen
class Result:
    """What a task must commit, once."""

    task: str
    key: str | None = None
    timestamp: int | None = None
    value: int | None = None


def check_restored(_job: "Job", _field: object, restored: dict[str, int | None]) -> None:
    for attempt in restored:
        if not (attempt.isascii() and attempt.isdecimal()) or attempt.startswith("0"):
            raise InvalidInputError(f"restored has {attempt!r}, which is no number of an attempt behind the first")


@attrs.frozen
class Job:
    """`restored`: the checkpoint of each attempt after the first; None: from the beginning.

    `expected`: the results that the job must commit according to the specification, if known.
    """

    engine: str
    semantics: str
    edges: tuple[Edge, ...] = attrs.field(validator=check_edges)
    capabilities: Capabilities = Capabilities()
    restored: dict[str, int | None] = attrs.field(factory=dict, validator=check_restored)
    expected: tuple[Result, ...] | None = None

    @property
    def restores(self) -> dict[int, int | None]:
        return {int(attempt): checkpoint for attempt, checkpoint in self.restored.items()}


@attrs.frozen
class RunLog:
    """`complete`: the run has ended, so that nothing is in flight."""

    run: str
    job: Job
    rows: tuple[Row, ...]
    complete: bool = True


class MalformedLogError(ValueError):
    """The rows are not a run log: wrong counts, or a row at no end of its channel."""


def count_of(row: Row) -> tuple[Any, Any]:
    """The counters of a row's step and of its position."""
    place = row.attempt, row.task, row.subtask
    return place, (place, row.flow) if row.edge == OWN else (row.attempt, row.dir, row.channel, row.flow)


def check_numbers(log: RunLog) -> None:
    """Steps and positions count from 0 in each attempt, without gaps."""
    counts: Counter[Any] = Counter()
    for row in log.rows:
        at_step, at_position = count_of(row)
        if (row.step, row.position) != (counts[at_step], counts[at_position]):
            raise MalformedLogError(f"{row.task}/{row.subtask}: step {row.step} or position {row.position} is wrong")
        counts.update((at_step, at_position))


def count_subtasks(job: Job) -> dict[str, int]:
    """The number of subtasks of each task."""
    sizes: dict[str, int] = {}
    for edge in job.edges:
        sizes[edge.source] = max(sizes.get(edge.source, 0), edge.producers)
        sizes[edge.target] = max(sizes.get(edge.target, 0), edge.consumers)
    return sizes


def check_places(log: RunLog) -> None:
    """Check that a row belongs to the right end of its channel: only credit is sent by the consumer."""
    edges, sizes = {edge.number: edge for edge in log.job.edges}, count_subtasks(log.job)
    for row in log.rows:
        where = f"{row.task}/{row.subtask}: step {row.step}"
        if row.attempt and str(row.attempt) not in log.job.restored:
            raise MalformedLogError(f"{where} is of attempt {row.attempt}, and restored says nothing of it")
        if (row.edge == OWN) is not (row.kind in OWN_KINDS):
            raise MalformedLogError(f"{where} is {row.kind}, and of edge {row.edge}")
        if row.edge == OWN:
            if (row.dir, row.producer, row.consumer) != (Direction.OUT, row.subtask, row.subtask):
                raise MalformedLogError(f"{where} is of {row.task}/{row.subtask} alone, and says otherwise")
            if not 0 <= row.subtask < sizes.get(row.task, 0):
                raise MalformedLogError(f"{where} is of no subtask of the job")
            continue
        if row.edge not in edges:
            raise MalformedLogError(f"{where} is of edge {row.edge}, which is unknown")
        edge = edges[row.edge]
        if not (0 <= row.producer < edge.producers and 0 <= row.consumer < edge.consumers):
            raise MalformedLogError(f"{where} is of no channel of edge {row.edge}")
        is_at_source = (row.dir is Direction.OUT) is not (row.kind is Kind.CREDIT)
        place = (edge.source, row.producer) if is_at_source else (edge.target, row.consumer)
        if (row.task, row.subtask) != place:
            raise MalformedLogError(f"{where} belongs to {place[0]}/{place[1]}")


def renumber(log: RunLog) -> RunLog:
    """The same rows in the same order, renumbered."""
    counts: Counter[Any] = Counter()
    rows = []
    for row in log.rows:
        at_step, at_position = count_of(row)
        rows.append(attrs.evolve(row, step=counts[at_step], position=counts[at_position]))
        counts.update((at_step, at_position))
    return attrs.evolve(log, rows=tuple(rows))


# --- files ----------------------------------------------------------------------------------------------------

INTEGERS = {"subtask": 32, "step": 64, "edge": 32, "producer": 32, "consumer": 32, "position": 64}
INTEGERS |= {"timestamp": 64, "id": 64, "value": 64, "attempt": 32}
COLUMNS = tuple(field.name for field in attrs.fields(Row))
#: Optional columns: without them all rows belong to the first attempt.
OPTIONAL = ("attempt",)


def write_runlog(path: Path, log: RunLog) -> None:
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    widths = {32: pyarrow.int32(), 64: pyarrow.int64()}
    schema = pyarrow.schema(
        [(name, widths[INTEGERS[name]] if name in INTEGERS else pyarrow.string()) for name in COLUMNS],
        metadata={"run": log.run, "complete": json.dumps(log.complete), "job": json.dumps(encode(log.job))},
    )
    columns = {name: [getattr(row, name) for row in log.rows] for name in COLUMNS}
    parquet.write_table(pyarrow.table(columns, schema=schema), path)


def make_row(line: dict[str, Any]) -> Row:
    """Rows from the columns of a file; optional columns may be missing."""
    changed = {"dir": Direction(line["dir"]), "kind": Kind(line["kind"]), "attempt": line.get("attempt") or 0}
    return Row(**{**line, **changed})


def read_runlog(path: Path) -> RunLog:
    parquet: Any = import_module("pyarrow.parquet")
    table = parquet.read_table(path)
    known = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    rows = tuple(make_row(line) for line in table.to_pylist())
    job = decode(json.loads(known["job"]), Job, "job")
    return RunLog(known["run"], job, rows, json.loads(known["complete"]))
