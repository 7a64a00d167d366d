"""Known faults, planted into the rows of an epoch. Each marks the rows at which an invariant must show it.

A channel shows the first of its elements that are out of order, and no more: faults of that kind take a channel each.
"""

from collections.abc import Callable

import attrs
import numpy as np

from tidegate.conformance.synthetic.epochs import IDLE_EVERY, TICK, column
from tidegate.conformance.synthetic.job import (
    AT,
    COUNT,
    DEALT,
    FORWARDED,
    KEYED,
    MAP,
    PARALLELISM,
    SINK,
    SLEEPER,
    SOURCE,
    TOLD,
    WATCH,
    WATCHERS,
)
from tidegate.properties.kernels.layout import (
    BARRIER,
    BUFFER,
    CREDIT,
    END_OF_DATA,
    IN,
    NONE,
    OUT,
    RECORD,
    STATUS,
    WATERMARK,
    Array,
)
from tidegate.properties.runlog import INVARIANTS

NAMES = tuple(one.id for one in INVARIANTS)
Blocks = dict[tuple[int, int], Array]


@attrs.frozen
class Fault:
    """`number` in the run, `turn` among those of its name."""

    name: str
    number: int
    turn: int
    epoch: int

    def mark(self, invariant: str) -> int:
        return self.number * len(NAMES) + NAMES.index(f"LOG-{invariant}")


def find(rows: Array, **fields: int) -> Array:
    """The places of the rows that have these values."""
    chosen = np.ones(len(rows), dtype=bool)
    for name, value in fields.items():
        chosen &= column(rows, name) == value
    return np.flatnonzero(chosen)


def move(rows: Array, place: int, behind: int) -> Array:
    """The row from its place to the one behind another, which comes later."""
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
    places = find(blocks[COUNT, consumer], dir=IN, edge=KEYED, producer=producer, kind=RECORD)
    return producer, consumer, middle(places)


def lose(blocks: Blocks, fault: Fault) -> None:
    producer, consumer, place = received_in_the_middle(blocks, fault)
    lost = blocks[COUNT, consumer][place]
    (sent,) = find(blocks[MAP, producer], dir=OUT, edge=KEYED, id=int(lost[AT["id"]]), kind=RECORD)
    blocks[MAP, producer][sent, AT["mark"]] = fault.mark("LOSS")
    blocks[COUNT, consumer] = np.delete(blocks[COUNT, consumer], place, axis=0)


def double(blocks: Blocks, fault: Fault) -> None:
    _producer, consumer, place = received_in_the_middle(blocks, fault)
    rows = blocks[COUNT, consumer]
    blocks[COUNT, consumer] = insert(rows, place + 1, rows[place], mark=fault.mark("LOSS"))


def invent(blocks: Blocks, fault: Fault) -> None:
    _producer, consumer, place = received_in_the_middle(blocks, fault)
    rows = blocks[COUNT, consumer]
    made_up = 2 * 10**15 + fault.number
    blocks[COUNT, consumer] = insert(rows, place + 1, rows[place], id=made_up, mark=fault.mark("LOSS"))


def swap(blocks: Blocks, fault: Fault) -> None:
    producer, consumer, place = received_in_the_middle(blocks, fault)
    rows = blocks[COUNT, consumer]
    places = find(rows, dir=IN, edge=KEYED, producer=producer, kind=RECORD)
    following = int(places[np.searchsorted(places, place) + 1])
    rows[[place, following]] = rows[[following, place]]
    rows[place, AT["mark"]] = fault.mark("ORDER")


def misroute(blocks: Blocks, fault: Fault) -> None:
    """To another counter, which reads it in its turn."""
    producer, consumer, place = received_in_the_middle(blocks, fault)
    other = (consumer + 1) % PARALLELISM
    row = blocks[COUNT, consumer][place].copy()
    blocks[COUNT, consumer] = np.delete(blocks[COUNT, consumer], place, axis=0)
    sender = blocks[MAP, producer]
    (sent,) = find(sender, dir=OUT, edge=KEYED, kind=RECORD, id=int(row[AT["id"]]))
    sender[sent, AT["consumer"]], sender[sent, AT["mark"]] = other, fault.mark("ROUTE")
    later = find(sender, dir=OUT, edge=KEYED, kind=RECORD, consumer=other)
    following = int(sender[later[later > sent][0], AT["id"]])
    (before,) = find(blocks[COUNT, other], dir=IN, edge=KEYED, kind=RECORD, id=following)
    changes = {"subtask": other, "consumer": other, "mark": fault.mark("ROUTE")}
    blocks[COUNT, other] = insert(blocks[COUNT, other], int(before), row, **changes)


# --- what sources announce ------------------------------------------------------------------------------------


def regress(blocks: Blocks, fault: Fault) -> None:
    """A watcher is told a watermark below the one before."""
    source, watcher = fault.turn % SLEEPER, fault.turn // SLEEPER % WATCHERS
    for where, direction in (((SOURCE, source), OUT), ((WATCH, watcher), IN)):
        rows = blocks[where]
        (place,) = find(rows, dir=direction, edge=TOLD, producer=source, consumer=watcher, kind=WATERMARK)
        rows[place, AT["timestamp"]] = fault.epoch * TICK - 1
        rows[place, AT["mark"]] = fault.mark("WATERMARK")


