"""The kernel of order for engines that keep order only within keys, or may deliver more than once.

Both ends must see the records of a key, or the elements of a channel, in the same order. The rows are held until the
end: only then is it known which of them both ends have, and how often.
"""

from typing import Any

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, RECEIVED, Chunk, compute_sorts, describe_element
from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.kernels.layout import BUFFER, KINDS, RECORD, Array
from tidegate.properties.kernels.numbering import Numbering
from tidegate.properties.kernels.segments import find_starts
from tidegate.traces.runlog import Capabilities, Delivery, Direction, OrderScope

ROW = np.dtype([(name, np.int64) for name in ("channel", "key", "name", "sort", "position", "step")])


def holds_order(able: Capabilities) -> bool:
    return able.order_scope is not OrderScope.CHANNEL or able.delivery is Delivery.AT_LEAST_ONCE


@attrs.define
class HeldOrder:
    numbering: Numbering
    tally: Tally
    #: The number of each key, and the rows at either end.
    keys: dict[str, int] = attrs.Factory(dict)
    ends: tuple[list[Array], list[Array]] = attrs.Factory(lambda: ([], []))

    @property
    def able(self) -> Capabilities:
        return self.numbering.layout.job.capabilities

    def feed(self, chunk: Chunk) -> None:
        numbers = self.number(chunk.keys)
        within_keys = self.able.order_scope is not OrderScope.CHANNEL
        for at, end in enumerate(self.ends):
            kinds = chunk.what & KIND
            counts = kinds == RECORD if within_keys else kinds < BUFFER
            places = np.flatnonzero(counts & ((chunk.what & RECEIVED) == at * RECEIVED))
            rows = np.empty(len(places), dtype=ROW)
            rows["channel"] = chunk.channel[places]
            rows["key"] = numbers[chunk.key[places]] if within_keys else -1
            rows["name"], rows["sort"] = chunk.name[places], compute_sorts(chunk.what[places], chunk.value[places])
            rows["position"], rows["step"] = chunk.position[places], chunk.step[places]
            end.append(rows)
            self.tally.checked += len(rows)

    def number(self, keys: Any) -> Array:
        """The number of each key of a dictionary; the last number stands for no key."""
        texts = [] if keys is None else keys.to_pylist()
        return np.array([*(self.keys.setdefault(text, len(self.keys)) for text in texts), -1])

    def finish(self) -> None:
        """Only elements with equal counts at both ends count, or with count one if repeats are allowed."""
        sent, received = (np.concatenate([np.empty(0, dtype=ROW), *end]) for end in self.ends)
        both = np.concatenate([sent, received])
        codes, code = np.unique(both[["channel", "key", "name", "sort"]], return_inverse=True)
        counts = [np.bincount(one, minlength=len(codes)) for one in (code[: len(sent)], code[len(sent) :])]
        is_common = counts[0] == counts[1]
        if self.able.delivery is Delivery.AT_LEAST_ONCE:
            is_common &= counts[0] == 1
        sent, received = sent[is_common[code[: len(sent)]]], received[is_common[code[len(sent) :]]]
        sent, received = sent[by_place(sent)], received[by_place(received)]
        _places, group = np.unique(received[["channel", "key"]], return_inverse=True)
        wrong = np.flatnonzero((sent["name"] != received["name"]) | (sent["sort"] != received["sort"]))
        firsts = wrong[find_starts(group[wrong])] if len(wrong) else wrong
        self.tally.add(len(firsts), map(self.describe, received[firsts]))

    def describe(self, row: Any) -> Finding:
        channel, name, sort = self.numbering.channel_at(int(row["channel"])), int(row["name"]), int(row["sort"])
        place = channel, Direction.IN, KINDS[sort % 16], int(row["position"]), int(row["step"])
        return Finding("LOG-ORDER", *place, f"{describe_element(name, sort)} overtakes what was sent before it")


def by_place(rows: Array) -> Array:
    """A stable sort by channel and key."""
    return np.lexsort((np.arange(len(rows)), rows["key"], rows["channel"]))
