"""Whether the records of an input are a backlog, from what each of its channels says.

Choices. RecordAttributesCombiner of Flink 1.19 and later.
"""

from collections.abc import Iterator
from itertools import pairwise, product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.tuples import replace


@attrs.frozen
class Backlogs:
    """What each channel said last, None before it said anything; and what was emitted last."""

    channels: tuple[bool | None, ...]
    last: bool | None = None


def compute_backlog(channels: tuple[bool | None, ...]) -> bool | None:
    """A backlog if any channel says so, none if all channels deny it; as long as some are silent it is not known."""
    if True in channels:
        return True
    return None if None in channels else False


def combine(backlogs: Backlogs, index: int, *, backlog: bool) -> tuple[Backlogs, bool | None]:
    """NIN-3: what is known afterwards, and what is emitted: only what is known and new."""
    channels = replace(backlogs.channels, index, backlog)
    combined = compute_backlog(channels)
    if combined is None or combined == backlogs.last:
        return Backlogs(channels, backlogs.last), None
    return Backlogs(channels, combined), combined


# --- laws -----------------------------------------------------------------------------------------------------


def short_disputes() -> Iterator[tuple[tuple[int, bool], ...]]:
    words = tuple(product(range(2), (False, True)))
    for length in range(1, 5):
        yield from product(words, repeat=length)


@law("NIN-3", samples=short_disputes)
def backlog_is_said_once(*said: tuple[int, bool]) -> bool:
    """Each change of what the channels say together is emitted once, and nothing before it is known.

    Two channels: what is emitted alternates, starts when it is known, and ends with what they say together.
    """
    backlogs = Backlogs((None, None))
    put_out = []
    for index, backlog in said:
        backlogs, out = combine(backlogs, index, backlog=backlog)
        put_out += [out] if out is not None else []
    final = compute_backlog(backlogs.channels)
    alternates = all(one != other for one, other in pairwise(put_out))
    return alternates and (final is None or put_out[-1:] == [final])
