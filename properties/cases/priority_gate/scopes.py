"""Scopes of the gate with priorities.

Sequence numbers go on for ever, so few items are counted: that is the cap.
"""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.gate.gate import Poll
from tidegate.reference.gate.priority_gate.values import (
    Arrive,
    Config,
    Event,
    Force,
    Item,
    Notify,
    NotifyPriority,
    State,
)

ITEMS = (Item.DATA, Item.PRIORITY, Item.BARRIER)
ENDS = (Item.DATA, Item.END_OF_DATA, Item.END_OF_PARTITION)


def make_scope(name: str, config: Config, items: tuple[Item, ...], arrived: int, *, races: bool = False) -> Scope:
    first = config.first
    events: list[Event] = [Poll(), Arrive(config.channels, Item.DATA), Arrive(-1, Item.DATA)]
    for channel in range(config.channels):
        events += [Arrive(channel, item) for item in items]
        events += [Notify(channel)]
        events += [Force(channel), NotifyPriority(channel, first), NotifyPriority(channel, first + 1)] if races else []

    def expand(state: State) -> bool:
        return sum(channel.expected - first for channel in state.channels) <= arrived

    late = ", late notifications, force" if races else ""
    return Scope(
        name=name,
        component="priority_gate",
        configs=(config,),
        alphabet=lambda _config, _state: tuple(events),
        covers=(
            f"{counted(config.channels, 'channel')} of {counted(config.subpartitions, 'subpartition')}, numbered from "
            f"{first}; {', '.join(items)} on each, notifications for nothing{late}, polls; refused: what comes after "
            "an end, channels out of range"
        ),
        cap=f"at most {counted(arrived, 'item')} so far",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope("races", Config(1), ITEMS, 2, races=True)
    yield make_scope("overtaking", Config(2), (Item.DATA, Item.PRIORITY), 2)
    yield make_scope("ends", Config(1, subpartitions=2), ENDS, 3)


def thorough() -> Iterator[Scope]:
    yield make_scope("races", Config(1), ITEMS, 3, races=True)
    yield make_scope("overtaking", Config(2), ITEMS, 3)
    yield make_scope("ends", Config(2, subpartitions=2), ENDS, 3)
