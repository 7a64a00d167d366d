"""What is done to the tuples in a state: a changed value is a new tuple."""

from typing import TypeVar

T = TypeVar("T")


def replace(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])


def without(values: tuple[T, ...], index: int) -> tuple[T, ...]:
    return (*values[:index], *values[index + 1 :])
