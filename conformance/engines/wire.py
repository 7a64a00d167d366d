"""Shared by the components: strict reading of protocol values, and the engine state that outlives a case."""

import re
from random import Random
from typing import Any, Protocol

import attrs

Json = dict[str, Any]
Observations = list[Json]

LOWEST = -(2**63)
HIGHEST = 2**63 - 1

#: The states of a task, by their names in the protocol.
TASK_STATES = (
    "created",
    "scheduled",
    "deploying",
    "initializing",
    "running",
    "finished",
    "canceling",
    "canceled",
    "failed",
    "reconciling",
)

_HEX = re.compile(r"(?:[0-9a-f]{2})*")


class BadRequestError(Exception):
    """The case does not follow the protocol."""


@attrs.define
class Host:
    """The engine as a component sees it: state that lives longer than one case."""

    _random: Random | None = None
    #: Only wrong engines that leak state use this.
    memory: dict[str, Any] = attrs.Factory(dict)

    @property
    def random(self) -> Random:
        """Made on demand: most components draw nothing, and making it takes longer than they do."""
        if self._random is None:
            self._random = Random(0)
        return self._random


class Machine(Protocol):
    def step(self, event: Json) -> Observations: ...


def rejected() -> Observations:
    return [{"type": "rejected"}]


def unknown_type(event: Json) -> BadRequestError:
    return BadRequestError(f"unknown event type {event.get('type')!r}")


def get_integer(obj: Json, key: str) -> int:
    value = obj.get(key)
    if type(value) is not int or not -(2**31) <= value < 2**31:
        raise BadRequestError(f"{key} must be an integer of 32 bits, not {value!r}")
    return value


def get_at_least(obj: Json, key: str, lowest: int) -> int:
    value = get_integer(obj, key)
    if value < lowest:
        raise BadRequestError(f"{key} must be at least {lowest}, not {value}")
    return value


def get_between(obj: Json, key: str, lowest: int, highest: int) -> int:
    value = get_at_least(obj, key, lowest)
    if value > highest:
        raise BadRequestError(f"{key} must be at most {highest}, not {value}")
    return value


def get_counts(obj: Json, key: str, fewest: int) -> list[int]:
    """A list of positive numbers."""
    value = obj.get(key)
    if type(value) is not list or len(value) < fewest or any(type(one) is not int or one < 1 for one in value):
        raise BadRequestError(f"{key} must be a list of {fewest} or more positive integers, not {value!r}")
    return value


def get_integers(obj: Json, key: str) -> list[int]:
    value = obj.get(key)
    if type(value) is not list:
        raise BadRequestError(f"{key} must be a list of integers, not {value!r}")
    return [get_integer({key: one}, key) for one in value]


def get_distinct(obj: Json, key: str, most: int) -> list[int]:
    numbers = get_integers(obj, key)
    if any(one < 0 for one in numbers) or len(set(numbers)) < len(numbers) or len(numbers) > most:
        raise BadRequestError(f"{key} must be up to {most} different numbers from 0")
    return numbers


def get_objects(obj: Json, key: str) -> list[Json]:
    value = obj.get(key)
    if type(value) is not list or not all(type(one) is dict for one in value):
        raise BadRequestError(f"{key} must be a list of objects")
    return value


def get_boolean(obj: Json, key: str) -> bool:
    value = obj.get(key)
    if type(value) is not bool:
        raise BadRequestError(f"{key} must be true or false, not {value!r}")
    return value


def get_string(obj: Json, key: str) -> str:
    value = obj.get(key)
    if type(value) is not str:
        raise BadRequestError(f"{key} must be a string, not {value!r}")
    return value


def get_choice(obj: Json, key: str, choices: tuple[str, ...]) -> str:
    value = obj.get(key)
    if type(value) is not str or value not in choices:
        raise BadRequestError(f"{key} must be one of {', '.join(choices)}, not {value!r}")
    return value


def get_long(obj: Json, key: str) -> int:
    """A 64-bit quantity: a decimal string."""
    text = obj.get(key)
    try:
        value = int(text) if type(text) is str else None
    except ValueError:
        value = None
    # int() also takes blanks, underscores, leading zeros and other scripts' digits.
    if value is None or str(value) != text:
        raise BadRequestError(f"{key} must be a decimal string, not {text!r}")
    if not LOWEST <= value <= HIGHEST:
        raise BadRequestError(f"{key} does not fit 64 bits: {text}")
    return value


def get_hex(obj: Json, key: str) -> str:
    text = obj.get(key)
    if type(text) is not str or not _HEX.fullmatch(text):
        raise BadRequestError(f"{key} must be lowercase hex, not {text!r}")
    return text


def get_semantics(config: Json, choices: tuple[str, ...]) -> str:
    """The dated semantics of a config; the first choice is the default."""
    return get_choice(config, "semantics", choices) if "semantics" in config else choices[0]


def get_extension(config: Json, choices: tuple[str, ...]) -> str | None:
    """The extension of a config, if any."""
    return get_choice(config, "extension", choices) if "extension" in config else None


def to_int32(value: int) -> int:
    """The low 32 bits as a signed number, as after a careless cast."""
    return (value + 2**31) % 2**32 - 2**31
