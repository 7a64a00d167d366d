"""Scopes of the input gate."""

from collections.abc import Iterator

from properties.scopes.scope import Scope
from reference.gate import Arrive, Config, Event, Item, Poll, State


def make_scope(channels: int, most_waiting: int) -> Scope:
    events: tuple[Event, ...] = (
        *(Arrive(channel, item) for channel in range(channels) for item in Item),
        Poll(),
        Arrive(channels, Item.DATA),
        Arrive(-1, Item.END_OF_PARTITION),
    )

    def expand(state: State) -> bool:
        return all(len(channel.waiting) <= most_waiting for channel in state.channels)

    return Scope(
        name=f"{channels}x{most_waiting}",
        component="gate",
        configs=(Config(channels),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"{channels} channels; data, end of data and end of partition on each, polls; refused: what comes after "
            "an end, and on channels out of range"
        ),
        cap=f"at most {most_waiting} items waiting in a channel",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope(2, 2)
    yield make_scope(3, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(2, 3)
    yield make_scope(3, 2)
