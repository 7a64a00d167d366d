"""The forms of the short notation: how each type of event of each component is written in one word."""

import json
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import zip_longest
from typing import Any

import attrs

from tidegate.reference.components import PLACES
from tidegate.traces.strict_json import read_json


def one_word(value: Any) -> str:
    """JSON without white space, so that a token stays one word."""
    return json.dumps(value, separators=(",", ":")).replace(" ", r"\u0020")


def read_integers(text: str) -> list[int]:
    return [int(one) for one in text.split(",")] if text else []


@attrs.frozen
class Field:
    """The form of a value in a token."""

    pattern: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


FIELDS = {
    "int": Field(r"(-?\d+)", int, str),
    "long": Field(r"(-?\d+)", str, str),
    "hex": Field(r"([0-9a-f]*)", str, str),
    "sign": Field(r"([+-])", lambda text: text == "+", lambda value: "+" if value else "-"),
    "ints": Field(r"((?:-?\d+(?:,-?\d+)*)?)", read_integers, lambda values: ",".join(map(str, values))),
    "word": Field(r"([a-z][a-z_]*)", str, str),
    "text": Field(r'("[^"\s]*")', read_json, one_word),
}
PLACEHOLDER = re.compile(r"\{(\w+):(\w+)\}")


@attrs.frozen
class Form:
    """The form of a type of event: `{channel:int}w{timestamp:long}`, with its implicit values."""

    type: str
    template: str
    fixed: tuple[tuple[str, Any], ...] = ()

    def pattern(self) -> re.Pattern[str]:
        literals = map(re.escape, PLACEHOLDER.split(self.template)[::3])
        fields = [FIELDS[kind].pattern for _path, kind in PLACEHOLDER.findall(self.template)]
        return re.compile("".join(part for pair in zip_longest(literals, fields, fillvalue="") for part in pair))

    def read(self, token: str) -> dict[str, Any] | None:
        match = self.pattern().fullmatch(token)
        if match is None:
            return None
        values = zip(PLACEHOLDER.findall(self.template), match.groups(), strict=True)
        event: dict[str, Any] = {"type": self.type}
        for (path, kind), text in values:
            put(event, path, FIELDS[kind].read(text))
        for path, value in self.fixed:
            put(event, path, value)
        return event

    def shown(self) -> str:
        """The form with the names of its values, for display."""
        return PLACEHOLDER.sub(lambda match: f"<{match[1].rpartition('__')[2]}>", self.template)

    def write(self, event: dict[str, Any]) -> str:
        return PLACEHOLDER.sub(lambda match: FIELDS[match[2]].write(get(event, match[1])), self.template)


def put(event: dict[str, Any], path: str, value: Any) -> None:
    *folders, name = path.split("__")
    for folder in folders:
        event = event.setdefault(folder, {})
    event[name] = value


def get(event: dict[str, Any], path: str) -> Any:
    value: Any = event
    for name in path.split("__"):
        value = value.get(name) if isinstance(value, dict) else None
    return value


#: Implicit values of the forms of statuses.
IDLE, ACTIVE = (("status", "idle"),), (("status", "active"),)


@cache
def forms_of(component: str) -> tuple[Form, ...]:
    """The forms of a component, from the module of its subject; empty if there is none: then events are JSON."""
    name = f"{__package__}.{PLACES[component].subject}" if component in PLACES else ""
    if not name or find_spec(name) is None:
        return ()
    forms: dict[str, tuple[Form, ...]] = import_module(name).FORMS
    return forms.get(component, ())
