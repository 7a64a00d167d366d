"""Scopes of the gate with priorities.

Sequence numbers go on for ever, so few items are counted: that is the cap.
"""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.gate.gate import Poll
from tidegate.reference.gate.priority_gate import values as priority_gate

ITEMS = (priority_gate.Item.DATA, priority_gate.Item.PRIORITY, priority_gate.Item.BARRIER)
ENDS = (priority_gate.Item.DATA, priority_gate.Item.END_OF_DATA, priority_gate.Item.END_OF_PARTITION)

CLOSED = (priority_gate.Item.PRIORITY, priority_gate.Item.END_OF_PARTITION)


def make_scope(
    name: str, config: priority_gate.Config, items: tuple[priority_gate.Item, ...], arrived: int, *, races: bool = False
) -> Scope:
    first = config.first
    closes = config.extension == priority_gate.CLOSING
    events: list[priority_gate.Event] = [
        *((priority_gate.Close(), priority_gate.AskUnfinished()) if closes else ()),
        Poll(),
        priority_gate.Arrive(config.channels, priority_gate.Item.DATA),
        priority_gate.Arrive(-1, priority_gate.Item.DATA),
    ]
    for channel in range(config.channels):
        events += [priority_gate.Arrive(channel, item) for item in items]
        events += [priority_gate.Notify(channel)]
        events += (
            [
                priority_gate.Force(channel),
                priority_gate.NotifyPriority(channel, first),
                priority_gate.NotifyPriority(channel, first + 1),
            ]
            if races
            else []
        )

    def expand(state: priority_gate.State) -> bool:
        return sum(channel.expected - first for channel in state.channels) <= arrived

    late = f"{', late notifications, force' * races}{', closed at any time, asked who has not ended' * closes}"
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
    yield make_scope("races", priority_gate.Config(1), ITEMS, 2, races=True)
    yield make_scope("overtaking", priority_gate.Config(2), (priority_gate.Item.DATA, priority_gate.Item.PRIORITY), 2)
    yield make_scope("ends", priority_gate.Config(1, subpartitions=2), ENDS, 3)
    yield make_scope("closing", priority_gate.Config(1, subpartitions=2, extension=priority_gate.CLOSING), CLOSED, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope("races", priority_gate.Config(1), ITEMS, 3, races=True)
    yield make_scope("overtaking", priority_gate.Config(2), ITEMS, 3)
    yield make_scope("ends", priority_gate.Config(2, subpartitions=2), ENDS, 3)
    yield make_scope("closing", priority_gate.Config(2, extension=priority_gate.CLOSING), (*CLOSED, *ITEMS[:1]), 2)
