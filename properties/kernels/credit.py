"""Kernels of credit: what a sender has left of it, and that it received what was granted."""

from collections import defaultdict

import attrs
import numpy as np

from tidegate.properties.kernels.columns import Chunk, sort_stably
from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.kernels.layout import BUFFER, CREDIT, DIRECTIONS, IN, KINDS, NONE, OUT, Array, Layout
from tidegate.properties.kernels.subtasks import find, show


@attrs.define
class Credits:
    """What is left of the credit of each channel, as its sender counts it."""

    layout: Layout
    tally: Tally
    left: dict[int, int] = attrs.Factory(dict)

    def feed(self, chunk: Chunk, rare: Array) -> None:
        kinds, directions = chunk.kind[rare], chunk.direction[rare]
        places = rare[((kinds == BUFFER) & (directions == OUT)) | ((kinds == CREDIT) & (directions == IN))]
        if not len(places):
            return
        self.tally.checked += len(places)
        places = places[sort_stably(chunk.channel[places])]
        channels = chunk.channel[places]
        starts = np.flatnonzero(np.concatenate([[True], channels[1:] != channels[:-1]]))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(places)], strict=True):
            self.count(chunk, int(channels[start]), places[start:stop])

    def count(self, chunk: Chunk, channel: int, places: Array) -> None:
        is_buffer = chunk.kind[places] == BUFFER
        values = chunk.value[places]
        changes = np.where(is_buffer, -1, np.where(values == NONE, 0, values))
        left = self.left.get(channel)
        if left is None:
            left = self.layout.edges[int(self.layout.edge_of_channel[channel])].initial_credit or 0
        after = left + np.cumsum(changes)
        self.left[channel] = int(after[-1])
        wrong = places[is_buffer & (after < 0)]
        found = ((place, "a buffer is sent without credit") for place in wrong.tolist())
        self.tally.add(len(wrong), find(chunk, self.layout, "LOG-CREDIT", found))


@attrs.define
class Grants:
    """Credit received is that which was granted, one by one."""

    layout: Layout
    tally: Tally
    granted: dict[int, list[Array]] = attrs.Factory(lambda: defaultdict(list))
    waiting: dict[int, list[Array]] = attrs.Factory(lambda: defaultdict(list))

    def feed(self, channel: int, granted: Array, received: Array) -> None:
        """`granted` are values; `received` has a row for each: value, position, step."""
        self.tally.checked += len(granted) + len(received)
        given = np.concatenate([*self.granted.pop(channel, ()), granted])
        taken = np.concatenate([*self.waiting.pop(channel, ()), received])
        count = min(len(given), len(taken))
        self.accuse(channel, taken[:count][given[:count] != taken[:count, 0]])
        if len(given) > count:
            self.granted[channel] = [given[count:].copy()]
        if len(taken) > count:
            self.waiting[channel] = [taken[count:].copy()]

    def accuse(self, channel: int, rows: Array) -> None:
        found = (
            Finding(
                "LOG-CREDIT",
                self.layout.channel_at(channel),
                DIRECTIONS[IN],
                KINDS[CREDIT],
                position,
                step,
                f"credit {show(value)} is received that was never granted",
            )
            for value, position, step in rows.tolist()
        )
        self.tally.add(len(rows), found)

    def finish(self) -> None:
        for channel, parts in self.waiting.items():
            self.accuse(channel, np.concatenate(parts))
