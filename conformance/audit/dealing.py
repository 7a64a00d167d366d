"""Workers distribute rows: read a part of a file, check what it shows alone, and cut it into blocks."""

import pickle
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from tidegate.conformance.audit.blocks import Cut, make_blocks, make_cut, pack, tell_problem
from tidegate.conformance.audit.files import read_chunks
from tidegate.conformance.audit.outcomes import Outcome
from tidegate.conformance.audit.reading import group_rows, opened
from tidegate.conformance.audit.sources import Footer, LogFileError
from tidegate.properties.kernels.columns import Chunk
from tidegate.properties.kernels.disagreement import Identity
from tidegate.properties.kernels.findings import Tally
from tidegate.properties.kernels.halves import SubtaskHalf
from tidegate.properties.kernels.layout import Array, Layout
from tidegate.properties.kernels.numbering import Numbering, OutgrownError
from tidegate.properties.kernels.routes import Firsts, Routes
from tidegate.properties.kernels.run import Wanted, make_tallies
from tidegate.traces.runlog import Job, MalformedLogError

BATCH = 2**17
#: Rows that a worker reads at once, if row groups allow.
ROWS_OF_PART = 2_000_000
#: Limit of late records per run that the driver holds.
MOST_LATE = 10_000_000


@attrs.frozen
class Met:
    """The sorted codes of the channels and subtasks with rows in a run, as bytes."""

    channels: bytes = b""
    subtasks: bytes = b""

    def join(self, other: "Met") -> "Met":
        return Met(join_codes(self.channels, other.channels), join_codes(self.subtasks, other.subtasks))


def join_codes(one: bytes, other: bytes) -> bytes:
    return np.union1d(read_codes(one), read_codes(other)).tobytes()


def read_codes(data: bytes) -> Array:
    return np.frombuffer(data, dtype=np.int64)


