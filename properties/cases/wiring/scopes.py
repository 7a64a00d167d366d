"""Scopes of the wiring. It has no state, so a scope is a list of pairs; each is wired twice."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope
from tidegate.reference.partitioning.wiring import WIRED_OTHERWISE_IN_1_5, Config, Event, Pattern, State, Wire

#: Pairs that releases with float arithmetic wired past the last consumer.
WIRED_TOO_FAR = ((7, 57), (7, 114), (11, 29), (11, 47), (13, 14), (13, 28))


def wire(_config: Config, _state: State) -> tuple[Event, ...]:
    return (Wire(),)


def make_scopes(most_pointwise: int, most_all_to_all: int) -> Iterator[Scope]:
    square = set(product(range(1, most_pointwise + 1), repeat=2))
    known = (*sorted(WIRED_OTHERWISE_IN_1_5), *WIRED_TOO_FAR)
    further = {(one, other) for pair in known for one, other in (pair, pair[::-1])} - square
    yield Scope(
        name="pointwise",
        component="wiring",
        configs=tuple(Config(Pattern.POINTWISE, *pair) for pair in (*sorted(square), *sorted(further))),
        alphabet=wire,
        covers=(
            f"pointwise, all pairs of 1 to {most_pointwise} producers and consumers, and {len(further)} larger ones "
            "that float arithmetic gets wrong, both ways round"
        ),
        extra_states=1,
    )
    wide = ((2, 300), (300, 2))
    yield Scope(
        name="all-to-all",
        component="wiring",
        configs=tuple(
            Config(Pattern.ALL_TO_ALL, *pair) for pair in (*product(range(1, most_all_to_all + 1), repeat=2), *wide)
        ),
        alphabet=wire,
        covers=f"all to all, all pairs of 1 to {most_all_to_all} producers and consumers, and 2 with 300",
        extra_states=1,
    )


def small() -> Iterator[Scope]:
    return make_scopes(12, 6)


def thorough() -> Iterator[Scope]:
    return make_scopes(64, 12)
