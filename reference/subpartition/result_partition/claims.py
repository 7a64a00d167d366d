"""What must hold of the result partition: it lives as long as it is used, and says its last words once."""

from tidegate.reference.claims import always, invariant, sometimes
from tidegate.reference.model import Outcome
from tidegate.reference.subpartition.queue import Item, ItemKind
from tidegate.reference.subpartition.result_partition import values
from tidegate.reference.subpartition.result_partition.values import Event, Observation, PartitionKind, State
from tidegate.reference.subpartition.subpartition import values as pipelined_values
from tidegate.reference.subpartition.values import Finish, Flush, Released, ReleaseView

# --- claims ---------------------------------------------------------------------------------------------------


@always("SUBP-24")
def released_once(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A partition is released once, and that is seen."""
    old, new = before.partition, outcome.state.partition
    if isinstance(event, values.Setup) or new is None:
        return Released() not in outcome.observations
    was = old is not None and old.released
    return (Released() in outcome.observations) == (new.released and not was)


@always("SUBP-24")
def lives_while_used(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A pipelined partition goes with the last of its readers and its writer; a blocking one with nobody.

    Without force a pipelined partition goes when every subpartition was read and left and the writer is gone.
    """
    if Released() not in outcome.observations or isinstance(event, values.Release | values.Fail | values.ShutDown):
        return True
    new = outcome.state.partition
    if before.config.kind is PartitionKind.BLOCKING or new is None:
        return False
    left = {view.subpartition for view in new.views if view.released}
    return new.closed and left == set(range(before.config.subpartitions))


@always("SUBP-21")
def told_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Whoever waits for the partition is told that it is there, or to give up, once."""
    told = [seen.subpartition for seen in outcome.observations if isinstance(seen, values.Created | values.TimedOut)]
    return sorted([*told, *outcome.state.waiting]) == sorted({*before.waiting, *outcome.state.waiting})


def queue_of(state: pipelined_values.State) -> tuple[Item, ...]:
    return state.queue.items


def last_of(state: values.Subpartition) -> Item | None:
    if isinstance(state, pipelined_values.State):
        return queue_of(state)[-1] if queue_of(state) else None
    return state.pending


@always("SUBP-40")
def broadcast_to_all(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A broadcast reaches every subpartition.

    A broadcast adds the same bytes at the end of every subpartition.
    """
    if not isinstance(event, values.Broadcast) or outcome.state.partition is None or before.partition is None:
        return True
    if outcome.state.partition.released or outcome.state == before:
        return True
    lasts = [last_of(one) for one in outcome.state.partition.subpartitions]
    return all(last is not None and not last.finished and last.data.endswith(event.data) for last in lasts)


@always("SUBP-26")
def flushes_differ(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A flush leaves a pipelined queue as it is, and leaves nothing pending in a blocking subpartition."""
    if not isinstance(event, Flush) or before.partition is None or outcome.state.partition is None:
        return True
    pairs = zip(before.partition.subpartitions, outcome.state.partition.subpartitions, strict=True)
    for old, new in pairs:
        if isinstance(old, pipelined_values.State) and isinstance(new, pipelined_values.State):
            if queue_of(old) != queue_of(new):
                return False
        elif not isinstance(new, pipelined_values.State) and new.pending is not None:
            return False
    return True


@always("SUBP-23")
def nothing_behind_the_end(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Nothing is written to a finished partition."""
    writing = isinstance(event, values.Emit | values.Broadcast | values.EndOfData | Finish)
    ended = before.partition is not None and before.partition.finished
    return not (writing and ended) or outcome.state == before


@invariant("SUBP-20")
def registered_exists(state: State) -> bool:
    """What is registered was set up."""
    return state.partition is not None or not state.registered


@invariant("SUBP-21")
def waits_for_the_unknown(state: State) -> bool:
    """Nobody waits for what is registered."""
    return not (state.registered and state.waiting)


@invariant("SUBP-25")
def failed_is_gone(state: State) -> bool:
    """A failed partition is released and unknown."""
    partition = state.partition
    return partition is None or not partition.failed or (partition.released and not state.registered)


@invariant("SUBP-23")
def data_ends_once(state: State) -> bool:
    """No subpartition has two ends of data."""
    if state.partition is None:
        return True
    for one in state.partition.subpartitions:
        items = queue_of(one) if isinstance(one, pipelined_values.State) else (*one.written, one.pending)
        if sum(item is not None and item.kind is ItemKind.END_OF_DATA for item in items) > 1:
            return False
    return True


@sometimes("SUBP-21")
def who_waited_is_told(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A receiver that asked too early is told when the partition is there."""
    return isinstance(event, values.Setup) and any(isinstance(seen, values.Created) for seen in outcome.observations)


@sometimes("SUBP-24")
def the_last_user_releases(_before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A partition goes because its last reader leaves."""
    return isinstance(event, ReleaseView) and Released() in outcome.observations
