"""Channels with different ends: lost, duplicated, invented or disordered elements, one channel after the other.

From the first difference on, equal elements are matched: the first sent of a name is the first received of that name.
Elements without a partner stay, so that memory holds the elements in flight and the errors, however long the channel.
"""

import attrs
import numpy as np

from tidegate.properties.kernels.columns import describe_element
from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.kernels.layout import KINDS, Array
from tidegate.properties.kernels.numbering import Numbering, OutgrownError
from tidegate.properties.kernels.segments import EMPTY, find_starts, measure
from tidegate.traces.runlog import Direction

#: Limit of elements without a partner, over all channels, that a worker holds.
MOST_PENDING = 4_000_000
#: With more disordered elements in one channel, the channel gets a second pass instead.
MOST_TANGLED = 1000

#: Name and sort of an element.
Identity = tuple[int, int]
#: A received row: position, step, name, sort.
Received = tuple[int, int, int, int]


@attrs.frozen(eq=False)
class Queue:
    """Elements of one end. `flag`: sent in time, or received late."""

    name: Array
    sort: Array
    position: Array
    step: Array
    flag: Array

    def __len__(self) -> int:
        return len(self.name)

    def take(self, which: Array | slice) -> "Queue":
        return Queue(self.name[which], self.sort[which], self.position[which], self.step[which], self.flag[which])

    def kept(self) -> "Queue":
        """A copy, so that the chunk can be freed."""
        return Queue(self.name.copy(), self.sort.copy(), self.position.copy(), self.step.copy(), self.flag.copy())

    def without(self, identities: set[Identity]) -> "Queue":
        named = np.isin(self.name, [name for name, _sort in identities])
        places = np.flatnonzero(named)
        gone = [at for at in places.tolist() if (int(self.name[at]), int(self.sort[at])) in identities]
        return self.take(np.delete(np.arange(len(self)), gone))

    def identities(self) -> set[Identity]:
        return set(zip(self.name.tolist(), self.sort.tolist(), strict=True))

    def row_at(self, place: int) -> Received:
        return int(self.position[place]), int(self.step[place]), int(self.name[place]), int(self.sort[place])


NOTHING = Queue(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY.astype(bool))


def join(queues: list[Queue]) -> Queue:
    queues = [one for one in queues if len(one)]
    if len(queues) < 2:
        return queues[0] if queues else NOTHING
    columns = zip(*(attrs.astuple(one, recurse=False) for one in queues), strict=True)
    return Queue(*map(np.concatenate, columns))


@attrs.define
class ChannelState:
    """`overtaker`: the first received row before one that was sent earlier. `passed`: the first row past an element.

    `tangled`: mutually disordered elements, by their place among the sent ones. `is_tangled_over`: there are more,
    which had to wait for each other.
    """

    sent: list[Queue] = attrs.Factory(list)
    received: list[Queue] = attrs.Factory(list)
    arrived: int = -1
    last_received: int = -1
    overtaker: Received | None = None
    passed: dict[int, Received] = attrs.Factory(dict)
    tangled: list[tuple[int, Received]] = attrs.Factory(list)
    is_tangled_over: bool = False

    def accuse(self, row: Received) -> None:
        if self.overtaker is None or row < self.overtaker:
            self.overtaker = row

    def accuse_over(self, row: Received) -> None:
        self.accuse(row)
        self.is_tangled_over = True


