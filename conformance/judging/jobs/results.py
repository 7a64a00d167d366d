"""The results that a job must commit under any schedule.

A stream is *steady* if every run of the job sends the same records through it, in any order: a sink of such a
stream has certain results. A sum emits every partial total, so it is steady only if all values are the same.
The output of operators of event time is steady if no record can be late.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

import attrs

from tidegate.reference.chaining.chains import Partitioner
from tidegate.reference.elements import MIN, Long, Status, StatusChange, Watermark
from tidegate.reference.job.functions import apply, wrap
from tidegate.reference.job.layout import compute_layout
from tidegate.reference.job.programs import EVENT_TIME, Config, Edge, Function, Operator, Record, ScriptItem, Side
from tidegate.traces.runlog import Kind, Result, RunLog, count_subtasks


@attrs.frozen
class Stream:
    """All records that an operator emits. `timed`: the time of each is also the same in every run."""

    records: tuple[Record, ...]
    steady: bool = True
    timed: bool = True


UNSTEADY = Stream((), steady=False, timed=False)


def compute_results(config: Config) -> dict[str, Counter[tuple[str, int]]]:
    """By task, the keys and values that its sinks must commit, without those that are uncertain."""
    streams: dict[int, Stream] = {}
    tidy = is_tidy(config)
    for operator in config.operators:
        edges = [edge for edge in config.edges if edge.target == operator.id]
        read = join(follow(edge, streams[edge.source], operator.parallelism, tidy=tidy) for edge in edges)
        streams[operator.id] = compute_stream(operator, read, tidy=tidy)
    sinks = {one.id for one in config.operators if one.function is Function.SINK}
    results = {}
    for task in compute_layout(config).tasks:
        mine = [streams[one] for one in task.operators if one in sinks]
        if mine and all(one.steady for one in mine):
            results[task.name] = Counter((record.key, int(record.value)) for one in mine for record in one.records)
    return results


def follow(edge: Edge, stream: Stream, readers: int, *, tidy: bool) -> Stream:
    """The output of an edge: no late records if there are none before it; broadcast sends all to every reader."""
    if edge.output is Side.LATE:
        return Stream(()) if tidy and stream.steady else UNSTEADY
    often = readers if edge.partitioner is Partitioner.BROADCAST else 1
    return attrs.evolve(stream, records=stream.records * often)


def join(streams: Iterable[Stream]) -> Stream:
    streams = list(streams)
    records = tuple(record for one in streams for record in one.records)
    return Stream(records, all(one.steady for one in streams), all(one.timed for one in streams))


def compute_stream(operator: Operator, read: Stream, *, tidy: bool) -> Stream:
    if not read.steady:
        return UNSTEADY
    match operator.function:
        case Function.SOURCE:
            items = (item for script in operator.scripts for item in script)
            return Stream(tuple(item for item in items if isinstance(item, Record)))
        case Function.SUM:
            return Stream(add_up(read), timed=False) if is_constant(read) else UNSTEADY
        case Function.SINK:
            return read
        case function if function in EVENT_TIME:
            return Stream(gather(operator, read)) if tidy and read.timed else UNSTEADY
        case _:
            made = (record for one in read.records for record in apply(operator, (), one)[1])
            return Stream(tuple(made), timed=read.timed)


def is_constant(stream: Stream) -> bool:
    return len({record.value for record in stream.records}) <= 1


def add_up(read: Stream) -> tuple[Record, ...]:
    totals: dict[str, int] = defaultdict(int)
    made = []
    for record in read.records:
        totals[record.key] += record.value
        made.append(attrs.evolve(record, value=wrap(totals[record.key])))
    return tuple(made)


def gather(operator: Operator, read: Stream) -> tuple[Record, ...]:
    """The sum of each key and window; a timer has a window for each time."""
    size = operator.size or 1
    sums: Counter[tuple[str, int]] = Counter()
    for record in read.records:
        sums[record.key, record.timestamp // size * size + size - 1] += record.value
    return tuple(Record(key, wrap(value), Long(last)) for (key, last), value in sums.items())


# --- scripts that are never late ------------------------------------------------------------------------------


def is_tidy(config: Config) -> bool:
    last = find_last(config)
    return all(is_in_time(script, last) for operator in config.operators for script in operator.scripts)


def find_last(config: Config) -> int:
    """The latest time of any record of the job, or of its windows."""
    items = (item for operator in config.operators for script in operator.scripts for item in script)
    times = [item.timestamp for item in items if isinstance(item, Record)]
    return max(times, default=0) + sum(operator.size or 0 for operator in config.operators)


def is_in_time(script: Iterable[ScriptItem], last: int) -> bool:
    """No record is behind a watermark of its script, and idleness advances no time that anything waits for.

    A subtask that becomes active again may emit late records, because others were active before it.
    """
    announced = MIN
    for item in script:
        if isinstance(item, Record) and item.timestamp <= announced:
            return False
        if isinstance(item, Watermark):
            announced = item.timestamp
        if isinstance(item, StatusChange) and item.status is Status.IDLE and announced < last:
            return False
    return True


# --- logs -----------------------------------------------------------------------------------------------------


def expect_results(config: Config, log: RunLog, *, counts_once: bool = True) -> RunLog:
    """The log with the expected results, and without results that cannot be checked.

    A log knows the tasks that its edges join.

    For an engine that may count a record again, a total beyond the last is no result, and no mistake either.
    """
    known = count_subtasks(log.job)
    results = {task: counts for task, counts in compute_results(config).items() if task in known}
    if not results:
        return attrs.evolve(log, rows=tuple(row for row in log.rows if row.kind is not Kind.RESULT))
    most: dict[tuple[str, str], int] = defaultdict(int)
    for task, counts in results.items():
        for key, value in counts:
            most[task, key] = max(most[task, key], value)
    rows = [
        row
        for row in log.rows
        if row.kind is not Kind.RESULT
        or (row.task in results and (counts_once or (row.value or 0) <= most[row.task, row.key or ""]))
    ]
    expected = tuple(
        Result(task, key, None, value)
        for task, counts in results.items()
        for (key, value), count in counts.items()
        for _ in range(count)
    )
    return attrs.evolve(log, job=attrs.evolve(log.job, expected=expected), rows=tuple(rows))
