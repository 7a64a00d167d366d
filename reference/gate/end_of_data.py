"""The end of data as a gate knows it: not yet, drained or stopped.

Every channel says once that its producer has no more records, and whether that was with drain (everything was
computed to the end) or without (the job was stopped, and will go on from a savepoint).

Choices. EndOfDataStatus of Flink 1.14 and later. The items of the engine protocol do not say with or without drain,
so this is a plain function beside the gate.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import permutations, product

from tidegate.reference.claims import law


class EndOfData(StrEnum):
    """What a gate knows about the end of its data."""

    NOT_YET = "not_yet"
    DRAINED = "drained"
    STOPPED = "stopped"


def compute_end_of_data(channels: int, drains: tuple[bool, ...]) -> EndOfData:
    """GATE-15: `drains` says of each end of data polled so far whether it came with drain."""
    drained = True
    for drain in drains:
        drained = drained and drain
    if len(drains) < channels:
        return EndOfData.NOT_YET
    return EndOfData.DRAINED if drained else EndOfData.STOPPED


def ends_of_up_to_three_channels() -> Iterator[tuple[int, int, int]]:
    triples = product(range(1, 4), range(4), range(4))
    yield from ((channels, drains, stops) for channels, drains, stops in triples if drains + stops <= channels)


@law("GATE-15", samples=ends_of_up_to_three_channels)
def one_stop_makes_a_stop(channels: int, with_drain: int, without: int) -> bool:
    """With the last end of data the gate is drained if every one of them came with drain, otherwise stopped.

    In whichever order they come; and nothing is known before the last.
    """
    ends = {compute_end_of_data(channels, order) for order in permutations((True,) * with_drain + (False,) * without)}
    if with_drain + without < channels:
        return ends == {EndOfData.NOT_YET}
    return ends == {EndOfData.STOPPED if without else EndOfData.DRAINED}
