"""Scopes of a channel with recovered data."""

from collections.abc import Iterator

from tidegate.properties.cases.handed_over.draw import EVENTS
from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.recovery import handed_over as handed


def make_scope(recovered: int, items: int) -> Scope:
    """At most `items` of each kind wait with the producer."""

    def alphabet(_config: handed.Config, state: handed.State) -> tuple[handed.Event, ...]:
        full = {"data": state.data >= items, "barrier": state.barriers >= items}
        return tuple(event for name, event in EVENTS.items() if not full.get(name, False))

    return Scope(
        name=f"{recovered}-recovered",
        component="handed_over",
        configs=(handed.Config(recovered),),
        alphabet=alphabet,
        covers=f"{counted(recovered, 'recovered buffer')}, up to {items} of each kind with the producer, every event",
    )


def small() -> Iterator[Scope]:
    yield make_scope(2, 1)


def thorough() -> Iterator[Scope]:
    yield make_scope(3, 2)
