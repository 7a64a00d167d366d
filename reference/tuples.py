"""What is done to the tuples in a state: a changed value is a new tuple."""

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def replace(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    changed = list(values)
    changed[index] = value
    return tuple(changed)


def rearrange(values: tuple[T, ...], order: tuple[int, ...]) -> tuple[T, ...]:
    return tuple([values[index] for index in order])


def sorting(values: Sequence[Any]) -> tuple[int, ...]:
    """The indices of the values, in the order in which the values ascend."""
    return tuple(sorted(range(len(values)), key=values.__getitem__))


def without(values: tuple[T, ...], index: int) -> tuple[T, ...]:
    return (*values[:index], *values[index + 1 :])
