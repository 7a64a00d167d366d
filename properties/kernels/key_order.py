"""The kernel of order within keys, for engines that keep no other: both ends see the records of a key in one order.

The rows of all keys are held to the end: nobody knows before which of them both ends have.
"""

from typing import Any

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, RECEIVED, Chunk
from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.kernels.layout import KINDS, RECORD, Array
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.segments import find_starts
from tidegate.properties.kernels.sides import show
from tidegate.traces.runlog import Delivery, Direction

ROW = np.dtype([(name, np.int64) for name in ("channel", "key", "id", "position", "step")])


@attrs.define
class KeyOrder:
    numbering: Numbering
    tally: Tally
    #: The number of each key, and the rows at either end.
    keys: dict[str, int] = attrs.Factory(dict)
    ends: tuple[list[Array], list[Array]] = attrs.Factory(lambda: ([], []))

    def feed(self, chunk: Chunk) -> None:
        numbers = self.number(chunk.keys)
        for end, what in zip(self.ends, (RECORD, RECORD + RECEIVED), strict=True):
            places = np.flatnonzero((chunk.what & (KIND | RECEIVED)) == what)
            rows = np.empty(len(places), dtype=ROW)
            rows["channel"], rows["key"] = chunk.channel[places], numbers[chunk.key[places]]
            rows["id"], rows["position"], rows["step"] = chunk.id[places], chunk.position[places], chunk.step[places]
            end.append(rows)
            self.tally.checked += len(rows)

    def number(self, keys: Any) -> Array:
        """The number of each key of a dictionary; the last is that of no key."""
        texts = [] if keys is None else keys.to_pylist()
        return np.array([*(self.keys.setdefault(text, len(self.keys)) for text in texts), -1])

    def finish(self) -> None:
        """Only records that both ends have seen as often count, or once, where records may be repeated."""
        sent, received = (np.concatenate([np.empty(0, dtype=ROW), *end]) for end in self.ends)
        both = np.concatenate([sent, received])
        codes, code = np.unique(both[["channel", "key", "id"]], return_inverse=True)
        counts = [np.bincount(one, minlength=len(codes)) for one in (code[: len(sent)], code[len(sent) :])]
        is_common = counts[0] == counts[1]
        if self.numbering.layout.job.capabilities.delivery is Delivery.AT_LEAST_ONCE:
            is_common &= counts[0] == 1
        sent, received = sent[is_common[code[: len(sent)]]], received[is_common[code[len(sent) :]]]
        sent, received = sent[by_place(sent)], received[by_place(received)]
        _places, group = np.unique(received[["channel", "key"]], return_inverse=True)
        wrong = np.flatnonzero(sent["id"] != received["id"])
        firsts = wrong[find_starts(group[wrong])] if len(wrong) else wrong
        self.tally.add(len(firsts), map(self.describe, received[firsts]))

    def describe(self, row: Any) -> Finding:
        channel = self.numbering.channel_at(int(row["channel"]))
        place = channel, Direction.IN, KINDS[RECORD], int(row["position"]), int(row["step"])
        return Finding("LOG-ORDER", *place, f"record {show(row['id'])} overtakes what was sent before it")


def by_place(rows: Array) -> Array:
    """Sorted by channel and key, and by nothing else."""
    return np.lexsort((np.arange(len(rows)), rows["key"], rows["channel"]))
