"""Scopes of statuses and latency markers through a task.

The channel of a latency marker is free; any allowed one counts as the same answer.
"""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.properties.cases.timestamps import order_preserving, small_timestamps
from tidegate.reference.elements import Status
from tidegate.reference.watermarks.statuses import SEMANTICS, Config, Event, LatencyMarker, Record
from tidegate.reference.watermarks.valve import ChannelStatus, ChannelWatermark


def make_scope(channels: int, outputs: int, timestamps: int) -> Scope:
    events: list[Event] = [Record(channels), LatencyMarker(-1)]
    for channel in range(channels):
        events += [Record(channel), LatencyMarker(channel)]
        events += [ChannelWatermark(channel, timestamp) for timestamp in small_timestamps(timestamps)]
        events += [ChannelStatus(channel, status) for status in Status]
    return Scope(
        name=f"{channels}x{outputs}x{timestamps}",
        component="statuses",
        configs=tuple(Config(channels, 2, outputs, semantics) for semantics in SEMANTICS),
        alphabet=lambda _config, _state: tuple(events),
        covers=(
            f"{counted(channels, 'channel')}, 2 operators, {counted(outputs, 'output channel')}, "
            f"{counted(timestamps, 'timestamp')}, both semantics; records, watermarks, statuses, latency markers "
            "(their channel is free); refused: channels out of range"
        ),
        concretions=order_preserving(timestamps, every=29),
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 0, 2)
    yield make_scope(2, 2, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(2, 3, 2)
    yield make_scope(3, 1, 2)
