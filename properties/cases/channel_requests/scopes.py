"""Scopes of what is asked of channels."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope
from tidegate.reference.input import channel_requests as requests
from tidegate.reference.input.channel_requests import Kind


def make_scope(kinds: tuple[Kind, ...], most: int) -> Scope:
    shared: tuple[requests.Event, ...] = (
        requests.RequestPartitions(),
        requests.AnnounceSize(7),
        requests.StartCheckpoint(),
        requests.MeasureGate(),
    )
    of_channels: list[requests.Event] = []
    for channel in range(len(kinds) + 1):
        backlog = 0 if channel < len(kinds) and kinds[channel] is Kind.LOCAL else 1
        of_channels += [
            requests.DataArrives(channel, 1, backlog),
            requests.DataArrives(channel, 2),
            requests.BarrierArrives(channel, 64),
            requests.EndArrives(channel),
            requests.ReadChannel(channel),
            requests.ResumeChannel(channel),
            requests.AnnounceSize(9, channel),
            requests.ReleasePartition(channel),
            requests.ReleaseChannel(channel),
        ]
    return Scope(
        name="-".join(kinds),
        component="channel_requests",
        configs=(requests.Config(kinds),),
        alphabet=lambda _config, _state: (*shared, *of_channels),
        covers=f"channels that are {', '.join(kinds)}; refused: channels that do not exist, requests at a wrong time",
        expand=lambda state: sum(len(channel.queue) for channel in state.channels) <= most,
        cap=f"at most {most + 1} items queued",
    )


def small() -> Iterator[Scope]:
    yield make_scope((Kind.REMOTE,), 2)
    yield make_scope((Kind.LOCAL,), 2)
    yield make_scope((Kind.UNKNOWN,), 1)
    yield make_scope((Kind.REMOTE, Kind.RECOVERING), 1)


def thorough() -> Iterator[Scope]:
    yield make_scope((Kind.REMOTE, Kind.LOCAL), 1)
