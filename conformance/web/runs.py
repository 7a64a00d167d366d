"""Rows of a run log for a space-time diagram: each with a logical time, and with harmless text."""

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import Any

from tidegate.conformance.engines.text import printable
from tidegate.traces.runlog import Direction, Job, Kind, Row

#: Limit of drawn rows: around a violation, or from the beginning of a run.
MOST_ROWS = 300
#: Longest name in characters.
NAME = 100


def around(rows: list[tuple[int, Row]], wrong: set[Row]) -> list[tuple[int, Row]]:
    """As many rows as can be drawn, with the first violation in the middle."""
    at = next((number for number, (_time, row) in enumerate(rows) if row in wrong), 0)
    first = max(0, min(at - MOST_ROWS // 2, len(rows) - MOST_ROWS))
    return rows[first : first + MOST_ROWS]


def describe_row(row: Row, time: int, *, is_wrong: bool = False) -> dict[str, Any]:
    """A row for the page: harmless names, numbers that JavaScript can hold, statuses by name."""
    described: dict[str, Any] = {
        "time": time,
        "task": printable(row.task, NAME),
        "subtask": row.subtask,
        "step": row.step,
        "dir": row.dir,
        "edge": row.edge,
        "producer": row.producer,
        "consumer": row.consumer,
        "kind": row.kind,
        "key": None if row.key is None else printable(row.key, NAME),
        "attempt": row.attempt,
    }
    described |= {name: as_text(getattr(row, name)) for name in ("timestamp", "id", "value")}
    if row.kind is Kind.STATUS:
        described["status"] = "active" if row.value else "idle"
    return described | ({"wrong": True} if is_wrong else {})


def as_text(number: int | None) -> str | None:
    return None if number is None else str(number)


def put_in_time(rows: Sequence[Row]) -> list[tuple[int, Row]]:
    """Rows of many subtasks with logical times: after the previous row, and a receipt after its send.

    Some violations leave a log without such an order; then a row that waits in vain goes first.
    """
    queues: dict[tuple[int, str, int], deque[Row]] = {}
    for row in sorted(rows, key=lambda one: (one.attempt, one.step)):
        queues.setdefault((row.attempt, row.task, row.subtask), deque()).append(row)
    unsent = Counter(passed(row) for row in rows if row.dir is Direction.OUT)
    sent: defaultdict[Any, deque[int]] = defaultdict(deque)
    clocks: Counter[Any] = Counter()
    placed: list[tuple[int, Row]] = []
    while queues:
        at = next((one for one in queues if can_go(queues[one][0], sent, unsent)), next(iter(queues)))
        row = queues[at].popleft()
        if not queues[at]:
            del queues[at]
        if row.dir is Direction.OUT:
            unsent[passed(row)] -= 1
            sent[passed(row)].append(clocks[at] + 1)
        elif sent[passed(row)]:
            clocks[at] = max(clocks[at], sent[passed(row)].popleft())
        clocks[at] += 1
        placed.append((clocks[at], row))
    return sorted(placed, key=lambda one: one[0])


def passed(row: Row) -> tuple[Any, ...]:
    """The key of a row that both ends of a channel know."""
    return row.attempt, row.channel, row.kind, row.timestamp, row.key, row.id, row.value


def can_go(row: Row, sent: dict[Any, deque[int]], unsent: Counter[Any]) -> bool:
    return row.dir is Direction.OUT or bool(sent.get(passed(row))) or not unsent[passed(row)]


def list_tasks(job: Job) -> list[str]:
    """Subtasks in order from sources to sinks."""
    tasks = list(dict.fromkeys(name for edge in job.edges for name in (edge.source, edge.target)))
    for _round in tasks:
        for edge in job.edges:
            if tasks.index(edge.source) > tasks.index(edge.target):
                tasks.remove(edge.source)
                tasks.insert(tasks.index(edge.target), edge.source)
    return [printable(name, NAME) for name in tasks]


def describe_run(title: str, job: Job, rows: Sequence[Row], wrong: set[Row]) -> dict[str, Any]:
    """Rows as a diagram: as many as can be drawn around a violation, and how many are left out."""
    placed = put_in_time(rows)
    drawn = around(placed, wrong)
    return {
        "title": title,
        "tasks": list_tasks(job),
        "left": len(placed) - len(drawn),
        "rows": [describe_row(row, time, is_wrong=row in wrong) for time, row in drawn],
    }
