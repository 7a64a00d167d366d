"""What the bounded blocking subpartition does: where it starts, and what each event leads to."""

import attrs

from tidegate.reference import elements
from tidegate.reference.model import InvalidInputError, Outcome, rejected
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.blocking_subpartition import disk, stores, values
from tidegate.reference.subpartition.blocking_subpartition.stores import Reader, Store
from tidegate.reference.subpartition.blocking_subpartition.values import Config, Event, Observation, State
from tidegate.reference.subpartition.queue import Item, ItemKind, open_buffer

Outcomes = tuple[Outcome[State, Observation], ...]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing is written, and nothing can be read."""
    return (State(config),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> Outcomes:
    match event:
        case shared.AddBuffer():
            return on_add(state, Item(ItemKind.DATA, event.data) if event.finished else open_buffer(event.data))
        case values.EndOfData():
            return on_add(state, Item(ItemKind.END_OF_DATA))
        case shared.Append() | shared.FinishBuffer():
            return on_open_buffer(state, event)
        case shared.Flush():
            return (told(disk.write_pending(state), "SUBP-30"),)
        case shared.Finish():
            return on_finish(state)
        case shared.Release():
            return (on_release(state),)
        case values.LoseFile():
            return (Outcome(attrs.evolve(state, file_lost=True), (), ("SUBP-31",)),)
        case values.FailDisk() if state.config.extension != values.FAILURES:
            raise InvalidInputError(f"{event.type} belongs to the extension {values.FAILURES}")
        case values.FailDisk():
            return (Outcome(attrs.evolve(state, disk_failed=True), (), ("SUBP-46",)),)
        case shared.CreateView():
            return on_view(state)
    if not 0 <= event.view < len(state.readers) or state.readers[event.view].released:
        return rejected(state, "SUBP-32")
    return on_reader(state, event, state.readers[event.view])


def on_add(state: State, item: Item) -> Outcomes:
    if state.finished or state.released:
        return rejected(state, "SUBP-30")
    if item.kind is ItemKind.END_OF_DATA and state.data_ended:
        return rejected(state, "SUBP-23")
    written = disk.write_pending(state)
    if written.failed:
        return (told(written, "SUBP-46"),)
    data_ended = state.data_ended or item.kind is ItemKind.END_OF_DATA
    added = attrs.evolve(written.state, pending=item, data_ended=data_ended)
    return (told(attrs.evolve(written, state=added), "SUBP-30"),)


def told(written: disk.Written, rule: str) -> Outcome[State, Observation]:
    """What an attempt to write leads to; by a rule of its own if it succeeds."""
    if written.failed:
        return Outcome(written.state, (*written.seen, values.WriteFailed()), ("SUBP-46", "SUBP-47"))
    return Outcome(written.state, written.seen, (rule, "SUBP-47") if written.seen else (rule,))


def on_open_buffer(state: State, event: shared.Append | shared.FinishBuffer) -> Outcomes:
    if state.pending is None or not values.is_open(state):
        return rejected(state, "SUBP-1")
    if isinstance(event, shared.FinishBuffer):
        pending = attrs.evolve(state.pending, finished=True)
    else:
        pending = attrs.evolve(state.pending, data=state.pending.data + event.data)
    return (Outcome(attrs.evolve(state, pending=pending), (), ("SUBP-1",)),)


def on_finish(state: State) -> Outcomes:
    if state.finished or state.released:
        return rejected(state, "SUBP-30")
    return (told(disk.write_end(state), "SUBP-30"),)


def on_release(state: State) -> Outcome[State, Observation]:
    if state.released:
        return Outcome(state, (), ("SUBP-36",))
    recycled = disk.give_back(state)
    released = attrs.evolve(state, pending=None, stuck=False, released=True)
    deleted = () if is_read(released) else (values.Deleted(),)
    return Outcome(released, (*recycled, *deleted), ("SUBP-36", "SUBP-47") if recycled else ("SUBP-36",))


def on_view(state: State) -> Outcomes:
    if state.released or not state.finished:
        return rejected(state, "SUBP-31")
    if state.file_lost:
        return (Outcome(state, (shared.NotFound(),), ("SUBP-31",)),)
    refused = () if state.complete else rejected(state, "SUBP-46")
    if refused and state.config.store is not Store.FILE_REGION:
        return refused
    reader = stores.look_ahead(state.config.store, state.written, Reader())
    seen = shared.ViewCreated(len(state.readers))
    rules = ("SUBP-46", "SUBP-32") if refused else ("SUBP-32", "SUBP-31")
    return (*refused, Outcome(attrs.evolve(state, readers=(*state.readers, reader)), (seen,), rules))


def on_reader(
    state: State, event: shared.Poll | values.Recycle | values.Query | shared.ReleaseView, reader: Reader
) -> Outcomes:
    match event:
        case shared.Poll():
            return (on_poll(state, event.view, reader),)
        case values.Recycle():
            return on_recycle(state, event.view, reader)
        case values.Query():
            return (on_query(state, event, reader),)
        case shared.ReleaseView():
            gone = values.with_reader(state, event.view, attrs.evolve(reader, released=True))
            deleted = gone.released and not is_read(gone)
            return (Outcome(gone, (values.Deleted(),) if deleted else (), ("SUBP-36",) if deleted else ("SUBP-32",)),)


def on_poll(state: State, index: int, reader: Reader) -> Outcome[State, Observation]:
    store, written = state.config.store, state.written
    if not reader.ahead:
        out_of_buffers = reader.position < len(written)
        return Outcome(state, (elements.Nothing(),), ("SUBP-34",) if out_of_buffers else ("SUBP-32",))
    item = written[reader.position]
    moved = attrs.evolve(reader, position=reader.position + 1, held=reader.held + 1)
    after = stores.look_ahead(store, written, moved)
    kind, backlog = stores.compute_next(store, written, after), stores.compute_backlog(written, after)
    polled = shared.Polled(stores.remember(store, item.kind), item.data, backlog, kind, reader.position)
    rules = ["SUBP-33", "SUBP-32"]
    if store is Store.MMAP and not item.is_data:
        rules.insert(0, "SUBP-35")
    if not after.ahead and after.position < len(written):
        rules.append("SUBP-34")
    return Outcome(values.with_reader(state, index, after), (polled,), tuple(rules))


def on_recycle(state: State, index: int, reader: Reader) -> Outcomes:
    """SUBP-34: the buffer is read into at once if the reader had none, and only then is the reader told."""
    if not reader.held:
        return rejected(state, "SUBP-34")
    after = stores.look_ahead(state.config.store, state.written, attrs.evolve(reader, held=reader.held - 1))
    seen = (shared.DataAvailable(index),) if after.ahead and not reader.ahead else ()
    return (Outcome(values.with_reader(state, index, after), seen, ("SUBP-34",)),)


def on_query(state: State, event: values.Query, reader: Reader) -> Outcome[State, Observation]:
    kind = stores.compute_next(state.config.store, state.written, reader)
    available = kind is not ItemKind.NONE and (event.credit or kind is not ItemKind.DATA)
    found = shared.Availability(available, stores.compute_backlog(state.written, reader))
    return Outcome(state, (found,), ("SUBP-33",))


def is_read(state: State) -> bool:
    return any(not reader.released for reader in state.readers)
