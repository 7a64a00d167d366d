"""What must hold of the pipelined subpartition: nothing lost, nothing out of order, and nobody left asleep."""

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.queue import ItemKind, Queue, is_readable
from tidegate.reference.subpartition.subpartition.values import (
    AddEvent,
    DataAvailable,
    Event,
    Observation,
    Poll,
    PriorityAvailable,
    State,
)
from tidegate.reference.subpartition.values import AddBuffer, Availability, Finish, Flush, Polled

# --- claims ---------------------------------------------------------------------------------------------------


def polled_item(outcome: Outcome[State, Observation]) -> Polled | None:
    return next((seen for seen in outcome.observations if isinstance(seen, Polled)), None)


def flatten(queue: Queue) -> list[tuple[ItemKind, bytes]]:
    """What a reader would find, without the empty buffers that say nothing."""
    return [(item.kind, item.data) for item in queue.items if not item.is_empty]


@always("SUBP-8", "SUBP-9", "SUBP-3")
def takes_from_the_front(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A poll hands out what is first in the queue, or the written part of it, and leaves the rest as it is."""
    if not isinstance(event, Poll):
        return True
    polled = polled_item(outcome)
    says_something = polled is not None and (polled.kind is not ItemKind.DATA or bool(polled.data))
    taken = [(polled.kind, polled.data)] if polled and says_something else []
    return flatten(before.queue) == taken + flatten(outcome.state.queue)


@always("SUBP-6", "SUBP-7")
def no_lost_wake_up(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """When the producer makes something readable after there was nothing, it wakes the reader."""
    if not isinstance(event, AddBuffer | AddEvent | Flush | Finish) or not before.has_view:
        return True
    rises = is_readable(outcome.state.queue) and not is_readable(before.queue)
    return not rises or DataAvailable() in outcome.observations


@always("SUBP-16", "SUBP-6", "SUBP-14")
def wakes_only_a_reader(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Only the producer wakes, and only a reader that is there: a new view, a resume and a release wake nobody."""
    told = [seen for seen in outcome.observations if isinstance(seen, DataAvailable | PriorityAvailable)]
    return not told or (before.has_view and isinstance(event, AddBuffer | AddEvent | Flush | Finish))


@always("SUBP-10")
def no_gaps(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Items taken are numbered one by one."""
    polled = polled_item(outcome)
    if polled is None:
        return outcome.state.queue.sequence == before.queue.sequence
    return polled.sequence == before.queue.sequence == outcome.state.queue.sequence - 1


@always("SUBP-13")
def held_back(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """While blocked, only priority events pass."""
    polled = polled_item(outcome)
    return polled is None or not before.queue.blocked or polled.kind is ItemKind.PRIORITY


@always("SUBP-11")
def backlog_is_real(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The backlog is the number of data buffers queued, or one less; 0 while blocked."""
    buffers = sum(item.is_data for item in outcome.state.queue.items)
    reports = [seen.backlog for seen in outcome.observations if isinstance(seen, Polled | Availability)]
    exact = buffers if not outcome.state.queue.blocked else 0
    return all(max(0, exact - 1) <= backlog <= exact for backlog in reports)


@invariant("SUBP-5", "SUBP-8")
def only_the_last_is_open(state: State) -> bool:
    """Every buffer but the last is finished."""
    return all(item.finished for item in state.queue.items[:-1])


@invariant("SUBP-2")
def believed_finished_is_finished(state: State) -> bool:
    """A buffer that is taken for finished is; the reverse need not hold."""
    return all(item.finished or not item.known_finished for item in state.queue.items)


@invariant("SUBP-14")
def priority_first(state: State) -> bool:
    """Priority events stand before everything else."""
    ranks = [item.kind is not ItemKind.PRIORITY for item in state.queue.items]
    return ranks == sorted(ranks)


@invariant("SUBP-17")
def nothing_behind_the_end(state: State) -> bool:
    """Nothing stands behind the end."""
    return all(item.kind is not ItemKind.END_OF_PARTITION for item in state.queue.items[:-1])


@invariant("SUBP-7")
def flush_of_something(state: State) -> bool:
    """While a flush is requested something is queued, unless the subpartition was released."""
    return bool(state.queue.items) or state.queue.released or not state.queue.flush_requested


@invariant("SUBP-18")
def released_is_empty(state: State) -> bool:
    """A released subpartition holds nothing."""
    return not state.queue.released or not state.queue.items


@sometimes("SUBP-7")
def a_flush_wakes_the_reader(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A flush makes an open buffer readable, and the reader is told."""
    return isinstance(event, Flush) and DataAvailable() in outcome.observations


@sometimes("SUBP-14")
def an_event_overtakes_data(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The reader is told of a priority event that came when something else was queued."""
    told = any(isinstance(seen, PriorityAvailable) for seen in outcome.observations)
    return told and bool(before.queue.items)
