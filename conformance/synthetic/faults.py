"""Faults that are planted into the rows of an epoch. Each marks the rows at which an invariant must find it.

An audit reports only the first disorder of a channel, so each fault of that kind takes its own channel.
"""

from collections.abc import Callable

import attrs
import numpy as np

from tidegate.conformance.synthetic import job
from tidegate.conformance.synthetic.epochs import IDLE_EVERY, TICK, column
from tidegate.conformance.synthetic.job import AT, PARALLELISM
from tidegate.properties.kernels import layout as log
from tidegate.properties.kernels.layout import Array
from tidegate.properties.runlog import INVARIANTS

NAMES = tuple(one.id for one in INVARIANTS)
Blocks = dict[tuple[int, int], Array]


@attrs.frozen
class Fault:
    """`number` counts in the run, `turn` among faults of the same name."""

    name: str
    number: int
    turn: int
    epoch: int

    def mark(self, invariant: str) -> int:
        return self.number * len(NAMES) + NAMES.index(f"LOG-{invariant}")


def find(rows: Array, **fields: int) -> Array:
    """The places of the rows with these values."""
    chosen = np.ones(len(rows), dtype=bool)
    for name, value in fields.items():
        chosen &= column(rows, name) == value
    return np.flatnonzero(chosen)


def move(rows: Array, place: int, behind: int) -> Array:
    """Move a row behind another, later one."""
    return np.concatenate([rows[:place], rows[place + 1 : behind + 1], rows[place : place + 1], rows[behind + 1 :]])


def insert(rows: Array, place: int, row: Array, **fields: int) -> Array:
    added = row.copy()
    added[AT["mark"]] = -1
    for name, value in fields.items():
        added[AT[name]] = value
    return np.insert(rows, place, added, axis=0)