@attrs.define
class Disagreements:
    """`excluded`: for a second pass, the elements to leave out per channel."""

    numbering: Numbering
    order: Tally
    loss: Tally
    late: Tally
    excluded: dict[int, set[Identity]] | None = None
    channels: dict[int, ChannelState] = attrs.Factory(dict)
    pending: int = 0
    #: Seen elements per end, for engines that may deliver more than once; None for others.
    seen: dict[tuple[int, Direction], set[Identity]] | None = None

    def begin(self, channel: int, matched: int) -> None:
        """So far, this many elements match in order."""
        self.channels[channel] = ChannelState(arrived=matched - 1, last_received=matched - 1)

    def feed(self, channel: int, sent: Queue, received: Queue) -> None:
        if self.excluded is not None:
            sent, received = sent.without(self.excluded[channel]), received.without(self.excluded[channel])
        state = self.channels.setdefault(channel, ChannelState())
        self.pending += len(sent) + len(received)
        state.sent.append(sent.kept())
        state.received.append(received.kept())
        # With only one end there is nothing to compare.
        if any(map(len, state.sent)) and any(map(len, state.received)):
            self.compare(channel, state)
        check_pending(self.pending)

    def compare(self, channel: int, state: ChannelState) -> None:
        sent, received = join(state.sent), join(state.received)
        before = len(sent) + len(received)
        sent, received = self.match_fronts(channel, state, sent, received)
        if len(sent) and len(received):
            sent, received = self.match_any(channel, state, sent, received)
        self.pending -= before - len(sent) - len(received)
        state.sent, state.received = [sent.kept()], [received.kept()]

    def match_fronts(self, channel: int, state: ChannelState, sent: Queue, received: Queue) -> tuple[Queue, Queue]:
        if state.passed or received.position[0] < state.last_received:
            return sent, received
        count = min(len(sent), len(received))
        equal = (sent.name[:count] == received.name[:count]) & (sent.sort[:count] == received.sort[:count])
        if not equal.all():
            count = int(np.argmin(equal))
        if not count:
            return sent, received
        self.find_late(channel, sent.flag[:count] & received.flag[:count], received)
        state.arrived = max(state.arrived, int(sent.position[count - 1]))
        state.last_received = max(state.last_received, int(received.position[count - 1]))
        return sent.take(slice(count, None)), received.take(slice(count, None))

    def match_any(self, channel: int, state: ChannelState, sent: Queue, received: Queue) -> tuple[Queue, Queue]:
        places, others = find_pairs(sent, received)
        if not len(places):
            return sent, received
        partners, rows = sent.take(places), received.take(others)
        self.find_late(channel, partners.flag & rows.flag, rows)
        find_disorder(state, partners.position, rows)
        # Waiting elements were passed by earlier rows, unless these rows have waited themselves.
        since = -1 if (rows.position < state.last_received).any() else state.arrived
        state.arrived = max(state.arrived, int(partners.position.max()))
        state.last_received = max(state.last_received, int(rows.position.max()))
        sent = sent.take(np.delete(np.arange(len(sent)), places))
        received = received.take(np.delete(np.arange(len(received)), others))
        note_what_passed(state, sent, partners.position, rows, since)
        return sent, received

    def find_late(self, channel: int, late: Array, rows: Queue) -> None:
        places = np.flatnonzero(late)
        found = (self.describe_late(channel, rows.row_at(place)) for place in places.tolist())
        self.late.add(len(places), found)

    def describe_late(self, channel: int, row: Received) -> Finding:
        text = "was in time when it was sent, and is late where it is received"
        return self.finding("LOG-LATE", channel, Direction.IN, row, text)

    def finding(self, invariant: str, channel: int, direction: Direction, row: Received, text: str) -> Finding:
        position, step, name, sort = row
        message = f"{describe_element(name, sort)} {text}"
        place = self.numbering.channel_at(channel), direction, KINDS[sort % 16]
        return Finding(invariant, *place, position, step, message)

    def finish(self, *, complete: bool) -> dict[int, set[Identity]]:
        """What is lost, doubled, invented or out of order, and the channels that need a second look for their order."""
        unclear: dict[int, set[Identity]] = {}
        for channel, state in self.channels.items():
            sent, received = join(state.sent), join(state.received)
            overtaker = state.overtaker
            if overtaker and (len(sent) or len(received)):
                # Lost, invented or duplicated elements are not out of order.
                others = sent.identities() | received.identities()
                overtaker = find_overtaker(state.tangled, others)
                if state.is_tangled_over and self.excluded is None:
                    unclear[channel] = others
                    overtaker = None
            if overtaker:
                text = "overtakes what was sent before it"
                self.order.add(1, [self.finding("LOG-ORDER", channel, Direction.IN, overtaker, text)])
            lost = sent if complete else sent.take(sent.position < state.arrived)
            self.find_unmatched(channel, Direction.OUT, lost)
            self.find_unmatched(channel, Direction.IN, received)
        return unclear

    def find_unmatched(self, channel: int, direction: Direction, rows: Queue) -> None:
        if self.seen is not None:
            other = Direction.IN if direction is Direction.OUT else Direction.OUT
            rows = rows.without(self.seen.get((channel, other), set()))
        text = "was sent and not received" if direction is Direction.OUT else "was received more often than it was sent"
        findings = (
            self.finding("LOG-LOSS", channel, direction, rows.row_at(place), text) for place in range(len(rows))
        )
        self.loss.add(len(rows), findings)


