"""What workers do with rows that were dealt out to them: look at a subtask or a channel, in order."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tidegate.conformance.audit.blocks import read_buckets
from tidegate.conformance.audit.dealing import Runs, Seen, deal_by_channel, deal_by_subtask, look_at_files, note_late
from tidegate.properties.kernels import OutgrownError
from tidegate.properties.kernels.columns import Chunk
from tidegate.properties.kernels.findings import Tally
from tidegate.properties.kernels.layout import Array
from tidegate.properties.kernels.run import ChannelHalf, SecondLook, SubtaskHalf, make_tallies
from tidegate.traces.runlog import MalformedLogError


def look_by_subtask(runs: Runs, _hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    halves: dict[int, SubtaskHalf] = {}
    seen: dict[int, Seen] = {}
    for run, chunk in read_buckets(runs.cuts, "step", batches):
        if run not in seen:
            layout = runs.layout(run)
            seen[run] = Seen(run)
            halves[run] = SubtaskHalf(layout, make_tallies(layout, runs.most))
        try:
            if not seen[run].problem:
                note_late(seen[run], chunk, halves[run].feed(chunk))
        except (MalformedLogError, OutgrownError) as error:
            seen[run].problem = f"run {runs.names[run]}: {error}"
    for run, half in halves.items():
        half.finish()
        seen[run].tallies = half.tallies
        yield seen[run].as_batch()


def look_by_channel(runs: Runs, hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    halves: dict[int, ChannelHalf] = {}
    seen: dict[int, Seen] = {}
    late: dict[int, dict[int, Array]] = {}
    for run, chunk in read_buckets(runs.cuts, "position", batches):
        if run not in seen:
            layout = runs.layout(run)
            seen[run], late[run] = Seen(run), join_late(hints["late"].get(run, ()))
            halves[run] = ChannelHalf(layout, make_tallies(layout, runs.most))
        try:
            if not seen[run].problem:
                halves[run].feed(chunk, find_late(chunk, late[run]))
        except (MalformedLogError, OutgrownError) as error:
            seen[run].problem = f"run {runs.names[run]}: {error}"
    for run, half in halves.items():
        seen[run].unclear = half.finish(complete=runs.complete[run])
        seen[run].tallies = half.tallies
        yield seen[run].as_batch()


def join_late(parts: Any) -> dict[int, Array]:
    joined: dict[int, list[Array]] = {}
    for channel, positions in parts:
        joined.setdefault(channel, []).append(np.frombuffer(positions, dtype=np.int64))
    return {channel: np.concatenate(found) for channel, found in joined.items()}


def find_late(chunk: Chunk, late: dict[int, Array]) -> Array:
    """The places of the received records that came late."""
    found = []
    received = np.flatnonzero((chunk.direction == 1) & (chunk.kind == 0))
    channels = chunk.channel[received]
    for channel in np.unique(channels).tolist():
        mine = received[channels == channel]
        found.append(mine[np.isin(chunk.position[mine], late.get(channel, np.empty(0, dtype=np.int64)))])
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def look_again(runs: Runs, hints: Any, batches: Iterator[Any]) -> Iterator[Any]:
    looks: dict[int, SecondLook] = {}
    for run, chunk in read_buckets(runs.cuts, "position", batches):
        if run not in looks:
            layout = runs.layout(run)
            looks[run] = SecondLook(layout, {"LOG-ORDER": Tally(most=runs.most)}, hints["unclear"][run])
        looks[run].feed(chunk)
    for run, look in looks.items():
        look.finish()
        yield Seen(run, look.tallies).as_batch()


PASSES: dict[str, tuple[Any, Any]] = {
    "files": (look_at_files, None),
    "subtasks": (deal_by_subtask, look_by_subtask),
    "channels": (deal_by_channel, look_by_channel),
    "order": (deal_by_channel, look_again),
}
