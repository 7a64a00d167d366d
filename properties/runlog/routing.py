"""The invariant of routing: a record goes where its partitioner says, and all records of a key meet."""

from collections import defaultdict
from collections.abc import Iterator

from properties.runlog.invariant import Finding, Invariant, compute_consumers
from reference.keys import StringKey
from reference.partitioning import Config, Kind, compute_channel_of_key
from traces import runlog
from traces.runlog import Direction, Edge, Row, RunLog


def find_wrong_routes(log: RunLog) -> Iterator[Finding]:
    for edge in log.job.edges:
        records = [row for row in log.rows if row.edge == edge.number and row.kind is runlog.Kind.RECORD]
        # What a user's own partitioner does is nobody else's business.
        wired = compute_consumers(edge) if edge.partitioner in set(Kind) else {}
        for producer, consumers in wired.items():
            sent = [row for row in records if row.dir is Direction.OUT and row.producer == producer]
            yield from find_wrongly_sent(edge, consumers, sent)
        yield from find_scattered_keys([row for row in records if row.dir is Direction.IN])


def find_wrongly_sent(edge: Edge, consumers: list[int], sent: list[Row]) -> Iterator[Finding]:
    kind = Kind(edge.partitioner)
    following = 0 if kind is Kind.RESCALE else None
    copies: dict[int | None, list[int]] = defaultdict(list)
    for row in sent:
        if row.consumer not in consumers:
            yield row, f"record {row.id} goes to {row.consumer}, where no channel of {row.producer} leads"
            continue
        place = consumers.index(row.consumer)
        if kind in (Kind.REBALANCE, Kind.RESCALE):
            if following not in (None, place):
                yield row, f"record {row.id} goes to {row.consumer} out of turn"
            following = (place + 1) % len(consumers)
        elif kind is Kind.HASH and row.key is not None:
            owner = compute_channel_of_key(Config(kind, len(consumers), edge.max_parallelism), StringKey(row.key))
            if place != owner:
                yield row, f"key {row.key!r} goes to {row.consumer}, and belongs to {consumers[owner]}"
        elif kind in (Kind.GLOBAL, Kind.FORWARD) and place != 0:
            yield row, f"record {row.id} goes to {row.consumer}, not to the first"
        copies[row.id].append(row.consumer)
    if kind is Kind.BROADCAST:
        for row in sent:
            reached = copies.pop(row.id, consumers)
            if sorted(reached) != sorted(consumers):
                yield row, f"record {row.id} goes to {sorted(reached)}, not to everyone once"


def find_scattered_keys(received: list[Row]) -> Iterator[Finding]:
    homes: dict[str, int] = {}
    for row in received:
        if row.key is not None and homes.setdefault(row.key, row.consumer) != row.consumer:
            yield row, f"key {row.key!r} is received by {row.consumer}, and by {homes[row.key]} before"


ROUTE = Invariant(
    "LOG-ROUTE",
    "A record goes where its partitioner says, and all records of a key meet in one subtask.",
    find_wrong_routes,
    lambda engine: "" if engine.known_routing else "known routing",
)
