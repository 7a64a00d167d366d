"""Scopes of the credit receiver."""

from collections.abc import Iterator

from properties.scopes.scope import Scope
from reference.credit.receiver import (
    Announce,
    Backlog,
    Barrier,
    Config,
    Data,
    Event,
    PlainEvent,
    Recycle,
    Resume,
    State,
)


def make_alphabet(channels: int, most_backlog: int) -> tuple[Event, ...]:
    """Every event on every channel, and those that must be refused whatever the state."""
    return (
        *(event for channel in range(channels) for event in events_on(channel, most_backlog)),
        Data(0, -1),
        PlainEvent(0, -1),
        Backlog(0, 0),
        Data(channels, 0),
        Announce(-1),
    )


def events_on(channel: int, most_backlog: int) -> tuple[Event, ...]:
    return (
        *(Data(channel, backlog) for backlog in range(most_backlog + 1)),
        *(PlainEvent(channel, backlog) for backlog in range(most_backlog + 1)),
        *(Backlog(channel, backlog) for backlog in range(1, most_backlog + 1)),
        Recycle(channel),
        Announce(channel),
        Barrier(channel),
        Resume(channel),
    )


def make_scope(channels: int, exclusive: int, floating: int, most_backlog: int, most_unannounced: int) -> Scope:
    events = make_alphabet(channels, most_backlog)

    def expand(state: State) -> bool:
        return all(channel.unannounced <= most_unannounced for channel in state.gate.channels)

    return Scope(
        name=f"{channels}x{exclusive}+{floating}",
        component="credit_receiver",
        configs=(Config(channels, exclusive, floating),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{channels} channels with {exclusive} exclusive buffers each and {floating} floating ones; data, events "
            f"and announcements with a backlog of up to {most_backlog}, recycle, announce, barrier, resume; refused: "
            "backlogs too low, data without a buffer, nothing to recycle, channels out of range"
        ),
        cap=f"at most {most_unannounced} credit not announced",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 0, 1, 1, 2)
    yield make_scope(1, 1, 1, 1, 2)
    yield make_scope(1, 2, 2, 2, 2)
    yield make_scope(2, 0, 1, 1, 2)
    yield make_scope(2, 1, 1, 1, 2)
    yield make_scope(2, 0, 2, 2, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope(2, 0, 2, 2, 3)
    yield make_scope(2, 1, 2, 2, 3)
    yield make_scope(3, 0, 1, 1, 2)
    yield make_scope(3, 1, 1, 1, 2)
