"""What must hold of the blocking subpartition: every view complete, no view in another's way, no data deleted early."""

from tidegate.reference.model import Invariant, Outcome, Property
from tidegate.reference.subpartition.blocking_subpartition.stores import READ_BUFFERS, Store, remember
from tidegate.reference.subpartition.blocking_subpartition.values import Deleted, EndOfData, Event, Observation, State
from tidegate.reference.subpartition.queue import Kind
from tidegate.reference.subpartition.values import (
    AddBuffer,
    Append,
    Availability,
    Finish,
    FinishBuffer,
    Flush,
    Poll,
    Polled,
    ViewCreated,
)

# --- properties -----------------------------------------------------------------------------------------------


def hands_out_what_was_written(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The number of an item is its place in what was written, so each view is complete and in order."""
    polled = [seen for seen in outcome.observations if isinstance(seen, Polled)]
    if not isinstance(event, Poll) or not polled:
        return not polled
    item = before.written[before.readers[event.view].position]
    place = before.readers[event.view].position
    return (remember(before.config.store, item.kind), item.data, place) == (
        polled[0].kind,
        polled[0].data,
        polled[0].sequence,
    )


def moves_one_view(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    moved = getattr(event, "view", None)
    pairs = enumerate(zip(before.readers, outcome.state.readers, strict=False))
    return all(old == new for index, (old, new) in pairs if index != moved)


def counts_what_is_left(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The backlog and what was handed out make up all the data there is."""
    reports = [seen for seen in outcome.observations if isinstance(seen, Polled | Availability)]
    if not reports:
        return True
    handed_out = before.written[: outcome.state.readers[getattr(event, "view", 0)].position]
    data = sum(item.is_data for item in before.written)
    return reports[0].backlog == data - sum(item.is_data for item in handed_out)


def writes_in_order(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is written stays; a writer only adds to it, and a reader changes nothing."""
    after = outcome.state.written
    kept = after[: len(before.written)] == before.written
    writing = isinstance(event, AddBuffer | Append | EndOfData | FinishBuffer | Flush | Finish)
    return kept and (writing or len(after) == len(before.written))


def is_deleted_with_the_last_holder(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    def is_held(state: State) -> bool:
        return not state.released or any(not reader.released for reader in state.readers)

    return (Deleted() in outcome.observations) == (is_held(before) and not is_held(outcome.state))


def is_read_only_when_finished(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    made = any(isinstance(seen, ViewCreated) for seen in outcome.observations)
    return not made or (before.finished and not before.released)


PROPERTIES = (
    Property(
        "each-view-is-complete",
        "A view hands out what was written, in order, item by item from the first.",
        ("SUBP-32", "SUBP-33"),
        hands_out_what_was_written,
    ),
    Property("views-are-independent", "No view moves another.", ("SUBP-32",), moves_one_view),
    Property(
        "backlog-is-exact",
        "The backlog is exactly the data that the view has not handed out.",
        ("SUBP-33",),
        counts_what_is_left,
    ),
    Property("written-stays-written", "Nothing changes what is written.", ("SUBP-30",), writes_in_order),
    Property(
        "deleted-by-the-last",
        "The data goes when it is released and nobody reads it, and not before.",
        ("SUBP-36",),
        is_deleted_with_the_last_holder,
    ),
    Property(
        "read-when-finished",
        "A view is made between the end and the release.",
        ("SUBP-31",),
        is_read_only_when_finished,
    ),
)

# --- invariants -----------------------------------------------------------------------------------------------


def holds_two_read_buffers(state: State) -> bool:
    """One of the two may hold the item that was read ahead."""
    if state.config.store is not Store.FILE:
        return True
    return all(reader.held + reader.ahead <= READ_BUFFERS for reader in state.readers)


def ends_once_finished(state: State) -> bool:
    ends = [index for index, item in enumerate(state.written) if item.kind is Kind.END_OF_PARTITION]
    return ends == ([len(state.written) - 1] if state.finished else [])


INVARIANTS = (
    Invariant(
        "two-read-buffers",
        "A reader of a plain file has at most two buffers out, the one read ahead included.",
        ("SUBP-34",),
        holds_two_read_buffers,
    ),
    Invariant("ends-once-finished", "A finished subpartition ends, once.", ("SUBP-30",), ends_once_finished),
)
