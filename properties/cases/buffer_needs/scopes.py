"""Scopes of the buffers that are needed."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope
from tidegate.reference.pools import buffer_needs as needs


def make_scope(name: str, counts: tuple[int, ...], limits: tuple[int | None, ...]) -> Scope:
    events: tuple[needs.Event, ...] = (
        *(needs.AskForPartition(result, count) for result, count in product(needs.Result, counts)),
        *(needs.AskForGate(result, count) for result, count in product(needs.Result, counts)),
    )
    return Scope(
        name=name,
        component="buffer_needs",
        configs=tuple(needs.Config(own, floating, limit) for own, floating, limit in product((0, 2), (1, 8), limits)),
        alphabet=lambda _config, _state: events,
        covers=f"partitions and gates of {', '.join(map(str, counts))}, with and without a limit",
    )


def small() -> Iterator[Scope]:
    yield make_scope("few-and-many", (1, 3, 499, 500), (None, 1, 4))


def thorough() -> Iterator[Scope]:
    yield make_scope("all-limits", (1, 2, 3, 333, 499, 500, 1000), (None, 1, 2, 3, 4, 1000))
