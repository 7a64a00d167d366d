"""Scopes of events on their way: there are few."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope
from tidegate.reference.subpartition import event_kinds as events


def small() -> Iterator[Scope]:
    every = tuple(events.PutIntoBuffer(kind, urgent) for kind, urgent in product(events.Kind, (False, True)))
    yield Scope(
        name="every-kind",
        component="event_kinds",
        configs=(events.Config(),),
        alphabet=lambda _config, _state: every,
        covers="every kind of event, with priority and without",
    )


thorough = small
