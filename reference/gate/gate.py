"""The input gate: one sequence of items out of many channels, fair to each of them.

Items wait in their channels. Channels that have some wait in a queue, each at most once; a poll serves the channel at
the head and puts it back at the tail if it has more. So a channel that always has data delays the others by one item
a round, and no more. Whoever polls is told when there is something to poll after there was nothing, and with each
item whether there is more.

Choices. Channels behave as remote ones: they report to the gate when their first item arrives, and not again until
they are empty (SingleInputGate, RemoteInputChannel). An item is either data or one of two endings: end of data (the
producer has no more records) and end of partition (the channel is over).
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import product
from typing import Annotated, ClassVar

import attrs

from tidegate.reference.claims import always, law, sometimes
from tidegate.reference.elements import Index, Nothing, Parts, Position, at_least
from tidegate.reference.gate import end_of_data
from tidegate.reference.model import Component, Order, Outcome, Symmetry, rejected
from tidegate.reference.tuples import rearrange, replace, sorting

# --- config ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Config:
    """A gate over several channels."""

    channels: Parts = attrs.field(validator=at_least(1))


# --- state ----------------------------------------------------------------------------------------------------


class Item(StrEnum):
    DATA = "data"
    END_OF_DATA = "end_of_data"
    END_OF_PARTITION = "end_of_partition"


@attrs.frozen
class Channel:
    """What has arrived and was not polled yet, oldest first; and which endings have arrived, polled or not."""

    waiting: tuple[Item, ...] = ()
    data_ended: bool = False
    ended: bool = False


@attrs.frozen
class State:
    """`queue` are the channels that have something, in the order in which they will be served."""

    config: Config
    channels: tuple[Channel, ...]
    queue: tuple[int, ...] = ()
    available: bool = False


# --- events ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Arrive:
    """An item comes in on a channel. After `end_of_partition` all is rejected, and so is a second `end_of_data`."""

    type: ClassVar[str] = "arrive"
    channel: Index
    item: Annotated[
        Item,
        "What comes in. Data may follow the end of data, and the end of the partition needs none before it.",
    ]


@attrs.frozen
class Poll:
    """The consumer asks for the next item."""

    type: ClassVar[str] = "poll"


Event = Arrive | Poll

# --- observations ---------------------------------------------------------------------------------------------


@attrs.frozen
class Available:
    """There is something to poll, after there was nothing."""

    type: ClassVar[str] = "available"


@attrs.frozen
class Polled:
    """An item is handed out; `more` tells whether another poll would give one too."""

    type: ClassVar[str] = "item"
    channel: Position
    item: Annotated[Item, "What it is."]
    more: Annotated[
        bool,
        "Whether some channel is still queued, the item's own included; false with the last end of partition.",
    ]


@attrs.frozen
class Finished:
    """Every channel is over, and with them the gate."""

    type: ClassVar[str] = "finished"


Observation = Available | Polled | Nothing | Finished

# --- start ----------------------------------------------------------------------------------------------------


def start(config: Config) -> tuple[State, ...]:
    """Nothing has arrived."""
    return (State(config, (Channel(),) * config.channels),)


# --- step -----------------------------------------------------------------------------------------------------


def step(state: State, event: Event) -> tuple[Outcome[State, Observation], ...]:
    if isinstance(event, Poll):
        return (on_poll(state),)
    return on_arrive(state, event.channel, event.item)


def on_arrive(state: State, index: int, item: Item) -> tuple[Outcome[State, Observation], ...]:
    if not 0 <= index < state.config.channels:
        return rejected(state, "GATE-1")
    channel = state.channels[index]
    if channel.ended:
        return rejected(state, "GATE-16")
    if item is Item.END_OF_DATA and channel.data_ended:
        return rejected(state, "GATE-15")
    data_ended = channel.data_ended or item is Item.END_OF_DATA
    longer = Channel((*channel.waiting, item), data_ended, ended=item is Item.END_OF_PARTITION)
    channels = replace(state.channels, index, longer)
    if channel.waiting:
        return (Outcome(State(state.config, channels, state.queue, state.available), (), ("GATE-3", "GATE-1")),)
    queued = State(state.config, channels, (*state.queue, index), available=True)
    signal = () if state.queue else (Available(),)
    return (Outcome(queued, signal, ("GATE-2", "GATE-1", "GATE-3")),)


def on_poll(state: State) -> Outcome[State, Observation]:
    if is_finished(state):
        return Outcome(state, (Nothing(),), ("GATE-17", "GATE-4"))
    if not state.queue:
        return Outcome(State(state.config, state.channels, (), available=False), (Nothing(),), ("GATE-4", "GATE-7"))
    index, *others = state.queue
    channel = state.channels[index]
    item, *rest = channel.waiting
    channels = replace(state.channels, index, Channel(tuple(rest), channel.data_ended, channel.ended))
    queue = (*others, index) if rest else tuple(others)
    served = State(state.config, channels, queue, available=bool(queue))
    if is_finished(served):
        for_ever = State(state.config, channels, queue, available=True)
        return Outcome(for_ever, (Polled(index, item, more=False), Finished()), ("GATE-17", "GATE-16", "GATE-5"))
    rules = ["GATE-5"]
    if item is Item.END_OF_PARTITION:
        rules.insert(0, "GATE-16")
    if item is Item.END_OF_DATA:
        rules.append("GATE-15")
    if others:
        rules.append("GATE-8")
    if rest:
        rules.append("GATE-9")
    if not queue:
        rules.append("GATE-7")
    return Outcome(served, (Polled(index, item, more=bool(queue)),), tuple(rules))


def is_finished(state: State) -> bool:
    """GATE-17: the end of every channel was polled."""
    return all(channel.ended and not channel.waiting for channel in state.channels)


# --- claims ---------------------------------------------------------------------------------------------------


def polled_item(outcome: Outcome[State, Observation]) -> Polled | None:
    return next((seen for seen in outcome.observations if isinstance(seen, Polled)), None)


@always("GATE-1", "GATE-3")
def queue_holds_who_has_something(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The queue holds every channel that has an item, once, and no other."""
    state = outcome.state
    return sorted(state.queue) == [index for index, channel in enumerate(state.channels) if channel.waiting]


