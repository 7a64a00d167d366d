"""What must hold of the pipelined subpartition: nothing lost, nothing out of order, and nobody left asleep."""

from tidegate.reference.model import Invariant, Outcome, Property
from tidegate.reference.subpartition.queue import Kind, Queue, is_readable
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

# --- properties -----------------------------------------------------------------------------------------------


def polled_item(outcome: Outcome[State, Observation]) -> Polled | None:
    return next((seen for seen in outcome.observations if isinstance(seen, Polled)), None)


def flatten(queue: Queue) -> list[tuple[Kind, bytes]]:
    """What a reader would find, without the empty buffers that say nothing."""
    return [(item.kind, item.data) for item in queue.items if not item.is_empty]


def takes_from_the_front(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    if not isinstance(event, Poll):
        return True
    polled = polled_item(outcome)
    says_something = polled is not None and (polled.kind is not Kind.DATA or bool(polled.data))
    taken = [(polled.kind, polled.data)] if polled and says_something else []
    return flatten(before.queue) == taken + flatten(outcome.state.queue)


def wakes_the_reader_for_new_data(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Where the producer makes something readable that was not, the reader is told."""
    if not isinstance(event, AddBuffer | AddEvent | Flush | Finish) or not before.has_view:
        return True
    rises = is_readable(outcome.state.queue) and not is_readable(before.queue)
    return not rises or DataAvailable() in outcome.observations


def wakes_only_a_reader(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    told = [seen for seen in outcome.observations if isinstance(seen, DataAvailable | PriorityAvailable)]
    return not told or (before.has_view and isinstance(event, AddBuffer | AddEvent | Flush | Finish))


def numbers_without_gaps(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    polled = polled_item(outcome)
    if polled is None:
        return outcome.state.queue.sequence == before.queue.sequence
    return polled.sequence == before.queue.sequence == outcome.state.queue.sequence - 1


def nothing_passes_a_hold(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    polled = polled_item(outcome)
    return polled is None or not before.queue.blocked or polled.kind is Kind.PRIORITY


def reports_no_more_than_there_is(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    buffers = sum(item.is_data for item in outcome.state.queue.items)
    reports = [seen.backlog for seen in outcome.observations if isinstance(seen, Polled | Availability)]
    exact = buffers if not outcome.state.queue.blocked else 0
    return all(max(0, exact - 1) <= backlog <= exact for backlog in reports)


PROPERTIES = (
    Property(
        "takes-from-the-front",
        "A poll hands out what is first in the queue, or the written part of it, and leaves the rest as it is.",
        ("SUBP-8", "SUBP-9", "SUBP-3"),
        takes_from_the_front,
    ),
    Property(
        "no-lost-wake-up",
        "When the producer makes something readable after there was nothing, it wakes the reader.",
        ("SUBP-6", "SUBP-7"),
        wakes_the_reader_for_new_data,
    ),
    Property(
        "wakes-only-a-reader",
        "Only the producer wakes, and only a reader that is there: a new view, a resume and a release wake nobody.",
        ("SUBP-16", "SUBP-6", "SUBP-14"),
        wakes_only_a_reader,
    ),
    Property("no-gaps", "Items taken are numbered one by one.", ("SUBP-10",), numbers_without_gaps),
    Property("held-back", "While blocked, only priority events pass.", ("SUBP-13",), nothing_passes_a_hold),
    Property(
        "backlog-is-real",
        "The backlog is the number of data buffers queued, or one less; 0 while blocked.",
        ("SUBP-11",),
        reports_no_more_than_there_is,
    ),
)

# --- invariants -----------------------------------------------------------------------------------------------


def only_the_last_is_open(state: State) -> bool:
    return all(item.finished for item in state.queue.items[:-1])


def believes_no_end_that_is_none(state: State) -> bool:
    return all(item.finished or not item.known_finished for item in state.queue.items)


def priority_comes_first(state: State) -> bool:
    ranks = [item.kind is not Kind.PRIORITY for item in state.queue.items]
    return ranks == sorted(ranks)


def end_is_last(state: State) -> bool:
    return all(item.kind is not Kind.END_OF_PARTITION for item in state.queue.items[:-1])


def requests_a_flush_of_something(state: State) -> bool:
    return bool(state.queue.items) or state.queue.released or not state.queue.flush_requested


def released_is_empty(state: State) -> bool:
    return not state.queue.released or not state.queue.items


INVARIANTS = (
    Invariant(
        "only-the-last-is-open",
        "Every buffer but the last is finished.",
        ("SUBP-5", "SUBP-8"),
        only_the_last_is_open,
    ),
    Invariant(
        "believed-finished-is-finished",
        "A buffer that is taken for finished is; the reverse need not hold.",
        ("SUBP-2",),
        believes_no_end_that_is_none,
    ),
    Invariant("priority-first", "Priority events stand before everything else.", ("SUBP-14",), priority_comes_first),
    Invariant("nothing-behind-the-end", "Nothing stands behind the end.", ("SUBP-17",), end_is_last),
    Invariant(
        "flush-of-something",
        "While a flush is requested something is queued, unless the subpartition was released.",
        ("SUBP-7",),
        requests_a_flush_of_something,
    ),
    Invariant("released-is-empty", "A released subpartition holds nothing.", ("SUBP-18",), released_is_empty),
)
