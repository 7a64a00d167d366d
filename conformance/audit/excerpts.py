"""The events around violations, each violation as a small run log that shows it.

An excerpt has rows of the subtask and of both ends of the channel. It grows until the fold of the invariant finds the
same violation in it. If thousands of rows are not enough, it keeps the nearest few. The files are read once more for
all violations, and only in the ranges that hold the rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from tidegate.conformance.audit.reading import BATCH, WORDS, Log, Span, group_rows, opened
from tidegate.conformance.audit.sources import Footer, LogFileError, read_ranges
from tidegate.properties.kernels.columns import find_attempts, integers, places_in, read_indices
from tidegate.properties.kernels.findings import Finding
from tidegate.properties.kernels.layout import Array
from tidegate.properties.runlog import INVARIANTS
from tidegate.traces.runlog import (
    OWN,
    Channel,
    Direction,
    Edge,
    Job,
    Kind,
    Row,
    RunLog,
    make_row,
    renumber,
    write_runlog,
)

#: Distances around a violation to try, one after the other.
DISTANCES = (3, 30, 300, 3000)


@attrs.frozen
class Excerpt:
    """`repeats`: the excerpt shows the violation on its own."""

    finding: Finding
    log: RunLog
    around: tuple[Row, ...]
    repeats: bool


@attrs.define(eq=False)
class Search:
    """The search for an excerpt. `near`: file ranges that hold its rows, per distance; None if unknown.

    `held`: the rows found so far, by the largest distance that was searched.
    """

    footers: Sequence[Footer]
    finding: Finding
    near: Sequence[Sequence[Span] | None]
    held: list[Any] = attrs.Factory(list)
    closest: list[Row] = attrs.Factory(list)
    excerpt: Excerpt | None = None

    @property
    def place(self) -> tuple[str, int]:
        """The subtask that shows the violation."""
        if self.finding.channel[0] == OWN:
            return self.finding.task, self.finding.channel[1]
        edge = next(one for one in self.footers[0].job.edges if one.number == self.finding.channel[0])
        return find_place(edge, self.finding)

    def take(self, distance: int) -> None:
        """Make the excerpt, if the rows within this distance are enough."""
        rows = [row for batch in self.held for row in make_rows(batch, self.pick(batch, distance))]
        self.closest = self.closest or list(rows)
        log = cut_out(self.footers, self.finding, rows)
        if log is not None and shows(log, self.finding, rows):
            self.excerpt = Excerpt(self.finding, log, around(self.closest, self.finding), repeats=True)

    def hold(self, batch: Any) -> None:
        for name in WORDS:
            read_indices(batch.column(name), name)
        self.held.append(batch)

    def pick(self, batch: Any, distance: int) -> Array:
        """The rows of the subtask by step, and those of both ends of the channel by position."""

        def within(name: str, centre: int) -> Array:
            column = integers(batch, name)
            return (column >= centre - distance) & (column <= centre + distance)

        task, subtask = self.place
        of_subtask = np.flatnonzero(within("step", self.finding.step) & (integers(batch, "subtask") == subtask))
        tasks = batch.column("task").take(places_in(of_subtask))
        read_indices(tasks, "task")
        of_subtask = of_subtask[np.array([one == task for one in tasks.to_pylist()], dtype=bool)]
        of_channel = within("position", self.finding.position)
        for name, number in zip(("edge", "producer", "consumer"), self.finding.channel, strict=True):
            of_channel &= integers(batch, name) == number
        of_channel[of_subtask] = True
        attempts = find_attempts(batch, self.footers[0].job.restores)
        return np.flatnonzero(of_channel if attempts is None else of_channel & (attempts == self.finding.attempt))

    def give_up(self) -> Excerpt:
        """The nearest rows, even if they do not show the violation."""
        log = RunLog(self.footers[0].run, self.footers[0].job, tuple(self.closest), complete=False)
        return Excerpt(self.finding, renumber(log), around(self.closest, self.finding), repeats=False)


def make_excerpts(searches: Sequence[Search]) -> list[Excerpt]:
    """If the files are gone, the excerpt is empty."""
    blind = [one for one in searches if one.near[0] is None]
    read_all(blind, len(DISTANCES) - 1)
    for level, distance in enumerate(DISTANCES):
        left = [one for one in searches if one.excerpt is None]
        read_all([one for one in left if one.near[level] is not None], level)
        for search in left:
            search.take(distance)
    return [one.excerpt or one.give_up() for one in searches]


def around(rows: list[Row], finding: Finding) -> tuple[Row, ...]:
    """The rows of the same subtask, a few steps before and after."""
    mine = [row for row in rows if is_found(row, finding)]
    place = (mine[0].task, mine[0].subtask) if mine else None
    return tuple(
        row for row in rows if (row.task, row.subtask) == place and abs(row.step - finding.step) <= DISTANCES[0]
    )


def is_found(row: Row, finding: Finding) -> bool:
    wanted = finding.attempt, finding.direction, finding.channel, finding.kind, finding.position
    is_there = (row.attempt, row.dir, row.channel, row.kind, row.position) == wanted
    return is_there and finding.task in ("", row.task)


def find_place(edge: Edge, finding: Finding) -> tuple[str, int]:
    _edge, producer, consumer = finding.channel
    is_at_source = (finding.direction is Direction.OUT) is not (finding.kind is Kind.CREDIT)
    return (edge.source, producer) if is_at_source else (edge.target, consumer)


# --- reading --------------------------------------------------------------------------------------------------


def read_all(searches: Iterable[Search], level: int) -> None:
    """Collect the rows of each search, in the order of the files; opens each file once."""
    wanted: dict[str, tuple[Footer, list[Search]]] = {}
    for search in searches:
        search.held = []
        for footer in search.footers:
            wanted.setdefault(footer.path, (footer, []))[1].append(search)
    for footer, those in wanted.values():
        try:
            with opened(footer) as log:
                read_log(log, those, level)
        except LogFileError:
            continue


def read_log(log: Log, searches: list[Search], level: int) -> None:
    spans: dict[tuple[int, ...], list[tuple[Span | None, Search]]] = {}
    for search in searches:
        near = search.near[level]
        if near is None:
            for groups in find_near_groups(log, search.finding, DISTANCES[level]):
                spans.setdefault(groups, []).append((None, search))
        else:
            for one in near:
                if one.path == log.footer.path:
                    spans.setdefault(one.groups, []).append((one, search))
    for groups, those in sorted(spans.items()):
        behind = max(find_end(span, log) for span, _search in those)
        for place, batch in log.read(groups, BATCH):
            for span, search in those:
                if span is None or (span.first < find_end(place, log) and place.first < find_end(span, log)):
                    search.hold(batch.take(places_in(search.pick(batch, DISTANCES[level]))))
            if find_end(place, log) >= behind:
                break


def find_end(span: Span | None, log: Log) -> int:
    """The end of the range."""
    return span.first + span.count if span else log.footer.rows


def find_near_groups(log: Log, finding: Finding, distance: int) -> Iterator[tuple[int, ...]]:
    """Row groups that may hold any of the rows; unknown ones may."""
    known = {name: list(read_ranges(log.file, name)) for name in ("step", "position")}
    centres = {"step": finding.step, "position": finding.position}
    for groups in group_rows(log.footer.groups, BATCH):
        ranges = [(centre, known[name][group]) for name, centre in centres.items() for group in groups]
        if any(one is None or (one[0] <= at + distance and at - distance <= one[1]) for at, one in ranges):
            yield groups


def make_rows(batch: Any, places: Array) -> Iterator[Row]:
    for line in batch.take(places_in(places)).to_pylist():
        yield make_row(line)


# --- excerpting -----------------------------------------------------------------------------------------------


def cut_out(footers: Sequence[Footer], finding: Finding, rows: list[Row]) -> RunLog | None:
    """A log of only these rows: earlier grants become its initial credit, and earlier sends are not losses."""
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
    """The rows of the channel, from the first position that both ends have."""
    mine = [row for row in rows if row.channel == channel and row.flow is None]
    ends = [[row.position for row in mine if row.dir is side] for side in Direction]
    first = max((min(end) for end in ends if end), default=0)
    return [row for row in mine if row.position >= first]


def with_credit(job: Job, rows: list[Row], finding: Finding) -> Job:
    """Set the initial credit so that this buffer is the first without credit."""
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
    """Whether the fold finds the same wrong row in the excerpt."""
    invariant = next(one for one in INVARIANTS if one.id == finding.invariant)
    wanted = [new for new, old in zip(log.rows, rows, strict=True) if is_found(old, finding)]
    return bool(wanted) and any(row == wanted[0] for row, _message in invariant.find_all(log))


def write_excerpts(folder: Path, excerpts: Sequence[Excerpt]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, excerpt in enumerate(excerpts, start=1):
        paths.append(folder / f"{number:02}-{excerpt.finding.invariant}.parquet")
        write_runlog(paths[-1], excerpt.log)
    return paths