@attrs.frozen
class Runs:
    """A worker's data about the runs; their codes and cuts are known only after all were read."""

    footers: tuple[tuple[Footer, ...], ...]
    wanted: Wanted
    met: tuple[Met, ...] = ()
    cuts: tuple[Cut, ...] = ()

    def name(self, run: int) -> str:
        return self.footers[run][0].run

    def job(self, run: int) -> Job:
        return self.footers[run][0].job

    def complete(self, run: int) -> bool:
        return all(footer.complete for footer in self.footers[run])

    def number(self, run: int) -> Numbering:
        """Every worker uses the same numbers, once all codes are known."""
        layout = Layout(self.job(run))
        if not self.met:
            return Numbering(layout)
        return Numbering(layout, (read_codes(self.met[run].channels), read_codes(self.met[run].subtasks)))

    def tally(self, run: int) -> dict[str, Tally]:
        return make_tallies(self.job(run), self.wanted)

    def with_met(self, met: list[Met]) -> "Runs":
        cuts = tuple(
            make_cut(max(len(one.channels), len(one.subtasks)) // 8, sum(footer.rows for footer in footers))
            for one, footers in zip(met, self.footers, strict=True)
        )
        return attrs.evolve(self, met=tuple(met), cuts=cuts)


@attrs.frozen
class Part:
    """Consecutive row groups of a run's file."""

    run: int
    file: int
    groups: tuple[int, ...]


@attrs.define
class Seen:
    """A worker's observations of a run, for the driver. Channels and subtasks are given by their codes."""

    run: int
    tallies: dict[str, Tally] = attrs.Factory(dict)
    problem: str = ""
    late: list[tuple[int, bytes]] = attrs.Factory(list)
    unclear: dict[int, set[Identity]] = attrs.Factory(dict)
    firsts: Firsts = attrs.Factory(dict)
    met: Met = Met()
    #: Per file: the activity of its subtasks; None if their steps continue in another file.
    steps: dict[str, Tally] | None = None

    def as_batch(self) -> Any:
        arrow: Any = import_module("pyarrow")
        return arrow.RecordBatch.from_pydict({"seen": [pickle.dumps(self)]})

    @classmethod
    def from_bytes(cls, data: bytes) -> "Seen":
        made = pickle.loads(data)  # noqa: S301 - it comes from our own workers, over Spark's own connection
        assert isinstance(made, cls)
        return made

    def note_late(self, numbering: Numbering, chunk: Chunk, late: Array) -> None:
        channels, positions = chunk.channel[late], chunk.position[late]
        for channel in np.unique(channels).tolist():
            code = int(numbering.channels.codes[channel])
            self.late.append((code, positions[channels == channel].tobytes()))


def make_parts(runs: Runs, rows: int | None) -> list[Part]:
    """Parts with a limited number of rows, or whole files."""
    parts = []
    for run, footers in enumerate(runs.footers):
        for file, footer in enumerate(footers):
            if rows is None:
                parts.append(Part(run, file, tuple(range(len(footer.groups)))))
            else:
                parts += [Part(run, file, groups) for groups in group_rows(footer.groups, rows, 2**62)]
    return parts


def merge_seen(outcome: Outcome, seen: Seen) -> None:
    outcome.problem = outcome.problem or seen.problem
    for name, tally in seen.tallies.items():
        outcome.tallies.setdefault(name, Tally(most=tally.most)).merge(tally)


# --- reading --------------------------------------------------------------------------------------------------


def read_part(part: Part, runs: Runs, numbering: Numbering) -> Iterator[Chunk]:
    """Raise LogFileError if that fails."""
    footer = runs.footers[part.run][part.file]
    with opened(footer) as log:
        groups = [footer.groups[number] for number in part.groups]
        for together in group_rows(groups, BATCH):
            numbers = tuple(part.groups[number] for number in together)
            yield from read_chunks(log.read(numbers, BATCH), numbering, [])


def read_parts(batches: Iterator[Any]) -> Iterator[Part]:
    for batch in batches:
        for data in batch.column("part").to_pylist():
            part = pickle.loads(data)  # noqa: S301 - it comes from our own driver, over Spark's own connection
            assert isinstance(part, Part)
            yield part


def look_at_files(runs: Runs, _hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Check that the rows are a log, their keys, and the subtasks if all their steps are in the file."""
    for part in read_parts(batches):
        seen = Seen(part.run)
        try:
            look_at_file(part, runs, seen)
        except (LogFileError, MalformedLogError, OutgrownError) as error:
            path = runs.footers[part.run][part.file].path
            seen.problem = str(error if isinstance(error, LogFileError) else LogFileError(path, str(error)))
        yield seen.as_batch()


def look_at_file(part: Part, runs: Runs, seen: Seen) -> None:
    numbering = runs.number(part.run)
    seen.tallies, steps = runs.tally(part.run), runs.tally(part.run)
    routes = Routes(numbering, seen.tallies.get("LOG-ROUTE", Tally()))
    half = SubtaskHalf(numbering, steps)
    is_whole = True
    channels = np.empty(0, dtype=np.int64)
    for chunk in read_part(part, runs, numbering):
        if "LOG-ROUTE" in seen.tallies:
            routes.feed_keys(chunk)
        chunk.keys = None
        channels = np.union1d(channels, np.unique(chunk.channel))
        is_whole = is_whole and feed_whole(half, numbering, chunk, seen)
    half.finish()
    seen.firsts = routes.firsts
    seen.steps = steps if is_whole else None
    subtasks = numbering.subtasks.codes[np.flatnonzero(half.steps.following)]
    seen.met = Met(np.sort(numbering.channels.codes[channels]).tobytes(), np.sort(subtasks).tobytes())


def feed_whole(half: SubtaskHalf, numbering: Numbering, chunk: Chunk, seen: Seen) -> bool:
    """Whether the steps of the subtasks have no gaps in this file."""
    try:
        _steps, late = half.feed(chunk)
    except MalformedLogError:
        return False
    seen.note_late(numbering, chunk, late)
    return True


def deal(runs: Runs, part: Part, by: str, only: list[int] | None = None) -> Iterator[Any]:
    """The rows of a part in blocks, by step in their subtask or position in their channel."""
    try:
        for chunk in read_part(part, runs, runs.number(part.run)):
            rows, places = pack(chunk), chunk.subtask if by == "step" else chunk.channel
            if only is not None:
                chosen = np.flatnonzero(np.isin(places, only))
                rows, places = rows.take(chosen), places[chosen]
            yield make_blocks(part.run, runs.cuts[part.run], rows, places, by)
    except (LogFileError, OutgrownError) as error:
        # The file was read before, and is now gone or replaced.
        yield tell_problem(part.run, str(error))


def deal_by_subtask(runs: Runs, _hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    for part in read_parts(batches):
        yield from deal(runs, part, "step")


def deal_by_channel(runs: Runs, hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    for part in read_parts(batches):
        only = list(hints["unclear"][part.run]) if "unclear" in hints else None
        yield from deal(runs, part, "position", only)
