"""The kernel of routing: turns, copies and keys."""

from collections.abc import Iterator
from functools import partial

import attrs
import numpy as np

from tidegate.properties.kernels.columns import Chunk
from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.kernels.keys import compute_hash_codes, compute_key_groups, compute_owners
from tidegate.properties.kernels.layout import DIRECTIONS, IN, KINDS, NONE, OUT, RECORD, Array, Layout
from tidegate.properties.kernels.matching import OutgrownError
from tidegate.properties.kernels.subtasks import find
from tidegate.reference.partitioning.partitioner import Partitioner
from tidegate.traces.runlog import Edge

#: More keys than this on edges with a partitioner that we do not know are more than a worker should hold.
MOST_KEYS = 2_000_000

#: Where a row stands: consumer, channel, position, step.
Place = tuple[int, int, int, int]
#: The first receipt of a key on an edge by each of its consumers.
Firsts = dict[tuple[int, str], dict[int, Place]]


@attrs.define
class Routes:
    layout: Layout
    tally: Tally
    turns: dict[tuple[int, int], int] = attrs.Factory(dict)
    #: The copies of a record that was not sent to everyone yet, by edge, producer and id.
    copies: dict[tuple[int, int], dict[int, list[Place]]] = attrs.Factory(dict)
    firsts: Firsts = attrs.Factory(dict)

    def feed(self, chunk: Chunk) -> None:
        """Turns and copies: the rows of a producer must come in order."""
        is_record = chunk.kind == RECORD
        self.tally.checked += int(is_record.sum())
        for index, edge, records in self.by_edge(chunk, is_record & (chunk.direction == OUT)):
            if edge.partitioner in set(Partitioner):
                places = self.layout.place_of_channel[chunk.channel[records]]
                self.accuse(chunk, records[places < 0], partial(describe_nowhere, self.layout))
                wired = places >= 0
                self.look_at_sent(chunk, index, Partitioner(edge.partitioner), records[wired], places[wired])

    def feed_keys(self, chunk: Chunk) -> None:
        """Keys: the rows of a consumer must come in order."""
        if chunk.keys is None:
            return
        for index, edge, records in self.by_edge(chunk, (chunk.kind == RECORD) & (chunk.key >= 0)):
            if edge.partitioner == Partitioner.HASH:
                self.look_at_keys(chunk, index, edge, records)
            else:
                self.meet_keys(chunk, index, records[chunk.direction[records] == IN])

    def by_edge(self, chunk: Chunk, chosen: Array) -> Iterator[tuple[int, Edge, Array]]:
        rows = np.flatnonzero(chosen)
        edges = self.layout.edge_of_channel[chunk.channel[rows]]
        for index, edge in enumerate(self.layout.edges):
            records = rows[edges == index]
            if len(records):
                yield index, edge, records

    def accuse(self, chunk: Chunk, places: Array, message: "partial[str]") -> None:
        found = ((place, message(chunk, place)) for place in places.tolist())
        self.tally.add(len(places), find(chunk, self.layout, "LOG-ROUTE", found))

    def look_at_sent(self, chunk: Chunk, index: int, kind: Partitioner, sent: Array, places: Array) -> None:
        if kind in (Partitioner.GLOBAL, Partitioner.FORWARD):
            self.accuse(chunk, sent[places != 0], partial(describe_record, self.layout, "not to the first"))
        elif kind in (Partitioner.REBALANCE, Partitioner.RESCALE, Partitioner.BROADCAST):
            producers = (chunk.channel[sent] - self.layout.offsets[index]) // self.layout.consumers[index]
            for producer in np.unique(producers).tolist():
                mine = producers == producer
                if kind is Partitioner.BROADCAST:
                    self.look_at_copies(chunk, index, producer, sent[mine])
                else:
                    self.look_at_turns(chunk, (index, producer), kind, sent[mine], places[mine])

    def look_at_turns(self, chunk: Chunk, who: tuple[int, int], kind: Partitioner, sent: Array, places: Array) -> None:
        count = len(self.layout.consumers_of(self.layout.edges[who[0]], who[1]))
        due = np.empty_like(places)
        due[1:] = (places[:-1] + 1) % count
        due[0] = self.turns.get(who, 0 if kind is Partitioner.RESCALE else places[0])
        self.turns[who] = int(places[-1] + 1) % count
        wrong = sent[places != due]
        found = (
            (place, describe_record(self.layout, "", chunk, place).rstrip(", ") + " out of turn")
            for place in wrong.tolist()
        )
        self.tally.add(len(wrong), find(chunk, self.layout, "LOG-ROUTE", found))

    # --- copies -----------------------------------------------------------------------------------------------

    def look_at_copies(self, chunk: Chunk, index: int, producer: int, sent: Array) -> None:
        """Rounds that follow one another, as they nearly always do, are looked at all at once."""
        consumers = np.sort(np.array(self.layout.consumers_of(self.layout.edges[index], producer)))
        waiting = self.copies.setdefault((index, producer), {})
        ids = chunk.id[sent]
        if waiting:
            is_known = np.isin(ids, list(waiting))
            self.count_copies(chunk, index, producer, sent[is_known], len(consumers))
            sent, ids = sent[~is_known], ids[~is_known]
        whole = len(sent) // len(consumers) * len(consumers)
        targets = (chunk.channel[sent[:whole]] - self.layout.offsets[index]) % self.layout.consumers[index]
        rounds = ids[:whole].reshape(-1, len(consumers))
        right = (rounds == rounds[:, :1]).all() and (
            np.sort(targets.reshape(-1, len(consumers)), axis=1) == consumers
        ).all()
        # A round that has the id of another one is not one of its own only if it is cut by the end of the rows.
        self.count_copies(chunk, index, producer, sent[whole:] if right else sent, len(consumers))

    def count_copies(self, chunk: Chunk, index: int, producer: int, sent: Array, count: int) -> None:
        waiting = self.copies[index, producer]
        for place in sent.tolist():
            channel, number = int(chunk.channel[place]), int(chunk.id[place])
            consumer = self.layout.channel_at(channel)[2]
            copies = waiting.setdefault(number, [])
            if any(one[0] == consumer for one in copies):
                text = f"record {show(number)} goes to {consumer} again, and not yet to everyone"
                self.tally.add(1, find(chunk, self.layout, "LOG-ROUTE", [(place, text)]))
                continue
            copies.append((consumer, channel, int(chunk.position[place]), int(chunk.step[place])))
            if len(copies) == count:
                del waiting[number]

    # --- keys -------------------------------------------------------------------------------------------------

    def look_at_keys(self, chunk: Chunk, index: int, edge: Edge, records: Array) -> None:
        """Sent and received alike: the wiring is the same from both ends."""
        keys = chunk.key[records]
        places = self.layout.place_of_channel[chunk.channel[records]]
        assert edge.max_parallelism is not None
        groups = compute_key_groups(compute_hash_codes(chunk.keys), edge.max_parallelism)
        producers = (chunk.channel[records] - self.layout.offsets[index]) // self.layout.consumers[index]
        sizes = np.array([len(self.layout.consumers_of(edge, one)) for one in range(edge.producers)])
        owners = compute_owners(groups[keys], sizes[producers], edge.max_parallelism)
        # What was sent where no channel leads is accused of that already.
        wrong = (places != owners) & ~((places < 0) & (chunk.direction[records] == OUT))
        found = (
            (int(records[at]), describe_key(self.layout, chunk, int(records[at]), edge, int(owners[at])))
            for at in np.flatnonzero(wrong).tolist()
        )
        self.tally.add(int(wrong.sum()), find(chunk, self.layout, "LOG-ROUTE", found))

    def meet_keys(self, chunk: Chunk, index: int, received: Array) -> None:
        keys = chunk.key[received]
        consumers = (chunk.channel[received] - self.layout.offsets[index]) % self.layout.consumers[index]
        _pairs, firsts = np.unique(keys.astype(np.int64) * 2**31 + consumers, return_index=True)
        for at in firsts.tolist():
            place, consumer = int(received[at]), int(consumers[at])
            row = consumer, int(chunk.channel[place]), int(chunk.position[place]), int(chunk.step[place])
            self.firsts.setdefault((index, chunk.keys[int(keys[at])].as_py()), {}).setdefault(consumer, row)
        if len(self.firsts) > MOST_KEYS:
            raise OutgrownError(f"more than {MOST_KEYS:,} keys on edges whose partitioner is unknown")

    def finish(self) -> None:
        for waiting in self.copies.values():
            for number, rows in waiting.items():
                text = f"record {show(number)} goes to {sorted(row[0] for row in rows)}, not to everyone"
                self.tally.add(1, [make_finding(self.layout, rows[0], OUT, text)] if rows else [])
        found = list(find_scattered(self.layout, self.firsts))
        self.tally.add(len(found), found)


