"""What the result partition and its manager does: where it starts, and what each event leads to."""

import attrs

from tidegate.reference import elements
from tidegate.reference.model import Outcome, rejected
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.blocking_subpartition import step as blocking
from tidegate.reference.subpartition.blocking_subpartition import values as blocking_values
from tidegate.reference.subpartition.queue import ItemKind
from tidegate.reference.subpartition.result_partition import values, writing
from tidegate.reference.subpartition.result_partition.users import leave, release
from tidegate.reference.subpartition.result_partition.values import Config, Event, Observation, State
from tidegate.reference.subpartition.result_partition.writing import Progress
from tidegate.reference.subpartition.subpartition import values as pipelined_values
from tidegate.reference.tuples import replace

Outcomes = tuple[Outcome[State, Observation], ...]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nobody is registered, and nobody waits."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> Outcomes:
    match event:
        case values.Setup():
            return on_setup(state)
        case values.Request():
            return on_request(state, event)
        case values.Expire():
            return (Outcome(state, (), ("SUBP-21",)) if state.shut_down else forget_waiting(state, "SUBP-21"),)
        case values.Release(by=values.Owner.MANAGER):
            return (let_go(forget_waiting(state, "SUBP-21")),)
        case values.ShutDown():
            gone = let_go(forget_waiting(state, "SUBP-20", "SUBP-21"))
            return (Outcome(attrs.evolve(gone.state, shut_down=True), gone.observations, gone.rules),)
    if state.partition is None:
        return rejected(state, "SUBP-20")
    match event:
        case shared.Poll() | shared.ReleaseView():
            return on_view(state, state.partition, event)
        case values.Release():
            freed = release(state, state.partition)
            return (Outcome(freed.state, freed.observations, ("SUBP-22",)),)
        case values.Fail():
            return (on_fail(state, state.partition),)
        case shared.Flush():
            return (on_flush(state, state.partition),)
        case values.CloseWriter():
            return on_close(state, state.partition)
    return on_write(state, state.partition, event)


# --- the manager ----------------------------------------------------------------------------------------------


def on_setup(state: State) -> Outcomes:
    if state.registered or state.shut_down:
        return rejected(state, "SUBP-20")
    partition = writing.make_partition(state.config.kind, state.config.subpartitions)
    told = tuple(values.Created(subpartition) for subpartition in state.waiting)
    after = attrs.evolve(state, partition=partition, registered=True, waiting=())
    return (Outcome(after, told, ("SUBP-21", "SUBP-20") if told else ("SUBP-20",)),)


def on_request(state: State, event: values.Request) -> Outcomes:
    if not 0 <= event.subpartition < state.config.subpartitions:
        return rejected(state, "SUBP-22")
    if state.partition is not None and state.registered:
        return on_known_request(state, state.partition, event.subpartition)
    if not event.listen:
        return (Outcome(state, (shared.NotFound(),), ("SUBP-21",)),)
    if event.subpartition in state.waiting:
        return rejected(state, "SUBP-21")
    waiting = tuple(sorted((*state.waiting, event.subpartition)))
    return (Outcome(attrs.evolve(state, waiting=waiting), (), ("SUBP-21",)),)


def on_known_request(state: State, partition: values.Partition, index: int) -> Outcomes:
    if partition.released:
        return rejected(state, "SUBP-22")
    inner = partition.subpartitions[index]
    after, rules = writing.create_view(inner)
    if after == inner:
        return rejected(state, *rules)
    number = len(inner.readers) if isinstance(inner, blocking_values.State) else 0
    views = (*partition.views, values.View(index, number))
    wider = attrs.evolve(partition, subpartitions=replace(partition.subpartitions, index, after), views=views)
    return (
        Outcome(attrs.evolve(state, partition=wider), (shared.ViewCreated(len(views) - 1),), ("SUBP-22", "SUBP-16")),
    )


def forget_waiting(state: State, *rules: str) -> Outcome[State, Observation]:
    told = tuple(values.TimedOut(subpartition) for subpartition in state.waiting)
    return Outcome(attrs.evolve(state, waiting=()), told, rules)


def let_go(outcome: Outcome[State, Observation]) -> Outcome[State, Observation]:
    """The manager forgets the partition and releases it."""
    state = outcome.state
    if state.partition is None or not state.registered:
        return outcome
    freed = release(attrs.evolve(state, registered=False), state.partition)
    return Outcome(freed.state, outcome.observations + freed.observations, outcome.rules)


# --- the writer -----------------------------------------------------------------------------------------------


