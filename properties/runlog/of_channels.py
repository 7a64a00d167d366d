"""Invariants of single channels: order of watermarks, statuses and ends; no loss."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tidegate.properties.runlog.attempts import View
from tidegate.properties.runlog.invariant import Finding, Invariant, by_side, channels_of, needs
from tidegate.reference.elements import MAX
from tidegate.traces.runlog import Delivery, Direction, Job, Kind, OrderScope, Row, RunLog

# --- watermarks -----------------------------------------------------------------------------------------------


def find_watermarks_that_do_not_rise(log: RunLog) -> Iterator[Finding]:
    for rows in by_side(log).values():
        last: int | None = None
        for row in rows:
            if row.kind is not Kind.WATERMARK or row.timestamp is None:
                continue
            equal_is_right = log.job.capabilities.equal_watermarks and row.timestamp == last
            if last is not None and row.timestamp <= last and not equal_is_right:
                yield row, f"watermark {row.timestamp} after {last}"
            last = row.timestamp


WATERMARK = Invariant(
    "LOG-WATERMARK",
    "The watermarks of a channel strictly increase.",
    find_watermarks_that_do_not_rise,
    needs("explicit_watermarks", "watermarks"),
    speaks_of=lambda log: any(row.kind is Kind.WATERMARK for row in log.rows),
)

# --- statuses -------------------------------------------------------------------------------------------------


def find_wrong_statuses(log: RunLog) -> Iterator[Finding]:
    for rows in by_side(log).values():
        active = True
        for row in rows:
            if row.kind is Kind.STATUS:
                if active == bool(row.value):
                    yield row, f"{'active' if active else 'idle'} is announced again"
                active = bool(row.value)
            elif row.kind is Kind.WATERMARK and not active:
                yield row, f"watermark {row.timestamp} while the channel is idle"


STATUS = Invariant(
    "LOG-STATUS",
    "The statuses of a channel alternate, and no watermark lies between idle and active.",
    find_wrong_statuses,
    needs("idleness"),
)

# --- endings --------------------------------------------------------------------------------------------------


def find_wrong_endings(log: RunLog) -> Iterator[Finding]:
    readers = {edge.target for edge in log.job.edges}
    for (direction, _channel), rows in by_side(log).items():
        yield from find_rows_behind_an_end(rows)
        is_sent = direction is Direction.OUT
        if is_sent and rows[0].task not in readers and log.job.capabilities.explicit_watermarks:
            yield from find_sources_that_end_early(rows)
        if is_sent and log.complete and rows[-1].kind is not Kind.END_OF_PARTITION:
            yield rows[-1], "the run is over, but the channel was not ended"


def find_rows_behind_an_end(rows: list[Row]) -> Iterator[Finding]:
    data_ended = ended = False
    for row in rows:
        if ended:
            yield row, f"{row.kind} behind the end of the partition"
        elif data_ended and row.kind not in (Kind.BARRIER, Kind.END_OF_PARTITION):
            yield row, f"{row.kind} behind the end of data"
        elif row.kind is Kind.END_OF_PARTITION and not data_ended:
            yield row, "the partition ends before its data"
        data_ended = data_ended or row.kind is Kind.END_OF_DATA
        ended = ended or row.kind is Kind.END_OF_PARTITION


def find_sources_that_end_early(rows: list[Row]) -> Iterator[Finding]:
    """A source that ends while idle does not announce the end of event time."""
    last: int | None = None
    active = True
    for row in rows:
        if row.kind is Kind.WATERMARK:
            last = row.timestamp
        elif row.kind is Kind.STATUS:
            active = bool(row.value)
        elif row.kind is Kind.END_OF_DATA and active and last != MAX:
            yield row, f"the source ends at watermark {last}, not at the maximum"


END = Invariant(
    "LOG-END",
    "End of data, then end of partition, then nothing; a drained source's last watermark is the maximum.",
    find_wrong_endings,
    needs("endings"),
)

# --- both sides of a channel ----------------------------------------------------------------------------------


def identity_of(row: Row) -> tuple[Any, ...]:
    """The identity of an element on both sides; a record has an id."""
    return (row.kind, row.id) if row.kind is Kind.RECORD else (row.kind, row.timestamp, row.value)


def find_disorder(log: RunLog) -> Iterator[Finding]:
    sides = by_side(log)
    may_repeat = log.job.capabilities.delivery is Delivery.AT_LEAST_ONCE
    for channel in channels_of(log):
        sent, received = sides.get((Direction.OUT, channel), []), sides.get((Direction.IN, channel), [])
        if log.job.capabilities.order_scope is OrderScope.CHANNEL:
            yield from find_overtakers(sent, received, once=may_repeat)
            continue
        for key in dict.fromkeys(row.key for row in received if row.kind is Kind.RECORD):
            ends = ([row for row in side if is_of(row, key)] for side in (sent, received))
            yield from find_overtakers(*ends, once=may_repeat)


def is_of(row: Row, key: str | None) -> bool:
    return row.kind is Kind.RECORD and row.key == key


def find_overtakers(sent: list[Row], received: list[Row], *, once: bool = False) -> Iterator[Finding]:
    """Lost, invented or duplicated elements are not out of order: only elements that both sides have count.

    `once`: only elements that both sides have once. If a process may be killed before its output has left, and then
    reads its input again, equal counts of sends and receipts do not mean that they match.
    """
    often, seen = Counter(map(identity_of, sent)), Counter(map(identity_of, received))
    in_common = {one for one in often if often[one] == seen[one] and (often[one] == 1 or not once)}
    wanted = [identity_of(row) for row in sent if identity_of(row) in in_common]
    common = [row for row in received if identity_of(row) in in_common]
    for row, identity in zip(common, wanted, strict=True):
        if identity_of(row) != identity:
            yield row, f"{describe(row)} overtakes what was sent before it"
            break


def find_losses(log: RunLog) -> Iterator[Finding]:
    """Of equal elements, the last ones count as missing on the other side.

    In an incomplete run, elements sent after the last received one may still be in flight.
    """
    sides = by_side(log)
    for channel in channels_of(log):
        sent, received = sides.get((Direction.OUT, channel), []), sides.get((Direction.IN, channel), [])
        often, seen = Counter(map(identity_of, sent)), Counter(map(identity_of, received))
        lost, surplus = find_places_beyond(sent, seen), find_places_beyond(received, often)
        arrived = max(set(range(len(sent))) - set(lost), default=-1)
        if log.job.capabilities.delivery is Delivery.AT_LEAST_ONCE:
            lost = [place for place in lost if not seen[identity_of(sent[place])]]
            surplus = [place for place in surplus if not often[identity_of(received[place])]]
        for place in lost:
            if log.complete or place < arrived:
                yield sent[place], f"{describe(sent[place])} was sent and not received"
        for place in surplus:
            yield received[place], f"{describe(received[place])} was received more often than it was sent"


def find_places_beyond(rows: list[Row], counts: Counter[Any]) -> list[int]:
    """The rows beyond the allowed count of their kind."""
    met: Counter[Any] = Counter()
    places = []
    for place, row in enumerate(rows):
        met[identity_of(row)] += 1
        if met[identity_of(row)] > counts[identity_of(row)]:
            places.append(place)
    return places


def describe(row: Row) -> str:
    return f"record {row.id}" if row.kind is Kind.RECORD else f"{row.kind} {row.timestamp or row.value or ''}".strip()


def lacks_order(job: Job) -> str:
    return "the engine keeps no order" if job.capabilities.order_scope is OrderScope.NONE else ""


ORDER = Invariant("LOG-ORDER", "A channel delivers in the order sent.", find_disorder, lacks_order, view=View.SPLICED)
LOSS = Invariant(
    "LOG-LOSS",
    "Every element sent is received exactly once, and none is invented.",
    find_losses,
    view=View.SPLICED,
)