def find_scattered(layout: Layout, firsts: Firsts) -> Iterator[Finding]:
    for (_edge, key), rows in firsts.items():
        home = min(rows)
        for consumer, row in rows.items():
            if consumer != home:
                yield make_finding(layout, row, IN, f"key {key!r} is received by {consumer}, and by {home}, too")


def make_finding(layout: Layout, row: Place, direction: int, text: str) -> Finding:
    _consumer, channel, position, step = row
    return Finding("LOG-ROUTE", layout.channel_at(channel), DIRECTIONS[direction], KINDS[RECORD], position, step, text)


def show(number: int) -> str:
    return str(None if number == NONE else number)


def describe_nowhere(layout: Layout, chunk: Chunk, place: int) -> str:
    _edge, producer, consumer = layout.channel_at(int(chunk.channel[place]))
    return f"record {show(int(chunk.id[place]))} goes to {consumer}, where no channel of {producer} leads"


def describe_record(layout: Layout, text: str, chunk: Chunk, place: int) -> str:
    consumer = layout.channel_at(int(chunk.channel[place]))[2]
    return f"record {show(int(chunk.id[place]))} goes to {consumer}, {text}"


def describe_key(layout: Layout, chunk: Chunk, place: int, edge: Edge, owner: int) -> str:
    _edge, producer, consumer = layout.channel_at(int(chunk.channel[place]))
    key, home = chunk.keys[int(chunk.key[place])].as_py(), layout.consumers_of(edge, producer)[owner]
    verb = "goes to" if chunk.direction[place] == OUT else "is received by"
    return f"key {key!r} {verb} {consumer}, and belongs to {home}"
