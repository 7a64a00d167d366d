"""Findings of kernels: exact counts, and messages for the first ones."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import attrs

from tidegate.properties.kernels.layout import DIRECTIONS, KINDS
from tidegate.traces.runlog import OWN, Channel, Direction, Kind

if TYPE_CHECKING:
    from tidegate.properties.kernels.columns import Chunk
    from tidegate.properties.kernels.numbering import Numbering

#: Findings with messages per invariant; the rest is only counted.
MOST = 10_000


@attrs.frozen(order=True)
class Finding:
    """A wrong row, and its message. The step counts in the subtask, the position in the channel.

    Both count within the attempt. `task`: set for a row of a subtask alone.
    """

    invariant: str
    channel: Channel
    direction: Direction
    kind: Kind
    position: int
    step: int
    message: str
    attempt: int = 0
    task: str = ""


@attrs.define
class Tally:
    """How many rows an invariant checked, and its findings."""

    checked: int = 0
    violated: int = 0
    findings: list[Finding] = attrs.Factory(list)
    most: int = MOST

    def add(self, count: int, findings: Iterable[Finding]) -> None:
        """Findings are only evaluated as far as they are kept."""
        self.violated += count
        self.findings.extend(islice(findings, max(0, self.most - len(self.findings))))

    def merge(self, other: "Tally") -> None:
        self.checked += other.checked
        self.add(other.violated, other.findings)


def find(chunk: "Chunk", numbering: "Numbering", invariant: str, found: Iterable[tuple[int, str]]) -> Iterator[Finding]:
    """Findings from places in a chunk."""
    for place, message in found:
        channel = numbering.channel_at(int(chunk.channel[place]))
        yield Finding(
            invariant,
            channel,
            DIRECTIONS[chunk.direction_at(place)],
            KINDS[chunk.kind_at(place)],
            int(chunk.position[place]),
            int(chunk.step[place]),
            message,
            task=numbering.subtask_at(int(chunk.subtask[place]))[0] if channel[0] == OWN else "",
        )
