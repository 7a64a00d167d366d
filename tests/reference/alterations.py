"""Values with one part changed: what wrong observations, states and answers are made of."""

from collections.abc import Iterator
from enum import Enum
from typing import Any

import attrs


def alter(value: Any) -> Iterator[Any]:
    """The value with one part of it changed, for each of its parts."""
    match value:
        case bool():
            yield not value
        case Enum():
            yield from (other for other in type(value) if other is not value)
        case int() | float():
            yield from (type(value)(value + 1), type(value)(value - 1))
        case range():
            yield from (range(value.start + 1, value.stop + 1), range(value.start, value.stop - 1))
        case str():
            yield f"{value}!"
        case list():
            yield from map(list, alter_tuple(tuple(value)))
        case bytes():
            yield from (value + b"!", value[:-1]) if value else (b"!",)
        case tuple():
            yield from alter_tuple(value)
        case dict():
            yield from ({**value, key: other} for key, one in value.items() for other in alter(one))
        case frozenset():
            yield from (value - {one} for one in sorted(value, key=repr))
        case _ if attrs.has(type(value)):
            yield from alter_fields(value)


def alter_tuple(value: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if value:
        yield value[:-1]
        yield (*value, value[-1])
    if len(value) > 1:
        yield value[::-1]
    for index, one in enumerate(value):
        yield from ((*value[:index], other, *value[index + 1 :]) for other in alter(one))


def alter_fields(value: Any) -> Iterator[Any]:
    for field in attrs.fields(type(value)):
        if field.name == "config":
            continue
        for other in alter(getattr(value, field.name)):
            try:
                yield attrs.evolve(value, **{field.name: other})
            except ValueError:
                continue
