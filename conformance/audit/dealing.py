"""What workers do to deal rows out: read a part of a file, look at what it shows alone, and cut it into blocks."""

import json
import pickle
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from tidegate.conformance.audit.blocks import Cut, make_blocks, make_cut, pack
from tidegate.conformance.audit.files import WORDS, check_run
from tidegate.conformance.audit.outcomes import Outcome
from tidegate.conformance.audit.sources import Footer, LogFileError, open_file
from tidegate.properties.kernels import Layout, OutgrownError
from tidegate.properties.kernels.columns import Chunk, make_chunk
from tidegate.properties.kernels.findings import Tally
from tidegate.properties.kernels.layout import Array
from tidegate.properties.kernels.matching import Identity
from tidegate.properties.kernels.routes import Firsts, Routes
from tidegate.properties.kernels.run import SubtaskHalf, make_tallies
from tidegate.traces.codec import decode, encode
from tidegate.traces.runlog import COLUMNS, Job, MalformedLogError

BATCH = 2**17


@attrs.frozen
class Runs:
    """What a worker must know of the runs: the job of each, whether it came to its end, and how to cut it."""

    names: tuple[str, ...]
    jobs: tuple[str, ...]
    complete: tuple[bool, ...]
    most: int
    cuts: tuple[Cut, ...]

    def layout(self, run: int) -> Layout:
        return Layout(decode(json.loads(self.jobs[run]), Job, "job"))


@attrs.frozen
class Part:
    """Row groups of a file of a run."""

    run: int
    path: str
    groups: tuple[int, ...]

    def as_text(self) -> str:
        return json.dumps(attrs.astuple(self))

    @classmethod
    def from_text(cls, text: str) -> "Part":
        run, path, groups = json.loads(text)
        return cls(run, path, tuple(groups))


@attrs.define
class Seen:
    """What a worker saw of a run, on its way to the driver."""

    run: int
    tallies: dict[str, Tally] = attrs.Factory(dict)
    problem: str = ""
    late: list[tuple[int, bytes]] = attrs.Factory(list)
    unclear: dict[int, set[Identity]] = attrs.Factory(dict)
    firsts: Firsts = attrs.Factory(dict)
    #: Of a file: what its subtasks did, and which they are; None where their steps go on in another file.
    steps: dict[str, Tally] | None = None
    subtasks: set[int] = attrs.Factory(set)

    def as_batch(self) -> Any:
        arrow: Any = import_module("pyarrow")
        return arrow.RecordBatch.from_pydict({"seen": [pickle.dumps(self)]})

    @classmethod
    def from_bytes(cls, data: bytes) -> "Seen":
        made = pickle.loads(data)  # noqa: S301 - it comes from our own workers, over Spark's own connection
        assert isinstance(made, cls)
        return made


def make_runs(runs: list[list[Footer]], most: int) -> Runs:
    """Raise OutgrownError where so many channels cannot be numbered."""
    return Runs(
        names=tuple(run[0].run for run in runs),
        jobs=tuple(json.dumps(encode(run[0].job)) for run in runs),
        complete=tuple(all(footer.complete for footer in run) for run in runs),
        most=most,
        cuts=tuple(cut_run(run) for run in runs),
    )


def cut_run(run: list[Footer]) -> Cut:
    layout = Layout(run[0].job)
    return make_cut(max(int(layout.offsets[-1]), layout.subtasks), sum(footer.rows for footer in run))


def make_parts(runs: list[list[Footer]], size: int | None) -> list[Part]:
    """So many row groups each, or whole files."""
    parquet: Any = import_module("pyarrow.parquet")
    parts = []
    for number, run in enumerate(runs):
        for footer in run:
            system, place = open_file(footer.path)
            count = parquet.read_metadata(place, filesystem=system).num_row_groups
            groups = range(count)
            step = size or count or 1
            parts += [Part(number, footer.path, tuple(groups[at : at + step])) for at in range(0, count, step)]
    return parts


def merge_seen(outcome: Outcome, seen: Seen) -> None:
    outcome.problem = outcome.problem or seen.problem
    for name, tally in seen.tallies.items():
        outcome.tallies.setdefault(name, Tally(most=tally.most)).merge(tally)


# --- reading --------------------------------------------------------------------------------------------------


def read_part(part: Part, runs: Runs, layout: Layout) -> Iterator[Chunk]:
    parquet: Any = import_module("pyarrow.parquet")
    arrow: Any = import_module("pyarrow")
    try:
        system, place = open_file(part.path)
        with parquet.ParquetFile(place, filesystem=system, read_dictionary=WORDS, pre_buffer=False) as file:
            options = {"row_groups": list(part.groups), "columns": list(COLUMNS), "use_threads": False}
            for batch in file.iter_batches(BATCH, **options):
                check_run(part.path, batch, runs.names[part.run])
                yield make_chunk(batch, layout)
    except (arrow.ArrowException, OSError) as error:
        raise LogFileError(part.path, f"cannot be read to its end: {error}") from error
    except MalformedLogError as error:
        raise LogFileError(part.path, str(error)) from error


def read_texts(batches: Iterator[Any]) -> Iterator[Part]:
    for batch in batches:
        yield from (Part.from_text(text) for text in batch.column("part").to_pylist())


def look_at_files(runs: Runs, _hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Whether the rows are those of a log, their keys, and what the subtasks did if all their steps are in the file."""
    for part in read_texts(batches):
        seen, layout = Seen(part.run), runs.layout(part.run)
        seen.tallies, steps = make_tallies(layout, runs.most), make_tallies(layout, runs.most)
        routes, half = Routes(layout, seen.tallies.get("LOG-ROUTE", Tally())), SubtaskHalf(layout, steps)
        is_whole = True
        try:
            for chunk in read_part(part, runs, layout):
                if "LOG-ROUTE" in seen.tallies:
                    routes.feed_keys(chunk)
                chunk.keys = None
                is_whole = is_whole and feed_whole(half, chunk, seen)
            half.finish()
        except (LogFileError, OutgrownError) as error:
            seen.problem = str(error)
        seen.firsts, seen.subtasks = routes.firsts, set(half.steps)
        seen.steps = steps if is_whole else None
        yield seen.as_batch()


def feed_whole(half: SubtaskHalf, chunk: Chunk, seen: Seen) -> bool:
    """Whether the steps of the subtasks are without gaps in this file."""
    try:
        note_late(seen, chunk, half.feed(chunk))
    except MalformedLogError:
        return False
    return True


def note_late(seen: Seen, chunk: Chunk, late: Array) -> None:
    channels, positions = chunk.channel[late], chunk.position[late]
    for channel in np.unique(channels).tolist():
        seen.late.append((channel, positions[channels == channel].tobytes()))


def deal_by_subtask(runs: Runs, _hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    for part in read_texts(batches):
        layout = runs.layout(part.run)
        for chunk in read_part(part, runs, layout):
            yield make_blocks(part.run, runs.cuts[part.run], pack(chunk), chunk.subtask, "step")


def deal_by_channel(runs: Runs, hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    for part in read_texts(batches):
        layout = runs.layout(part.run)
        for chunk in read_part(part, runs, layout):
            rows, channel = pack(chunk), chunk.channel
            if "unclear" in hints:
                chosen = np.flatnonzero(np.isin(channel, list(hints["unclear"][part.run])))
                rows, channel = rows.take(chosen), channel[chosen]
            yield make_blocks(part.run, runs.cuts[part.run], rows, channel, "position")
