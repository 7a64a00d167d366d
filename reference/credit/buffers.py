"""The buffers of one gate: a few exclusive ones for each channel, floating ones for any channel, and a queue.

A channel wants one buffer for each data buffer that waits at its sender, and its exclusive ones on top. What it lacks
it takes from the floating buffers. If there is none left it waits in a queue, and a floating buffer that comes back
goes to the channel that has waited longest. Each buffer that a channel gains is credit for its sender.

Choices. Flink 2.3: BufferManager of a RemoteInputChannel, LocalBufferPool of a SingleInputGate. Whether a channel waits
is not a flag of its own: it waits if it stands in the queue.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product

import attrs

from tidegate.reference.claims import law
from tidegate.reference.tuples import replace

#: A backlog that says nothing about the backlog (CREDIT-13).
NO_INFORMATION = -1


class BufferKind(StrEnum):
    """Where a buffer belongs."""

    EXCLUSIVE = "exclusive"
    FLOATING = "floating"


@attrs.frozen
class ChannelBuffers:
    """Free buffers of both kinds, how many are wanted, credit to be announced, and the buffers in use, oldest first.

    `broken`: the network thread can no longer announce its credit; `failed`: it has tried to.
    """

    exclusive: int
    floating: int = 0
    required: int = 0
    unannounced: int = 0
    held: tuple[BufferKind, ...] = ()
    released: bool = False
    broken: bool = False
    failed: bool = False


@attrs.frozen
class Gate:
    """`exclusive` buffers a channel, `free` floating ones, and the channels that wait for one."""

    exclusive: int
    channels: tuple[ChannelBuffers, ...]
    free: int
    waiting: tuple[int, ...] = ()


@attrs.frozen
class Change:
    """The gate after a change, the channels for which a credit notification goes out, and the rules that say so."""

    gate: Gate
    notified: tuple[int, ...] = ()
    rules: tuple[str, ...] = ()


def compute_available(channel: ChannelBuffers) -> int:
    """CREDIT-1."""
    return channel.exclusive + channel.floating


def with_channel(gate: Gate, index: int, channel: ChannelBuffers) -> Gate:
    return attrs.evolve(gate, channels=replace(gate.channels, index, channel))


# --- data comes in -------------------------------------------------------------------------------------------


def take_buffer(gate: Gate, index: int) -> Change:
    """CREDIT-2: a floating buffer first. The channel must have a free one."""
    channel = gate.channels[index]
    kind = BufferKind.FLOATING if channel.floating else BufferKind.EXCLUSIVE
    taken = attrs.evolve(
        channel,
        exclusive=channel.exclusive - (kind is BufferKind.EXCLUSIVE),
        floating=channel.floating - (kind is BufferKind.FLOATING),
        required=channel.required - 1,
        held=(*channel.held, kind),
    )
    return Change(with_channel(gate, index, taken), rules=("CREDIT-2",))


def learn_backlog(change: Change, index: int, backlog: int) -> Change:
    """CREDIT-4: so much data waits at the sender; find buffers for it."""
    if backlog == NO_INFORMATION:
        return attrs.evolve(change, rules=("CREDIT-13", *change.rules))
    gate = change.gate
    channel = attrs.evolve(gate.channels[index], required=backlog + gate.exclusive)
    gate, gained = request_floating(with_channel(gate, index, channel), index)
    rules: tuple[str, ...] = ("CREDIT-4",)
    if gained and backlog == 0:
        rules = ("CREDIT-12", "CREDIT-4")
    elif channel.floating and compute_available(channel) > channel.required:
        rules = ("CREDIT-11", "CREDIT-4")
    return gain(Change(gate, change.notified, (*rules, *change.rules)), index, gained)


def request_floating(gate: Gate, index: int) -> tuple[Gate, int]:
    """CREDIT-4: take what is missing and free; wait for the rest. A channel that waits already takes nothing."""
    channel = gate.channels[index]
    missing = channel.required - compute_available(channel)
    if missing <= 0 or index in gate.waiting:
        return gate, 0
    gained = min(missing, gate.free)
    waiting = gate.waiting if gained == missing else (*gate.waiting, index)
    gate = with_channel(gate, index, attrs.evolve(channel, floating=channel.floating + gained))
    return attrs.evolve(gate, free=gate.free - gained, waiting=waiting), gained


def gain(change: Change, index: int, count: int) -> Change:
    """CREDIT-5: credit to be announced. One notification is enough until the announcement is made."""
    if count == 0:
        return change
    channel = change.gate.channels[index]
    notified = change.notified if channel.unannounced else (*change.notified, index)
    gate = with_channel(change.gate, index, attrs.evolve(channel, unannounced=channel.unannounced + count))
    return Change(gate, notified, (*change.rules, "CREDIT-5"))


# --- buffers come back ---------------------------------------------------------------------------------------


def recycle(gate: Gate, index: int) -> Change:
    """The oldest buffer in use comes back. There must be one."""
    channel = gate.channels[index]
    kind, *held = channel.held
    return give_back(with_channel(gate, index, attrs.evolve(channel, held=tuple(held))), index, kind)


def give_back(gate: Gate, index: int, kind: BufferKind) -> Change:
    """CREDIT-8: a floating buffer goes back to all, an exclusive one to its channel, while there is one."""
    channel = gate.channels[index]
    if kind is BufferKind.FLOATING:
        return return_floating(Change(gate, rules=("CREDIT-8",)))
    if channel.released:
        return Change(gate, rules=("CREDIT-16",))
    return return_exclusive(gate, index, attrs.evolve(channel, exclusive=channel.exclusive + 1))


def return_exclusive(gate: Gate, index: int, channel: ChannelBuffers) -> Change:
    """CREDIT-7: a channel that has more than it needs gives a floating buffer back instead of granting credit."""
    if channel.floating and compute_available(channel) > channel.required:
        surplus = attrs.evolve(channel, floating=channel.floating - 1)
        return return_floating(Change(with_channel(gate, index, surplus), rules=("CREDIT-7",)))
    satisfied = index in gate.waiting and compute_available(channel) >= channel.required
    rules = ("CREDIT-7", "CREDIT-10") if satisfied else ("CREDIT-7",)
    return gain(Change(with_channel(gate, index, channel), rules=rules), index, 1)


def return_floating(change: Change) -> Change:
    """CREDIT-9: hand the buffer to the longest-waiting channel that still wants it, or keep it free."""
    gate, rules = change.gate, change.rules
    while gate.waiting:
        index, *rest = gate.waiting
        gate = attrs.evolve(gate, waiting=tuple(rest))
        channel = gate.channels[index]
        if channel.released or compute_available(channel) >= channel.required:
            rules = ("CREDIT-10", *rules)
            continue
        gate = with_channel(gate, index, attrs.evolve(channel, floating=channel.floating + 1))
        gate, more = request_floating(gate, index)
        return gain(Change(gate, change.notified, ("CREDIT-9", *rules)), index, 1 + more)
    return Change(attrs.evolve(gate, free=gate.free + 1), change.notified, rules)


# --- a channel gives up what it has --------------------------------------------------------------------------


def return_all_floating(change: Change, index: int) -> Change:
    """The channel's free floating buffers go back, one by one."""
    while (channel := change.gate.channels[index]).floating:
        fewer = attrs.evolve(channel, floating=channel.floating - 1)
        change = return_floating(attrs.evolve(change, gate=with_channel(change.gate, index, fewer)))
    return change


