"""The queues of the gate with priorities: that of a channel, and that of the gate."""

import attrs

from tidegate.reference.gate.priority_gate.values import OVERTAKING, Channel, Item, Received, State
from tidegate.reference.gate.sequence_numbers import wrap
from tidegate.reference.tuples import replace


def receive(channel: Channel, item: Item) -> Channel:
    """GATE-10, GATE-14: what has priority goes behind the last that has; all else, and the announced, to the end."""
    number, waiting = channel.expected, channel.waiting
    urgent = count_urgent(channel)
    if item is Item.PRIORITY:
        waiting = (*waiting[:urgent], Received(item, number), *waiting[urgent:])
    elif item is Item.BARRIER:
        announcement = Received(Item.ANNOUNCEMENT, number)
        waiting = (*waiting[:urgent], announcement, *waiting[urgent:], Received(item, number))
    else:
        waiting = (*waiting, Received(item, number))
    return attrs.evolve(
        channel,
        expected=wrap(number + 1),
        waiting=waiting,
        data_ends=channel.data_ends + (item is Item.END_OF_DATA),
        ends=channel.ends + (item is Item.END_OF_PARTITION),
    )


def put_back(state: State, index: int) -> State:
    """GATE-5: a channel that has more goes behind all others, or behind the last with priority."""
    waiting = state.channels[index].waiting
    if not waiting:
        return state
    return prioritise(state, index) if waiting[0].item in OVERTAKING else enqueue(state, index)


def enqueue(state: State, index: int) -> State:
    """GATE-1: at the end, unless it is queued already or over."""
    if index in state.urgent or index in state.queue or is_over(state, index):
        return state
    return attrs.evolve(state, queue=(*state.queue, index))


def prioritise(state: State, index: int) -> State:
    """GATE-12: to the end of those with priority, from wherever it was; unless it is among them, or over."""
    if index in state.urgent or is_over(state, index):
        return state
    queue = tuple(other for other in state.queue if other != index)
    return attrs.evolve(state, urgent=(*state.urgent, index), queue=queue)


def is_swallowed(state: State, index: int, item: Item) -> bool:
    """GATE-18: an ending that is not the last of its kind, on a channel that several subpartitions share."""
    channel = state.channels[index]
    arrived = {Item.END_OF_DATA: channel.data_ends, Item.END_OF_PARTITION: channel.ends}
    still_waiting = sum(one.item is item for one in channel.waiting)
    return item in arrived and arrived[item] - still_waiting < state.config.subpartitions


def is_over(state: State, index: int) -> bool:
    """The last end of its partitions was polled."""
    channel = state.channels[index]
    return channel.ends == state.config.subpartitions and not channel.waiting


def is_finished(state: State) -> bool:
    return all(is_over(state, index) for index in range(state.config.channels))


def count_urgent(channel: Channel) -> int:
    return sum(received.item in OVERTAKING for received in channel.waiting)


def with_channel(state: State, index: int, channel: Channel) -> State:
    return attrs.evolve(state, channels=replace(state.channels, index, channel))
