"""Workers check the rows that were distributed to them: a subtask or a channel, in order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tidegate.conformance.audit.blocks import read_buckets
from tidegate.conformance.audit.dealing import Runs, Seen, deal_by_channel, deal_by_subtask, look_at_files
from tidegate.conformance.audit.sources import LogFileError
from tidegate.properties.kernels.columns import RECEIVED, Chunk
from tidegate.properties.kernels.findings import Tally
from tidegate.properties.kernels.halves import ChannelHalf, SecondLook, SubtaskHalf
from tidegate.properties.kernels.layout import Array
from tidegate.properties.kernels.numbering import Numbering, OutgrownError
from tidegate.traces.runlog import MalformedLogError


class Look:
    """Checks a run with some kernels; stops at the first problem."""

    def __init__(self, runs: Runs, run: int, hints: Any) -> None:
        self.runs, self.run, self.hints = runs, run, hints
        self.seen = Seen(run)
        self.numbering: Numbering = runs.number(run)
        self.start()

    def start(self) -> None:
        raise NotImplementedError

    def feed(self, chunk: Chunk) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        raise NotImplementedError

    def take(self, piece: Chunk | str) -> None:
        if self.seen.problem:
            return
        if isinstance(piece, str):
            self.seen.problem = piece
            return
        try:
            self.feed(piece)
        except (MalformedLogError, OutgrownError) as error:
            self.seen.problem = str(LogFileError(self.describe(), str(error)))

    def describe(self) -> str:
        footers = self.runs.footers[self.run]
        if len(footers) == 1:
            return footers[0].path
        return f"run {self.runs.name(self.run)}, {footers[0].path} and {len(footers) - 1} more"


def look_at(look: type[Look], by: str, runs: Runs, hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    looks: dict[int, Look] = {}
    for run, piece in read_buckets(runs.cuts, by, batches):
        if run not in looks:
            looks[run] = look(runs, run, hints)
        looks[run].take(piece)
    for one in looks.values():
        if not one.seen.problem:
            one.finish()
        yield one.seen.as_batch()


class SubtaskLook(Look):
    def start(self) -> None:
        self.half = SubtaskHalf(self.numbering, self.runs.tally(self.run))

    def feed(self, chunk: Chunk) -> None:
        _steps, late = self.half.feed(chunk)
        self.seen.note_late(self.numbering, chunk, late)

    def finish(self) -> None:
        self.half.finish()
        self.seen.tallies = self.half.tallies


class ChannelLook(Look):
    def start(self) -> None:
        self.half = ChannelHalf(self.numbering, self.runs.tally(self.run))
        self.late = join_late(self.hints["late"].get(self.run, ()))

    def feed(self, chunk: Chunk) -> None:
        self.half.feed(chunk, self.find_late(chunk))

    def find_late(self, chunk: Chunk) -> Array:
        """The places of records that were received late."""
        found = []
        received = np.flatnonzero(chunk.what == RECEIVED)
        channels = chunk.channel[received]
        for channel in np.unique(channels).tolist():
            late = self.late.get(int(self.numbering.channels.codes[channel]))
            if late is not None:
                mine = received[channels == channel]
                found.append(mine[np.isin(chunk.position[mine], late)])
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def finish(self) -> None:
        self.seen.unclear = self.half.finish(complete=self.runs.complete(self.run))
        self.seen.tallies = self.half.tallies


def join_late(parts: Any) -> dict[int, Array]:
    joined: dict[int, list[Array]] = {}
    for channel, positions in parts:
        joined.setdefault(channel, []).append(np.frombuffer(positions, dtype=np.int64))
    return {channel: np.concatenate(found) for channel, found in joined.items()}


class OrderLook(Look):
    def start(self) -> None:
        tally = Tally(most=self.runs.wanted.most)
        self.look = SecondLook(self.numbering, tally, self.hints["unclear"][self.run])

    def feed(self, chunk: Chunk) -> None:
        self.look.feed(chunk)

    def finish(self) -> None:
        self.look.finish()
        self.seen.tallies = {"LOG-ORDER": self.look.tally}


def look_by_subtask(runs: Runs, hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    return look_at(SubtaskLook, "step", runs, hints, batches)


def look_by_channel(runs: Runs, hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    return look_at(ChannelLook, "position", runs, hints, batches)


def look_again(runs: Runs, hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    return look_at(OrderLook, "position", runs, hints, batches)


#: How to read, and how to check distributed rows; None if nothing is distributed.
PASSES: dict[str, tuple[Any, Any]] = {
    "files": (look_at_files, None),
    "subtasks": (deal_by_subtask, look_by_subtask),
    "channels": (deal_by_channel, look_by_channel),
    "order": (deal_by_channel, look_again),
}