def block(gate: Gate, index: int) -> Change:
    """CREDIT-14: a channel that no data will come from keeps no floating buffer, if it has to live from those alone."""
    if gate.exclusive > 0:
        return Change(gate, rules=("CREDIT-3",))
    idle = attrs.evolve(gate.channels[index], required=0)
    return return_all_floating(Change(with_channel(gate, index, idle), rules=("CREDIT-3",)), index)


def release(gate: Gate, index: int, in_use: int) -> Change:
    """CREDIT-16: all buffers go back but the oldest `in_use` ones, which the consumer is still reading."""
    channel = gate.channels[index]
    keeps = channel.held[:in_use]
    queued = channel.held[in_use:].count(BufferKind.FLOATING)
    emptied = attrs.evolve(channel, exclusive=0, floating=channel.floating + queued, held=keeps, released=True)
    return return_all_floating(Change(with_channel(gate, index, emptied), rules=("CREDIT-16",)), index)


# --- laws -----------------------------------------------------------------------------------------------------


def take_and_drop(gate: Gate, index: int, backlog: int) -> Gate:
    """CREDIT-28: an empty data buffer takes a buffer like any other, gives it back at once, then tells its backlog."""
    taken = take_buffer(gate, index).gate
    *held, newest = taken.channels[index].held
    taken = with_channel(taken, index, attrs.evolve(taken.channels[index], held=tuple(held)))
    return learn_backlog(give_back(taken, index, newest), index, backlog).gate


