"""Scopes of the union gate."""

from collections.abc import Iterator

from tidegate.properties.cases.scope import Scope
from tidegate.reference.gate.gate import Poll
from tidegate.reference.gate.union_gate import Arrive, Config, Event, Item, State


def make_scope(members: tuple[int, ...], most_waiting: int, items: tuple[Item, ...] = tuple(Item)) -> Scope:
    places = [(member, channel) for member, channels in enumerate(members) for channel in range(channels)]
    events: tuple[Event, ...] = (
        *(Arrive(member, channel, item) for member, channel in places for item in items),
        Poll(),
        Arrive(len(members), 0, Item.DATA),
        Arrive(-1, 0, Item.DATA),
        Arrive(0, members[0], Item.DATA),
    )

    def expand(state: State) -> bool:
        return all(len(channel.waiting) <= most_waiting for member in state.members for channel in member.gate.channels)

    return Scope(
        name=f"{'+'.join(map(str, members))}x{most_waiting}" + ("" if items == tuple(Item) else "-" + "-".join(items)),
        component="union_gate",
        configs=(Config(members),),
        alphabet=lambda _config, _state: events,
        covers=(
            f"members of {' and '.join(map(str, members))} channels; {', '.join(items)} on each, polls; refused: what "
            "comes after an end, members and channels out of range"
        ),
        cap=f"at most {most_waiting} waiting in a channel",
        expand=expand,
    )


def small() -> Iterator[Scope]:
    yield make_scope((1, 1), 1)
    yield make_scope((1, 2), 1, (Item.DATA,))


def thorough() -> Iterator[Scope]:
    yield make_scope((1, 1), 2)
    yield make_scope((2, 1), 1, (Item.DATA, Item.END_OF_PARTITION))
    yield make_scope((1, 1, 1), 1, (Item.DATA, Item.END_OF_DATA))
