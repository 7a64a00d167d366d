"""Scopes of the wiring. It has no state, so a scope is a list of pairs; each is wired twice."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope
from tidegate.reference.partitioning.wiring import (
    DYNAMIC,
    WIRED_OTHERWISE_IN_1_5,
    Broadcast,
    Config,
    Event,
    Pattern,
    State,
    Wire,
    WireDynamic,
)

#: Pairs that releases with float arithmetic wired past the last consumer.
WIRED_TOO_FAR = ((7, 57), (7, 114), (11, 29), (11, 47), (13, 14), (13, 28))


def wire(_config: Config, _state: State) -> tuple[Event, ...]:
    return (Wire(),)


def make_scopes(most_pointwise: int, most_all_to_all: int) -> Iterator[Scope]:
    sides = range(1, most_pointwise + 1)
    square = set(product(sides, sides))
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
    narrow, wide = range(1, most_all_to_all + 1), ((2, 300), (300, 2))
    yield Scope(
        name="all-to-all",
        component="wiring",
        configs=tuple(Config(Pattern.ALL_TO_ALL, *pair) for pair in (*product(narrow, narrow), *wide)),
        alphabet=wire,
        covers=f"all to all, all pairs of 1 to {most_all_to_all} producers and consumers, and 2 with 300",
        extra_states=1,
    )


def make_dynamic_scope(most: int) -> Scope:
    sides = range(1, most + 1)
    events = tuple(WireDynamic(count, kind) for count, kind in product(range(1, most + 3), Broadcast))
    return Scope(
        name="dynamic",
        component="wiring",
        configs=tuple(Config(*one, DYNAMIC) for one in product(Pattern, sides, sides)),
        alphabet=lambda _config, _state: events,
        covers=(
            f"a dynamic graph, both patterns, all pairs of 1 to {most} producers and consumers, 1 to {most + 2} "
            "subpartitions, broadcast early, late and not; refused: too few subpartitions, several for an early one"
        ),
    )


def small() -> Iterator[Scope]:
    yield from make_scopes(12, 6)
    yield make_dynamic_scope(5)


def thorough() -> Iterator[Scope]:
    yield from make_scopes(64, 12)
    yield make_dynamic_scope(9)