def small_gates() -> Iterator[tuple[Gate, int, int]]:
    """Two channels that have learnt of a backlog, one after the other, and received some of it."""
    for exclusive, floating, first, second, received, index in product(
        (0, 1, 2), (1, 3), (0, 2), (0, 3), (0, 1, 2), (0, 1)
    ):
        gate = Gate(exclusive, (ChannelBuffers(exclusive), ChannelBuffers(exclusive)), floating)
        gate = learn_backlog(Change(gate), 0, first).gate
        gate = learn_backlog(Change(gate), 1, second).gate
        for _ in range(min(received, compute_available(gate.channels[index]))):
            gate = learn_backlog(take_buffer(gate, index), index, first).gate
        yield from ((gate, index, number) for number in (0, 1, 2))


@law("CREDIT-28", samples=small_gates)
def empty_data_loses_no_buffer(gate: Gate, index: int, backlog: int) -> bool:
    """An empty data buffer uses one credit, and the buffer that it was granted for is granted anew or goes back."""
    if compute_available(gate.channels[index]) == 0:
        return True
    after = take_and_drop(gate, index, backlog)
    spent = [
        compute_available(old) - old.unannounced - compute_available(new) + new.unannounced
        for old, new in zip(gate.channels, after.channels, strict=True)
    ]
    conserved = (
        count_floating(after) == count_floating(gate) and after.channels[index].held == gate.channels[index].held
    )
    return conserved and spent == [int(one == index) for one in range(len(spent))]


@law("CREDIT-13", samples=small_gates)
def no_information_changes_no_plan(gate: Gate, index: int, _backlog: int) -> bool:
    """Data that says nothing about the backlog takes its buffer and lowers by one how many are wanted; that is all."""
    channel = gate.channels[index]
    if compute_available(channel) == 0:
        return True
    change = learn_backlog(take_buffer(gate, index), index, NO_INFORMATION)
    after = change.gate.channels[index]
    same_elsewhere = change.gate.free == gate.free and change.gate.waiting == gate.waiting and not change.notified
    return same_elsewhere and after.required == channel.required - 1


@law("CREDIT-16", samples=small_gates)
def release_gives_everything_back(gate: Gate, index: int, in_use: int) -> bool:
    """A released channel returns all its buffers, takes none that is handed over, and loses none that was in use.

    At once but for what the consumer reads, and then that too; no hand-over reaches the channel any more.
    """
    released = release(gate, index, in_use).gate
    kept = released.channels[index]
    while released.channels[index].held:
        released = recycle(released, index).gate
    declined = return_floating(Change(attrs.evolve(released, waiting=(index,)))).gate
    gone = declined.channels[index]
    return (
        compute_available(kept) == compute_available(gone) == 0
        and len(kept.held) == min(in_use, len(gate.channels[index].held))
        and count_floating(released) == count_floating(gate)
        and declined.free == released.free + 1
    )


def count_floating(gate: Gate) -> int:
    held = sum(channel.held.count(BufferKind.FLOATING) for channel in gate.channels)
    return gate.free + held + sum(channel.floating for channel in gate.channels)