def middle(places: Array) -> int:
    return int(places[len(places) // 2])


# --- a keyed record at its receiver ---------------------------------------------------------------------------


def received_in_the_middle(blocks: Blocks, fault: Fault) -> tuple[int, int, int]:
    """Producer, consumer, and the place of a record in the rows of the consumer."""
    producer, consumer = divmod(fault.turn % PARALLELISM**2, PARALLELISM)
    return producer, consumer, middle(received_in_time(blocks, fault, producer, consumer))


def received_in_time(blocks: Blocks, fault: Fault, producer: int, consumer: int) -> Array:
    """A counter's result for a late record is late as well, and must stay behind it."""
    rows = blocks[job.COUNT, consumer]
    places = find(rows, dir=log.IN, edge=job.KEYED, producer=producer, kind=log.RECORD)
    return places[column(rows, "timestamp")[places] > fault.epoch * TICK]


def lose(blocks: Blocks, fault: Fault) -> None:
    producer, consumer, place = received_in_the_middle(blocks, fault)
    lost = blocks[job.COUNT, consumer][place]
    (sent,) = find(blocks[job.MAP, producer], dir=log.OUT, edge=job.KEYED, id=int(lost[AT["id"]]), kind=log.RECORD)
    blocks[job.MAP, producer][sent, AT["mark"]] = fault.mark("LOSS")
    blocks[job.COUNT, consumer] = np.delete(blocks[job.COUNT, consumer], place, axis=0)


def double(blocks: Blocks, fault: Fault) -> None:
    _producer, consumer, place = received_in_the_middle(blocks, fault)
    rows = blocks[job.COUNT, consumer]
    blocks[job.COUNT, consumer] = insert(rows, place + 1, rows[place], mark=fault.mark("LOSS"))


def invent(blocks: Blocks, fault: Fault) -> None:
    _producer, consumer, place = received_in_the_middle(blocks, fault)
    rows = blocks[job.COUNT, consumer]
    made_up = 2 * 10**15 + fault.number
    blocks[job.COUNT, consumer] = insert(rows, place + 1, rows[place], id=made_up, mark=fault.mark("LOSS"))


def swap(blocks: Blocks, fault: Fault) -> None:
    producer, consumer, place = received_in_the_middle(blocks, fault)
    rows = blocks[job.COUNT, consumer]
    places = received_in_time(blocks, fault, producer, consumer)
    following = int(places[np.searchsorted(places, place) + 1])
    rows[[place, following]] = rows[[following, place]]
    rows[place, AT["mark"]] = fault.mark("ORDER")


def misroute(blocks: Blocks, fault: Fault) -> None:
    """Send it to another counter, which reads it in its turn."""
    producer, consumer, place = received_in_the_middle(blocks, fault)
    other = (consumer + 1) % PARALLELISM
    row = blocks[job.COUNT, consumer][place].copy()
    blocks[job.COUNT, consumer] = np.delete(blocks[job.COUNT, consumer], place, axis=0)
    sender = blocks[job.MAP, producer]
    (sent,) = find(sender, dir=log.OUT, edge=job.KEYED, kind=log.RECORD, id=int(row[AT["id"]]))
    sender[sent, AT["consumer"]], sender[sent, AT["mark"]] = other, fault.mark("ROUTE")
    later = find(sender, dir=log.OUT, edge=job.KEYED, kind=log.RECORD, consumer=other)
    following = int(sender[later[later > sent][0], AT["id"]])
    (before,) = find(blocks[job.COUNT, other], dir=log.IN, edge=job.KEYED, kind=log.RECORD, id=following)
    changes = {"subtask": other, "consumer": other, "mark": fault.mark("ROUTE")}
    blocks[job.COUNT, other] = insert(blocks[job.COUNT, other], int(before), row, **changes)


# --- what sources announce ------------------------------------------------------------------------------------


def regress(blocks: Blocks, fault: Fault) -> None:
    """A watcher receives a watermark below the previous one."""
    source, watcher = fault.turn % job.SLEEPER, fault.turn // job.SLEEPER % job.WATCHERS
    for where, direction in (((job.SOURCE, source), log.OUT), ((job.WATCH, watcher), log.IN)):
        rows = blocks[where]
        (place,) = find(rows, dir=direction, edge=job.TOLD, producer=source, consumer=watcher, kind=log.WATERMARK)
        rows[place, AT["timestamp"]] = fault.epoch * TICK - 1
        rows[place, AT["mark"]] = fault.mark("WATERMARK")


def repeat_status(blocks: Blocks, fault: Fault) -> None:
    """An active source announces active."""
    consumer = fault.turn % PARALLELISM
    for where, direction in (((job.SOURCE, job.SLEEPER), log.OUT), ((job.MAP, consumer), log.IN)):
        rows = blocks[where]
        (place,) = find(
            rows, dir=direction, edge=job.DEALT, producer=job.SLEEPER, consumer=consumer, kind=log.WATERMARK
        )
        changes = {"kind": log.STATUS, "timestamp": log.NONE, "value": 1, "mark": fault.mark("STATUS")}
        blocks[where] = insert(rows, int(place), rows[place], **changes)


def tell_one_only(blocks: Blocks, fault: Fault) -> None:
    source = fault.turn % job.SLEEPER
    first, last = find(blocks[job.SOURCE, source], dir=log.OUT, edge=job.TOLD, kind=log.RECORD)
    blocks[job.SOURCE, source][first, AT["mark"]] = fault.mark("ROUTE")
    blocks[job.SOURCE, source] = np.delete(blocks[job.SOURCE, source], last, axis=0)
    watcher = job.WATCHERS - 1
    (received,) = find(blocks[job.WATCH, watcher], dir=log.IN, edge=job.TOLD, producer=source, kind=log.RECORD)
    blocks[job.WATCH, watcher] = np.delete(blocks[job.WATCH, watcher], received, axis=0)


def miss_a_turn(blocks: Blocks, fault: Fault) -> None:
    """The writer has already left out a turn; this only marks it."""
    rows = blocks[job.SOURCE, fault.turn % job.SLEEPER]
    places = find(rows, dir=log.OUT, edge=job.DEALT, kind=log.RECORD)
    rows[middle(places), AT["mark"]] = fault.mark("ROUTE")


# --- order at the maps ----------------------------------------------------------------------------------------


def make_late(blocks: Blocks, fault: Fault) -> None:
    """A channel's last record is read after the map has announced a time that the record was sent before."""
    source, consumer = divmod(fault.turn % (job.SLEEPER * PARALLELISM), PARALLELISM)
    channel = {"edge": job.DEALT, "producer": source, "consumer": consumer}
    rows, sender = blocks[job.MAP, consumer], blocks[job.SOURCE, source]
    place = int(find(rows, dir=log.IN, kind=log.RECORD, **channel)[-1])
    (sent,) = find(sender, dir=log.OUT, kind=log.RECORD, id=int(rows[place, AT["id"]]))
    sender[sent, AT["timestamp"]] = rows[place, AT["timestamp"]] = fault.epoch * TICK + 1
    (watermark,) = find(rows, dir=log.IN, kind=log.WATERMARK, **channel)
    rows[watermark, AT["mark"]] = fault.mark("ORDER")
    rows[place, AT["mark"]] = fault.mark("LATE")
    blocks[job.MAP, consumer] = move(rows, place, int(find(rows, dir=log.OUT, kind=log.WATERMARK)[-1]))


def send_late(blocks: Blocks, fault: Fault) -> None:
    """A counter sends a record with a time that it has announced long before."""
    number = fault.turn % PARALLELISM
    sender, rows = blocks[job.COUNT, number], blocks[job.SINK, number]
    sent = middle(find(sender, dir=log.OUT, edge=job.FORWARDED, kind=log.RECORD))
    (place,) = find(rows, dir=log.IN, kind=log.RECORD, id=int(sender[sent, AT["id"]]))
    sender[sent, AT["timestamp"]] = rows[place, AT["timestamp"]] = 1
    sender[sent, AT["mark"]] = fault.mark("MADE-LATE")


def leak(blocks: Blocks, fault: Fault) -> None:
    """A source's last record comes behind the barrier, and is read before the other barriers."""
    source = fault.turn % job.SLEEPER
    sender = blocks[job.SOURCE, source]
    sent = int(find(sender, dir=log.OUT, edge=job.DEALT, kind=log.RECORD)[-1])
    consumer = int(sender[sent, AT["consumer"]])
    rows = blocks[job.MAP, consumer]
    (place,) = find(rows, dir=log.IN, kind=log.RECORD, id=int(sender[sent, AT["id"]]))
    sender[sent, AT["timestamp"]] = rows[place, AT["timestamp"]] = (fault.epoch + 1) * TICK + 5
    rows[place, AT["mark"]] = fault.mark("BARRIER")
    blocks[job.SOURCE, source] = move(sender, sent, int(find(sender, dir=log.OUT, kind=log.BARRIER)[-1]))
    blocks[job.MAP, consumer] = move(
        rows, int(place), int(find(rows, dir=log.IN, kind=log.BARRIER, producer=source)[0])
    )


def send_unpaid(blocks: Blocks, fault: Fault) -> None:
    """The first buffer is sent before its credit arrives."""
    source, consumer = fault.turn % job.SLEEPER, fault.turn // job.SLEEPER % PARALLELISM
    rows = blocks[job.SOURCE, source]
    (credit,) = find(rows, dir=log.IN, kind=log.CREDIT, consumer=consumer)
    buffer = int(find(rows, dir=log.OUT, kind=log.BUFFER, consumer=consumer)[0])
    rows[buffer, AT["mark"]] = fault.mark("CREDIT")
    blocks[job.SOURCE, source] = move(rows, int(credit), buffer)


def go_on_behind_the_end(blocks: Blocks, fault: Fault) -> None:
    number = fault.turn % PARALLELISM
    for where, direction in (((job.COUNT, number), log.OUT), ((job.SINK, number), log.IN)):
        rows = blocks[where]
        (end,) = find(rows, dir=direction, edge=job.FORWARDED, kind=log.END_OF_DATA)
        # After the last watermark every time would be late.
        changes = {
            "kind": log.RECORD,
            "timestamp": log.NONE,
            "id": 3 * 10**15 + fault.number,
            "mark": fault.mark("END"),
        }
        blocks[where] = insert(rows, int(end) + 1, rows[end], **changes)


PLANT: dict[str, Callable[[Blocks, Fault], None]] = {
    "lost": lose,
    "doubled": double,
    "invented": invent,
    "swapped": swap,
    "misrouted": misroute,
    "out-of-turn": miss_a_turn,
    "not-told": tell_one_only,
    "regressed": regress,
    "late": make_late,
    "made-late": send_late,
    "leaked": leak,
    "status": repeat_status,
    "unpaid": send_unpaid,
    "continued": go_on_behind_the_end,
}
#: How many faults of a kind fit into a run: one per channel, or per channel that ends.
MOST = {"swapped": PARALLELISM**2, "late": job.SLEEPER * PARALLELISM, "continued": PARALLELISM}


def is_quiet(epoch: int) -> bool:
    """Whether no source turns idle or active in this or the next epoch, and this is not the first epoch."""
    return epoch > 0 and epoch % IDLE_EVERY not in (0, IDLE_EVERY - 3, IDLE_EVERY - 2, IDLE_EVERY - 1)
