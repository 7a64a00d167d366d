"""The few events around a violation, as a run log of their own that shows it again.

Rows are taken from the subtask and from both ends of the channel, more and more of them until the fold of the
invariant says of this excerpt what was said of the whole. Where thousands do not suffice, the nearest few are kept.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from tidegate.conformance.audit.sources import Footer, group_statistics, open_file
from tidegate.properties.kernels.findings import Finding
from tidegate.properties.runlog import INVARIANTS
from tidegate.traces.runlog import COLUMNS, Channel, Direction, Edge, Job, Kind, Row, RunLog, renumber, write_runlog

#: How far around the violation rows are taken, one after the other.
DISTANCES = (3, 30, 300, 3000)


@attrs.frozen
class Excerpt:
    """`repeats`: the excerpt alone shows the violation."""

    finding: Finding
    log: RunLog
    around: tuple[Row, ...]
    repeats: bool


def make_excerpt(footers: Sequence[Footer], finding: Finding) -> Excerpt:
    """Raise LogFileError or OSError where the files are not there any more."""
    near: list[Row] = []
    for distance in DISTANCES:
        rows = read_around(footers, finding, distance)
        near = near or list(rows)
        log = cut_out(footers, finding, rows)
        if log is not None and shows(log, finding, rows):
            return Excerpt(finding, log, around(near, finding), repeats=True)
    log = renumber(RunLog(footers[0].run, footers[0].job, tuple(near), complete=False))
    return Excerpt(finding, log, around(near, finding), repeats=False)


def around(rows: list[Row], finding: Finding) -> tuple[Row, ...]:
    """The rows of the same subtask, a few steps before and behind."""
    mine = [row for row in rows if is_found(row, finding)]
    place = (mine[0].task, mine[0].subtask) if mine else None
    return tuple(
        row for row in rows if (row.task, row.subtask) == place and abs(row.step - finding.step) <= DISTANCES[0]
    )


def is_found(row: Row, finding: Finding) -> bool:
    wanted = finding.direction, finding.channel, finding.kind, finding.position
    return (row.dir, row.channel, row.kind, row.position) == wanted


# --- reading --------------------------------------------------------------------------------------------------


def read_around(footers: Sequence[Footer], finding: Finding, distance: int) -> list[Row]:
    """Rows of the subtask by step, rows of both ends of the channel by position, in the order of their files."""
    edge = next(one for one in footers[0].job.edges if one.number == finding.channel[0])
    place = find_place(edge, finding)
    rows: list[Row] = []
    for footer in footers:
        rows += read_file_around(footer.path, finding, place, distance)
    return rows


def find_place(edge: Edge, finding: Finding) -> tuple[str, int]:
    _edge, producer, consumer = finding.channel
    is_at_source = (finding.direction is Direction.OUT) is not (finding.kind is Kind.CREDIT)
    return (edge.source, producer) if is_at_source else (edge.target, consumer)


def read_file_around(path: str, finding: Finding, place: tuple[str, int], distance: int) -> Iterator[Row]:
    parquet: Any = import_module("pyarrow.parquet")
    system, name = open_file(path)
    with parquet.ParquetFile(name, filesystem=system) as file:
        for number in range(file.metadata.num_row_groups):
            group = group_statistics(file.metadata.row_group(number))
            if is_near(group, finding, distance):
                yield from pick_rows(file.read_row_group(number, columns=list(COLUMNS)), finding, place, distance)


def is_near(group: dict[str, tuple[Any, Any]], finding: Finding, distance: int) -> bool:
    """Whether a row group may have any of the rows; what is not known may."""
    for name, centre in (("step", finding.step), ("position", finding.position)):
        least, most = group.get(name, (centre, centre))
        if least <= centre + distance and centre - distance <= most:
            return True
    return False


def pick_rows(table: Any, finding: Finding, place: tuple[str, int], distance: int) -> Iterator[Row]:
    compute: Any = import_module("pyarrow.compute")

    def within(name: str, centre: int) -> Any:
        low = compute.greater_equal(table[name], centre - distance)
        return compute.and_(low, compute.less_equal(table[name], centre + distance))

    def equal(**values: Any) -> Any:
        masks = [compute.equal(table[name], value) for name, value in values.items()]
        chosen = masks[0]
        for mask in masks[1:]:
            chosen = compute.and_(chosen, mask)
        return chosen

    edge, producer, consumer = finding.channel
    of_subtask = compute.and_(equal(task=place[0], subtask=place[1]), within("step", finding.step))
    channel = equal(edge=edge, producer=producer, consumer=consumer)
    of_channel = compute.and_(channel, within("position", finding.position))
    for line in table.filter(compute.or_(of_subtask, of_channel)).to_pylist():
        yield Row(**{**line, "dir": Direction(line["dir"]), "kind": Kind(line["kind"])})


# --- cutting out ----------------------------------------------------------------------------------------------


def cut_out(footers: Sequence[Footer], finding: Finding, rows: list[Row]) -> RunLog | None:
    """A log of these rows alone; what was granted before is its initial credit, what was sent before is no loss."""
    job = footers[0].job
    if finding.invariant in ("LOG-ORDER", "LOG-LOSS"):
        rows[:] = without_strangers(rows, finding.channel)
    if finding.invariant == "LOG-CREDIT":
        rows[:] = [row for row in rows if row.channel == finding.channel]
        job = with_credit(job, rows, finding)
    complete = finding.message.startswith("the run is over") or (
        finding.invariant == "LOG-LOSS" and finding.direction is Direction.OUT and all(one.complete for one in footers)
    )
    if complete:
        rows[:] = [row for row in rows if row.channel == finding.channel]
    return renumber(RunLog(footers[0].run, job, tuple(rows), complete)) if rows else None


def without_strangers(rows: list[Row], channel: Channel) -> list[Row]:
    """The rows of the channel, from where both ends of it are there."""
    mine = [row for row in rows if row.channel == channel and row.flow is None]
    ends = [[row.position for row in mine if row.dir is side] for side in Direction]
    first = max((min(end) for end in ends if end), default=0)
    return [row for row in mine if row.position >= first]


def with_credit(job: Job, rows: list[Row], finding: Finding) -> Job:
    """With as much initial credit as makes the buffer the first that lacks it."""
    left = 0
    for row in rows:
        if is_found(row, finding):
            break
        left += (row.value or 0) if row.kind is Kind.CREDIT and row.dir is Direction.IN else 0
        left -= row.kind is Kind.BUFFER and row.dir is Direction.OUT
    edges = tuple(
        attrs.evolve(one, initial_credit=max(0, -left)) if one.number == finding.channel[0] else one
        for one in job.edges
    )
    return attrs.evolve(job, edges=edges)


def shows(log: RunLog, finding: Finding, rows: list[Row]) -> bool:
    """Whether the fold finds the same row wrong in the excerpt."""
    invariant = next(one for one in INVARIANTS if one.id == finding.invariant)
    wanted = [new for new, old in zip(log.rows, rows, strict=True) if is_found(old, finding)]
    return bool(wanted) and any(row == wanted[0] for row, _message in invariant.find(log))


def write_excerpts(folder: Path, excerpts: Sequence[Excerpt]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, excerpt in enumerate(excerpts, start=1):
        paths.append(folder / f"{number:02}-{excerpt.finding.invariant}.parquet")
        write_runlog(paths[-1], excerpt.log)
    return paths
