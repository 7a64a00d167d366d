"""The kernel of both sides of a channel: what was sent is received once, in order, and not late.

Each channel is a queue of what was sent and not yet received, and one of the opposite. As long as both sides agree,
which is nearly always, the front of the one is compared with the front of the other and forgotten. From the first
difference on, equal elements are looked for: the first of a name that was sent is the first that was received. What
finds no partner stays, so that memory holds what is in flight and what is wrong, however long the channel is.
"""

import attrs
import numpy as np

from tidegate.properties.kernels.columns import describe_element
from tidegate.properties.kernels.findings import Finding, Tally
from tidegate.properties.kernels.layout import KINDS, Array, Layout
from tidegate.traces.runlog import Direction

#: More elements than this that found no partner, in all channels together, are more than a worker should hold.
MOST_PENDING = 4_000_000

#: The name and sort of an element.
Identity = tuple[int, int]


class OutgrownError(Exception):
    """A run that cannot be checked piece by piece in this order of rows."""


@attrs.frozen(eq=False)
class Queue:
    """Elements of one side. `flag`: sent in time, or received late."""

    name: Array
    sort: Array
    position: Array
    step: Array
    flag: Array

    def __len__(self) -> int:
        return len(self.name)

    def take(self, which: Array | slice) -> "Queue":
        return Queue(self.name[which], self.sort[which], self.position[which], self.step[which], self.flag[which])

    def join(self, other: "Queue") -> "Queue":
        if not len(self) or not len(other):
            return self if len(self) else other
        return Queue(
            np.concatenate([self.name, other.name]),
            np.concatenate([self.sort, other.sort]),
            np.concatenate([self.position, other.position]),
            np.concatenate([self.step, other.step]),
            np.concatenate([self.flag, other.flag]),
        )

    def kept(self) -> "Queue":
        """As a copy, so that the chunk which it was cut from can go."""
        return Queue(self.name.copy(), self.sort.copy(), self.position.copy(), self.step.copy(), self.flag.copy())

    def without(self, identities: set[Identity]) -> "Queue":
        named = np.isin(self.name, [name for name, _sort in identities])
        places = np.flatnonzero(named)
        gone = [at for at in places.tolist() if (int(self.name[at]), int(self.sort[at])) in identities]
        return self.take(np.delete(np.arange(len(self)), gone))

    def identities(self) -> set[Identity]:
        return set(zip(self.name.tolist(), self.sort.tolist(), strict=True))


EMPTY = np.empty(0, dtype=np.int64)
NOTHING = Queue(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY.astype(bool))

#: A received row: position, step, name, sort.
Received = tuple[int, int, int, int]


@attrs.define
class ChannelState:
    """`overtaker`: the first received row that came before one sent earlier. `skipped`: what passed by an element."""

    sent: Queue = NOTHING
    received: Queue = NOTHING
    arrived: int = -1
    last_received: int = -1
    overtaker: Received | None = None
    skipped: dict[int, Received] = attrs.Factory(dict)

    def accuse(self, row: Received) -> None:
        if self.overtaker is None or row < self.overtaker:
            self.overtaker = row


