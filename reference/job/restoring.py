"""What is restored of a whole job after a failure, at the same parallelism or at another.

Choices. The whole job fails at once, and begins again in the same moment; nothing is restored bit by bit: a channel has
all that was saved of it before anything new can be written, and channels with something saved wait in their order.
"""

from collections.abc import Iterator
from typing import Any

from tidegate.reference.job.channels import arrive
from tidegate.reference.job.functions import Totals
from tidegate.reference.job.layout import Layout, Place, Route, Task
from tidegate.reference.job.programs import Record
from tidegate.reference.job.states import Collected, Restored, Snapshot, State, Total, Turn
from tidegate.reference.partitioning import keygroups
from tidegate.reference.partitioning.keys import StringKey, compute_hash_code
from tidegate.reference.partitioning.partitioner import Partitioner

#: The parts that the subtasks of a task have taken, each with the number of its subtask.
Parts = list[tuple[int, Snapshot]]


def restore(fresh: State, before: Layout, parts: tuple[Snapshot, ...] | None, checkpoint: int) -> Turn:
    """RST-7: a job that has just begun, as its complete checkpoint left it; without one, as it is."""
    turn = Turn(fresh)
    if parts is None:
        return turn.observe(Restored((), ())).because("RST-7")
    turn = turn.because("RST-7", "RST-1", "RST-2", *["RST-11"] * bool(before.unreached))
    for number, place in enumerate(fresh.layout.places):
        mine = [
            (old.number, parts[old.task.first + old.number])
            for old in before.places
            if old.task.head == place.task.head
        ]
        is_source = turn.subtask(number).gate is None
        length = len(fresh.layout.operators[place.task.head].scripts[place.number]) if is_source else 0
        turn = turn.with_subtask(number, **restore_subtask(place, mine, length, is_source=is_source))
    turn = turn.observe(show(turn.state, checkpoint))
    is_rescaled = before.tasks != fresh.layout.tasks
    for number, route in enumerate(fresh.layout.routes):
        for record in find_restored(before, parts, fresh.layout, route):
            turn = arrive(turn, number, record).because("RST-6" if is_rescaled else "RST-5")
    return turn.because("RST-3") if is_rescaled else turn


def show(state: State, checkpoint: int) -> Restored:
    totals = (Total(number, *total) for number, one in enumerate(state.subtasks) for total in one.totals)
    collected = (Collected(number, *pair) for number, one in enumerate(state.subtasks) for pair in one.collected)
    return Restored(tuple(totals), tuple(collected), checkpoint)


def restore_subtask(place: Place, parts: Parts, length: int, *, is_source: bool) -> dict[str, Any]:
    """RST-1: a source goes on behind its barrier, and numbers records as before; RST-2, RST-3: what others know.

    RST-11: one that had finished is at its end, which it sends anew.
    """
    if is_source:
        own = dict(parts)[place.number]
        return {"cursor": min(own.cursor, length), "made": own.made}
    return {
        "made": max(part.made for _number, part in parts),
        "totals": restore_totals(place, parts),
        "collected": restore_collected(place, parts),
    }


def restore_totals(place: Place, parts: Parts) -> Totals:
    """RST-3: the totals of the keys that belong to the subtask, whoever had them."""
    known = [total for _number, part in parts for total in part.totals]
    return tuple(sorted(total for total in known if owns(place.task, place.number, total[1])))


def restore_collected(place: Place, parts: Parts) -> tuple[tuple[str, Any], ...]:
    """RST-2: what sinks have collected is dealt out to those that are there now."""
    dealt = [part.collected for number, part in parts if number % place.task.parallelism == place.number]
    return tuple(sorted(pair for collected in dealt for pair in collected))


def owns(task: Task, number: int, key: str) -> bool:
    """Whether the records of the key go to this subtask of the task."""
    most = keygroups.compute_default_max_parallelism(task.parallelism)
    group = keygroups.compute_key_group(compute_hash_code(StringKey(key)), most)
    return keygroups.compute_owner(group, task.parallelism, most) == number


def find_restored(before: Layout, parts: tuple[Snapshot, ...], layout: Layout, route: Route) -> Iterator[Record]:
    """RST-5: what was in flight on the channels that have become this one, in its order."""
    for old in before.routes:
        if old.edge.number == route.edge.number and is_heir(old, route):
            in_flight = parts[old.target].in_flight
            for record in in_flight[old.place] if in_flight else ():
                if is_wanted(layout, route, record):
                    yield record


def is_heir(old: Route, route: Route) -> bool:
    """RST-6: producers share out the channels of those before them; a keyed consumer looks through all of them."""
    same_producer = old.producer % route.edge.producers == route.producer
    return same_producer and (route.edge.kind is Partitioner.HASH or old.consumer == route.consumer)


def is_wanted(layout: Layout, route: Route, record: Record) -> bool:
    """RST-6: a record that is sent by its key goes to the subtask that the key belongs to now."""
    is_keyed = route.edge.kind is Partitioner.HASH
    return not is_keyed or owns(layout.places[route.target].task, route.consumer, record.key)