@always("GATE-7", "GATE-4")
def available_with_something(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The gate is available exactly while a channel is queued, and for ever once it is finished."""
    return outcome.state.available == (bool(outcome.state.queue) or is_finished(outcome.state))


@always("GATE-2")
def signals_each_rise(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Becoming available is signalled, each time."""
    return (Available() in outcome.observations) == (outcome.state.available and not before.available)


@always("GATE-5", "GATE-9")
def one_item_of_one_channel(before: State, event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A poll takes the oldest item of one channel if any has one, and leaves all the others."""
    if isinstance(event, Arrive):
        return True
    polled = polled_item(outcome)
    taken = [(polled.item,) if polled and polled.channel == index else () for index in range(before.config.channels)]
    kept = [channel.waiting for channel in outcome.state.channels]
    had = [channel.waiting for channel in before.channels]
    return had == [one + rest for one, rest in zip(taken, kept, strict=True)] and bool(polled) == bool(before.queue)


@always("GATE-8", "GATE-5")
def serves_the_head(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The head is served, the others move up by one, and the item says truly whether there is more."""
    polled = polled_item(outcome)
    if polled is None:
        return True
    after = outcome.state.queue
    moved_up = after[: len(before.queue) - 1] == before.queue[1:]
    return polled.channel == before.queue[0] and moved_up and polled.more == bool(after)


@always("GATE-16")
def nothing_after_the_end(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """Nothing waits behind a partition's end."""
    return all(Item.END_OF_PARTITION not in channel.waiting[:-1] for channel in outcome.state.channels)


@always("GATE-17")
def finishes_once(before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The gate finishes with the last end of partition."""
    return (Finished() in outcome.observations) == (is_finished(outcome.state) and not is_finished(before))


@sometimes("GATE-8")
def the_turn_passes_on(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """A channel that has more goes behind another one."""
    polled = polled_item(outcome)
    return polled is not None and polled.channel in outcome.state.queue[1:]


@sometimes("GATE-17")
def all_channels_end(_before: State, _event: Event, outcome: Outcome[State, Observation]) -> bool:
    """The gate finishes."""
    return Finished() in outcome.observations


# --- laws -----------------------------------------------------------------------------------------------------


def waiting_counts() -> Iterator[tuple[int, ...]]:
    yield from product(range(4), repeat=3)


@law("GATE-8", samples=waiting_counts)
def in_rounds(*waiting: int) -> bool:
    """Each channel gets out one item a round.

    With so many items waiting, the order is: the first item of each channel, then the second of each ...
    """
    channels = tuple(Channel((Item.DATA,) * count) for count in waiting)
    state = State(Config(len(waiting)), channels, tuple(i for i, count in enumerate(waiting) if count), available=True)
    served = []
    for _item in range(sum(waiting)):
        outcome = on_poll(state)
        polled = polled_item(outcome)
        served.append(polled.channel if polled else None)
        state = outcome.state
    rounds = [(number, channel) for channel, count in enumerate(waiting) for number in range(count)]
    return served == [channel for _number, channel in sorted(rounds)]


# --- symmetry -------------------------------------------------------------------------------------------------


def rearrange_channels(state: State, order: Order) -> State:
    queue = tuple(order.index(channel) for channel in state.queue)
    return State(state.config, rearrange(state.channels, order), queue, state.available)


def sort_channels(state: State) -> Order:
    """Those in the queue first, as they stand there."""
    others = [index for index in range(len(state.channels)) if index not in state.queue]
    ended = [(state.channels[index].data_ended, state.channels[index].ended) for index in others]
    return (*state.queue, *rearrange(tuple(others), sorting(ended)))


SYMMETRY = Symmetry("channels", "channel", rearrange_channels, sort_channels)

COMPONENT = Component.of(__name__, end_of_data, title="The input gate")
