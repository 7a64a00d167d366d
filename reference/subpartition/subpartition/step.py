"""What the pipelined subpartition does: where it starts, and what each event leads to."""

import attrs

from tidegate.reference import elements
from tidegate.reference.model import Outcome, rejected
from tidegate.reference.subpartition import queue as queues
from tidegate.reference.subpartition import values as shared
from tidegate.reference.subpartition.queue import BLOCKING, Item, ItemKind
from tidegate.reference.subpartition.subpartition import values
from tidegate.reference.subpartition.subpartition.values import Config, Event, Observation, State

Outcomes = tuple[Outcome[State, Observation], ...]

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing is queued, and nobody reads."""
    return (State(config, config.size_hint),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> Outcomes:
    match event:
        case shared.AddBuffer():
            item = Item(ItemKind.DATA, event.data) if event.finished else queues.open_buffer(event.data)
            return on_add(state, item)
        case values.AddEvent():
            return on_add(state, Item(event.kind))
        case shared.Append() | shared.FinishBuffer():
            return on_open_buffer(state, event)
        case shared.Flush():
            return on_flush(state)
        case shared.Finish():
            return on_finish(state)
        case shared.Release():
            return on_release(state)
        case shared.CreateView():
            return on_view(state)
    return on_reader(state, event)


def on_add(state: State, item: Item) -> Outcomes:
    if state.queue.finished or state.queue.released:
        return rejected(state, "SUBP-4", "SUBP-18" if state.queue.released else "SUBP-17")
    if queues.is_open(state.queue) and item.kind is not ItemKind.PRIORITY:
        return rejected(state, "SUBP-5", "SUBP-8")
    queue = queues.add(state.queue, item)
    seen: list[Observation] = [values.Added(state.size_hint)]
    rules = ["SUBP-6", "SUBP-4", "SUBP-5"]
    if item.kind is ItemKind.PRIORITY:
        rules.insert(0, "SUBP-14")
        if state.has_view and queues.count_priority(queue) == 1:
            seen.append(values.PriorityAvailable(queue.sequence))
    if state.has_view and queues.is_woken_by_add(queue):
        seen.append(values.DataAvailable())
    return (Outcome(attrs.evolve(state, queue=queue), tuple(seen), tuple(rules)),)


def on_open_buffer(state: State, event: shared.Append | shared.FinishBuffer) -> Outcomes:
    """Nothing tells the reader; what it knows of the buffer it learnt when it last read it."""
    if not queues.is_open(state.queue):
        return rejected(state, "SUBP-1")
    if isinstance(event, shared.Append):
        return (Outcome(attrs.evolve(state, queue=queues.append(state.queue, event.data)), (), ("SUBP-1",)),)
    return (Outcome(attrs.evolve(state, queue=queues.finish_buffer(state.queue)), (), ("SUBP-2", "SUBP-1")),)


def on_flush(state: State) -> Outcomes:
    queue, wakes = queues.flush(state.queue)
    seen = (values.DataAvailable(),) if wakes and state.has_view else ()
    rules = ("SUBP-7", "SUBP-13") if state.queue.blocked else ("SUBP-7",)
    return (Outcome(attrs.evolve(state, queue=queue), seen, rules),)


def on_finish(state: State) -> Outcomes:
    if state.queue.finished or state.queue.released:
        return rejected(state, "SUBP-17", "SUBP-4")
    if queues.is_open(state.queue):
        return rejected(state, "SUBP-5", "SUBP-8")
    seen = (values.DataAvailable(),) if state.has_view else ()
    return (Outcome(attrs.evolve(state, queue=queues.finish(state.queue)), seen, ("SUBP-17", "SUBP-6")),)


def on_release(state: State) -> Outcomes:
    return (Outcome(attrs.evolve(state, queue=queues.release(state.queue)), (), ("SUBP-18",)),)


def on_view(state: State) -> Outcomes:
    if state.queue.released:
        return rejected(state, "SUBP-15", "SUBP-18")
    if state.has_view:
        return rejected(state, "SUBP-15")
    return (Outcome(attrs.evolve(state, has_view=True), (), ("SUBP-16", "SUBP-15")),)


def on_reader(state: State, event: values.Poll | values.Query | shared.Resume | values.SizeHint) -> Outcomes:
    if not state.has_view:
        return rejected(state, "SUBP-15")
    match event:
        case values.Poll():
            return (on_poll(state),)
        case shared.Resume():
            return on_resume(state)
        case values.Query():
            available = queues.is_available(state.queue, has_credit=event.credit)
            found = shared.Availability(available, queues.compute_backlog(state.queue))
            return (Outcome(state, (found,), ("SUBP-12", "SUBP-11")),)
    if event.size < 0:
        return rejected(state, "SUBP-4")
    return (Outcome(attrs.evolve(state, size_hint=event.size), (), ("SUBP-4",)),)


def on_poll(state: State) -> Outcome[State, Observation]:
    queue, item = queues.take(state.queue, keeps_empty=state.config.exclusive == 0)
    after = attrs.evolve(state, queue=queue)
    if item is None:
        return Outcome(after, (elements.Nothing(),), explain_nothing(state))
    backlog, kind = queues.compute_backlog(queue), queues.compute_next(queue)
    polled = shared.Polled(item.kind, item.data, backlog, kind, state.queue.sequence)
    return Outcome(after, (polled,), (*explain_item(item), "SUBP-10", "SUBP-11"))


def explain_nothing(state: State) -> tuple[str, ...]:
    if state.queue.released:
        return "SUBP-18", "SUBP-8"
    return ("SUBP-13", "SUBP-8") if state.queue.blocked else ("SUBP-8",)


def explain_item(item: Item) -> tuple[str, ...]:
    if item.kind is ItemKind.PRIORITY:
        return "SUBP-14", "SUBP-8"
    if item.kind is ItemKind.END_OF_PARTITION:
        return "SUBP-17", "SUBP-8"
    if item.kind in BLOCKING:
        return "SUBP-13", "SUBP-8"
    if not item.finished:
        return "SUBP-9", "SUBP-8", "SUBP-3"
    return ("SUBP-8", "SUBP-3") if item.known_finished else ("SUBP-8", "SUBP-2", "SUBP-3")


def on_resume(state: State) -> Outcomes:
    if not state.queue.blocked:
        return rejected(state, "SUBP-13")
    return (Outcome(attrs.evolve(state, queue=queues.resume(state.queue)), (), ("SUBP-13",)),)
