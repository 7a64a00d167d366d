"""The kernel of routing: round robin, broadcast copies and keys."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import attrs
import numpy as np

from tidegate.properties.kernels.columns import KIND, RECEIVED, Chunk
from tidegate.properties.kernels.findings import Finding, Tally, find
from tidegate.properties.kernels.keys import compute_hash_codes, compute_key_groups, compute_owners
from tidegate.properties.kernels.layout import DIRECTIONS, IN, KINDS, OUT, RECORD, Array
from tidegate.properties.kernels.numbering import Numbering, OutgrownError
from tidegate.properties.kernels.segments import find_lasts, find_starts, sort_stably
from tidegate.properties.kernels.sides import show
from tidegate.properties.kernels.subtasks import Steps
from tidegate.properties.runlog.routing import list_consumers, show_key
from tidegate.properties.runlog.wired import count_consumers, find_consumer
from tidegate.reference.partitioning.partitioner import Partitioner
from tidegate.traces.runlog import Channel, Edge

#: Limit for incomplete broadcasts, and for receipts of keys on edges with an unknown partitioner, that a worker holds.
MOST_HELD = 500_000

#: Place of a row: channel, position, step.
Place = tuple[Channel, int, int]
#: The first receipt of a key on an edge by each consumer.
Firsts = dict[tuple[int, str], dict[int, Place]]


@attrs.define
class Copies:
    """An incomplete broadcast: the place of the first copy, and its consumers so far."""

    first: Place
    consumers: set[int]


@attrs.define
class Routes:
    numbering: Numbering
    tally: Tally
    #: Target of a producer's next record, by edge and producer.
    turns: dict[tuple[int, int], int] = attrs.Factory(dict)
    #: Incomplete broadcasts, by edge, producer and id.
    copies: dict[tuple[int, int], dict[int, Copies]] = attrs.Factory(dict)
    held: int = 0
    firsts: Firsts = attrs.Factory(dict)
    _hashed: tuple[Any, Array] | None = None

    @property
    def knows_routes(self) -> bool:
        """If not, the only known fact is that keys meet."""
        return self.numbering.layout.job.capabilities.known_routing

    def feed(self, steps: Steps) -> None:
        """Round robin and copies: needs the rows of a producer in order."""
        chunk = steps.chunk
        self.tally.checked += int(np.count_nonzero(chunk.what & KIND == RECORD))
        sent = np.flatnonzero(steps.what == RECORD)
        for index, edge, chosen, channels in self.by_edge(steps.channel.take(sent)):
            if self.knows_routes and edge.partitioner in set(Partitioner):
                kind = Partitioner(edge.partitioner)
                self.look_at_sent(chunk, index, kind, steps.order.take(sent[chosen]), channels)
        if self.held > MOST_HELD:
            raise OutgrownError(f"more than {MOST_HELD:,} records were broadcast, and not to everyone")

    def by_edge(self, channels: Array) -> Iterator[tuple[int, Edge, Array | slice, Array]]:
        """Each edge, which of these channels are its own, and these, in the same order."""
        edges = self.numbering.edge.take(channels)
        met = np.flatnonzero(np.bincount(edges)).tolist() if len(edges) else []
        if len(met) == 1:
            yield met[0], self.numbering.layout.edges[met[0]], slice(None), channels
            return
        for index in met:
            chosen = np.flatnonzero(edges == index)
            yield index, self.numbering.layout.edges[index], chosen, channels.take(chosen)

    def accuse(self, chunk: Chunk, places: Array, message: "partial[str]") -> None:
        found = ((place, message(chunk, place)) for place in places.tolist())
        self.tally.add(len(places), find(chunk, self.numbering, "LOG-ROUTE", found))

    def look_at_sent(self, chunk: Chunk, index: int, kind: Partitioner, sent: Array, channels: Array) -> None:
        places = self.numbering.place.take(channels)
        if self.numbering.layout.strays:
            wired = places >= 0
            self.accuse(chunk, sent[~wired], partial(describe_nowhere, self.numbering))
            sent, places, channels = sent[wired], places[wired], channels[wired]
        if kind in (Partitioner.GLOBAL, Partitioner.FORWARD):
            if places.any():
                self.accuse(chunk, sent[places != 0], partial(describe_record, self.numbering, ", not to the first"))
        elif kind in (Partitioner.REBALANCE, Partitioner.RESCALE, Partitioner.BROADCAST) and len(sent):
            producers = self.numbering.producer.take(channels)
            starts = find_starts(producers)
            if kind is Partitioner.BROADCAST:
                for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(sent)], strict=True):
                    self.look_at_copies(chunk, index, int(producers[start]), sent[start:stop])
            else:
                self.look_at_turns(chunk, index, kind, sent, places, producers, starts)

    def look_at_turns(
        self, chunk: Chunk, index: int, kind: Partitioner, sent: Array, places: Array, producers: Array, starts: Array
    ) -> None:
        edge = self.numbering.layout.edges[index]
        following = places + 1
        following[following == self.numbering.layout.count_places(edge, producers)] = 0
        due = np.empty_like(places)
        due[1:] = following[:-1]
        lasts = find_lasts(starts, len(sent))
        for start, last, producer in zip(starts.tolist(), lasts.tolist(), producers[starts].tolist(), strict=True):
            first = 0 if kind is Partitioner.RESCALE else int(places[start])
            due[start] = self.turns.get((index, producer), first)
            self.turns[index, producer] = int(following[last])
        wrong = sent[places != due]
        self.accuse(chunk, wrong, partial(describe_record, self.numbering, " out of turn"))

    # --- copies -----------------------------------------------------------------------------------------------

    def look_at_copies(self, chunk: Chunk, index: int, producer: int, sent: Array) -> None:
        """Consecutive rounds, which is the usual case, are checked at once."""
        count = count_consumers(self.numbering.layout.edges[index], producer)
        waiting = self.copies.setdefault((index, producer), {})
        ids = chunk.id[sent]
        if waiting:
            is_known = np.isin(ids, list(waiting))
            self.count_copies(chunk, index, producer, sent[is_known], count)
            sent, ids = sent[~is_known], ids[~is_known]
        whole = len(sent) // count * count
        right = True
        if whole:
            rounds = ids[:whole].reshape(-1, count)
            # Each round has every place once.
            places = np.sort(self.numbering.place[chunk.channel[sent[:whole]]].reshape(-1, count), axis=1)
            right = bool((rounds == rounds[:, :1]).all() and (places == np.arange(count)).all())
        # A round with the id of another one is the same round only if the end of the rows cut it.
        self.count_copies(chunk, index, producer, sent[whole:] if right else sent, count)

    def count_copies(self, chunk: Chunk, index: int, producer: int, sent: Array, count: int) -> None:
        waiting = self.copies[index, producer]
        for place in sent.tolist():
            channel, number = int(chunk.channel[place]), int(chunk.id[place])
            consumer = int(self.numbering.consumer[channel])
            if number not in waiting:
                waiting[number] = Copies(self.place_at(chunk, place), set())
            consumers = waiting[number].consumers
            if consumer in consumers:
                text = f"record {show(number)} goes to {consumer} again, and not yet to everyone"
                self.tally.add(1, find(chunk, self.numbering, "LOG-ROUTE", [(place, text)]))
                continue
            consumers.add(consumer)
            self.held += 1
            if len(consumers) == count:
                self.held -= count
                del waiting[number]

    def place_at(self, chunk: Chunk, place: int) -> Place:
        channel = self.numbering.channel_at(int(chunk.channel[place]))
        return channel, int(chunk.position[place]), int(chunk.step[place])

    # --- keys -------------------------------------------------------------------------------------------------

    def feed_keys(self, chunk: Chunk) -> None:
        """Keys: needs the rows of a consumer in order."""
        if chunk.keys is None:
            return
        is_keyed = chunk.key >= 0
        is_keyed &= chunk.what & KIND == RECORD
        keyed = np.flatnonzero(is_keyed)
        for index, edge, chosen, channels in self.by_edge(chunk.channel.take(keyed)):
            records = keyed[chosen]
            if self.knows_routes and edge.partitioner == Partitioner.HASH:
                self.look_at_keys(chunk, edge, records, channels)
            else:
                self.meet_keys(chunk, index, records[chunk.what[records] >= RECEIVED])

    def look_at_keys(self, chunk: Chunk, edge: Edge, records: Array, channels: Array) -> None:
        """Sent and received rows: the wiring is the same from both ends."""
        places = self.numbering.place.take(channels)
        assert edge.max_parallelism is not None
        groups = compute_key_groups(self.hash_keys(chunk.keys), edge.max_parallelism)
        owners = self.find_owners(edge, groups, chunk.key.take(records), channels)
        wrong = np.flatnonzero(places != owners)
        # A record that was sent where no channel leads already has a finding.
        wrong = wrong[(places[wrong] >= 0) | (chunk.what[records[wrong]] >= RECEIVED)]
        found = (
            (int(records[at]), describe_key(self.numbering, chunk, int(records[at]), edge, int(owners[at])))
            for at in wrong.tolist()
        )
        self.tally.add(len(wrong), find(chunk, self.numbering, "LOG-ROUTE", found))

    def find_owners(self, edge: Edge, groups: Array, keys: Array, channels: Array) -> Array:
        """The place of each key among the channels of its producer."""
        counts = self.numbering.layout.count_places(edge, self.numbering.producer, channels)
        if isinstance(counts, int):
            return compute_owners(groups, counts, edge.max_parallelism or 0).take(keys)
        return compute_owners(groups.take(keys), counts, edge.max_parallelism or 0)

    def hash_keys(self, keys: Any) -> Array:
        """The hash codes of a dictionary, cached since many chunks share it."""
        if self._hashed is None or not keys.equals(self._hashed[0]):
            self._hashed = keys, compute_hash_codes(keys)
        return self._hashed[1]

    def meet_keys(self, chunk: Chunk, index: int, received: Array) -> None:
        if not len(received):
            return
        keys, consumers = chunk.key[received].astype(np.int64), self.numbering.consumer[chunk.channel[received]]
        order = sort_stably(keys)
        order = order[sort_stably(consumers[order])]
        changes = (keys[order][1:] != keys[order][:-1]) | (consumers[order][1:] != consumers[order][:-1])
        for at in order[np.append(True, changes)].tolist():
            key = chunk.keys[int(keys[at])].as_py()
            met = self.firsts.setdefault((index, key), {})
            if int(consumers[at]) not in met:
                met[int(consumers[at])] = self.place_at(chunk, int(received[at]))
                self.held += 1 + len(key) // 100
        if self.held > MOST_HELD:
            raise OutgrownError(f"more than {MOST_HELD:,} keys on edges whose partitioner is unknown")

    def finish(self) -> None:
        for waiting in self.copies.values():
            for number, copies in waiting.items():
                text = f"record {show(number)} goes to {list_consumers(copies.consumers)}, not to everyone"
                self.tally.add(1, [make_finding(copies.first, OUT, text)])
        found = list(find_scattered(self.firsts))
        self.tally.add(len(found), found)


def find_scattered(firsts: Firsts) -> Iterator[Finding]:
    for (_edge, key), rows in firsts.items():
        home = min(rows)
        for consumer, row in rows.items():
            if consumer != home:
                yield make_finding(row, IN, f"key {show_key(key)} is received by {consumer}, and by {home}, too")


def make_finding(row: Place, direction: int, text: str) -> Finding:
    channel, position, step = row
    return Finding("LOG-ROUTE", channel, DIRECTIONS[direction], KINDS[RECORD], position, step, text)


def describe_nowhere(numbering: Numbering, chunk: Chunk, place: int) -> str:
    _edge, producer, consumer = numbering.channel_at(int(chunk.channel[place]))
    return f"record {show(int(chunk.id[place]))} goes to {consumer}, where no channel of {producer} leads"


def describe_record(numbering: Numbering, text: str, chunk: Chunk, place: int) -> str:
    consumer = numbering.channel_at(int(chunk.channel[place]))[2]
    return f"record {show(int(chunk.id[place]))} goes to {consumer}{text}"


def describe_key(numbering: Numbering, chunk: Chunk, place: int, edge: Edge, owner: int) -> str:
    _edge, producer, consumer = numbering.channel_at(int(chunk.channel[place]))
    key, home = chunk.keys[int(chunk.key[place])].as_py(), find_consumer(edge, producer, owner)
    verb = "is received by" if chunk.direction_at(place) else "goes to"
    return f"key {show_key(key)} {verb} {consumer}, and belongs to {home}"