@attrs.define
class Matching:
    """`excluded`: for a second look at channels, what to leave out of each; other channels are not looked at."""

    layout: Layout
    order: Tally
    loss: Tally
    late: Tally
    excluded: dict[int, set[Identity]] | None = None
    channels: dict[int, ChannelState] = attrs.Factory(dict)
    pending: int = 0

    def feed(self, channel: int, sent: Queue, received: Queue) -> None:
        if self.excluded is not None:
            if channel not in self.excluded:
                return
            sent, received = sent.without(self.excluded[channel]), received.without(self.excluded[channel])
        count = len(sent) + len(received)
        self.order.checked += count
        self.loss.checked += count
        self.late.checked += int((received.sort == 0).sum())
        state = self.channels.setdefault(channel, ChannelState())
        self.pending -= len(state.sent) + len(state.received)
        state.sent, state.received = state.sent.join(sent), state.received.join(received)
        self.match_fronts(channel, state)
        if len(state.sent) and len(state.received):
            self.match_any(channel, state)
        state.sent, state.received = state.sent.kept(), state.received.kept()
        self.pending += len(state.sent) + len(state.received)
        if self.pending > MOST_PENDING:
            raise OutgrownError(
                f"{self.pending:,} elements wait for their other side: the rows of the subtasks are not interleaved as "
                "they happened, or most of what was sent is lost"
            )

    def match_fronts(self, channel: int, state: ChannelState) -> None:
        count = min(len(state.sent), len(state.received))
        has_waited = state.skipped or (len(state.received) and state.received.position[0] < state.last_received)
        if not count or has_waited:
            return
        equal = state.sent.name[:count] == state.received.name[:count]
        equal &= state.sent.sort[:count] == state.received.sort[:count]
        if not equal.all():
            count = int(np.argmin(equal))
        if count:
            self.find_late(channel, state.sent.flag[:count] & state.received.flag[:count], state.received)
            state.arrived = max(state.arrived, int(state.sent.position[count - 1]))
            state.last_received = max(state.last_received, int(state.received.position[count - 1]))
            state.sent, state.received = state.sent.take(slice(count, None)), state.received.take(slice(count, None))

    def match_any(self, channel: int, state: ChannelState) -> None:
        sent, received = find_pairs(state.sent, state.received)
        if not len(sent):
            return
        partners, rows = state.sent.take(sent), state.received.take(received)
        self.find_late(channel, partners.flag & rows.flag, rows)
        find_disorder(state, partners.position, rows)
        # What waited before was passed by rows before these, unless these have waited themselves.
        since = -1 if (rows.position < state.last_received).any() else state.arrived
        state.arrived = max(state.arrived, int(partners.position.max()))
        state.last_received = max(state.last_received, int(rows.position.max()))
        state.sent = state.sent.take(np.delete(np.arange(len(state.sent)), sent))
        state.received = state.received.take(np.delete(np.arange(len(state.received)), received))
        note_what_passed(state, partners.position, rows, since)

    def find_late(self, channel: int, late: Array, rows: Queue) -> None:
        places = np.flatnonzero(late)
        text = "was in time when it was sent, and is late where it is received"
        findings = (
            self.finding("LOG-LATE", channel, Direction.IN, row_at(rows, place), text) for place in places.tolist()
        )
        self.late.add(len(places), findings)

    def finding(self, invariant: str, channel: int, direction: Direction, row: Received, text: str) -> Finding:
        position, step, name, sort = row
        message = f"{describe_element(name, sort)} {text}"
        return Finding(invariant, self.layout.channel_at(channel), direction, KINDS[sort % 16], position, step, message)

    def finish(self, *, complete: bool) -> dict[int, set[Identity]]:
        """What is lost, doubled, invented or out of order, and the channels that need a second look for their order."""
        unclear: dict[int, set[Identity]] = {}
        for channel, state in self.channels.items():
            if state.overtaker and (len(state.sent) or len(state.received)) and self.excluded is None:
                unclear[channel] = state.sent.identities() | state.received.identities()
            elif state.overtaker:
                text = "overtakes what was sent before it"
                self.order.add(1, [self.finding("LOG-ORDER", channel, Direction.IN, state.overtaker, text)])
            lost = state.sent if complete else state.sent.take(state.sent.position < state.arrived)
            self.find_unmatched(channel, Direction.OUT, lost, "was sent and not received")
            self.find_unmatched(channel, Direction.IN, state.received, "was received more often than it was sent")
        return unclear

    def find_unmatched(self, channel: int, direction: Direction, rows: Queue, text: str) -> None:
        findings = (
            self.finding("LOG-LOSS", channel, direction, row_at(rows, place), text) for place in range(len(rows))
        )
        self.loss.add(len(rows), findings)


def row_at(rows: Queue, place: int) -> Received:
    return int(rows.position[place]), int(rows.step[place]), int(rows.name[place]), int(rows.sort[place])


def find_pairs(sent: Queue, received: Queue) -> tuple[Array, Array]:
    """The places of the elements that are on both sides, the first of a name with the first of it."""
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
    """How many of its kind came before each."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    return ranks


def find_disorder(state: ChannelState, positions: Array, rows: Queue) -> None:
    """`positions` are those of the partners. Pairs of now are compared with each other and with former ones."""
    order = np.argsort(rows.position)
    least_behind = np.minimum.accumulate(positions[order][::-1])[::-1]
    overtaking = np.flatnonzero(positions[order][:-1] > least_behind[1:])
    for place in overtaking[:1]:
        state.accuse(row_at(rows, int(order[place])))
    for place in np.flatnonzero(np.isin(positions, list(state.skipped))) if state.skipped else ():
        state.accuse(state.skipped.pop(int(positions[place])))
    # A row that waited for its partner while a later one found its own has overtaken that one.
    waited = np.flatnonzero(rows.position < state.last_received)
    if len(waited):
        state.accuse(row_at(rows, int(waited[np.argmin(rows.position[waited])])))


def note_what_passed(state: ChannelState, positions: Array, rows: Queue, since: int) -> None:
    """For each element sent since then that still waits: the first received row that was sent behind it."""
    waiting = state.sent.position[(state.sent.position < positions.max()) & (state.sent.position > since)]
    if not len(waiting):
        return
    order = np.argsort(positions)
    received = rows.position[order]
    # The place of the first received row among this one and all that were sent behind it.
    least = np.minimum.accumulate(received[::-1])[::-1]
    places = np.argsort(received)
    by_position = received[places]
    for position, start in zip(waiting.tolist(), np.searchsorted(positions[order], waiting).tolist(), strict=True):
        place = int(order[places[np.searchsorted(by_position, least[start])]])
        row = row_at(rows, place)
        state.skipped[position] = min(row, state.skipped.get(position, row))