def on_write(
    state: State, partition: values.Partition, event: values.Emit | values.Broadcast | values.EndOfData | shared.Finish
) -> Outcomes:
    if isinstance(event, values.Emit) and not 0 <= event.subpartition < state.config.subpartitions:
        return rejected(state, "SUBP-22")
    if isinstance(event, values.EndOfData) and partition.drains is not None and not partition.closed:
        return (Outcome(state, (), ("SUBP-23",)),)
    if partition.finished or partition.closed or partition.failed:
        return rejected(state, "SUBP-23")
    if isinstance(event, shared.Finish) and partition.released and state.config.kind is values.PartitionKind.BLOCKING:
        return rejected(state, "SUBP-30")
    match event:
        case values.Emit():
            progress = writing.emit(Progress(partition), event.subpartition, event.data)
            rules = ("SUBP-26",)
        case values.Broadcast():
            progress = writing.broadcast(Progress(partition), event.data)
            rules = ("SUBP-40",)
        case values.EndOfData():
            drains = attrs.evolve(partition, drains=event.drain)
            progress = writing.tell_all(writing.finish_buffers(Progress(drains)), blocking_values.EndOfData())
            rules = ("SUBP-23",)
        case shared.Finish():
            finished = attrs.evolve(partition, finished=True)
            progress = writing.tell_all(writing.finish_buffers(Progress(finished)), event)
            rules = ("SUBP-23",)
    return (Outcome(attrs.evolve(state, partition=progress.partition), progress.seen, rules),)


def on_flush(state: State, partition: values.Partition) -> Outcome[State, Observation]:
    """SUBP-26: only what is written to a file must be finished first."""
    progress = Progress(partition)
    if state.config.kind is values.PartitionKind.BLOCKING:
        progress = writing.finish_buffers(progress)
    progress = writing.tell_all(progress, shared.Flush())
    return Outcome(attrs.evolve(state, partition=progress.partition), progress.seen, ("SUBP-26",))


def on_close(state: State, partition: values.Partition) -> Outcomes:
    if partition.closed:
        return rejected(state, "SUBP-24")
    return (leave(state, attrs.evolve(partition, closed=True)),)


def on_fail(state: State, partition: values.Partition) -> Outcome[State, Observation]:
    if partition.released:
        return Outcome(attrs.evolve(state, registered=False), (), ("SUBP-25",))
    freed = release(attrs.evolve(state, registered=False), attrs.evolve(partition, failed=True))
    return Outcome(freed.state, freed.observations, ("SUBP-25",))


# --- the readers ----------------------------------------------------------------------------------------------


def on_view(state: State, partition: values.Partition, event: shared.Poll | shared.ReleaseView) -> Outcomes:
    if not 0 <= event.view < len(partition.views):
        return rejected(state, "SUBP-22")
    view = partition.views[event.view]
    if isinstance(event, shared.ReleaseView):
        return (on_release_view(state, partition, event.view, view),)
    if view.released:
        return rejected(state, "SUBP-24")
    return (on_poll(state, partition, view),)


def on_release_view(
    state: State, partition: values.Partition, index: int, view: values.View
) -> Outcome[State, Observation]:
    if view.released:
        return Outcome(state, (), ("SUBP-24",))
    views = replace(partition.views, index, attrs.evolve(view, released=True))
    inner = partition.subpartitions[view.subpartition]
    if isinstance(inner, blocking_values.State):
        gone = blocking.step(inner, shared.ReleaseView(view.number))[0].state
        partition = attrs.evolve(partition, subpartitions=replace(partition.subpartitions, view.subpartition, gone))
    return leave(state, attrs.evolve(partition, views=views))


def on_poll(state: State, partition: values.Partition, view: values.View) -> Outcome[State, Observation]:
    inner = partition.subpartitions[view.subpartition]
    if isinstance(inner, pipelined_values.State) and partition.released:
        return Outcome(state, (values.Gone(partition.failed),), ("SUBP-25",) if partition.failed else ("SUBP-18",))
    polled, found, rules = writing.poll(inner, view.number)
    after = attrs.evolve(partition, subpartitions=replace(partition.subpartitions, view.subpartition, polled))
    seen = show(partition, found)
    if isinstance(seen, shared.Polled) and seen.kind is ItemKind.END_OF_DATA:
        rules = ("SUBP-23", *rules)
    return Outcome(attrs.evolve(state, partition=after), (seen,), rules)


def show(partition: values.Partition, seen: object) -> shared.Polled | elements.Nothing:
    if not isinstance(seen, shared.Polled):
        return elements.Nothing()
    return seen if seen.kind is ItemKind.DATA else attrs.evolve(seen, data=writing.encode_event(partition, seen.kind))
