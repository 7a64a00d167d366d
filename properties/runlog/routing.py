"""The invariant of routing: a record goes where its partitioner says, and all records of a key meet."""

from collections import defaultdict
from collections.abc import Iterator

from tidegate.properties.runlog.attempts import View
from tidegate.properties.runlog.invariant import Finding, Invariant
from tidegate.properties.runlog.wired import count_consumers, find_consumer, find_place
from tidegate.reference.partitioning.keys import StringKey
from tidegate.reference.partitioning.partitioner import Config, Partitioner, compute_channel_of_key
from tidegate.traces import runlog
from tidegate.traces.runlog import Direction, Edge, Job, Row, RunLog

#: Consumers of a record that a message lists.
MOST_LISTED = 10
#: Characters of a key that a message shows.
MOST_OF_KEY = 100


def find_wrong_routes(log: RunLog) -> Iterator[Finding]:
    for edge in log.job.edges:
        records = [row for row in log.rows if row.edge == edge.number and row.kind is runlog.Kind.RECORD]
        received = [row for row in records if row.dir is Direction.IN]
        # A custom partitioner is free, as long as the records of a key meet.
        is_known = log.job.capabilities.known_routing and edge.partitioner in set(Partitioner)
        if is_known:
            for sent in by_producer(records):
                yield from find_wrongly_sent(edge, sent)
                if edge.partitioner == Partitioner.BROADCAST:
                    yield from find_incomplete_broadcasts(edge, sent)
        if is_known and edge.partitioner == Partitioner.HASH:
            yield from find_strange_keys(edge, received)
        else:
            yield from find_scattered_keys(received)


def by_producer(records: list[Row]) -> list[list[Row]]:
    """The records of each producer."""
    sent: dict[int, list[Row]] = defaultdict(list)
    for row in records:
        if row.dir is Direction.OUT:
            sent[row.producer].append(row)
    return list(sent.values())


def find_wrongly_sent(edge: Edge, sent: list[Row]) -> Iterator[Finding]:
    kind = Partitioner(edge.partitioner)
    following = 0 if kind is Partitioner.RESCALE else None
    for row in sent:
        place = find_place(edge, row.producer, row.consumer)
        if place is None:
            yield row, f"record {row.id} goes to {row.consumer}, where no channel of {row.producer} leads"
            continue
        if kind in (Partitioner.REBALANCE, Partitioner.RESCALE):
            if following not in (None, place):
                yield row, f"record {row.id} goes to {row.consumer} out of turn"
            following = (place + 1) % count_consumers(edge, row.producer)
        elif kind is Partitioner.HASH and row.key is not None:
            owner = compute_owner(edge, row.producer, row.key)
            if row.consumer != owner:
                yield row, f"key {show_key(row.key)} goes to {row.consumer}, and belongs to {owner}"
        elif kind in (Partitioner.GLOBAL, Partitioner.FORWARD) and place != 0:
            yield row, f"record {row.id} goes to {row.consumer}, not to the first"


def find_incomplete_broadcasts(edge: Edge, sent: list[Row]) -> Iterator[Finding]:
    """A record goes to every consumer once before it goes to any consumer again."""
    reached: dict[int | None, list[Row]] = defaultdict(list)
    for row in sent:
        if find_place(edge, row.producer, row.consumer) is None:
            continue
        if row.consumer in [one.consumer for one in reached[row.id]]:
            yield row, f"record {row.id} goes to {row.consumer} again, and not yet to everyone"
            continue
        reached[row.id].append(row)
        if len(reached[row.id]) == count_consumers(edge, row.producer):
            del reached[row.id]
    for rows in reached.values():
        reached_by = {row.consumer for row in rows}
        yield rows[0], f"record {rows[0].id} goes to {list_consumers(reached_by)}, not to everyone"


def show_key(key: str) -> str:
    """The key; only the beginning of a long one."""
    return repr(key) if len(key) <= MOST_OF_KEY else f"{key[:MOST_OF_KEY]!r}…"


def list_consumers(consumers: set[int]) -> str:
    """The consumers in order; only the first of many."""
    first = sorted(consumers)[:MOST_LISTED]
    return f"{first}" if len(first) == len(consumers) else f"{first} and {len(consumers) - len(first)} more"


def find_strange_keys(edge: Edge, received: list[Row]) -> Iterator[Finding]:
    for row in received:
        if row.key is not None:
            owner = compute_owner(edge, row.producer, row.key)
            if row.consumer != owner:
                yield row, f"key {show_key(row.key)} is received by {row.consumer}, and belongs to {owner}"


def find_scattered_keys(received: list[Row]) -> Iterator[Finding]:
    """The owner of such a key is unknown: the lowest consumer that has received it counts as its owner."""
    firsts: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in received:
        if row.key is not None:
            firsts[row.key].setdefault(row.consumer, row)
    for key, rows in firsts.items():
        home = min(rows)
        for consumer, row in rows.items():
            if consumer != home:
                yield row, f"key {show_key(key)} is received by {consumer}, and by {home}, too"


def compute_owner(edge: Edge, producer: int, key: str) -> int:
    config = Config(Partitioner.HASH, count_consumers(edge, producer), edge.max_parallelism)
    return find_consumer(edge, producer, compute_channel_of_key(config, StringKey(key)))


def lacks_routes(job: Job) -> str:
    able = job.capabilities
    return "" if able.known_routing or able.keys_meet else "the engine shows no known routing"


ROUTE = Invariant(
    "LOG-ROUTE",
    "A record goes where its partitioner says, and all records of a key meet in one subtask.",
    find_wrong_routes,
    lacks_routes,
    View.KEPT,
)
