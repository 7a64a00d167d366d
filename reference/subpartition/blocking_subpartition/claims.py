"""What must hold of the blocking subpartition: every view complete, no view in another's way, no data deleted early."""

from tidegate.reference import elements
from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.blocking_subpartition.stores import READ_BUFFERS, Store, remember
from tidegate.reference.subpartition.blocking_subpartition.values import (
    FAILURES,
    Deleted,
    EndOfData,
    Event,
    Observation,
    Recycled,
    State,
    WriteFailed,
)
from tidegate.reference.subpartition.queue import ItemKind

# --- claims ---------------------------------------------------------------------------------------------------


@always("SUBP-32", "SUBP-33")
def each_view_is_complete(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A view hands out what was written, in order, item by item from the first.

    The number of an item is its place in what was written, so each view is complete and in order.
    """
    polled = [seen for seen in outcome.observations if isinstance(seen, shared.Polled)]
    if not isinstance(event, shared.Poll) or not polled:
        return not polled
    item = before.written[before.readers[event.view].position]
    place = before.readers[event.view].position
    return (remember(before.config.store, item.kind), item.data, place) == (
        polled[0].kind,
        polled[0].data,
        polled[0].sequence,
    )


@always("SUBP-32")
def views_are_independent(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """No view moves another."""
    moved = getattr(event, "view", None)
    pairs = enumerate(zip(before.readers, outcome.state.readers, strict=False))
    return all(old == new for index, (old, new) in pairs if index != moved)


@always("SUBP-33")
def backlog_is_exact(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The backlog is exactly the data that the view has not handed out."""
    reports = [seen for seen in outcome.observations if isinstance(seen, shared.Polled | shared.Availability)]
    if not reports:
        return True
    handed_out = before.written[: outcome.state.readers[getattr(event, "view", 0)].position]
    data = sum(item.is_data for item in before.written)
    return reports[0].backlog == data - sum(item.is_data for item in handed_out)


@always("SUBP-30")
def written_stays_written(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Nothing changes what is written."""
    after = outcome.state.written
    kept = after[: len(before.written)] == before.written
    writing = isinstance(
        event, shared.AddBuffer | shared.Append | EndOfData | shared.FinishBuffer | shared.Flush | shared.Finish
    )
    return kept and (writing or len(after) == len(before.written))


@always("SUBP-36")
def deleted_by_the_last(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The data goes when it is released and nobody reads it, and not before."""

    def is_held(state: State) -> bool:
        return not state.released or any(not reader.released for reader in state.readers)

    return (Deleted() in outcome.observations) == (is_held(before) and not is_held(outcome.state))


@always("SUBP-31")
def read_when_finished(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A view is made between the end and the release."""
    made = any(isinstance(seen, shared.ViewCreated) for seen in outcome.observations)
    return not made or (before.finished and not before.released)


@invariant("SUBP-34")
def two_read_buffers(state: State) -> bool:
    """A reader of a plain file has at most two buffers out, the one read ahead included."""
    if state.config.store is not Store.FILE:
        return True
    return all(reader.held + reader.ahead <= READ_BUFFERS for reader in state.readers)


@invariant("SUBP-30")
def ends_once_finished(state: State) -> bool:
    """A finished subpartition ends, once."""
    ends = [index for index, item in enumerate(state.written) if item.kind is ItemKind.END_OF_PARTITION]
    return ends == ([len(state.written) - 1] if state.complete else []) and (state.finished or not state.complete)


@always("SUBP-46")
def failures_are_told(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """What is kept is written, or the producer is told that it is not; nothing is written once that has failed."""
    writing = isinstance(event, shared.AddBuffer | EndOfData | shared.Flush | shared.Finish)
    failed = WriteFailed() in outcome.observations
    grown = len(outcome.state.written) > len(before.written)
    lost = before.pending is not None and outcome.state.pending is None and not grown
    given_up = isinstance(event, shared.Release)
    return (writing or not failed) and not (grown and (failed or before.stuck)) and (not lost or failed or given_up)


@always("SUBP-47")
def memory_goes_back_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The memory of a buffer goes back exactly when the subpartition ceases to keep it."""
    if before.config.extension != FAILURES:
        return Recycled() not in outcome.observations
    after = outcome.state
    moved = len(after.written) > len(before.written) or after.pending is None
    return (Recycled() in outcome.observations) == (before.pending is not None and moved)


@sometimes("SUBP-46")
def a_finish_fails(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The end of a partition cannot be written."""
    return isinstance(event, shared.Finish) and WriteFailed() in outcome.observations


@sometimes("SUBP-36")
def the_last_view_deletes(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The data outlives the release, and goes with the last view."""
    return isinstance(event, shared.ReleaseView) and Deleted() in outcome.observations


@sometimes("SUBP-34")
def out_of_read_buffers(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A poll gives nothing although something is left to read."""
    if not isinstance(event, shared.Poll) or elements.Nothing() not in outcome.observations:
        return False
    return before.readers[event.view].position < len(before.written)
