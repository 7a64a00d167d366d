"""Scopes of generalized watermarks."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope, counted
from tidegate.reference.elements import Long
from tidegate.reference.watermarks import generalized_watermarks as generalized


def make_scope(channels: int, numbers: int) -> Scope:
    places = range(channels + 1)
    events: tuple[generalized.Event, ...] = (
        *(generalized.ChannelNumber(one, Long(value)) for one, value in product(places, range(numbers))),
        *(generalized.ChannelTruth(one, value) for one, value in product(places, (False, True))),
    )
    return Scope(
        name=f"{channels}x{numbers}",
        component="generalized_watermarks",
        configs=tuple(
            generalized.Config(channels, combination, wait)
            for combination, wait in product(generalized.COMBINATIONS, (False, True))
            if not (wait and combination == "aligned")
        ),
        alphabet=lambda _config, _state: events,
        covers=(
            f"every combination of {counted(channels, 'channel')}, numbers below {numbers} and truth values; refused: "
            "a channel that does not exist, values of the other type"
        ),
        symmetric=True,
    )


def small() -> Iterator[Scope]:
    yield make_scope(2, 2)


def thorough() -> Iterator[Scope]:
    yield make_scope(3, 3)
