"""Scopes of the settings of a vertex."""

from collections.abc import Iterator
from itertools import product

from tidegate.properties.cases.scope import Scope
from tidegate.reference.chaining import vertex_settings as settings


def vertices(length: int) -> Iterator[settings.MakeVertex]:
    flags = (False, True)
    for configured, concurrent, selects, most, with_source in product(flags, flags, flags, (-1, 10), flags):
        last = settings.Operator("last", max(0, length - 2), configured, concurrent, selects)
        others = tuple(settings.Operator(f"operator {place}") for place in range(length - 1))
        sources = (settings.ChainedSource("source", configured, concurrent),) if with_source else ()
        yield settings.MakeVertex((*others, last), sources, most)


def make_scope(length: int) -> Scope:
    events = tuple(vertices(length))
    return Scope(
        name=f"{length}-operators",
        component="vertex_settings",
        configs=tuple(
            settings.Config(2, most, dynamic, checkpoints)
            for most, dynamic, checkpoints in product((-1, 4), (False, True), (False, True))
        ),
        alphabet=lambda _config, _state: events,
        covers=f"a line of {length}, of which the last has every setting; refused: checkpoints and selected inputs",
    )


def small() -> Iterator[Scope]:
    yield make_scope(1)
    yield make_scope(2)


def thorough() -> Iterator[Scope]:
    yield make_scope(3)
