"""Invariants of a whole run, over all its attempts: restores and committed results."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tidegate.properties.runlog.attempts import View, find_home, find_taken, is_over
from tidegate.properties.runlog.invariant import Finding, Invariant
from tidegate.traces.runlog import OWN, Delivery, Direction, Job, Kind, Result, Row, RunLog

# --- results --------------------------------------------------------------------------------------------------


def result_of(row: Row) -> Result:
    return Result(row.task, row.key, row.timestamp, row.value)


def find_wrong_results(log: RunLog) -> Iterator[Finding]:
    """In an incomplete run, missing results may still come."""
    expected = Counter(log.job.expected or ())
    may_repeat = log.job.capabilities.delivery is Delivery.AT_LEAST_ONCE
    met: Counter[Result] = Counter()
    for row in log.rows:
        if row.kind is not Kind.RESULT:
            continue
        result = result_of(row)
        met[result] += 1
        if not expected[result]:
            yield row, f"{describe(result)} is committed, and is no result of the job"
        elif met[result] > expected[result] and not may_repeat:
            yield row, f"{describe(result)} is committed more often than {expected[result]} times"
    if not log.complete:
        return
    for result, count in expected.items():
        missing = count - met[result] if not may_repeat else int(not met[result])
        if missing > 0:
            yield stand_in(log.run, result), f"{describe(result)} is missing {missing} times"


def stand_in(run: str, result: Result) -> Row:
    """A stand-in for the row of a missing result, as the first row of its task."""
    place = run, result.task, 0, 0, Direction.OUT, OWN, 0, 0, 0, Kind.RESULT
    return Row(*place, key=result.key, timestamp=result.timestamp, value=result.value)


def describe(result: Result) -> str:
    return f"result {result.value} of {result.task} for key {result.key!r} at {result.timestamp}"


RESULT = Invariant(
    "LOG-RESULT",
    "What the job commits is what the specification says that it commits.",
    find_wrong_results,
    lambda job: "" if job.expected is not None else "the log does not say what results are expected",
    View.EVERYTHING,
)

# --- recovery -------------------------------------------------------------------------------------------------


def find_wrong_restores(log: RunLog) -> Iterator[Finding]:
    taken = find_taken(log.rows)
    places = list(dict.fromkeys((row.task, row.subtask) for row in log.rows))
    of: dict[tuple[int, str, int], list[Row]] = defaultdict(list)
    for row in log.rows:
        of[row.attempt, row.task, row.subtask].append(row)
    for attempt, checkpoint in sorted(log.job.restores.items()):
        home = None if checkpoint is None else find_home(taken, checkpoint, attempt)
        for place in places:
            rows, saved = of[attempt, *place], of[home, *place] if home is not None else []
            if rows and not (saved and not find_snapshots(saved, checkpoint) and is_over(saved)):
                yield from find_wrong_restore(rows, saved, checkpoint)


def find_snapshots(rows: list[Row], checkpoint: int | None) -> list[Row]:
    return [row for row in rows if row.kind is Kind.SNAPSHOT and row.value == checkpoint]


def find_wrong_restore(rows: list[Row], saved: list[Row], checkpoint: int | None) -> Iterator[Finding]:
    """Check a subtask: its rows, and those of the attempt that took the checkpoint."""
    for row in rows:
        if row.kind is Kind.RESTORED and (checkpoint is None or row.step > 0):
            yield row, f"checkpoint {row.value} is restored where the attempt does not begin with it"
    if checkpoint is None:
        return
    first, snapshots = rows[0], find_snapshots(saved, checkpoint)
    for row in snapshots[1:]:
        yield row, f"a second snapshot is taken of checkpoint {checkpoint}"
    if first.kind is not Kind.RESTORED:
        yield first, f"the attempt goes on from checkpoint {checkpoint}, and the subtask restores nothing"
    elif first.value != checkpoint:
        yield first, f"checkpoint {first.value} is restored, and not {checkpoint}"
    elif not snapshots:
        yield first, f"checkpoint {checkpoint} is restored, of which the subtask has taken no snapshot"
    elif None not in (first.id, snapshots[0].id) and first.id != snapshots[0].id:
        yield first, f"state {first.id} is restored, and {snapshots[0].id} was saved in checkpoint {checkpoint}"


def was_never_restored(job: Job) -> str:
    return "" if set(job.restored.values()) - {None} else "the run never went on from a checkpoint"


RECOVER = Invariant(
    "LOG-RECOVER",
    "An attempt goes on from its checkpoint: each subtask restores, first of all, the state of its own snapshot.",
    find_wrong_restores,
    was_never_restored,
    View.EVERYTHING,
)