def check_pending(pending: int) -> None:
    if pending > MOST_PENDING:
        raise OutgrownError(
            f"{pending:,} elements wait for their other side: the rows of the subtasks are not interleaved as they "
            "happened, or most of what was sent is lost"
        )


def find_pairs(sent: Queue, received: Queue) -> tuple[Array, Array]:
    """The places of elements that both ends have: the first of a name matches the first of that name."""
    _names, name = np.unique(np.concatenate([sent.name, received.name]), return_inverse=True)
    sorts, sort = np.unique(np.concatenate([sent.sort, received.sort]), return_inverse=True)
    codes = name * len(sorts) + sort
    _codes, code = np.unique(codes, return_inverse=True)
    one, other = code[: len(sent)], code[len(sent) :]
    most = len(code) + 1
    _common, places, partners = np.intersect1d(
        one * most + rank_within(one), other * most + rank_within(other), assume_unique=True, return_indices=True
    )
    return places, partners


def rank_within(codes: Array) -> Array:
    """For each element, how many equal ones came before it."""
    order = np.argsort(codes, kind="stable")
    starts = find_starts(codes[order])
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(starts, measure(starts, len(codes)))
    return ranks


def find_disorder(state: ChannelState, positions: Array, rows: Queue) -> None:
    """`positions` are those of the partners. New pairs are compared with each other and with earlier ones."""
    order = np.argsort(rows.position)
    sent = positions[order]
    overtakes, is_overtaken = np.zeros(len(sent), dtype=bool), np.zeros(len(sent), dtype=bool)
    overtakes[:-1] = sent[:-1] > np.minimum.accumulate(sent[::-1])[::-1][1:]
    is_overtaken[1:] = sent[1:] < np.maximum.accumulate(sent)[:-1]
    for place in np.flatnonzero(overtakes)[:1].tolist():
        state.accuse(rows.row_at(int(order[place])))
    tangled = np.flatnonzero(overtakes | is_overtaken)
    if len(state.tangled) + len(tangled) > MOST_TANGLED:
        state.is_tangled_over = True
    else:
        state.tangled += [(int(sent[place]), rows.row_at(int(order[place]))) for place in tangled.tolist()]
    for place in np.flatnonzero(np.isin(positions, list(state.passed))).tolist() if state.passed else ():
        state.accuse_over(state.passed.pop(int(positions[place])))
    # A row that waited for its partner while a later row matched has overtaken that row.
    waited = np.flatnonzero(rows.position < state.last_received)
    if len(waited):
        state.accuse_over(rows.row_at(int(waited[np.argmin(rows.position[waited])])))


def find_overtaker(tangled: list[tuple[int, Received]], excluded: set[Identity]) -> Received | None:
    """The first received row before one that was sent earlier, without the excluded ones."""
    kept = sorted((row, position) for position, row in tangled if (row[2], row[3]) not in excluded)
    for place, (row, position) in enumerate(kept):
        if any(other < position for _row, other in kept[place + 1 :]):
            return row
    return None


def note_what_passed(state: ChannelState, sent: Queue, positions: Array, rows: Queue, since: int) -> None:
    """For each waiting element sent since then: the first received row that was sent after it."""
    waiting = sent.position[(sent.position < positions.max()) & (sent.position > since)]
    if not len(waiting):
        return
    order = np.argsort(positions)
    received = rows.position[order]
    # The place of the first received row among this one and all later sent ones.
    least = np.minimum.accumulate(received[::-1])[::-1]
    places = np.argsort(received)
    by_position = received[places]
    for position, start in zip(waiting.tolist(), np.searchsorted(positions[order], waiting).tolist(), strict=True):
        place = int(order[places[np.searchsorted(by_position, least[start])]])
        row = rows.row_at(place)
        state.passed[position] = min(row, state.passed.get(position, row))