def repeat_status(blocks: Blocks, fault: Fault) -> None:
    """A source that is active says so."""
    consumer = fault.turn % PARALLELISM
    for where, direction in (((SOURCE, SLEEPER), OUT), ((MAP, consumer), IN)):
        rows = blocks[where]
        (place,) = find(rows, dir=direction, edge=DEALT, producer=SLEEPER, consumer=consumer, kind=WATERMARK)
        changes = {"kind": STATUS, "timestamp": NONE, "value": 1, "mark": fault.mark("STATUS")}
        blocks[where] = insert(rows, int(place), rows[place], **changes)


def tell_one_only(blocks: Blocks, fault: Fault) -> None:
    source = fault.turn % SLEEPER
    first, last = find(blocks[SOURCE, source], dir=OUT, edge=TOLD, kind=RECORD)
    blocks[SOURCE, source][first, AT["mark"]] = fault.mark("ROUTE")
    blocks[SOURCE, source] = np.delete(blocks[SOURCE, source], last, axis=0)
    watcher = WATCHERS - 1
    (received,) = find(blocks[WATCH, watcher], dir=IN, edge=TOLD, producer=source, kind=RECORD)
    blocks[WATCH, watcher] = np.delete(blocks[WATCH, watcher], received, axis=0)


def miss_a_turn(blocks: Blocks, fault: Fault) -> None:
    """The writer has left out a turn already; here it is only marked."""
    rows = blocks[SOURCE, fault.turn % SLEEPER]
    places = find(rows, dir=OUT, edge=DEALT, kind=RECORD)
    rows[middle(places), AT["mark"]] = fault.mark("ROUTE")


# --- order at the maps ----------------------------------------------------------------------------------------


def make_late(blocks: Blocks, fault: Fault) -> None:
    """The last record of a channel is read when the map has announced the time that the record was sent before."""
    source, consumer = divmod(fault.turn % (SLEEPER * PARALLELISM), PARALLELISM)
    channel = {"edge": DEALT, "producer": source, "consumer": consumer}
    rows, sender = blocks[MAP, consumer], blocks[SOURCE, source]
    place = int(find(rows, dir=IN, kind=RECORD, **channel)[-1])
    (sent,) = find(sender, dir=OUT, kind=RECORD, id=int(rows[place, AT["id"]]))
    sender[sent, AT["timestamp"]] = rows[place, AT["timestamp"]] = fault.epoch * TICK + 1
    (watermark,) = find(rows, dir=IN, kind=WATERMARK, **channel)
    rows[watermark, AT["mark"]] = fault.mark("ORDER")
    rows[place, AT["mark"]] = fault.mark("LATE")
    blocks[MAP, consumer] = move(rows, place, int(find(rows, dir=OUT, kind=WATERMARK)[-1]))


def leak(blocks: Blocks, fault: Fault) -> None:
    """The last record of a source comes behind the barrier, and is read before the barriers of the others."""
    source = fault.turn % SLEEPER
    sender = blocks[SOURCE, source]
    sent = int(find(sender, dir=OUT, edge=DEALT, kind=RECORD)[-1])
    consumer = int(sender[sent, AT["consumer"]])
    rows = blocks[MAP, consumer]
    (place,) = find(rows, dir=IN, kind=RECORD, id=int(sender[sent, AT["id"]]))
    sender[sent, AT["timestamp"]] = rows[place, AT["timestamp"]] = (fault.epoch + 1) * TICK + 5
    rows[place, AT["mark"]] = fault.mark("BARRIER")
    blocks[SOURCE, source] = move(sender, sent, int(find(sender, dir=OUT, kind=BARRIER)[-1]))
    blocks[MAP, consumer] = move(rows, int(place), int(find(rows, dir=IN, kind=BARRIER, producer=source)[0]))


def send_unpaid(blocks: Blocks, fault: Fault) -> None:
    """The first buffer is sent before the credit for it has come."""
    source, consumer = fault.turn % SLEEPER, fault.turn // SLEEPER % PARALLELISM
    rows = blocks[SOURCE, source]
    (credit,) = find(rows, dir=IN, kind=CREDIT, consumer=consumer)
    buffer = int(find(rows, dir=OUT, kind=BUFFER, consumer=consumer)[0])
    rows[buffer, AT["mark"]] = fault.mark("CREDIT")
    blocks[SOURCE, source] = move(rows, int(credit), buffer)


def go_on_behind_the_end(blocks: Blocks, fault: Fault) -> None:
    number = fault.turn % PARALLELISM
    for where, direction in (((COUNT, number), OUT), ((SINK, number), IN)):
        rows = blocks[where]
        (end,) = find(rows, dir=direction, edge=FORWARDED, kind=END_OF_DATA)
        changes = {"kind": RECORD, "timestamp": 1, "id": 3 * 10**15 + fault.number, "mark": fault.mark("END")}
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
    "leaked": leak,
    "status": repeat_status,
    "unpaid": send_unpaid,
    "continued": go_on_behind_the_end,
}
#: How many of a kind a run can show: a channel each, or a channel that ends.
MOST = {"swapped": PARALLELISM**2, "late": SLEEPER * PARALLELISM, "continued": PARALLELISM}


def is_quiet(epoch: int) -> bool:
    """Whether no source falls asleep or wakes up in this epoch, or in the next; and there was one before it."""
    return epoch > 0 and epoch % IDLE_EVERY not in (0, IDLE_EVERY - 3, IDLE_EVERY - 2, IDLE_EVERY - 1)
