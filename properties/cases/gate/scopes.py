"""Scopes of the input gate."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope, counted
from tidegate.properties.complete.cover import EACH_CLASS, EACH_STATE, Selection, up_to_numbers
from tidegate.reference.gate.gate import SYMMETRY, Arrive, Config, Event, Item, Poll, State

UP_TO_NAMES = up_to_numbers(SYMMETRY)


def make_scope(channels: int, most_waiting: int, selection: Selection = EACH_CLASS) -> Scope:
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
            f"{counted(channels, 'channel')}; data, end of data and end of partition on each, polls; refused: "
            "what comes after an end, and on channels out of range"
        ),
        cap=f"at most {counted(most_waiting, 'item')} waiting in a channel",
        expand=expand,
        selection=selection,
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    yield make_scope(1, 3, EACH_STATE)
    yield make_scope(2, 2, EACH_STATE)
    yield make_scope(3, 1, UP_TO_NAMES)


def thorough() -> Iterator[Scope]:
    yield make_scope(1, 4, EACH_STATE)
    yield make_scope(2, 3)
    yield make_scope(3, 1)
    yield make_scope(3, 2, UP_TO_NAMES)
