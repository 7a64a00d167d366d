"""Kernels of credit: the balance of each sender, and that it received what was granted."""

import attrs
import numpy as np

from tidegate.properties.kernels.columns import RECEIVED, Chunk
from tidegate.properties.kernels.disagreement import check_pending
from tidegate.properties.kernels.findings import Finding, Tally, find
from tidegate.properties.kernels.layout import BUFFER, CREDIT, DIRECTIONS, IN, KINDS, NONE, OUT, Array
from tidegate.properties.kernels.meeting import ROW, Waiting
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.ordered import Ordered
from tidegate.properties.kernels.segments import (
    EMPTY,
    accumulate_sum,
    find_lasts,
    find_starts,
    grown,
    measure,
    sort_stably,
)
from tidegate.properties.kernels.sides import show
from tidegate.traces.runlog import MOST_OF_SHORT, MalformedLogError

#: Credit is the third flow of a channel, after elements and buffers.
FLOW = 2


@attrs.define
class Credits:
    """Credit spent and granted so far per channel, as its sender counts it."""

    numbering: Numbering
    tally: Tally
    balance: Array = EMPTY

    def feed(self, chunk: Chunk) -> None:
        what = chunk.what[chunk.rare]
        places = chunk.rare[(what == BUFFER) | (what == CREDIT + RECEIVED)]
        if not len(places):
            return
        self.tally.checked += len(places)
        self.balance = grown(self.balance, len(self.numbering.channels), 0)
        places = places[sort_stably(chunk.channel[places])]
        channels = chunk.channel[places]
        starts = find_starts(channels)
        is_buffer, values = chunk.what[places] == BUFFER, chunk.value[places]
        amounts = values[~is_buffer & (values != NONE)]
        if len(amounts) and max(amounts.max(), -amounts.min()) > MOST_OF_SHORT:
            raise MalformedLogError(f"an amount of credit lies beyond {MOST_OF_SHORT}")
        changes = np.where(is_buffer, -1, np.where(values == NONE, 0, values))
        firsts = channels[starts]
        balance = accumulate_sum(changes, starts) + np.repeat(self.balance[firsts], measure(starts, len(places)))
        self.balance[firsts] = balance[find_lasts(starts, len(places))]
        initial = self.numbering.layout.initial_credit[self.numbering.edge[channels]]
        wrong = places[is_buffer & (balance + initial < 0)]
        found = ((place, "a buffer is sent without credit") for place in wrong.tolist())
        self.tally.add(len(wrong), find(chunk, self.numbering, "LOG-CREDIT", found))


@attrs.define
class Grants:
    """Received credit must match granted credit, one by one."""

    numbering: Numbering
    tally: Tally
    waiting: Waiting = attrs.Factory(Waiting)

    def feed(self, rows: Ordered) -> None:
        channels, starts, counts = rows.runs_of(FLOW)
        if not len(channels):
            return
        self.tally.checked += int(counts.sum())
        meeting = self.waiting.meet(channels, starts, counts)
        granted, received = meeting.pair(np.ones(len(channels), dtype=bool))
        given, taken = self.rows_at(rows, granted), self.rows_at(rows, received)
        self.accuse(taken[given["name"] != taken["name"]])
        rest = (self.rows_at(rows, meeting.take_rest(direction, meeting.common)) for direction in (OUT, IN))
        self.waiting.keep((next(rest), next(rest)), channels)
        check_pending(len(self.waiting))

    def rows_at(self, rows: Ordered, places: Array) -> Array:
        """The rows at places of a meeting; the name of credit is its amount."""
        offset = len(self.waiting)
        found = np.zeros(len(places), dtype=ROW)
        is_old = places < offset
        if is_old.any():
            found[is_old] = np.concatenate(self.waiting.rows).take(places[is_old])
        at = rows.order.take(places[~is_old] - offset)
        for name, column in {"channel": "channel", "name": "value", "position": "position", "step": "step"}.items():
            found[name][~is_old] = getattr(rows.chunk, column).take(at)
        return found

    def accuse(self, rows: Array) -> None:
        columns = (rows[name][: self.tally.most].tolist() for name in ("channel", "name", "position", "step"))
        found = (
            Finding(
                "LOG-CREDIT",
                self.numbering.channel_at(channel),
                DIRECTIONS[IN],
                KINDS[CREDIT],
                position,
                step,
                f"credit {show(value)} is received that was never granted",
            )
            for channel, value, position, step in zip(*columns, strict=True)
        )
        self.tally.add(len(rows), found)

    def finish(self) -> None:
        self.accuse(self.waiting.rows[IN])
