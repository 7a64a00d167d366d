"""Scopes of the pipelined subpartition: buffers, events and the ends, each on its own.

Sequence numbers go on for ever, but change nothing else. So states that differ only in the next one count as equal;
in each case the numbers themselves are judged like everything else.
"""

from collections.abc import Iterator

import attrs

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.subpartition import values as subpartition
from tidegate.reference.subpartition.queue import Kind
from tidegate.reference.subpartition.subpartition.values import AddEvent, Config, Event, Poll, Query, SizeHint, State

FULL, EMPTY = subpartition.AddBuffer(b"a", finished=True), subpartition.AddBuffer(b"", finished=True)
OPEN, OPEN_EMPTY = subpartition.AddBuffer(b"b", finished=False), subpartition.AddBuffer(b"", finished=False)
READING: tuple[Event, ...] = (Poll(), Query(credit=True), Query(credit=False))

BUFFERS: tuple[Event, ...] = (
    *(
        FULL,
        EMPTY,
        OPEN,
        OPEN_EMPTY,
        subpartition.Append(b"c"),
        subpartition.FinishBuffer(),
        subpartition.Flush(),
        AddEvent(Kind.EVENT),
    ),
    *READING,
)
EVENTS: tuple[Event, ...] = (
    *(FULL, OPEN, subpartition.FinishBuffer(), subpartition.Flush()),
    *(AddEvent(kind) for kind in (Kind.EVENT, Kind.BARRIER, Kind.PRIORITY)),
    *READING,
    subpartition.Resume(),
)
BLOCKERS: tuple[Event, ...] = (
    *(AddEvent(kind) for kind in (Kind.END_OF_DATA, Kind.RECOVERY_COMPLETION, Kind.ALIGNED_WATERMARK)),
    *READING,
    subpartition.Resume(),
)
SLICES: tuple[Event, ...] = (OPEN, subpartition.Append(b"c"), subpartition.FinishBuffer(), subpartition.Flush(), Poll())
ENDS: tuple[Event, ...] = (
    *(OPEN, subpartition.FinishBuffer(), subpartition.Flush(), AddEvent(Kind.BARRIER), AddEvent(Kind.PRIORITY)),
    *(
        subpartition.Finish(),
        subpartition.Release(),
        subpartition.CreateView(),
        subpartition.Resume(),
        SizeHint(5),
        SizeHint(0),
        SizeHint(-1),
    ),
    *READING,
)


@attrs.frozen
class Part:
    """A part of what the subpartition does. Unless `early` its reader is there from the beginning."""

    name: str
    events: tuple[Event, ...]
    items: int
    covers: str
    early: bool = False
    extra_states: int = 0


def number_from_zero(state: State) -> State:
    return attrs.evolve(state, queue=attrs.evolve(state.queue, sequence=0)) if state.queue.sequence else state


def make_scope(part: Part, exclusive: tuple[int, ...]) -> Scope:
    reads = "polls and queries" if READING[1] in part.events else "polls"

    def expand(state: State) -> bool:
        items = state.queue.items
        return len(items) <= part.items and all(len(item.data) <= 1 for item in items)

    return Scope(
        name=part.name,
        component="subpartition",
        configs=tuple(Config(buffers) for buffers in exclusive),
        opening=lambda _config: () if part.early else (subpartition.CreateView(),),
        alphabet=lambda _config, _state: part.events,
        covers=(
            f"exclusive buffers: {' or '.join(map(str, exclusive))}; {part.covers}; {reads}. States that differ only "
            "in the next sequence number count as equal"
        ),
        cap=f"at most {counted(part.items, 'item')} queued, with at most 1 byte not read in each",
        expand=expand,
        canonical=number_from_zero,
        extra_states=part.extra_states,
    )


def make_scopes(buffers: int, events: int, ends: int) -> Iterator[Scope]:
    refused = "refused: appending to or finishing a buffer that is not open, adding behind an open one"
    part = "full, empty and open buffers, an event, appending, finishing buffers, flush"
    yield make_scope(Part("buffers", BUFFERS, buffers, f"{part}; {refused}"), (2, 0))
    part = "a full and an open buffer, an event, a barrier and a priority event, resume, flush; "
    yield make_scope(Part("events", EVENTS, events, f"{part}; {refused}, resume while not blocked"), (2,))
    yield make_scope(Part("blockers", BLOCKERS, events, "the other kinds of events, resume"), (2,))
    yield make_scope(Part("slices", SLICES, 1, "an open buffer, appending, finishing it, flush", extra_states=2), (2,))
    part = "an open buffer, a barrier, a priority event, flush, finish, release, the reader that comes, size hints"
    refused = "refused: all of the reader before it comes, a second one, what is added after the end, a negative size"
    yield make_scope(Part("ends", ENDS, ends, f"{part}; {refused}", early=True), (2,))


def small() -> Iterator[Scope]:
    return make_scopes(buffers=2, events=2, ends=1)


def thorough() -> Iterator[Scope]:
    return make_scopes(buffers=3, events=3, ends=2)
